#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "loadgen/program.h"
#include "sim/base/units.h"

#define MAX_REQUESTS_DEFAULT 10000u /* sysbench 0.4 */

enum key {
	KEY_URL = 0x100,
	KEY_THREADS,
	KEY_DEPTH,
	KEY_BLOCK,
	KEY_TOTAL,
	KEY_PATTERN,
	KEY_STABLE,
	KEY_DATA,
	KEY_MODE,
	KEY_FILES,
	KEY_FSYNC_EVERY,
	KEY_FSYNC_END,
	KEY_TIME,
	KEY_REQUESTS,
	KEY_WARMUP,
	KEY_SEED,
	KEY_INTERVAL,
	KEY_STALL,
	KEY_JSON
};

static const struct argp_option option_table[] = {
    {"url", KEY_URL, "URL", 0, "nfs://SERVER/EXPORT[/FILE][?nfsport=N&mountport=N]", 1},
    {"threads", KEY_THREADS, "N", 0, "threads (1); syncwrite has threads x depth requests in flight", 1},
    {"block", KEY_BLOCK, "BYTES", 0, "size of a request (4KiB; fileio: 16KiB)", 1},
    {"file-total", KEY_TOTAL, "BYTES", 0, "size of the file, of all files together (64MiB; fileio: 2GiB)", 1},
    {"stable", KEY_STABLE, "HOW", 0, "file_sync (ESXi; default) or unstable_commit (QEMU)", 1},
    {"time", KEY_TIME, "TIME", 0, "end after so much measured time (10s, unless requests are limited)", 2},
    {"max-requests", KEY_REQUESTS, "N", 0,
     "end after N requests (fileio without --time: 10000); 0 = no limit", 2},
    {"warm-up", KEY_WARMUP, "TIME", 0, "load before the measurement (0s)", 2},
    {"stall", KEY_STALL, "TIME", 0, "give up when nothing completes for so long (30s)", 2},
    {"seed", KEY_SEED, "N", 0, "of random offsets and data (1)", 2},
    {"report-interval", KEY_INTERVAL, "TIME", 0, "a progress line and a sample each (0s = none)", 2},
    {"json", KEY_JSON, "FILE", 0, "write the result as JSON; \"-\": to stdout, all else to stderr", 2},
    {"pattern", KEY_PATTERN, "ORDER", 0, "syncwrite: sequential (default) or random", 3},
    {"depth", KEY_DEPTH, "N", 0, "syncwrite: requests in flight per thread (1)", 3},
    {"data", KEY_DATA, "KIND", 0, "syncwrite: random (default) or zero bytes (holes under compression)", 3},
    {"mode", KEY_MODE, "MODE", 0, "fileio: seqwr, seqrd, rndrd, rndwr, rndrw (default)", 4},
    {"files", KEY_FILES, "N", 0, "fileio: number of files (128)", 4},
    {"fsync-every", KEY_FSYNC_EVERY, "N", 0, "fileio: sync all files after N requests (100); 0 = never", 4},
    {"fsync-end", KEY_FSYNC_END, "on|off", 0, "fileio: sync all files at the end (on)", 4},
    {0},
};

struct parse {
	struct program_options *options;
	bool load_given, stage_given, time_given, requests_given;
};

static double unit_arg(struct argp_state *state, const char *name, const char *text, enum sl_unit unit,
		       double min, double max)
{
	struct sl_err err = {0};
	double value = 0;

	if (sl_units_parse(text, unit, &value, &err) < 0) {
		argp_error(state, "--%s: %s", name, err.msg);
	}
	if (value < min || value > max) {
		argp_error(state, "--%s: \"%s\" is out of range (%.15g to %.15g)", name, text, min, max);
	}
	return value;
}

static uint64_t count_arg(struct argp_state *state, const char *name, const char *text, double min,
			  double max)
{
	double value = unit_arg(state, name, text, SL_UNIT_NONE, min, max);

	if (value != (double)(uint64_t)value) {
		argp_error(state, "--%s: \"%s\" is not a whole number", name, text);
	}
	return (uint64_t)value;
}

