/* Domain XML of the lab's virtual machines, for libvirt: https://libvirt.org/formatdomain.html */
#ifndef SL_GUESTS_DOMAIN_XML_H
#define SL_GUESTS_DOMAIN_XML_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

#define SL_DOMAIN_DISKS_MAX 40

/* A SCSI disk as the machine sees it. Strings are borrowed. */
struct sl_domain_disk {
	const char *serial;
	const char *vendor, *product; /* at most 8 and 16 characters are visible; NULL = QEMU's own */
	int rotation_rate;            /* rpm; 1 = not rotating; 0 = not said */
	/* Where it is: an NBD export on a unix socket, or a file on an NFS server (QEMU's libnfs driver). */
	const char *nbd_socket, *nbd_export;
	const char *nfs_host, *nfs_path;
	const char *cache; /* "none", "writethrough" (a flush after each write), "unsafe" (none) */
};

/* Strings are borrowed. */
struct sl_domain {
	const char *name;
	bool kvm;
	int vcpus;
	int64_t memory_bytes;
	const char *kernel, *initrd, *cmdline;
	const char *tap, *mac;      /* of the only network card */
	const char *nic_model;      /* "virtio", "e1000" */
	const char *serial_log;     /* file that gets what the first serial port says */
	const char *console_socket; /* unix socket of that port */
	const char *agent_socket;   /* of the guest agent's channel; NULL = libvirt chooses */
	const char *emulator;       /* QEMU */
	int n_disks;
	struct sl_domain_disk disks[SL_DOMAIN_DISKS_MAX];
};

/* *ret is the document, to be freed by the caller. -ENOMEM. */
int sl_domain_xml(const struct sl_domain *domain, char **ret, struct sl_err *err);

#endif
