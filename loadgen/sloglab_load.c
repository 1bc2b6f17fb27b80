/* sloglab-load: the load generator as a program. Only the files program*.c of loadgen print. */
#include <stdio.h>
#include <string.h>

#include "loadgen/program.h"
#include "sim/base/json.h"
#include "sim/base/suggest.h"

static const struct {
	const char *name, *about;
	int (*run)(int argc, char **argv);
} commands[] = {
    {"oltp", "sysbench's OLTP against MariaDB", program_oltp},
    {"fileio", "sysbench's file I/O through an NFS server", program_fileio},
    {"syncwrite", "synchronous writes of one file, as a hypervisor's client sends them", program_syncwrite},
    {"audit", "numbered records: is what was acknowledged still there after a crash?", program_audit},
};
#define COMMANDS ((int)(sizeof(commands) / sizeof(commands[0])))

static int help_print(void)
{
	(void)puts("Usage: sloglab-load LOAD [OPTION...]\n\nLoads a server and measures it. LOAD is one of:");
	for (int i = 0; i < COMMANDS; i++) {
		(void)printf("  %-10s %s\n", commands[i].name, commands[i].about);
	}
	(void)puts("\nsloglab-load LOAD --help lists the options of one; --version prints the version.");
	return fflush(stdout) == 0 ? PROGRAM_OK : PROGRAM_FAILED;
}

static int unknown(const char *word)
{
	const char *names[COMMANDS], *near;

	for (int i = 0; i < COMMANDS; i++) {
		names[i] = commands[i].name;
	}
	near = sl_suggest(word, names, COMMANDS);
	(void)fprintf(stderr, "sloglab-load: \"%.60s\": no such load; %s%s%s\n", word,
		      near ? "did you mean " : "see sloglab-load --help", near ? near : "", near ? "?" : "");
	return PROGRAM_USAGE;
}

int main(int argc, char **argv)
{
	sl_json_watch();
	if (argc < 2) {
		(void)fprintf(stderr, "sloglab-load: what load? see sloglab-load --help\n");
		return PROGRAM_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		return help_print();
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		(void)puts("sloglab-load " SL_VERSION);
		return fflush(stdout) == 0 ? PROGRAM_OK : PROGRAM_FAILED;
	}
	for (int i = 0; i < COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name) == 0) {
			return commands[i].run(argc - 1, argv + 1);
		}
	}
	return unknown(argv[1]);
}
