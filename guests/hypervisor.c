#include "guests/hypervisor.h"

#include <errno.h>
#include <libvirt/libvirt-qemu.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All machines run as we do in our own namespaces, with no help from security drivers, cgroups or log
 * daemons, which are not ours. */
static const char qemu_conf[] = "security_driver = \"none\"\n"
				"security_default_confined = 0\n"
				"dynamic_ownership = 0\n"
				"remember_owner = 0\n"
				"cgroup_controllers = [ ]\n"
				"namespaces = [ ]\n"
				"stdio_handler = \"file\"\n";

/* As root libvirt would choose another user; as a user it cannot. */
static const char qemu_conf_root[] = "user = \"root\"\n"
				     "group = \"root\"\n";

struct sl_hypervisor {
	virConnectPtr connection;
	pthread_t events;
	bool has_events;
	atomic_bool stopping;
};

struct sl_vm {
	virDomainPtr domain;
	char name[64];
};

/* libvirt's own words, in one line. */
static int virt_error(struct sl_err *err, int code, const char *what)
{
	const virError *last = virGetLastError();
	char text[256];

	(void)snprintf(text, sizeof(text), "%s", last && last->message ? last->message : "unknown error");
	for (char *c = text; *c; c++) {
		*c = (char)(*c == '\n' ? ' ' : *c);
	}
	return sl_err_set(err, code, "%s: %s", what, text);
}

/* Without it every error would also be printed on stderr. */
static void quiet(void *arg, virErrorPtr error)
{
	(void)arg;
	(void)error;
}

static void tick(int timer, void *arg)
{
	(void)timer;
	(void)arg;
}

/* The QEMU driver needs somebody to run its event loop. */
static void *events_main(void *arg)
{
	struct sl_hypervisor *hypervisor = arg;

	while (!atomic_load(&hypervisor->stopping)) {
		(void)virEventRunDefaultImpl();
	}
	return NULL;
}

static int events_start(struct sl_hypervisor *hypervisor, struct sl_err *err)
{
	if (virEventRegisterDefaultImpl() < 0) {
		return virt_error(err, -EIO, "libvirt");
	}
	/* Wakes the loop, so that it sees that it shall stop. */
	if (virEventAddTimeout(100, tick, NULL, NULL) < 0 ||
	    pthread_create(&hypervisor->events, NULL, events_main, hypervisor) != 0) {
		return sl_err_set(err, -ENOMEM, "libvirt: no event loop");
	}
	hypervisor->has_events = true;
	return 0;
}

int sl_hypervisor_open_uri(const char *uri, struct sl_hypervisor **ret, struct sl_err *err)
{
	struct sl_hypervisor *hypervisor = calloc(1, sizeof(*hypervisor));
	int rc;

	if (!hypervisor) {
		return sl_err_set(err, -ENOMEM, "libvirt: out of memory");
	}
	virSetErrorFunc(NULL, quiet);
	if (virInitialize() < 0) {
		free(hypervisor);
		return virt_error(err, -EIO, "libvirt");
	}
	rc = events_start(hypervisor, err);
	if (rc == 0) {
		hypervisor->connection = virConnectOpen(uri);
		rc = hypervisor->connection ? 0 : virt_error(err, -EIO, "libvirt");
	}
	if (rc < 0) {
		sl_hypervisor_close(hypervisor);
		return rc;
	}
	*ret = hypervisor;
	return 0;
}

static int conf_write(const char *root, struct sl_err *err)
{
	char path[PATH_MAX];
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/etc/qemu.conf", root) >= (int)sizeof(path)) {
		return sl_err_set(err, -ENAMETOOLONG, "%.200s: path too long", root);
	}
	path[strlen(root) + strlen("/etc")] = '\0';
	(void)mkdir(root, 0700);
	(void)mkdir(path, 0700);
	path[strlen(path)] = '/';
	file = fopen(path, "we");
	if (!file || fputs(qemu_conf, file) < 0 || (geteuid() == 0 && fputs(qemu_conf_root, file) < 0) ||
	    fclose(file) != 0) {
		return sl_err_set(err, -errno, "%s: %s", path, strerror(errno));
	}
	return 0;
}

int sl_hypervisor_open(const char *root, struct sl_hypervisor **ret, struct sl_err *err)
{
	char uri[PATH_MAX + 32];
	int rc = conf_write(root, err);

	if (rc < 0) {
		return rc;
	}
	(void)snprintf(uri, sizeof(uri), "qemu:///embed?root=%s", root);
	return sl_hypervisor_open_uri(uri, ret, err);
}

void sl_hypervisor_close(struct sl_hypervisor *hypervisor)
{
	if (!hypervisor) {
		return;
	}
	if (hypervisor->connection) {
		(void)virConnectClose(hypervisor->connection);
	}
	if (hypervisor->has_events) {
		atomic_store(&hypervisor->stopping, true);
		(void)pthread_join(hypervisor->events, NULL);
	}
	free(hypervisor);
}

static int vm_new(virDomainPtr domain, const char *what, struct sl_vm **ret, struct sl_err *err)
{
	struct sl_vm *vm = domain ? calloc(1, sizeof(*vm)) : NULL;

	if (!domain) {
		return virt_error(err, -EIO, what);
	}
	if (!vm) {
		(void)virDomainDestroy(domain);
		(void)virDomainFree(domain);
		return sl_err_set(err, -ENOMEM, "%s: out of memory", what);
	}
	vm->domain = domain;
	(void)snprintf(vm->name, sizeof(vm->name), "%s", virDomainGetName(domain));
	*ret = vm;
	return 0;
}

int sl_vm_start(struct sl_hypervisor *hypervisor, const char *xml, struct sl_vm **ret, struct sl_err *err)
{
	return vm_new(virDomainCreateXML(hypervisor->connection, xml, VIR_DOMAIN_NONE), "virtual machine",
		      ret, err);
}

int sl_vm_save(struct sl_vm *vm, const char *path, struct sl_err *err)
{
	if (virDomainSave(vm->domain, path) < 0) {
		return virt_error(err, -EIO, vm->name);
	}
	return 0;
}

int sl_vm_restore(struct sl_hypervisor *hypervisor, const char *path, const char *name, struct sl_vm **ret,
		  struct sl_err *err)
{
	if (virDomainRestore(hypervisor->connection, path) < 0) {
		return virt_error(err, -EIO, name);
	}
	return vm_new(virDomainLookupByName(hypervisor->connection, name), name, ret, err);
}

bool sl_vm_alive(struct sl_vm *vm)
{
	return virDomainIsActive(vm->domain) == 1;
}

const char *sl_vm_name(const struct sl_vm *vm)
{
	return vm->name;
}

void sl_vm_destroy(struct sl_vm *vm)
{
	if (!vm) {
		return;
	}
	(void)virDomainDestroy(vm->domain);
	(void)virDomainFree(vm->domain);
	free(vm);
}

int sl_vm_agent(struct sl_vm *vm, const char *command, int timeout_s, char **ret, struct sl_err *err)
{
	char *answer = virDomainQemuAgentCommand(vm->domain, command, timeout_s, 0);

	if (!answer) {
		const virError *last = virGetLastError();
		bool late = last && (last->code == VIR_ERR_AGENT_UNRESPONSIVE ||
				     last->code == VIR_ERR_OPERATION_TIMEOUT);

		return virt_error(err, late ? -ETIME : -EIO, vm->name);
	}
	*ret = answer;
	return 0;
}
