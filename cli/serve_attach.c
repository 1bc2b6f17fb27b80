/* How clients attach what `sloglab serve` serves, and what they should know of it. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "cli/serve.h"

enum {
	ADDRESS_BYTES = 64
};

/* The first address that others reach this machine by. */
static bool own_address(char ret[ADDRESS_BYTES])
{
	struct ifaddrs *all, *at;
	bool found = false;

	if (getifaddrs(&all) < 0) {
		return false;
	}
	for (at = all; at && !found; at = at->ifa_next) {
		struct sockaddr_in in;

		if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET ||
		    (at->ifa_flags & IFF_LOOPBACK) != 0 || (at->ifa_flags & IFF_UP) == 0) {
			continue;
		}
		memcpy(&in, at->ifa_addr, sizeof(in));
		found = inet_ntop(AF_INET, &in.sin_addr, ret, ADDRESS_BYTES) != NULL;
	}
	freeifaddrs(all);
	return found;
}

/* Where clients find the server; all addresses are none that one could dial. */
static void client_address(const char *bind, char ret[ADDRESS_BYTES])
{
	if (strcmp(bind, "0.0.0.0") != 0) {
		(void)snprintf(ret, ADDRESS_BYTES, "%s", bind);
	} else if (!own_address(ret)) {
		(void)snprintf(ret, ADDRESS_BYTES, "THIS-HOST");
	}
}

static void room_print(struct sl_datastore *ds, const struct sl_serve_attach *attach)
{
	struct sl_fsstat room;

	if (sl_datastore_fsstat(ds, &room) == 0 && room.total_bytes < attach->pool_bytes) {
		printf("room     %.0f GB of the pool's %.0f GB: %s has no more\n",
		       (double)room.total_bytes / 1e9, (double)attach->pool_bytes / 1e9, attach->dir);
	}
}

void sl_serve_attach_print(struct sl_datastore *ds, const struct sl_serve_attach *attach)
{
	unsigned nfs = sl_datastore_nfs_port(ds), mount = sl_datastore_mount_port(ds);
	const char *export = attach->export_path;
	bool loopback = strncmp(attach->bind, "127.", 4) == 0;
	char host[ADDRESS_BYTES];

	client_address(attach->bind, host);
	printf("Linux    mount -t nfs -o vers=3,tcp,nolock,port=%u,mountport=%u %s:%s /mnt\n", nfs, mount,
	       host, export);
	printf("libnfs   nfs://%s%s/?nfsport=%u&mountport=%u\n", host, export, nfs, mount);
	if (attach->portmap) {
		printf("QEMU     -drive file=nfs://%s%s/disk.img,format=raw\n", host, export);
		printf("Proxmox  pvesm add nfs sloglab --server %s --export %s --content images "
		       "--options vers=3,nolock\n",
		       host, export);
		printf("ESXi     esxcli storage nfs add --host=%s --share=%s --volume-name=sloglab\n", host,
		       export);
	} else {
		puts("QEMU, Proxmox and ESXi ask a portmapper: run as root with --portmap-port 111");
	}
	if (loopback) {
		puts("access   from this machine only; others need --bind with one of its addresses");
	} else {
		printf("access   everybody who reaches %s: NFSv3 clients are not authenticated; a firewall "
		       "is up to you\n",
		       attach->bind);
	}
	room_print(ds, attach);
}
