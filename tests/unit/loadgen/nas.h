/* A NAS for the loads: a datastore whose calls take no modelled time, served by a thread of the test. */
#ifndef SL_TESTS_LOADGEN_NAS_H
#define SL_TESTS_LOADGEN_NAS_H

#include <pthread.h>

#include "sim/base/loop.h"
#include "sim/datastore/datastore.h"

struct nas {
	char dir[64]; /* of its files; removed at the end */
	struct sl_loop *loop;
	struct sl_store *store;
	struct sl_datastore *ds;
	struct sl_io stop;
	pthread_t thread;
	struct sl_nfs3_stats stats; /* valid after nas_stop */
};

void nas_start(struct nas *nas);
/* nfs://127.0.0.1/FILE with the ports. */
void nas_url(const struct nas *nas, const char *file, char *buf, size_t size);
void nas_stop(struct nas *nas);

#endif
