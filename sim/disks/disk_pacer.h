/*
 * Puts one modelled disk behind a wall clock: a disk (sim/device) on the wall loop, whose requests go through
 * the model on a virtual loop of its own. The model runs never ahead of the wall clock and no further than
 * needed, so that a request may count as arrived a little earlier than it did (lateness credit). The pace
 * says how many nanoseconds on the wall one of the model takes.
 */
#ifndef SL_DISKS_DISK_PACER_H
#define SL_DISKS_DISK_PACER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/hist.h"
#include "sim/base/loop.h"
#include "sim/device/device.h"

struct sl_disk_pacer_config {
	struct sl_loop *wall; /* borrowed */
	const struct sl_dev_spec
	    *spec;        /* used by sl_disk_pacer_new only; its members must outlive the pacer */
	const char *name; /* of the disk's random stream */
	uint64_t seed;
	double pace; /* > 0 */
	int64_t credit_cap_ns;
	struct sl_hist *modelled;   /* borrowed: latencies as modelled, on the wall; may be NULL */
	void (*settled)(void *arg); /* after completions were delivered by the loop */
	void *arg;
};

struct sl_disk_pacer;

/* Errors: those of sl_dev_new, -ENOMEM. */
int sl_disk_pacer_new(const struct sl_disk_pacer_config *config, struct sl_disk_pacer **ret,
		      struct sl_err *err);
/* Forgets what is in service. Accepts NULL. */
void sl_disk_pacer_free(struct sl_disk_pacer *pacer);

/* The disk to submit to; `now_ns` of a submit is the arrival, at most the credit cap before the wall loop's
 * time. Its requests complete with the modelled completion in wall time. */
struct sl_dev *sl_disk_pacer_dev(struct sl_disk_pacer *pacer);
/* Delivers what is due by the wall loop's time, without waiting for the loop (and without `settled`). */
void sl_disk_pacer_run(struct sl_disk_pacer *pacer);
/* Off: requests that come from now on complete at once. */
void sl_disk_pacer_latency(struct sl_disk_pacer *pacer, bool on);
/* Tells the model that a range holds nothing any more: an SSD's garbage collection gains by it. */
void sl_disk_pacer_trim(struct sl_disk_pacer *pacer, int64_t offset_bytes, int64_t bytes);
/* Pulls side `side` of a disk made of mirrors now, or puts it back. Errors: those of sl_dev_fail_side. */
int sl_disk_pacer_pull(struct sl_disk_pacer *pacer, int side);
int sl_disk_pacer_attach(struct sl_disk_pacer *pacer, int side);
/* What sides that were put back still lack. */
int64_t sl_disk_pacer_stale(const struct sl_disk_pacer *pacer);
void sl_disk_pacer_set_pace(struct sl_disk_pacer *pacer, double pace);
/* What the model has done by now, without anybody waiting for it, is noted in the marks. Returns the model's
 * time. As for an idle disk, that is the credit cap before the present, so that late requests get theirs;
 * `exact` (before a power cut) is the present. */
int64_t sl_disk_pacer_reached(struct sl_disk_pacer *pacer, bool exact);
/* Power cut: what is in service is never delivered; the model goes on, idle, with its wear. */
void sl_disk_pacer_drop(struct sl_disk_pacer *pacer);
/* Credit that requests really got: the model cannot go back behind its last event. */
int64_t sl_disk_pacer_credit_used(const struct sl_disk_pacer *pacer);

#endif
