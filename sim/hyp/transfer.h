/*
 * How much one READ or WRITE of a client carries.
 *
 * ESXi's NFSv3 client: 64 KiB. Linux and libnfs take what the server offers, up to 1 MiB
 * (NFS_MAX_FILE_IO_SIZE in include/linux/nfs_xdr.h; NFS_MAX_XFER_SIZE in libnfs), and the server is taken for
 * Linux's: the largest of 1 MiB / 2^n that is at most a 4096th of the memory its kernel has to give
 * (nfsd_get_default_max_blksize in fs/nfsd/nfssvc.c): 128 KiB in a VM of 1 GiB, 512 KiB in one of 4, 1 MiB
 * from about 4.3 GiB.
 */
#ifndef SL_HYP_TRANSFER_H
#define SL_HYP_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/box/box.h"

/* rsize or wsize of the box's mount, bytes: params.hyp.rsize, params.hyp.wsize where they are not 0, else the
 * client's own. */
uint32_t sl_nfs_rsize(const struct sl_box *box);
uint32_t sl_nfs_wsize(const struct sl_box *box);

#endif
