/*
 * The pool of a lab as commands for the shell of its storage VM (zpool-create(8), zfsprops(7)): what the
 * scenario's box says of it, over the lab's disks, which the storage VM names by serial number.
 *
 * Each fills `text`; -E2BIG when it does not fit.
 */
#ifndef SL_GUESTS_LAB_POOL_H
#define SL_GUESTS_LAB_POOL_H

#include <stddef.h>

#include "guests/lab.h"

#define SL_LAB_POOL_TEXT_MAX 8192
#define SL_LAB_POOL_KEY_BYTES 32 /* of AES-256 */

/* Pool and dataset, without a log. With native encryption the key must be in place. */
int sl_lab_pool_create(const struct sl_lab_config *config, char *text, size_t size);
/* What can be changed while the pool lives. */
int sl_lab_pool_properties(const struct sl_box *box, char *text, size_t size);
/* n >= 1 log vdevs into the pool, and those out of it. */
int sl_lab_pool_log_add(const struct sl_lab_config *config, const struct sl_lab_vdev *logs, int n, char *text,
			size_t size);
int sl_lab_pool_log_remove(const struct sl_lab_config *config, const struct sl_lab_vdev *logs, int n,
			   char *text, size_t size);
/* After a restart of the storage VM. With native encryption the key must be in place. */
int sl_lab_pool_import(const struct sl_lab_config *config, char *text, size_t size);

/* Is the pool one with native encryption? */
bool sl_lab_pool_encrypted(const struct sl_lab_config *config);
/* Puts the key in place: a file in the storage VM's memory. */
int sl_lab_pool_key(const unsigned char key[SL_LAB_POOL_KEY_BYTES], char *text, size_t size);

#endif
