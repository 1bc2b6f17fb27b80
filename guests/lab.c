#include "guests/lab.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "guests/agent.h"
#include "guests/hypervisor.h"
#include "guests/lab_pool.h"
#include "guests/network.h"
#include "guests/process.h"
#include "sim/base/clock.h"

#define MEMORY_MAX (INT64_C(1) << 30)
#define MEMORY_MIN (INT64_C(512) << 20)
/* Under TCG on a busy machine; a quiet one needs a tenth. */
#define BOOT_MS 300000
#define STEP_MS 180000
#define COPY_MS 600000
#define DOWN_MS 30000
#define POLL_MS 100
#define TAP_STORAGE "tap-storage"
#define AS_ROOT "?uid=0&gid=0" /* the owner of the export, whoever runs the lab */
#define PROGRAM "/usr/bin/qemu-system-x86_64"

struct sl_lab {
	struct sl_lab_config config;
	struct sl_hypervisor *hypervisor;
	struct sl_vm *vm[2];
	unsigned char key[SL_LAB_POOL_KEY_BYTES]; /* of an encrypted pool */
	int n_logs;                               /* in the pool */
	struct sl_lab_vdev logs[SL_BOX_LOG_MAX];
};

static const char *role(enum sl_lab_machine machine)
{
	return machine == SL_LAB_STORAGE ? "storage" : "guest";
}

static void say(const struct sl_lab *lab, const char *what)
{
	if (lab->config.progress) {
		lab->config.progress(lab->config.arg, what);
	}
}

void sl_lab_memory(const struct sl_box *box, int64_t *ret_storage_bytes, int64_t *ret_guest_bytes)
{
	double storage = box->nas_memory_bytes, guest = box->guest_memory_bytes;

	*ret_storage_bytes = storage > (double)MEMORY_MAX ? MEMORY_MAX : (int64_t)storage;
	*ret_guest_bytes = guest > (double)MEMORY_MAX ? MEMORY_MAX : (int64_t)guest;
	*ret_storage_bytes = *ret_storage_bytes < MEMORY_MIN ? MEMORY_MIN : *ret_storage_bytes;
	*ret_guest_bytes = *ret_guest_bytes < MEMORY_MIN ? MEMORY_MIN : *ret_guest_bytes;
}

int sl_lab_timer_s(double ns, double dilate)
{
	double s = ns / 1e9 * dilate;

	return s < 1 ? 1 : (int)(s + 0.5);
}

/* Domains */

static void disks_fill(const struct sl_lab_config *config, struct sl_domain *ret, struct sl_lab_text *text)
{
	for (int i = 0; i < config->n_disks; i++) {
		const struct sl_lab_disk *disk = &config->disks[i];

		(void)snprintf(text->products[i], sizeof(text->products[i]), "%.16s", disk->spec->name);
		ret->disks[ret->n_disks++] = (struct sl_domain_disk){
		    .serial = disk->serial,
		    .vendor = "SLOGLAB",
		    .product = text->products[i],
		    .rotation_rate = disk->spec->kind == SL_DEV_HDD ? (int)disk->spec->rpm : 1,
		    .nbd_socket = config->nbd_socket,
		    .nbd_export = disk->serial,
		    .cache = "none"};
	}
}

void sl_lab_domain(const struct sl_lab_config *config, enum sl_lab_machine machine, struct sl_domain *ret,
		   struct sl_lab_text *text)
{
	static const char *const caches[] = {"none", "writethrough",
					     "unsafe"}; /* in the order of the words */
	bool storage = machine == SL_LAB_STORAGE;
	const char *image = storage ? config->storage_image : config->guest_image;
	int64_t memory[2];

