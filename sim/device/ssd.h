/* What SSDs offer beyond the disk seam: their inside, their state before an experiment, and their saturation.
 */
#ifndef SL_DEVICE_SSD_H
#define SL_DEVICE_SSD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/base/series.h"
#include "sim/device/device.h"
#include "sim/device/ftl.h"

enum sl_ssd_state {
	SL_SSD_FRESH, /* erased */
	SL_SSD_FULL,  /* the span was written once, in sequence */
	SL_SSD_STEADY /* full, and overwritten at random until collection no longer changes */
};

struct sl_ssd_report {
	bool has_ftl; /* false: only bytes_written, padded_share and endurance_used below are known */
	int64_t bytes_written;       /* by the host */
	double write_amplification;  /* NAND pages programmed per host page; 1 without a flash model */
	double endurance_used;       /* share of the rated bytes; 0 when not rated */
	int64_t used_bytes;          /* that hold data of the host */
	uint64_t erases;             /* superblocks erased */
	uint32_t wear_min, wear_max; /* erases of a superblock since it was new */
	double wear_mean;
};

/* Fills *ret. False when `dev` is no SSD. */
bool sl_ssd_report(const struct sl_dev *dev, struct sl_ssd_report *ret);

/* Brings a drive into a state before time 0 of the experiment; drives without NAND figures have none. With
 * `file` the state is restored from there, or simulated and saved there when the file does not exist.
 * Errors: -EINVAL (no SSD; the file is of another drive), errno of the file. */
int sl_ssd_prepare(struct sl_dev *dev, enum sl_ssd_state state, uint64_t seed, const char *file,
		   struct sl_err *err);

/* Forgets a range (TRIM, UNMAP); whole pages only. A no-op when `dev` is no SSD or has no flash model. */
void sl_ssd_trim(struct sl_dev *dev, int64_t offset_bytes, int64_t bytes);

/* True when the figures describe the NAND: then an SSD runs with a flash translation layer, else it is a disk
 * of latency and bandwidth. */
bool sl_ssd_has_nand(const struct sl_dev_spec *spec);

/* Geometry and times of 1/scale of the drive. Errors: -EINVAL (contradictory figures, no NAND figures,
 * scale). */
int sl_ssd_ftl_config(const struct sl_dev_spec *spec, uint32_t scale, struct sl_ftl_config *ret,
		      struct sl_err *err);

/* The scale that simulates about four million NAND pages: seconds for hours of drive time. */
uint32_t sl_ssd_default_scale(const struct sl_dev_spec *spec);

/* Random writes in a closed loop. Zeroed fields take the default in brackets. */
struct sl_ssd_load {
	uint32_t scale;          /* [sl_ssd_default_scale] */
	int depth;               /* commands outstanding [32] */
	enum sl_ssd_state state; /* of the span, at the start */
	int64_t block_bytes;     /* a multiple of 4 KiB up to 256 KiB [4 KiB] */
	int64_t span_bytes;      /* written at random, from the start of the drive [all] */
	int64_t duration_ns;     /* required */
	int64_t sample_ns;       /* at most SL_SERIES_MAX of them [duration / 300] */
	uint64_t seed;
	const char *state_file;                     /* as of sl_ssd_prepare [NULL] */
	bool (*progress)(void *ctx, int64_t at_ns); /* asked once per sample; false stops [NULL] */
	void *ctx;
	bool (*stopped)(void); /* asked more often; true: -EINTR, and no curve [NULL] */
};

struct sl_ssd_sample {
	int64_t end_ns;
	double latency_ns;          /* mean */
	double write_amplification; /* of this sample */
};

struct sl_ssd_curve {
	struct sl_series iops;         /* one step per sample */
	struct sl_ssd_sample *samples; /* owned; iops.n of them */
	bool stopped;                  /* by progress */
	uint32_t scale;
	int64_t block_bytes;
	int64_t fill_ns;             /* when as much as the span had been written; 0: not reached */
	uint64_t writes;             /* commands simulated */
	int64_t memory_bytes;        /* of the flash model */
	struct sl_ssd_report report; /* of the simulated part, in bytes of the whole drive */
};

/* Throughput over time: the state and its times are simulated for 1/scale of the drive, whose time passes
 * `scale` times as fast. Free with sl_ssd_curve_free. Errors: -EINVAL (no NAND figures, impossible load),
 * -ENOMEM, -EINTR, errno of the state file. */
int sl_ssd_saturate(const struct sl_dev_spec *spec, const struct sl_ssd_load *load, struct sl_ssd_curve *ret,
		    struct sl_err *err);
void sl_ssd_curve_free(struct sl_ssd_curve *curve);

#endif
