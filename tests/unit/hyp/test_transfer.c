#include <criterion/criterion.h>

#include "sim/hyp/transfer.h"

#define GIB 0x1p30
#define KIB 1024

/* fs/nfsd/nfssvc.c: 1 MiB, halved while it is more than a 4096th of the memory; the VM's kernel keeps 7 % of
 * it. Counted on real servers: 128 KiB at 1 GiB, 512 KiB at 4 GiB, 1 MiB from about 4.3 GiB. */
Test(transfer, a_client_takes_its_own_size_or_the_servers)
{
	static const struct {
		int client;
		double memory_bytes, stated_bytes;
		uint32_t expected_kib;
	} cases[] = {
	    {SL_CLIENT_LINUX, 1 * GIB, 0, 128},
	    {SL_CLIENT_LINUX, 4 * GIB, 0, 512},
	    {SL_CLIENT_LINUX, 4.3 * GIB, 0, 1024},
	    {SL_CLIENT_LINUX, 64 * GIB, 0, 1024},
	    {SL_CLIENT_LIBNFS, 4 * GIB, 0, 512},
	    {SL_CLIENT_LIBNFS, 64 * GIB, 0, 1024},
	    {SL_CLIENT_ESXI, 1 * GIB, 0, 64},
	    {SL_CLIENT_ESXI, 64 * GIB, 0, 64},
	    {SL_CLIENT_ESXI, 0.25 * GIB, 0, 32}, /* 60 KiB are not 64 */
	    {SL_CLIENT_LINUX, 64 * GIB, 256 * KIB, 256},
	    {SL_CLIENT_LINUX, 1 * GIB, 256 * KIB, 128}, /* mount -o wsize= asks, the server decides */
	    {SL_CLIENT_ESXI, 64 * GIB, 128 * KIB, 128},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sl_box read = {.client = cases[i].client,
					    .nas_memory_bytes = cases[i].memory_bytes,
					    .hyp_rsize_bytes = cases[i].stated_bytes};
		struct sl_box write = read;

		write.hyp_rsize_bytes = 0;
		write.hyp_wsize_bytes = cases[i].stated_bytes;
		cr_expect_eq(sl_nfs_rsize(&read), cases[i].expected_kib * KIB, "case %zu: %u", i,
			     sl_nfs_rsize(&read));
		cr_expect_eq(sl_nfs_wsize(&write), cases[i].expected_kib * KIB, "case %zu: %u", i,
			     sl_nfs_wsize(&write));
	}
}
