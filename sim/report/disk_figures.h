/* What `sloglab disk test` found out about a disk, modelled or real, as text, CSV and JSON. */
#ifndef SL_REPORT_DISK_FIGURES_H
#define SL_REPORT_DISK_FIGURES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/err.h"

#define SL_DISK_SIZES 15   /* 0.5 KiB to 8 MiB, each twice the one before */
#define SL_DISK_DEPTHS 6   /* 1 to 32, likewise */
#define SL_DISK_BLOCK 4096 /* of random requests */

struct sl_disk_figures {
	char name[256];
	bool real;                     /* measured, not modelled */
	char note[160];                /* what the reader must know; "" = nothing */
	double sync_ns[SL_DISK_SIZES]; /* write and flush at QD 1; 0 = not possible */
	double read_iops[SL_DISK_DEPTHS], write_iops[SL_DISK_DEPTHS];
	int64_t bytes;              /* real: size of the whole disk */
	double read_bps, write_bps; /* real: of requests of 1 MiB at depth 4 */
};

static inline int64_t sl_disk_size(int i)
{
	return INT64_C(512) << i;
}

static inline int sl_disk_depth(int i)
{
	return 1 << i;
}

struct sl_disk_list {
	int n;
	struct sl_disk_figures *disks;
};

/* In the shape of FreeBSD's diskinfo -wS, and the random requests below. */
void sl_disk_figures_print(const struct sl_disk_figures *figures, FILE *out);

/* arg is a struct sl_disk_list *: for sl_out_write. */
int sl_disk_figures_csv(void *arg, FILE *out, struct sl_err *err);
int sl_disk_figures_json(void *arg, FILE *out, struct sl_err *err);

#endif
