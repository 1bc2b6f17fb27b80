/* sloglab-load syncwrite. */
#include "loadgen/program.h"
#include "loadgen/syncwrite.h"

#define DEPTH_MAX 1024

struct syncwrite {
	struct program program;
	const char *url;
	uint64_t block_bytes, total_bytes, depth;
	unsigned pattern, stable, data;
};

static int syncwrite_run(struct syncwrite *options)
{
	static const char *const stables[] = {"file_sync", "unstable_commit"};
	struct program *program = &options->program;
	struct sl_syncwrite_config config = {
	    .url = options->url,
	    .block_bytes = (uint32_t)options->block_bytes,
	    .file_bytes = options->total_bytes,
	    .random = options->pattern == 1,
	    .unstable = options->stable == 1,
	    .zero_data = options->data == 1,
	    .depth = (uint32_t)(program->threads * options->depth),
	    .seed = program->seed,
	};
	int rc;

	config.limits = program_limits(program, 0);
	rc = sl_syncwrite_run(&config, &program->result, &program->err);
	return program_end(program, rc, true,
			   json_pack("{s:s, s:I}", "stable", stables[options->stable], "block_bytes",
				     (json_int_t)options->block_bytes));
}

int program_syncwrite(int argc, char **argv)
{
	struct syncwrite o = {.block_bytes = 4096, .total_bytes = 64ull << 20, .depth = 1};
	const struct sl_option options[] = {
	    {"url", "URL", "nfs://SERVER/EXPORT[/FILE][?nfsport=N&mountport=N]", SL_OPT_TEXT, &o.url, 0, 0},
	    {"block", "BYTES", "size of a request (4KiB)", SL_OPT_BYTES, &o.block_bytes, 1, 1 << 20},
	    {"file-total", "BYTES", "size of the file (64MiB)", SL_OPT_BYTES, &o.total_bytes, 1,
	     1000000000000000},
	    {"pattern", "sequential|random", "order of the offsets (sequential)", SL_OPT_CHOICE, &o.pattern,
	     0, 0},
	    {"depth", "N", "requests in flight per thread (1)", SL_OPT_NUMBER, &o.depth, 1, DEPTH_MAX},
	    {"data", "random|zero", "zero bytes are holes under compression (random)", SL_OPT_CHOICE, &o.data,
	     0, 0},
	    {"stable", "file_sync|unstable_commit", "as ESXi (default) or QEMU writes", SL_OPT_CHOICE,
	     &o.stable, 0, 0},
	    PROGRAM_OPTIONS(&o.program),
	    PROGRAM_OPTIONS_END};
	struct program *program = &o.program;
	struct sl_words operands;
	int exit_code;

	if (!program_begin(
		program, "syncwrite", options, argc, argv, &operands, "syncwrite --url URL [OPTION...]",
		"Synchronous writes of one file, as a hypervisor's NFS client sends them.", &exit_code)) {
		return exit_code;
	}
	if (operands.n > 0) {
		exit_code = program_usage(program, "\"%.60s\" is one word too many", operands.word[0]);
	} else if (!o.url) {
		exit_code = program_usage(program, "--url is missing; give --url nfs://SERVER/EXPORT/FILE");
	} else if (program->threads * o.depth > DEPTH_MAX) {
		exit_code = program_usage(program, "--depth: threads x depth is above %d", DEPTH_MAX);
	} else if (o.total_bytes < o.block_bytes) {
		exit_code = program_usage(program, "--file-total: less than one block");
	} else {
		return syncwrite_run(&o);
	}
	sl_load_result_fini(&program->result);
	return exit_code;
}
