/* Private to the flash translation layer: its state. */
#ifndef SL_DEVICE_FTL_INNER_H
#define SL_DEVICE_FTL_INNER_H

#include "sim/device/ftl.h"

#define SL_FTL_OPEN 0x4000   /* in valid[]: free or being written, not to be collected */
#define SL_FTL_ABSENT 0x7fff /* in valid[]: fills a die's row up to whole vectors */
#define SL_FTL_ROW 32        /* entries of valid[] per vector step */

/* What garbage collection costs a die, beside a host unit or as a whole. */
struct sl_ftl_cost {
	int64_t path_ns, channel_ns, die_ns;
};

enum sl_ftl_pool {
	SL_FTL_LAZY,   /* nothing to do while the pool lasts: a fresh drive, or one that had time */
	SL_FTL_REFILL, /* the pool ran low and grows again */
	SL_FTL_PACED   /* as much is collected as is written */
};

struct sl_ftl_die {
	uint32_t host_next, host_end; /* where the host's pages go next; equal: none open */
	uint32_t move_next, move_end; /* where collected pages go */
	uint32_t free_head, free_count;
	uint32_t channel;
	enum sl_ftl_pool pool;
	double refill_credit;
	struct sl_ftl_cost gc; /* charged to each host unit of the open superblock */
	int64_t free_ns;       /* when the die is next free */
};

struct sl_ftl {
	struct sl_ftl_config config;
	uint32_t *map;     /* host page -> NAND page + 1, 0: none */
	uint32_t *reverse; /* NAND page -> host page, where the valid bit is set */
	uint64_t *bits;    /* valid NAND pages; all set in superblocks being written */
	int16_t *valid;    /* valid pages of each superblock, and SL_FTL_OPEN */
	uint32_t *erases;  /* of each superblock */
	uint32_t *closed;  /* when each was full, in `clock`; cost-benefit only, else NULL */
	uint32_t *pool;    /* rings of free superblocks, one row per die */
	uint64_t
	    *joined; /* host page continues the extent of the one before; tree-shaped map only, else NULL */
	uint32_t *moving; /* host pages of the victim at hand */
	struct sl_ftl_die *dies;
	int64_t *channel_free_ns;
	int64_t *drained_ns; /* ring over the buffer's units: when each is programmed */
	uint32_t shift;      /* NAND page >> shift is the superblock */
	uint32_t row;        /* superblocks of a die with padding */
	uint32_t die;        /* that the host's open unit goes to */
	uint32_t unit_left;  /* pages missing in the open unit */
	uint32_t ring;       /* place of the open unit in drained_ns */
	uint32_t clock;      /* superblocks filled so far */
	uint32_t wanting;    /* dies below pool_high */
	uint32_t at_work;    /* dies whose pool is not SL_FTL_LAZY */
	uint32_t stream_end; /* where the latest host command ended */
	int64_t path_free_ns;
	int64_t last_ns; /* when all units handed to the dies are programmed */
	int64_t used_pages, extents;
	struct sl_ftl_counters counters;
};

static inline uint32_t sl_ftl_superblock(const struct sl_ftl *ftl, uint32_t die, uint32_t index)
{
	return die * ftl->row + index;
}

static inline void sl_ftl_invalidate(struct sl_ftl *ftl, uint32_t nand_page)
{
	ftl->bits[nand_page >> 6] &= ~(UINT64_C(1) << (nand_page & 63));
	ftl->valid[nand_page >> ftl->shift]--;
}

/* Opens a superblock for the host's pages on `die`, after collecting what the pool asks for. False when the
 * die is so full that nothing can be gained. */
bool sl_ftl_open_host(struct sl_ftl *ftl, uint32_t die);

/* One update of a tree-shaped map at a random place: what is not in memory costs. */
static inline int64_t sl_ftl_update_ns(const struct sl_ftl *ftl)
{
	int64_t missing = ftl->extents - ftl->config.map_cached;

	if (missing <= 0) {
		return 0;
	}
	return (int64_t)((double)ftl->config.map_ns * (double)missing / (double)ftl->extents);
}

/* Number of NAND pages, padding included. */
static inline uint64_t sl_ftl_nand_pages(const struct sl_ftl *ftl)
{
	return (uint64_t)ftl->config.dies * ftl->row * (uint64_t)ftl->config.superblock_pages;
}

#endif
