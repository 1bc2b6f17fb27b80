/* sloglab-load syncwrite. */
#include "loadgen/data.h"
#include "loadgen/program.h"
#include "loadgen/syncwrite.h"
#include "sim/base/json.h"

#define DEPTH_MAX 1024
/* Of --sizes. diskinfo goes on to 8 MiB; an NFS WRITE ends at 1 MiB. */
#define SIZE_FIRST 512
#define SIZE_LAST (1 << 20)
#define SIZE_TIME_NS 1000000000

struct syncwrite {
	struct program program;
	const char *url, *path, *data;
	uint64_t block_bytes, total_bytes, depth;
	unsigned pattern, stable;
	double ratio; /* of data */
	bool direct, sizes;
};

static const char *const stables[] = {"file_sync", "unstable_commit"};

static struct sl_syncwrite_config config_of(struct syncwrite *options)
{
	struct program *program = &options->program;

	return (struct sl_syncwrite_config){
	    .url = options->url,
	    .path = options->path,
	    .direct = options->direct,
	    .block_bytes = (uint32_t)options->block_bytes,
	    .file_bytes = options->total_bytes,
	    .random = options->pattern == 1,
	    .unstable = options->stable == 1,
	    .data = options->ratio,
	    .depth = (uint32_t)(program->threads * options->depth),
	    .seed = program->seed,
	    .limits = program_limits(program, 0),
	};
}

static json_t *about_json(const struct syncwrite *options)
{
	return json_pack("{s:s, s:I}", "stable", stables[options->stable], "block_bytes",
			 (json_int_t)options->block_bytes);
}

static int syncwrite_run(struct syncwrite *options)
{
	struct program *program = &options->program;
	struct sl_syncwrite_config config = config_of(options);
	int rc = sl_syncwrite_run(&config, &program->result, &program->err);

	return program_end(program, rc, true, about_json(options));
}

/* A line and a row as diskinfo prints it. */
static void size_print(struct program *program, uint32_t bytes, json_t *rows)
{
	const struct sl_load_result *result = &program->result;
	double mean_ns = sl_hist_mean(&result->latency);

	(void)fprintf(program->out, "%8.1f kbytes: %10.1f usec/IO = %8.1f Mbytes/s\n", bytes / 1024.0,
		      mean_ns / 1e3, sl_load_result_rate(result) * bytes / 1048576);
	(void)fflush(program->out);
	json_array_append_new(rows, json_pack("{s:I, s:o, s:o, s:I}", "block_bytes", (json_int_t)bytes,
					      "mean_ns", sl_json_figure(mean_ns), "rate",
					      sl_json_figure(sl_load_result_rate(result)), "operations",
					      (json_int_t)result->requests));
}

static int sizes_run(struct syncwrite *options)
{
	struct program *program = &options->program;
	json_t *rows = json_array(), *about;
	int rc = 0;

	options->pattern = 1;
	program->time_ns = program->time_ns > 0 ? program->time_ns : SIZE_TIME_NS;
	(void)fprintf(program->out, "Synchronous random writes:\n");
	for (uint32_t bytes = SIZE_FIRST; rc == 0 && bytes <= SIZE_LAST && !program->result.interrupted;
	     bytes *= 2) {
		struct sl_syncwrite_config config = config_of(options);

		config.block_bytes = bytes;
		sl_load_result_fini(&program->result);
		rc = sl_load_result_init(&program->result);
		rc = rc ? rc : sl_syncwrite_run(&config, &program->result, &program->err);
		if (program->result.requests > 0) {
			size_print(program, bytes, rows);
		}
	}
	about = about_json(options);
	(void)json_object_del(about, "block_bytes");
	(void)json_object_set_new(about, "sizes", rows);
	return program_end_rows(program, rc, about);
}

int program_syncwrite(int argc, char **argv)
{
	struct syncwrite o = {.block_bytes = 4096, .total_bytes = 64ull << 20, .depth = 1, .data = "random"};
	const struct sl_option options[] = {
	    {"url", "URL", "nfs://SERVER/EXPORT[/FILE][?nfsport=N&mountport=N]", SL_OPT_TEXT, &o.url, 0, 0},
	    {"path", "FILE", "a local file or block device instead, which is overwritten", SL_OPT_TEXT,
	     &o.path, 0, 0},
	    {"direct", NULL, "with --path: O_DIRECT", SL_OPT_FLAG, &o.direct, 0, 0},
	    {"sizes", NULL, "random writes of 512 B to 1 MiB, one size after the other, as diskinfo -wS does",
	     SL_OPT_FLAG, &o.sizes, 0, 0},
	    {"block", "BYTES", "size of a request (4KiB)", SL_OPT_BYTES, &o.block_bytes, 1, 1 << 20},
	    {"file-total", "BYTES", "size of the file (64MiB)", SL_OPT_BYTES, &o.total_bytes, 1,
	     1000000000000000},
	    {"pattern", "sequential|random", "order of the offsets (sequential)", SL_OPT_CHOICE, &o.pattern,
	     0, 0},
	    {"depth", "N", "requests in flight per thread (1)", SL_OPT_NUMBER, &o.depth, 1, DEPTH_MAX},
	    {"data", "zero|random|N.Nx",
	     "what is written: zero bytes (holes under compression), random, or what compresses to 1/N "
	     "(random)",
	     SL_OPT_TEXT, &o.data, 0, 0},
	    {"stable", "file_sync|unstable_commit",
	     "as ESXi (default) or QEMU writes; on a path O_DSYNC or fdatasync", SL_OPT_CHOICE, &o.stable, 0,
	     0},
	    PROGRAM_OPTIONS(&o.program),
	    PROGRAM_OPTIONS_END};
	struct program *program = &o.program;
	const struct program_command command = {
	    .load = "syncwrite",
	    .usage = "syncwrite (--url URL | --path FILE) [OPTION...]",
	    .about = "Synchronous writes of one file, as a hypervisor's NFS client sends them, or "
		     "as\ndd oflag=dsync and diskinfo -wS do.",
	    .options = options,
	};
	struct sl_words operands;
	int exit_code;

	if (!program_begin(program, &command, argc, argv, &operands, &exit_code)) {
		return exit_code;
	}
	if (operands.n > 0) {
		exit_code = program_usage(program, "\"%.60s\" is one word too many", operands.word[0]);
	} else if ((o.url != NULL) == (o.path != NULL)) {
		exit_code =
		    program_usage(program, "--url is missing; give --url nfs://SERVER/EXPORT/FILE, or --path "
					   "FILE, not both");
	} else if (o.direct && o.url) {
		exit_code = program_usage(program, "--direct: only with --path");
	} else if (sl_load_data_parse(o.data, &o.ratio, &program->err)) {
		exit_code = program_usage(program, "--data: %s", program->err.msg);
	} else if (program->threads * o.depth > DEPTH_MAX) {
		exit_code = program_usage(program, "--depth: threads x depth is above %d", DEPTH_MAX);
	} else if (o.total_bytes < (o.sizes ? SIZE_LAST : o.block_bytes)) {
		exit_code = program_usage(program, "--file-total: less than one block");
	} else {
		return o.sizes ? sizes_run(&o) : syncwrite_run(&o);
	}
	sl_load_result_fini(&program->result);
	return exit_code;
}