/* Index of text in words, which end with NULL. */
static unsigned word_arg(struct argp_state *state, const char *name, const char *text,
			 const char *const *words)
{
	char all[128] = "";

	for (unsigned i = 0; words[i]; i++) {
		if (strcmp(text, words[i]) == 0) {
			return i;
		}
		strncat(all, i ? ", " : "", sizeof(all) - strlen(all) - 1);
		strncat(all, words[i], sizeof(all) - strlen(all) - 1);
	}
	argp_error(state, "--%s: \"%s\" is none of %s", name, text, all);
	return 0;
}

static void parse_word(struct argp_state *state, const char *text)
{
	static const char *const loads[] = {
	    [PROGRAM_SYNCWRITE] = "syncwrite", [PROGRAM_FILEIO] = "fileio", NULL};
	static const char *const stages[] = {"prepare", "run", "cleanup", NULL};
	struct parse *parse = state->input;
	const char *const *words = parse->load_given ? stages : loads;

	if (parse->stage_given || (parse->load_given && parse->options->load != PROGRAM_FILEIO)) {
		argp_error(state, "\"%s\" is too much", text);
	}
	for (unsigned i = 0; words[i]; i++) {
		if (strcmp(text, words[i]) == 0 && !parse->load_given) {
			parse->options->load = (enum program_load)i;
			parse->load_given = true;
			return;
		}
		if (strcmp(text, words[i]) == 0) {
			parse->options->stages = 1u << i;
			parse->stage_given = true;
			return;
		}
	}
	argp_error(state,
		   parse->load_given ? "\"%s\" is none of prepare, run, cleanup"
				     : "\"%s\" is none of syncwrite, fileio",
		   text);
}

static void parse_load_option(int key, char *arg, struct argp_state *state)
{
	static const char *const patterns[] = {"sequential", "random", NULL};
	static const char *const stables[] = {"file_sync", "unstable_commit", NULL};
	static const char *const datas[] = {"random", "zero", NULL};
	static const char *const modes[] = {
	    [SL_FILEIO_SEQWR] = "seqwr", [SL_FILEIO_SEQRD] = "seqrd", [SL_FILEIO_RNDRD] = "rndrd",
	    [SL_FILEIO_RNDWR] = "rndwr", [SL_FILEIO_RNDRW] = "rndrw", NULL};
	static const char *const switches[] = {"off", "on", NULL};
	struct program_options *options = ((struct parse *)state->input)->options;

	switch (key) {
	case KEY_PATTERN:
		options->random = word_arg(state, "pattern", arg, patterns) == 1;
		break;
	case KEY_STABLE:
		options->unstable = word_arg(state, "stable", arg, stables) == 1;
		break;
	case KEY_DATA:
		options->zero_data = word_arg(state, "data", arg, datas) == 1;
		break;
	case KEY_MODE:
		options->mode = (enum sl_fileio_mode)word_arg(state, "mode", arg, modes);
		break;
	case KEY_FSYNC_END:
		options->fsync_end = word_arg(state, "fsync-end", arg, switches) == 1;
		break;
	case KEY_THREADS:
		options->threads = (uint32_t)count_arg(state, "threads", arg, 1, 1024);
		break;
	case KEY_DEPTH:
		options->depth = (uint32_t)count_arg(state, "depth", arg, 1, 1024);
		break;
	case KEY_FILES:
		options->files = (uint32_t)count_arg(state, "files", arg, 1, 4096);
		break;
	case KEY_FSYNC_EVERY:
		options->fsync_every = (uint32_t)count_arg(state, "fsync-every", arg, 0, 1e9);
		break;
	default:
		options->seed = count_arg(state, "seed", arg, 0, 9e15);
		break;
	}
}

