/* What runs the virtual machines: KVM where it is there and good for anything, else QEMU's emulation (TCG).
 */
#ifndef SL_GUESTS_ACCEL_H
#define SL_GUESTS_ACCEL_H

#include <stdbool.h>
#include <stddef.h>

/* Can KVM run a 64-bit Linux here? `why` says what was found, as a sentence without its full stop. A device
 * that opens is not enough: some hosts offer KVM with CPUs that no kernel boots on. */
bool sl_accel_kvm(char *why, size_t size);

#endif
