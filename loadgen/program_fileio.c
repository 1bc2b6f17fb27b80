/* sloglab-load fileio. */
#include "loadgen/data.h"
#include "loadgen/fileio.h"
#include "loadgen/program.h"

#define MAX_REQUESTS_DEFAULT 10000 /* sysbench 0.4 */
#define STABLE_UNSET 2

struct fileio {
	struct program program;
	const char *url, *path, *data;
	double ratio; /* of data */
	uint64_t block_bytes, total_bytes, files, fsync_every, depth;
	unsigned mode, stable, no_fsync_end;
	bool direct, verify;
};

/* What is missing or wrong about the options; NULL = nothing. */
static const char *fileio_wrong(struct fileio *fileio)
{
	if ((fileio->url != NULL) == (fileio->path != NULL)) {
		return "--url is missing; give --url nfs://SERVER/EXPORT, or --path FOLDER, not both";
	}
	if (fileio->direct && fileio->url) {
		return "--direct: only with --path";
	}
	if (fileio->total_bytes / fileio->files < fileio->block_bytes) {
		return "--file-total: less than one block per file";
	}
	if (fileio->program.threads * fileio->depth > 1024) {
		return "--depth: threads x depth is above 1024";
	}
	if (sl_load_data_parse(fileio->data, &fileio->ratio, &fileio->program.err)) {
		return "--data: write zero, random or 2.0x (1x to 1000x)";
	}
	if (fileio->stable == STABLE_UNSET) {
		fileio->stable = fileio->path ? 1 : 0;
	}
	return NULL;
}

static int fileio_run(struct fileio *fileio, unsigned stages)
{
	static const char *const stables[] = {"file_sync", "unstable_commit"};
	struct program *program = &fileio->program;
	struct sl_fileio_load load = {
	    .url = fileio->url,
	    .path = fileio->path,
	    .direct = fileio->direct,
	    .verify = fileio->verify,
	    .data = fileio->ratio,
	    .depth = (uint32_t)fileio->depth,
	    .stages = stages,
	    .source = {.mode = (enum sl_fileio_mode)fileio->mode,
		       .files = (uint32_t)fileio->files,
		       .file_bytes = fileio->total_bytes / fileio->files,
		       .block_bytes = (uint32_t)fileio->block_bytes,
		       .fsync_every = (uint32_t)fileio->fsync_every},
	    .unstable = fileio->stable == 1,
	    .fsync_end = !fileio->no_fsync_end,
	};
	int rc;

	load.limits = program_limits(program, MAX_REQUESTS_DEFAULT);
	load.source.max_requests = program->max_requests;
	load.threads = (uint32_t)program->threads;
	load.seed = program->seed;
	rc = sl_fileio_load_run(&load, &program->result, &program->err);
	return program_end(program, rc, stages & SL_LOAD_RUN,
			   json_pack("{s:s, s:I}", "stable", stables[fileio->stable], "block_bytes",
				     (json_int_t)fileio->block_bytes));
}

int program_fileio(int argc, char **argv)
{
	struct fileio fileio = {.block_bytes = 16384,
				.total_bytes = 2ull << 30,
				.files = 128,
				.fsync_every = 100,
				.depth = 1,
				.data = "random",
				.stable = STABLE_UNSET,
				.mode = SL_FILEIO_RNDRW};
	const struct sl_option options[] = {
	    {"url", "URL", "folder: nfs://SERVER/EXPORT[?nfsport=N&mountport=N]", SL_OPT_TEXT, &fileio.url, 0,
	     0},
	    {"path", "FOLDER", "a local folder instead", SL_OPT_TEXT, &fileio.path, 0, 0},
	    {"direct", NULL, "with --path: O_DIRECT", SL_OPT_FLAG, &fileio.direct, 0, 0},
	    {"verify", NULL, "check that reads find what was written", SL_OPT_FLAG, &fileio.verify, 0, 0},
	    {"data", "zero|random|N.Nx",
	     "what is written: zero bytes (holes under compression, and what sysbench 0.4 writes), random, "
	     "or "
	     "what compresses to 1/N (random)",
	     SL_OPT_TEXT, &fileio.data, 0, 0},
	    {"depth", "N", "requests in flight per thread (1)", SL_OPT_NUMBER, &fileio.depth, 1, 1024},
	    /* In the order of enum sl_fileio_mode. */
	    {"mode", "seqwr|seqrd|rndrd|rndwr|rndrw", "(rndrw)", SL_OPT_CHOICE, &fileio.mode, 0, 0},
	    {"block", "BYTES", "size of a request (16KiB)", SL_OPT_BYTES, &fileio.block_bytes, 1, 1 << 20},
	    {"file-total", "BYTES", "size of all files together (2GiB)", SL_OPT_BYTES, &fileio.total_bytes, 1,
	     1000000000000000},
	    {"files", "N", "number of files (128)", SL_OPT_NUMBER, &fileio.files, 1, 4096},
	    {"fsync-every", "N", "sync all files after N requests (100); 0 = never", SL_OPT_NUMBER,
	     &fileio.fsync_every, 0, 1000000000},
	    {"fsync-end", "on|off", "sync all files at the end (on)", SL_OPT_CHOICE, &fileio.no_fsync_end, 0,
	     0},
	    {"stable", "file_sync|unstable_commit",
	     "as ESXi or QEMU writes; on a path O_DSYNC or fsync (default)", SL_OPT_CHOICE, &fileio.stable, 0,
	     0},
	    PROGRAM_OPTIONS(&fileio.program),
	    PROGRAM_OPTIONS_END};
	struct program *program = &fileio.program;
	const struct program_command command = {
	    .load = "fileio",
	    .usage = "fileio [prepare|run|cleanup] (--url URL | --path FOLDER) [OPTION...]",
	    .about = "sysbench 0.4's file I/O: its files, order of requests, syncs and stop rule (10000\n"
		     "requests without --time). Without a stage all are done one after the other.",
	    .options = options,
	};
	struct sl_words operands;
	const char *wrong;
	unsigned stages;
	int exit_code;

	if (!program_begin(program, &command, argc, argv, &operands, &exit_code)) {
		return exit_code;
	}
	exit_code = PROGRAM_USAGE;
	if (program_stages(program, &operands, &stages)) {
		wrong = fileio_wrong(&fileio);
		if (!wrong) {
			return fileio_run(&fileio, stages);
		}
		(void)program_usage(program, "%s", wrong);
	}
	sl_load_result_fini(&program->result);
	return exit_code;
}
