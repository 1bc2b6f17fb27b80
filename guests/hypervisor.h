/*
 * Virtual machines through libvirt, whose QEMU driver runs inside this process (qemu:///embed): no daemon,
 * and nothing of the user's own machines is seen or touched. One process owns a folder's driver.
 */
#ifndef SL_GUESTS_HYPERVISOR_H
#define SL_GUESTS_HYPERVISOR_H

#include <stdbool.h>

#include "sim/base/err.h"

struct sl_hypervisor;

/* `root` is a folder of ours for the driver's files (made when missing); its path must be short enough for
 * the sockets below it. The first time takes some seconds: QEMU is asked what it can. */
int sl_hypervisor_open(const char *root, struct sl_hypervisor **ret, struct sl_err *err);
/* For tests: any URI of libvirt. */
int sl_hypervisor_open_uri(const char *uri, struct sl_hypervisor **ret, struct sl_err *err);
/* Machines that still run go on running: destroy them before. Accepts NULL. */
void sl_hypervisor_close(struct sl_hypervisor *hypervisor);

struct sl_vm; /* one running machine */

/* Starts the machine that `xml` describes; it is forgotten when it stops. */
int sl_vm_start(struct sl_hypervisor *hypervisor, const char *xml, struct sl_vm **ret, struct sl_err *err);
/* Writes memory and state of a running machine to `path` and stops it; sl_vm_restore goes on from there. */
int sl_vm_save(struct sl_vm *vm, const char *path, struct sl_err *err);
int sl_vm_restore(struct sl_hypervisor *hypervisor, const char *path, const char *name, struct sl_vm **ret,
		  struct sl_err *err);
/* Is it running? */
bool sl_vm_alive(struct sl_vm *vm);
const char *sl_vm_name(const struct sl_vm *vm);
/* Pulls the plug and frees. Accepts NULL. */
void sl_vm_destroy(struct sl_vm *vm);

/* One command of the guest agent as JSON; *ret is its answer, freed by the caller. -ETIME when the agent does
 * not answer within timeout_s, -EIO for its errors. */
int sl_vm_agent(struct sl_vm *vm, const char *command, int timeout_s, char **ret, struct sl_err *err);

#endif
