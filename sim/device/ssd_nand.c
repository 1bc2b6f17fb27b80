/* From catalogue figures to the geometry of the flash model, whole or in part, and to its state. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sim/device/ssd_front.h"

#define LEAST_DIES 16         /* below which scaling does not go */
#define LEAST_PAGES 64        /* of a superblock, likewise */
#define GOOD_PAGES 256        /* down to which scaling shortens superblocks before it takes some away */
#define GOOD_SUPERBLOCKS 1024 /* of a die: fewer only once they are at their shortest */
#define SCALED_PAGES 4500000  /* NAND pages that the default scale simulates at most */
#define STEADY_TURNS 5        /* random overwrites of the span until collection no longer changes */

bool sl_ssd_has_nand(const struct sl_dev_spec *spec)
{
	return spec->raw_bytes > 0;
}

static int round_up_pool(double share, int superblocks)
{
	int n = (int)(share * superblocks + 0.5);

	return n < 2 ? 2 : n;
}

/* Which power of two, at most `max`, is nearest below or at x. */
static int power_below(double x, int max)
{
	int n = 1;

	while (n * 2 <= max && n * 2 <= x) {
		n *= 2;
	}
	return n;
}

/* Makes the drive smaller: fewer dies that are as much faster, then alternately shorter superblocks (which
 * lower write amplification a little) and fewer of them (which raise it: the open and free ones weigh more).
 */
static void scale_down(struct sl_ftl_config *c, double scale)
{
	int dies = c->dies < LEAST_DIES || scale < 2 ? c->dies : (int)(c->dies / scale + 0.5);
	double faster;

	dies = dies < LEAST_DIES && dies < c->dies ? LEAST_DIES : dies;
	faster = (double)c->dies / dies;
	c->program_ns = (int64_t)((double)c->program_ns / faster + 0.5);
	c->read_ns = (int64_t)((double)c->read_ns / faster + 0.5);
	c->erase_ns = (int64_t)((double)c->erase_ns / faster + 0.5);
	c->dies = dies;
	scale /= faster;
	while (scale >= 1.5) {
		bool shorter = c->superblock_pages > LEAST_PAGES &&
			       (c->superblock_pages > GOOD_PAGES || c->superblocks <= GOOD_SUPERBLOCKS);

		if (shorter) {
			c->superblock_pages /= 2;
			c->erase_ns /= 2;
		} else {
			c->superblocks /= 2;
		}
		scale /= 2;
	}
}

int sl_ssd_ftl_config(const struct sl_dev_spec *spec, uint32_t scale, struct sl_ftl_config *ret,
		      struct sl_err *err)
{
	struct sl_ftl_config c;
	double dies = spec->raw_bytes / spec->die_bytes;

	if (!sl_ssd_has_nand(spec)) {
		return sl_err_set(err, -EINVAL, "its NAND is not known; add raw_size");
	}
	if (spec->raw_bytes <= spec->capacity_bytes) {
		return sl_err_set(err, -EINVAL, "raw_size must be above capacity; correct them");
	}
	if (scale < 1 || scale > 4096 || (scale & (scale - 1)) != 0) {
		return sl_err_set(err, -EINVAL, "scale is a power of two up to 4096");
	}
	memset(&c, 0, sizeof(c));
	c.dies = dies < 1 ? 1 : (int)(dies + 0.5);
	c.channels = (int)spec->channels;
	c.superblock_pages = power_below(spec->superblock_bytes / SL_FTL_PAGE_BYTES, 8192);
	c.superblocks = (int)(spec->raw_bytes / c.dies / (c.superblock_pages * SL_FTL_PAGE_BYTES));
	c.unit_pages = power_below(spec->program_bytes / SL_FTL_PAGE_BYTES, 16);
	c.buffer_units = (int)(spec->buffer_bytes / (c.unit_pages * SL_FTL_PAGE_BYTES));
	c.buffer_units = c.buffer_units < 2 ? 2 : c.buffer_units;
	c.path_ns = sl_transfer_ns(SL_FTL_PAGE_BYTES, spec->ssd_write_bps);
	c.channel_ns = sl_transfer_ns(SL_FTL_PAGE_BYTES, spec->channel_bps);
	c.read_ns = (int64_t)spec->page_read_ns;
	c.program_ns = (int64_t)spec->program_ns;
	c.erase_ns = (int64_t)spec->erase_ns;
	scale_down(&c, scale);
	/* What the powers of two left over. */
	c.superblocks = (int)(spec->raw_bytes / scale / c.dies / (c.superblock_pages * SL_FTL_PAGE_BYTES));
	c.logical_pages = (int64_t)(spec->capacity_bytes / SL_FTL_PAGE_BYTES / scale);
	c.pool_low = round_up_pool(spec->pool_low, c.superblocks);
	c.pool_high = round_up_pool(spec->pool_high, c.superblocks);
	c.pool_refill = spec->pool_refill;
	c.cost_benefit = spec->gc_cost_benefit != 0;
	c.map_ns = (int64_t)spec->map_ns;
	c.map_cached = (int64_t)(spec->map_cached / scale);
	c.map_extent_pages = spec->map_extent_bytes < SL_FTL_PAGE_BYTES
				 ? 1
				 : (int)(spec->map_extent_bytes / SL_FTL_PAGE_BYTES);
	*ret = c;
	return 0;
}

uint32_t sl_ssd_default_scale(const struct sl_dev_spec *spec)
{
	uint32_t scale = 1;

	while (scale < 4096 && spec->raw_bytes / SL_FTL_PAGE_BYTES / scale > SCALED_PAGES) {
		scale *= 2;
	}
	return scale;
}

static int simulate(struct sl_ftl *ftl, const struct sl_ssd_load *load, int64_t span, struct sl_err *err)
{
	if (load->state != SL_SSD_FRESH) {
		sl_ftl_fill(ftl, 0, span);
	}
	if (load->state == SL_SSD_STEADY &&
	    !sl_ftl_churn(ftl, load->seed, (uint32_t)span, STEADY_TURNS * span, load->stopped)) {
		return sl_err_set(err, -EINTR, "interrupted");
	}
	sl_ftl_forget_counters(ftl);
	return 0;
}

int sl_ssd_bring_to(struct sl_ftl *ftl, const struct sl_ssd_load *load, int64_t span, struct sl_err *err)
{
	const char *file = load->state_file;
	/* What the file must have been made for, beside the geometry. */
	uint64_t tag = ((uint64_t)load->state << 56) ^ ((uint64_t)span << 8) ^
		       (load->state == SL_SSD_STEADY ? load->seed : 0);
	int rc;

	if (file && access(file, F_OK) == 0) {
		return sl_ftl_load(ftl, tag, file, err);
	}
	rc = simulate(ftl, load, span, err);
	return rc == 0 && file ? sl_ftl_save(ftl, tag, file, err) : rc;
}

void sl_ssd_report_ftl(const struct sl_ftl *ftl, uint32_t scale, struct sl_ssd_report *ret)
{
	struct sl_ftl_counters n = sl_ftl_counters(ftl);

	ret->has_ftl = true;
	if (n.host_pages > 0) {
		ret->write_amplification =
		    (double)(n.host_pages + n.moved_pages + n.padded_pages) / (double)n.host_pages;
	}
	ret->used_bytes = sl_ftl_used_pages(ftl) * SL_FTL_PAGE_BYTES * scale;
	ret->erases = n.erases;
	sl_ftl_wear(ftl, &ret->wear_min, &ret->wear_mean, &ret->wear_max);
}