	sl_lab_memory(config->box, &memory[SL_LAB_STORAGE], &memory[SL_LAB_GUEST]);
	(void)snprintf(text->tap, sizeof(text->tap), "tap-%s", role(machine));
	(void)snprintf(text->mac, sizeof(text->mac), "52:54:00:77:00:0%d", storage ? 2 : 3);
	(void)snprintf(text->log, sizeof(text->log), "%s/%s.serial", config->dir, role(machine));
	(void)snprintf(text->console, sizeof(text->console), "%s/%s.console", config->dir, role(machine));
	(void)snprintf(text->agent, sizeof(text->agent), "%s/%s.agent", config->dir, role(machine));
	(void)snprintf(text->kernel, sizeof(text->kernel), "%s/vmlinuz", image);
	(void)snprintf(text->initrd, sizeof(text->initrd), "%s/initramfs", image);
	(void)snprintf(text->cmdline, sizeof(text->cmdline), "%s sl.ip=%s/%d",
		       storage ? config->storage_cmdline : config->guest_cmdline,
		       storage ? SL_NET_STORAGE : SL_NET_GUEST, SL_NET_BITS);
	if (storage) {
		size_t used = strlen(text->cmdline);

		(void)snprintf(text->cmdline + used, sizeof(text->cmdline) - used,
			       " sl.nfsd=%d zfs.zfs_txg_timeout=%d", (int)config->box->nfsd_threads,
			       sl_lab_timer_s(config->box->txg_timeout_ns, config->dilate));
	}
	*ret = (struct sl_domain){.name = role(machine),
				  .kvm = config->kvm,
				  .vcpus = 1,
				  .memory_bytes = memory[machine],
				  .kernel = text->kernel,
				  .initrd = text->initrd,
				  .cmdline = text->cmdline,
				  .tap = text->tap,
				  .mac = text->mac,
				  .nic_model = "virtio",
				  .serial_log = text->log,
				  .console_socket = text->console,
				  .agent_socket = text->agent,
				  .emulator = PROGRAM};
	if (config->kvm) {
		/* TCG gains nothing from a second one. */
		ret->vcpus = (int)(storage ? config->box->nas_vcpus : config->box->guest_vcpus);
	}
	if (storage) {
		disks_fill(config, ret, text);
	} else {
		ret->disks[ret->n_disks++] =
		    (struct sl_domain_disk){.serial = "guest",
					    .nfs_host = SL_NET_STORAGE,
					    .nfs_path = SL_LAB_GUEST_DISK,
					    .cache = caches[config->box->disk_cache]};
	}
}

/* Machines */

/* Has the machine said so on its serial port? 1 = ready, -1 = it said what is wrong (in `words`). */
static int serial_says(const char *path, char *words, size_t size)
{
	FILE *file = fopen(path, "re");
	char line[512];
	int says = 0;

	while (file && says == 0 && fgets(line, sizeof(line), file)) {
		char *marker = strstr(line, "SLOGLAB ");

		line[strcspn(line, "\r\n")] = '\0';
		if (marker && strstr(marker, " ready ")) {
			says = 1;
		} else if (marker && strstr(marker, "failed: ")) {
			(void)snprintf(words, size, "%s", strstr(marker, "failed: ") + strlen("failed: "));
			says = -1;
		}
	}
	if (file) {
		(void)fclose(file);
	}
	return says;
}

static int vm_wait(struct sl_lab *lab, enum sl_lab_machine machine, const char *serial, struct sl_err *err)
{
	int64_t end_ms = sl_clock_ms() + BOOT_MS;
	char words[200] = "";
	int says;

	for (;;) {
		says = serial_says(serial, words, sizeof(words));
		if (says > 0 && sl_agent_answers(lab->vm[machine])) {
			return 0;
		}
		if (says < 0) {
			return sl_err_set(err, -EIO, "%s VM: %s; see %s", role(machine), words, serial);
		}
		if (!sl_vm_alive(lab->vm[machine])) {
			return sl_err_set(err, -EIO, "%s VM: it died while it started; see %s", role(machine),
					  serial);
		}
		if (lab->config.stopped && lab->config.stopped()) {
			return sl_err_set(err, -EINTR, "interrupted");
		}
		if (sl_clock_ms() > end_ms) {
			return sl_err_set(err, -ETIME, "%s VM: not ready after %d s; see %s", role(machine),
					  BOOT_MS / 1000, serial);
		}
		(void)poll(NULL, 0, POLL_MS);
	}
}

