/* A drive that finds no memory for one of its tables is refused, whichever table that is. */
#include "tests/unit/device/ftl_rig.h"

#include <sys/mman.h>

/* The linker sends what the drive asks for here. */
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);

static int asked,
    refused; /* how often memory was asked for, and which time there is none; 0: there always is */

static bool is_refused(void)
{
	return ++asked == refused;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return is_refused() ? NULL : __real_aligned_alloc(alignment, size);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return is_refused() ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd, offset);
}

/* The drive itself, four tables of pages (one is for a map that is a tree), eight of superblocks and dies
 * (one is for the choice by cost and benefit). */
Test(ftl_memory, a_drive_without_memory_for_one_of_its_13_tables_is_refused)
{
	struct sl_ftl_config config = small_drive();
	struct sl_ftl *ftl = NULL;
	struct sl_err err = {0};

	config.map_ns = 500;
	config.cost_benefit = true;
	for (int nth = 1; nth <= 13; nth++) {
		asked = 0;
		refused = nth;
		cr_assert_eq(sl_ftl_new(&config, &ftl, &err), -ENOMEM, "%d", nth);
		cr_assert_null(ftl);
	}
	asked = 0;
	refused = 0;
	cr_assert_eq(sl_ftl_new(&config, &ftl, &err), 0, "%s", err.msg);
	cr_assert_eq(asked, 13);
	check(ftl);
	sl_ftl_free(ftl);
}
