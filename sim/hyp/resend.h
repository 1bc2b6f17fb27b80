/*
 * What an NFS client does when the server comes back after a crash. Requests without an answer are sent again
 * by all (hard mounts, libnfs's queue). What was answered UNSTABLE is the client's to keep until a COMMIT
 * returns the verifier of the answers; a restarted server has a new one (RFC 1813, 3.3.7 and 3.3.21).
 */
#ifndef SL_HYP_RESEND_H
#define SL_HYP_RESEND_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/box/box.h"
#include "sim/store/ledger.h"

/* "esxi", "libnfs", "linux" */
const char *sl_nfs_client_name(enum sl_nfs_client client);

/* The client that the virtual disks of the box are behind. */
enum sl_nfs_client sl_nfs_client_of(const struct sl_box *box);

/* Will the client send the write again after a crash of the server at `at_ns`? */
bool sl_nfs_client_resends(enum sl_nfs_client client, const struct sl_ledger_write *write, int64_t at_ns);

#endif