static int vm_up(struct sl_lab *lab, enum sl_lab_machine machine, struct sl_err *err)
{
	struct sl_lab_text *text = malloc(sizeof(*text));
	struct sl_domain *domain = malloc(sizeof(*domain));
	char *xml = NULL;
	int rc = -ENOMEM;

	if (text && domain) {
		sl_lab_domain(&lab->config, machine, domain, text);
		rc = sl_domain_xml(domain, &xml, err);
	} else {
		(void)sl_err_set(err, -ENOMEM, "lab: out of memory");
	}
	if (rc == 0) {
		(void)unlink(text->log);
		sl_lab_kill(lab, machine); /* what is left of one that died */
		rc = sl_vm_start(lab->hypervisor, xml, &lab->vm[machine], err);
	}
	if (rc == 0) {
		rc = vm_wait(lab, machine, text->log, err);
	}
	if (rc < 0) {
		sl_lab_kill(lab, machine);
	}
	free(xml);
	free(text);
	free(domain);
	return rc;
}

/* One shell command in the storage VM. *ret may be NULL. */
static int storage_run(struct sl_lab *lab, char **ret, struct sl_err *err, const char *shell)
{
	if (!lab->vm[SL_LAB_STORAGE]) {
		return sl_err_set(err, -EIO, "storage VM: it does not run");
	}
	return sl_agent_run(lab->vm[SL_LAB_STORAGE], shell, STEP_MS, lab->config.stopped, ret, err);
}

/* Pool */

static int ext4_mount(struct sl_lab *lab, struct sl_err *err)
{
	char command[256];

	(void)snprintf(command, sizeof(command), "sl-storage ext4 %s " SL_LAB_EXPORT,
		       lab->config.disks[0].serial);
	return storage_run(lab, NULL, err, command);
}

static int export(struct sl_lab *lab, struct sl_err *err)
{
	return storage_run(lab, NULL, err, "sl-storage export " SL_LAB_EXPORT " " SL_NET_CIDR);
}

/* `rc` of a command's text, and the command. */
static int pool_run(struct sl_lab *lab, int rc, const char *command, struct sl_err *err)
{
	return rc < 0 ? sl_err_set(err, rc, "pool: too many disks") : storage_run(lab, NULL, err, command);
}

/* The key lives as long as the lab: its disks do not live longer. */
static int pool_key(struct sl_lab *lab, struct sl_err *err)
{
	char command[SL_LAB_POOL_TEXT_MAX];

	if (!sl_lab_pool_encrypted(&lab->config)) {
		return 0;
	}
	return pool_run(lab, sl_lab_pool_key(lab->key, command, sizeof(command)), command, err);
}

/* A pool, or ext4 in its place. */
static int store_create(struct sl_lab *lab, struct sl_err *err)
{
	char command[SL_LAB_POOL_TEXT_MAX];
	int rc;

	if (lab->config.ext4) {
		return ext4_mount(lab, err);
	}
	if (getrandom(lab->key, sizeof(lab->key), 0) != (ssize_t)sizeof(lab->key)) {
		return sl_err_set(err, -errno, "pool: no random key: %s", strerror(errno));
	}
	rc = pool_key(lab, err);
	if (rc == 0) {
		rc = pool_run(lab, sl_lab_pool_create(&lab->config, command, sizeof(command)), command, err);
	}
	return rc < 0 ? rc : sl_lab_pool_set(lab, lab->config.box, NULL, 0, err);
}

static int pool_create(struct sl_lab *lab, struct sl_err *err)
{
	int rc = store_create(lab, err);

	return rc < 0 ? rc : export(lab, err);
}

static bool same_logs(const struct sl_lab *lab, const struct sl_lab_vdev *logs, int n)
{
	return n == lab->n_logs && (n == 0 || memcmp(logs, lab->logs, (size_t)n * sizeof(*logs)) == 0);
}

int sl_lab_pool_set(struct sl_lab *lab, const struct sl_box *box, const struct sl_lab_vdev *logs, int n,
		    struct sl_err *err)
{
	char command[SL_LAB_POOL_TEXT_MAX];
	int rc;