static void parse_end(struct argp_state *state)
{
	struct parse *parse = state->input;
	struct program_options *options = parse->options;
	bool fileio = options->load == PROGRAM_FILEIO;

	if (!parse->load_given) {
		argp_error(state, "what load? syncwrite or fileio");
	}
	if (!options->url) {
		argp_error(state, "--url is missing");
	}
	if (options->block_bytes == 0) {
		options->block_bytes = fileio ? 16384 : 4096;
	}
	if (options->total_bytes == 0) {
		options->total_bytes = fileio ? 2ull << 30 : 64ull << 20;
	}
	if (fileio && !parse->time_given && !parse->requests_given) {
		options->max_requests = MAX_REQUESTS_DEFAULT;
	}
	if (options->time_ns == 0 && options->max_requests == 0) {
		options->time_ns = 10000000000;
	}
	if (!fileio && (uint64_t)options->threads * options->depth > 1024) {
		argp_error(state, "threads x depth is above 1024");
	}
	if (options->total_bytes / (fileio ? options->files : 1) < options->block_bytes) {
		argp_error(state, "--file-total: less than one block%s", fileio ? " per file" : "");
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	struct program_options *options = parse->options;

	switch (key) {
	case KEY_URL:
		options->url = arg;
		return 0;
	case KEY_JSON:
		options->json = arg;
		return 0;
	case KEY_BLOCK:
		options->block_bytes = (uint32_t)unit_arg(state, "block", arg, SL_UNIT_BYTES, 1, 1 << 20);
		return 0;
	case KEY_TOTAL:
		options->total_bytes = (uint64_t)unit_arg(state, "file-total", arg, SL_UNIT_BYTES, 1, 1e15);
		return 0;
	case KEY_TIME:
		options->time_ns = (int64_t)unit_arg(state, "time", arg, SL_UNIT_TIME, 0, 1e15);
		parse->time_given = true;
		return 0;
	case KEY_WARMUP:
		options->warmup_ns = (int64_t)unit_arg(state, "warm-up", arg, SL_UNIT_TIME, 0, 1e15);
		return 0;
	case KEY_STALL:
		options->stall_ns = (int64_t)unit_arg(state, "stall", arg, SL_UNIT_TIME, 1e8, 1e15);
		return 0;
	case KEY_INTERVAL:
		options->interval_ns =
		    (int64_t)unit_arg(state, "report-interval", arg, SL_UNIT_TIME, 0, 1e15);
		if (options->interval_ns > 0 && options->interval_ns < 10000000) {
			argp_error(state, "--report-interval: at least 10ms");
		}
		return 0;
	case KEY_REQUESTS:
		options->max_requests = count_arg(state, "max-requests", arg, 0, 1e15);
		parse->requests_given = true;
		return 0;
	case ARGP_KEY_ARG:
		parse_word(state, arg);
		return 0;
	case ARGP_KEY_END:
		parse_end(state);
		return 0;
	case ARGP_KEY_INIT:
	case ARGP_KEY_FINI:
	case ARGP_KEY_SUCCESS:
	case ARGP_KEY_ERROR:
	case ARGP_KEY_NO_ARGS:
	case ARGP_KEY_ARGS:
		return ARGP_ERR_UNKNOWN;
	default:
		if (key < KEY_URL) {
			return ARGP_ERR_UNKNOWN;
		}
		parse_load_option(key, arg, state);
		return 0;
	}
}

void program_parse(int argc, char **argv, struct program_options *ret)
{
	static const char doc[] =
	    "Loads an NFS server through libnfs and measures it.\v"
	    "syncwrite  synchronous writes of one file, as a hypervisor's client sends them\n"
	    "fileio     sysbench 0.4 fileio; prepare, run and cleanup are done one after the other unless "
	    "one is named\n\n"
	    "Sizes and times have units: 4KiB, 64MiB, 10s, 100ms.";
	static const struct argp argp = {.options = option_table,
					 .parser = parse_option,
					 .args_doc = "syncwrite\nfileio [prepare|run|cleanup]",
					 .doc = doc};
	struct parse parse = {.options = ret};

	*ret = (struct program_options){.threads = 1,
					.depth = 1,
					.files = 128,
					.fsync_every = 100,
					.seed = 1,
					.mode = SL_FILEIO_RNDRW,
					.stages = SL_FILEIO_PREPARE | SL_FILEIO_RUN | SL_FILEIO_CLEANUP,
					.fsync_end = true};
	argp_program_version = "sloglab-load " SL_VERSION;
	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, &parse) != 0) {
		exit(2);
	}
}
