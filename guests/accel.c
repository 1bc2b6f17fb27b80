#include "guests/accel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ENTRIES 256
#define LEAF_FEATURES 1u
#define SSE3 1u /* leaf 1, ECX bit 0 */
#define LEAF_EXTENDED 0x80000001u
#define LONG_MODE (1u << 29) /* EDX */

static bool cpu_boots(int kvm)
{
	struct kvm_cpuid2 *cpuid = calloc(1, sizeof(*cpuid) + ENTRIES * sizeof(cpuid->entries[0]));
	bool sse3 = false, long_mode = false;

	if (!cpuid) {
		return false;
	}
	cpuid->nent = ENTRIES;
	if (ioctl(kvm, KVM_GET_SUPPORTED_CPUID, cpuid) == 0) {
		for (unsigned i = 0; i < cpuid->nent; i++) {
			const struct kvm_cpuid_entry2 *leaf = &cpuid->entries[i];

			sse3 = sse3 || (leaf->function == LEAF_FEATURES && (leaf->ecx & SSE3));
			long_mode = long_mode || (leaf->function == LEAF_EXTENDED && (leaf->edx & LONG_MODE));
		}
	}
	free(cpuid);
	return sse3 && long_mode;
}

bool sl_accel_kvm(char *why, size_t size)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	bool boots;

	if (kvm < 0) {
		(void)snprintf(why, size, "/dev/kvm: %s; QEMU emulates the CPU (TCG)", strerror(errno));
		return false;
	}
	boots = cpu_boots(kvm);
	close(kvm);
	(void)snprintf(
	    why, size, "%s",
	    boots ? "KVM"
		  : "/dev/kvm is there, but its CPUs lack what a kernel needs to boot; QEMU emulates "
		    "the CPU (TCG)");
	return boots;
}
