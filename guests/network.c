#include "guests/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int failed(struct sl_err *err, const char *what, const char *remedy)
{
	int code = errno;

	return sl_err_set(err, -code, "network of the lab: %s: %s%s", what, strerror(code),
			  code == EPERM || code == EACCES || code == ENOENT ? remedy : "");
}

static struct ifreq named(const char *name)
{
	struct ifreq request = {0};

	(void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	return request;
}

static int link_up(int fd, const char *name)
{
	struct ifreq request = named(name);

	request.ifr_flags = IFF_UP | IFF_RUNNING;
	return ioctl(fd, SIOCSIFFLAGS, &request);
}

static int address_set(int fd, unsigned long what, const char *name, in_addr_t address)
{
	struct ifreq request = named(name);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = address};

	memcpy(&request.ifr_addr, &at, sizeof(at));
	return ioctl(fd, what, &request);
}

int sl_network_up(struct sl_err *err)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = 0;

	if (fd < 0) {
		return failed(err, "socket", "");
	}
	if (ioctl(fd, SIOCBRADDBR, SL_NET_BRIDGE) < 0) {
		rc = failed(err, "bridge",
			    "; it needs the kernel module bridge, and a network namespace of its own");
	} else if (address_set(fd, SIOCSIFADDR, SL_NET_BRIDGE, inet_addr(SL_NET_HOST)) < 0 ||
		   address_set(fd, SIOCSIFNETMASK, SL_NET_BRIDGE, htonl(~0u << (32 - SL_NET_BITS))) < 0 ||
		   link_up(fd, SL_NET_BRIDGE) < 0 || link_up(fd, "lo") < 0) {
		rc = failed(err, "address of the bridge", "");
	}
	close(fd);
	return rc;
}

static int tap_make(const char *name, struct sl_err *err)
{
	struct ifreq request = named(name);
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	int rc = 0;

	if (fd < 0) {
		return failed(err, "/dev/net/tun", "; modprobe tun, and run as root or make it writable");
	}
	request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
	if (ioctl(fd, TUNSETIFF, &request) < 0 || ioctl(fd, TUNSETPERSIST, 1) < 0) {
		rc = failed(err, name, "; run as root");
	}
	close(fd);
	return rc;
}

int sl_network_plug(const char *name, bool plugged, struct sl_err *err)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq port = named(SL_NET_BRIDGE), index = named(name);
	int rc = 0;

	if (fd < 0) {
		return failed(err, "socket", "");
	}
	if (ioctl(fd, SIOCGIFINDEX, &index) < 0) {
		rc = failed(err, name, "");
	} else {
		port.ifr_ifindex = index.ifr_ifindex;
		if (ioctl(fd, plugged ? SIOCBRADDIF : SIOCBRDELIF, &port) < 0 || link_up(fd, name) < 0) {
			rc = failed(err, name, "");
		}
	}
	close(fd);
	return rc;
}

int sl_network_tap(const char *name, struct sl_err *err)
{
	int rc = tap_make(name, err);

	return rc < 0 ? rc : sl_network_plug(name, true, err);
}