	if (lab->config.ext4) {
		return n == 0 ? 0 : sl_err_set(err, -EINVAL, "lab: an ext4 export has no log devices");
	}
	rc = pool_run(lab, sl_lab_pool_properties(box, command, sizeof(command)), command, err);
	if (rc < 0 || same_logs(lab, logs, n)) {
		return rc;
	}
	if (lab->n_logs > 0) {
		rc = sl_lab_pool_log_remove(&lab->config, lab->logs, lab->n_logs, command, sizeof(command));
		rc = pool_run(lab, rc, command, err);
		lab->n_logs = rc == 0 ? 0 : lab->n_logs;
	}
	if (rc == 0 && n > 0) {
		rc = sl_lab_pool_log_add(&lab->config, logs, n, command, sizeof(command));
		rc = pool_run(lab, rc, command, err);
	}
	if (rc == 0 && n > 0) {
		memcpy(lab->logs, logs, (size_t)n * sizeof(*logs));
		lab->n_logs = n;
	}
	return rc;
}

/* Does the export answer, as the guest's hypervisor will see it? */
static int datastore_check(struct sl_lab *lab, struct sl_err *err)
{
	const char *const argv[] = {lab->config.load,
				    "syncwrite",
				    "--url=nfs://" SL_NET_STORAGE SL_LAB_EXPORT "/check" AS_ROOT,
				    "--max-requests=4",
				    "--file-total=64KiB",
				    NULL};
	char log[4096];
	const struct sl_process_spec spec = {
	    .name = "datastore check (sloglab-load)", .argv = argv, .log = log};
	const struct sl_patience patience = {.timeout_ms = STEP_MS, .stopped = lab->config.stopped};

	(void)snprintf(log, sizeof(log), "%s/check.log", lab->config.dir);
	return sl_process_run(&spec, &patience, err);
}

static int guest_disk_copy(struct sl_lab *lab, struct sl_err *err)
{
	char source[4096], log[4096];
	const char *const argv[] = {"qemu-img",
				    "convert",
				    "-f",
				    "raw",
				    "-O",
				    "raw",
				    "-m",
				    "8",
				    "-W",
				    source,
				    "nfs://" SL_NET_STORAGE SL_LAB_GUEST_DISK AS_ROOT,
				    NULL};
	const struct sl_process_spec spec = {
	    .name = "copy of the guest's disk (qemu-img)", .argv = argv, .log = log};
	const struct sl_patience patience = {.timeout_ms = COPY_MS, .stopped = lab->config.stopped};

	(void)snprintf(source, sizeof(source), "%s/disk.raw", lab->config.guest_image);
	(void)snprintf(log, sizeof(log), "%s/copy.log", lab->config.dir);
	return sl_process_run(&spec, &patience, err);
}

/* Up and down */

static int step(struct sl_lab *lab, const char *what, int (*run)(struct sl_lab *lab, struct sl_err *err),
		struct sl_err *err)
{
	say(lab, what);
	return run(lab, err);
}

static int network_step(struct sl_lab *lab, struct sl_err *err)
{
	int rc = sl_network_up(err);

	if (rc == 0) {
		rc = sl_network_tap(TAP_STORAGE, err);
	}
	return rc == 0 && lab->config.guest ? sl_network_tap("tap-guest", err) : rc;
}

static int hypervisor_step(struct sl_lab *lab, struct sl_err *err)
{
	char root[4096];

	(void)snprintf(root, sizeof(root), "%s/libvirt", lab->config.dir);
	return sl_hypervisor_open(root, &lab->hypervisor, err);
}

static int storage_step(struct sl_lab *lab, struct sl_err *err)
{
	return vm_up(lab, SL_LAB_STORAGE, err);
}

int sl_lab_guest_start(struct sl_lab *lab, struct sl_err *err)
{
	/* QEMU would wait for its disk's server, and all of the lab for QEMU. */
	if (!lab->vm[SL_LAB_STORAGE] || !sl_vm_alive(lab->vm[SL_LAB_STORAGE])) {
		return sl_err_set(
		    err, -EHOSTDOWN,
		    "guest: its disk is on the storage VM, which does not run; sloglab vm up starts "
		    "both, in that order");
	}
	return vm_up(lab, SL_LAB_GUEST, err);
}

