/* Private to the SSD: its parts (ssd.c the seam, ssd_serve.c what commands take, ssd_held.c what a cut
 * takes). */
#ifndef SL_DEVICE_SSD_INNER_H
#define SL_DEVICE_SSD_INNER_H

#include "sim/base/rng.h"
#include "sim/device/jitter.h"
#include "sim/device/ssd_front.h"

#define SL_SSD_QUEUE_MAX 1024
#define SL_SSD_DIES_MAX 256

/* A write in the buffer that somebody follows, by age. */
struct sl_ssd_held {
	struct sl_mark *mark;
	int64_t until_bytes; /* bytes written to the drive when later ones have pushed it out */
};

struct sl_ssd {
	struct sl_dev dev;
	struct sl_dev_spec spec;
	struct sl_ssd_front front;
	struct sl_ftl *ftl; /* NULL: without a flash model */
	struct sl_rng rng;  /* flush times */
	struct sl_jitter jitter;
	int64_t ftl_pages;      /* of the host */
	int64_t drained_ns;     /* without a flash model: when the write buffer will be empty */
	int64_t idle_from_ns;   /* end of the latest request */
	int64_t alone_until_ns; /* end of the latest flush */
	int64_t buffer_time_ns; /* without a flash model: time that a full buffer takes to drain */
	bool dirty;             /* written since the latest flush began */
	int64_t commit_start_ns, commit_end_ns; /* of the latest commit, cache off */
	int n_dies;
	int64_t sense_ns, read_command_ns; /* of a read: time of a die, time of the controller */
	int64_t reads_free_ns;             /* when the controller takes the next read */
	int64_t read_end_bytes;            /* of the latest read: what follows was read ahead */
	int64_t die_free_ns[SL_SSD_DIES_MAX];
	struct sl_ssd_held *held;
	uint32_t held_first, held_end, held_room; /* in use: first to end */
	int depth, slot;
	int64_t done_ns[SL_SSD_QUEUE_MAX]; /* of the latest `depth` commands, in a ring */
};

/* When a command that the drive takes at now_ns is done. */
int64_t sl_ssd_serve(struct sl_ssd *ssd, int64_t now_ns, const struct sl_dev_req *req);

/* Notes what a cut takes of a command that began at start_ns and is done at done_ns. */
void sl_ssd_note(struct sl_ssd *ssd, int64_t start_ns, const struct sl_dev_req *req, int64_t done_ns);

#endif
