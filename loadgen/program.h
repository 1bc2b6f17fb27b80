/* Parts of the program sloglab-load: options in, text and JSON out. Not part of the library. */
#ifndef SL_LOADGEN_PROGRAM_H
#define SL_LOADGEN_PROGRAM_H

#include <stdio.h>

#include "loadgen/fileio.h"
#include "loadgen/syncwrite.h"

enum program_load {
	PROGRAM_SYNCWRITE,
	PROGRAM_FILEIO
};

/* All options, as given. */
struct program_options {
	enum program_load load;
	const char *url, *json;
	uint32_t threads, depth;
	uint32_t block_bytes, files, fsync_every;
	uint64_t total_bytes, max_requests, seed;
	int64_t time_ns, warmup_ns, interval_ns, stall_ns;
	enum sl_fileio_mode mode;
	unsigned stages;
	bool unstable, random, zero_data, fsync_end;
};

/* Parses argv; prints usage errors itself and exits 2 (or 0 after --help, --version). */
void program_parse(int argc, char **argv, struct program_options *ret);

/* The summary, as sysbench prints it. */
void program_summary(FILE *out, const struct program_options *options, const struct sl_load_result *result);
/* "-" or a path; the file appears whole or not at all. 0 or negative errno. */
int program_json(const struct program_options *options, const struct sl_load_result *result,
		 struct sl_err *err);

#endif
