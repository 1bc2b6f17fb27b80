#!/bin/bash
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
lint=$project/scripts/check_model_purity.sh

# Speaking of clocks is no sin, and names that contain one are others; shells (base, serve, cli) may do it.
put sim/zfs/zil.c \
	'/* no clock_gettime() here,' \
	'   nor time(NULL) */' \
	'// printf("x")' \
	'const char *s = "printf(\"exp(\")"; int run_time(int x); char q = '"'\"'"';' \
	'double f(void) { return sl_exp(1) + sl_log(2) + layer->time(3); }' \
	'int n = snprintf(buf, size, "%d", 3); int64_t uptime(void); int log_size; int random_pages;'
put sim/base/epoll.c 'clock_gettime(CLOCK_MONOTONIC, &ts);'
put sim/serve/live.c 'usleep(1);'
put cli/run.c 'printf("TPS");'
passes "$lint" "$tree"

for call in 'clock_gettime(CLOCK_MONOTONIC, &ts)' 'gettimeofday(&tv, NULL)' 'time(NULL)' 'nanosleep(&ts, NULL)' \
	'usleep(1)' 'sleep(1)' 'rand()' 'random()' 'drand48()' 'exp(x)' 'log (x)' 'pow(x, 2)' 'printf("x")' \
	'fprintf(stderr, "x")' 'puts("x")' 'perror("x")'; do
	for room in workload store device zfs wire hyp guest stack nfs3; do
		put sim/$room/bad.c 'int a;' '/* comment */ x = '"$call"'; /* comment */'
	done
	for room in workload store device zfs wire hyp guest stack nfs3; do
		fails "sim/$room/bad.c:2: ${call%%[( ]*}() is " "$lint" "$tree"
	done
done
