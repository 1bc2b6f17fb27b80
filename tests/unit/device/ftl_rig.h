/* A small drive for the tests of the flash translation layer. */
#ifndef SL_TESTS_DEVICE_FTL_RIG_H
#define SL_TESTS_DEVICE_FTL_RIG_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/device/ftl.h"

/* 4 dies of 64 superblocks of 64 pages: 16384 pages, 12800 of them usable. */
static inline struct sl_ftl_config small_drive(void)
{
	return (struct sl_ftl_config){
	    .logical_pages = 12800,
	    .dies = 4,
	    .channels = 2,
	    .superblocks = 64,
	    .superblock_pages = 64,
	    .unit_pages = 4,
	    .buffer_units = 16,
	    .path_ns = 10000,
	    .channel_ns = 20000,
	    .read_ns = 75000,
	    .program_ns = 400000,
	    .erase_ns = 3000000,
	    .pool_low = 2,
	    .pool_high = 2,
	    .pool_refill = 1,
	    .map_extent_pages = 16,
	};
}

static inline struct sl_ftl *drive_new(const struct sl_ftl_config *config)
{
	struct sl_ftl *ftl = NULL;
	struct sl_err err = {0};

	cr_assert_eq(sl_ftl_new(config, &ftl, &err), 0, "%s", err.msg);
	return ftl;
}

static inline void check(const struct sl_ftl *ftl)
{
	struct sl_err err = {0};

	cr_assert_eq(sl_ftl_check(ftl, &err), 0, "%s", err.msg);
}

/* Writes one page at now_ns or when there is room; returns when it is in the buffer. */
static inline int64_t write_page(struct sl_ftl *ftl, uint32_t page, int64_t now_ns)
{
	int64_t room_ns = sl_ftl_room_ns(ftl, 0);

	now_ns = room_ns > now_ns ? room_ns : now_ns;
	sl_ftl_map_command(ftl, now_ns, page, 1);
	sl_ftl_write(ftl, &page, &now_ns, 1);
	return now_ns;
}

static inline double amplification(const struct sl_ftl *ftl)
{
	struct sl_ftl_counters n = sl_ftl_counters(ftl);

	return (double)(n.host_pages + n.moved_pages + n.padded_pages) / (double)n.host_pages;
}

#endif