int sl_lab_up(const struct sl_lab_config *config, struct sl_lab **ret, struct sl_err *err)
{
	static const struct {
		const char *what;
		int (*run)(struct sl_lab *lab, struct sl_err *err);
		bool guest;
	} steps[] = {
	    {"network", network_step, false},
	    {"libvirt", hypervisor_step, false},
	    {"storage VM", storage_step, false},
	    {"pool", pool_create, false},
	    {"datastore check", datastore_check, false},
	    {"guest's disk to the datastore", guest_disk_copy, true},
	    {"guest", sl_lab_guest_start, true},
	};
	struct sl_lab *lab = calloc(1, sizeof(*lab));
	int rc = 0;

	if (!lab) {
		return sl_err_set(err, -ENOMEM, "lab: out of memory");
	}
	lab->config = *config;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && rc == 0; i++) {
		if (!steps[i].guest || config->guest) {
			rc = step(lab, steps[i].what, steps[i].run, err);
		}
	}
	if (rc < 0) {
		sl_lab_down(lab);
		return rc;
	}
	*ret = lab;
	return 0;
}

/* Asks a machine to power off, and pulls the plug when it does not. */
static void vm_down(struct sl_lab *lab, enum sl_lab_machine machine, const char *shell)
{
	int64_t end_ms = sl_clock_ms() + DOWN_MS;
	struct sl_agent_command command = {0};
	struct sl_vm *vm = lab->vm[machine];

	if (vm && sl_vm_alive(vm) && sl_agent_start(vm, shell, &command, NULL) == 0) {
		while (sl_vm_alive(vm) && sl_clock_ms() < end_ms) {
			(void)poll(NULL, 0, POLL_MS);
		}
	}
	sl_vm_destroy(vm);
	lab->vm[machine] = NULL;
}

void sl_lab_down(struct sl_lab *lab)
{
	if (!lab) {
		return;
	}
	vm_down(lab, SL_LAB_GUEST, "sl-guest down");
	vm_down(lab, SL_LAB_STORAGE, "sl-storage down");
	sl_hypervisor_close(lab->hypervisor);
	free(lab);
}

struct sl_vm *sl_lab_machine(struct sl_lab *lab, enum sl_lab_machine machine)
{
	return lab->vm[machine];
}

static bool alive(struct sl_lab *lab, enum sl_lab_machine machine)
{
	return lab->vm[machine] && sl_vm_alive(lab->vm[machine]);
}

void sl_lab_state(struct sl_lab *lab, enum sl_lab_machine machine, char *ret, size_t size)
{
	if (!lab->vm[machine]) {
		(void)snprintf(ret, size, "off; sloglab vm up starts it again");
	} else if (!alive(lab, machine)) {
		(void)snprintf(ret, size, "died; sloglab vm up starts it again");
	} else if (machine == SL_LAB_GUEST && !alive(lab, SL_LAB_STORAGE)) {
		(void)snprintf(
		    ret, size,
		    "all paths down: its disk is on the storage VM, which does not run; sloglab vm up "
		    "starts it again");
	} else {
		(void)snprintf(ret, size, "running");
	}
}

void sl_lab_kill(struct sl_lab *lab, enum sl_lab_machine machine)
{
	sl_vm_destroy(lab->vm[machine]);
	lab->vm[machine] = NULL;
}

static int pool_import(struct sl_lab *lab, struct sl_err *err)
{
	char command[SL_LAB_POOL_TEXT_MAX];
	int rc;

	say(lab, "pool");
	if (lab->config.ext4) {
		rc = ext4_mount(lab, err);
	} else {
		rc = pool_key(lab, err);
		if (rc == 0) {
			rc = sl_lab_pool_import(&lab->config, command, sizeof(command));
			rc = pool_run(lab, rc, command, err);
		}
	}
	return rc < 0 ? rc : export(lab, err);
}

int sl_lab_storage_restart(struct sl_lab *lab, struct sl_err *err)
{
	struct sl_err ignored = {0};
	int rc;

	/* A server that answers before its datastore is exported says "stale file handle", and a guest that
	 * could have waited sees a broken disk. */
	(void)sl_network_plug(TAP_STORAGE, false, &ignored);
	say(lab, "storage VM");
	rc = vm_up(lab, SL_LAB_STORAGE, err);
	rc = rc < 0 ? rc : pool_import(lab, err);
	return rc < 0 ? rc : sl_network_plug(TAP_STORAGE, true, err);
}
