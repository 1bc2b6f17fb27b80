/* How long the parts of a lab waited for a CPU of this machine. */
#ifndef SL_ENGINE_VM_WAITS_H
#define SL_ENGINE_VM_WAITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Since they started; of those that run now. */
struct sl_vm_waits {
	bool known;               /* both were found, and the kernel counts (sl_runwait_ns) */
	int64_t server_wall_ns;   /* the disk server, and the lab's host */
	int64_t machines_wall_ns; /* QEMU: vCPUs and what else the machines need */
};

/* Of the lab whose state folder is `dir`: its process 1 is in DIR/host.pid, all others descend from that. */
void sl_vm_waits_read(const char *dir, struct sl_vm_waits *ret);

/* Part of it, for tests: of process `top` and all below it. Machines are those whose name begins with
 * `machine`. */
void sl_vm_waits_below(pid_t top, const char *machine, struct sl_vm_waits *ret);

#endif
