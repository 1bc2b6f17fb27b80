/* Private to the SSD: its host side, and what ssd.c and saturate.c share. */
#ifndef SL_DEVICE_SSD_FRONT_H
#define SL_DEVICE_SSD_FRONT_H

#include "sim/device/kinds.h"
#include "sim/device/ssd.h"

/* Host link and controller: both serve one command at a time, side by side. What is in the buffer is
 * acknowledged; the controller enters it in its map afterwards, up to a buffer full of pages behind. */
struct sl_ssd_front {
	double link_bps;
	int64_t command_ns, behind_ns;
	int64_t link_free_ns, command_free_ns;
};

static inline void sl_ssd_front_init(struct sl_ssd_front *front, const struct sl_dev_spec *spec)
{
	*front = (struct sl_ssd_front){
	    .link_bps = spec->link_bps,
	    .command_ns = (int64_t)spec->ssd_command_ns,
	    .behind_ns = (int64_t)(spec->ssd_command_ns * spec->buffer_bytes / SL_FTL_PAGE_BYTES),
	};
}

/* A command of known transfer time arrives: when the drive has its data. The caller sets link_free_ns to when
 * they are in the buffer, which may be later. */
static inline int64_t sl_ssd_front_take(struct sl_ssd_front *front, int64_t now_ns, int64_t transfer_ns)
{
	int64_t sent_ns = sl_later(now_ns, front->link_free_ns) + transfer_ns;

	front->command_free_ns = sl_later(now_ns, front->command_free_ns) + front->command_ns;
	return sl_later(sent_ns, front->command_free_ns - front->behind_ns);
}

static inline int64_t sl_ssd_front_send(struct sl_ssd_front *front, int64_t now_ns, int64_t bytes)
{
	return sl_ssd_front_take(front, now_ns, sl_transfer_ns(bytes, front->link_bps));
}

/* More data of the same command. */
static inline int64_t sl_ssd_front_more(struct sl_ssd_front *front, int64_t bytes)
{
	return front->link_free_ns + sl_transfer_ns(bytes, front->link_bps);
}

/* Brings ftl, fresh, into load->state over its first `span` pages, by way of load->state_file if not NULL.
 * See sl_ssd_prepare. Of the load, seed and stopped count too: when it is stopped, no file is written. */
int sl_ssd_bring_to(struct sl_ftl *ftl, const struct sl_ssd_load *load, int64_t span, struct sl_err *err);

/* Fills in what the flash model of 1/scale of the drive knows. */
void sl_ssd_report_ftl(const struct sl_ftl *ftl, uint32_t scale, struct sl_ssd_report *ret);

#endif
