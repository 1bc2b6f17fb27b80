#include "sim/zfs/placed.h"

static uint64_t key_of(uint64_t file, uint64_t record)
{
	return file << 40 ^ record;
}

void sl_placed_fini(struct sl_placed *placed)
{
	sl_keyset_fini(&placed->records);
}

bool sl_placed_add(struct sl_placed *placed, uint64_t txg, uint64_t file, uint64_t record)
{
	return txg != placed->txg || sl_keyset_add(&placed->records, key_of(file, record));
}

bool sl_placed_drop(struct sl_placed *placed, uint64_t file, uint64_t record)
{
	return sl_keyset_drop(&placed->records, key_of(file, record));
}

uint32_t sl_placed_close(struct sl_placed *placed, uint64_t next)
{
	uint32_t count = placed->records.count;

	sl_keyset_clear(&placed->records);
	placed->txg = next;
	return count;
}
