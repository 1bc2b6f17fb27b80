#include "sim/disks/disks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/rng.h"
#include "sim/disks/disk_conn.h"
#include "sim/disks/disk_image.h"
#include "sim/disks/disks_inner.h"
#include "sim/serve/control.h"
#include "sim/serve/listen.h"
#include "sim/serve/own.h"

#define BUF_BYTES (256u << 10)
#define SECTOR 512
/* How far the files are behind the models' media while nobody asks: what a killed server has lost beside what
 * a power cut takes. */
#define DESTAGE_NS 100000000

static void disks_settled(void *arg)
{
	struct sl_disks *disks = arg;

	sl_disk_conns_send(&disks->conns);
}

static void disks_accepted(void *arg, int fd)
{
	struct sl_disks *disks = arg;

	sl_disk_conn_open(&disks->conns, fd);
}

static void disk_trimmed(void *arg, int64_t offset_bytes, int64_t bytes)
{
	struct sl_served_disk *disk = arg;

	sl_disk_pacer_trim(disk->pacer, offset_bytes, bytes);
}

static int64_t disk_reached(void *arg)
{
	struct sl_served_disk *disk = arg;

	return sl_disk_pacer_reached(disk->pacer, false);
}

static void disk_cached(void *arg)
{
	const struct sl_served_disk *disk = arg;
	struct sl_disks *disks = disk->disks;

	if (!disks->destage.armed) {
		sl_loop_arm(disks->loop, &disks->destage, sl_loop_now(disks->loop) + DESTAGE_NS);
	}
}

static void disks_destage(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_disks *disks = sl_container_of(timer, struct sl_disks, destage);

	(void)now_ns;
	for (int i = 0; i < disks->n_disks; i++) {
		struct sl_served_disk *disk = &disks->disks[i];

		if (sl_served_image_cached(disk->image) == 0) {
			continue;
		}
		/* What cannot be written stays cached, and the next flush tells. */
		(void)sl_served_image_destage(disk->image, disk_reached(disk));
		if (sl_served_image_cached(disk->image) > 0) {
			disk_cached(disk);
		}
	}
}

static int control_run(void *arg, char *command, char *reply, size_t size, struct sl_err *err)
{
	return sl_disks_command(arg, command, reply, size, err);
}

/* Names become file names. */
static int name_check(const char *name, struct sl_err *err)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

	if (name[0] == '\0' || name[0] == '.' || strspn(name, good) != strlen(name) || strlen(name) > 63) {
		return sl_err_set(
		    err, -EINVAL,
		    "disk name \"%.64s\": use 1 to 63 letters, digits, '-', '_' and '.', not '.' first",
		    name);
	}
	return 0;
}

static int size_of(const struct sl_disks_disk *config, int64_t *ret, struct sl_err *err)
{
	int64_t capacity = (int64_t)config->spec->capacity_bytes / SECTOR * SECTOR;
	int64_t size = config->size_bytes ? config->size_bytes : capacity;

	if (size <= 0) {
		return sl_err_set(err, -EINVAL,
				  "disk %s: its device has no capacity; give size=", config->name);
	}
	if (size % SECTOR != 0) {
		return sl_err_set(err, -EINVAL, "disk %s: size %lld is not a multiple of 512 bytes",
				  config->name, (long long)size);
	}
	if (capacity > 0 && size > capacity) {
		return sl_err_set(err, -EINVAL,
				  "disk %s: size %lld is more than the device's capacity of %lld bytes",
				  config->name, (long long)size, (long long)capacity);
	}
	*ret = size;
	return 0;
}

static int log_open(struct sl_disks *disks, const struct sl_disks_config *config, struct sl_err *err)
{
	struct sl_writelog_disk list[SL_DISKS_MAX] = {0};

	for (int i = 0; i < config->n_disks; i++) {
		struct sl_disk_volatility v = sl_disk_volatility(config->disks[i].spec);

		(void)snprintf(list[i].name, sizeof(list[i].name), "%s", config->disks[i].name);
		list[i].size_bytes = disks->disks[i].size_bytes;
		list[i].keeps = v.cache_bytes == 0 && !v.all;
		list[i].flush_ignored = v.flush_ignored || v.all;
		list[i].unit_bytes = v.unit_bytes;
	}
	return config->write_log
		   ? sl_writelog_create(config->write_log, list, config->n_disks, &disks->log, err)
		   : 0;
}

static int image_open(struct sl_disks *disks, const struct sl_disks_config *config, int i, struct sl_err *err)
{
	struct sl_disk_image_config image = {.size_bytes = disks->disks[i].size_bytes,
					     .volatility = sl_disk_volatility(config->disks[i].spec),
					     .log = disks->log,
					     .log_disk = i,
					     .trimmed = disk_trimmed,
					     .reached = disk_reached,
					     .cached = disk_cached,
					     .arg = &disks->disks[i]};
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s.img", config->dir, config->disks[i].name) >=
	    (int)sizeof(path)) {
		return sl_err_set(err, -ENAMETOOLONG, "folder %.200s: path too long", config->dir);
	}
	image.path = path;
	return sl_served_image_open(&image, &disks->disks[i].image, err);
}

static int disk_open(struct sl_disks *disks, const struct sl_disks_config *config, int i, struct sl_err *err)
{
	const struct sl_disks_disk *from = &config->disks[i];
	struct sl_served_disk *disk = &disks->disks[i];
	struct sl_disk_pacer_config pacer = {.wall = config->loop,
					     .spec = from->spec,
					     .name = from->name,
					     .seed = config->seed,
					     .pace = config->dilate,
					     .credit_cap_ns = config->credit_cap_ns,
					     .modelled = &disks->modelled,
					     .settled = disks_settled,
					     .arg = disks};
	struct sl_nbd_export_config export = {.name = from->name,
					      .description = from->spec->name,
					      .size_bytes = disk->size_bytes,
					      .rotational = from->spec->kind == SL_DEV_HDD};
	int rc = image_open(disks, config, i, err);
	int number;

	if (rc == 0) {
		rc = sl_disk_pacer_new(&pacer, &disks->pacers[i], err);
	}
	if (rc < 0) {
		return rc;
	}
	disk->disks = disks;
	disk->pacer = disks->pacers[i];
	disk->slow = 1;
	(void)snprintf(disk->name, sizeof(disk->name), "%s", from->name);
	(void)snprintf(disk->device, sizeof(disk->device), "%s", from->spec->name);
	export.image = sl_served_image_base(disk->image);
	export.dev = sl_disk_pacer_dev(disks->pacers[i]);
	return sl_nbd_export(disks->nbd, &export, &number, err);
}

static int sockets_open(struct sl_disks *disks, const struct sl_disks_config *config, struct sl_err *err)
{
	int rc = 0;

	if (config->control) {
		rc = sl_control_new(config->loop, config->control, control_run, disks, &disks->control, err);
	}
	if (rc == 0 && config->socket) {
		rc = sl_listener_unix(&disks->socket, config->socket, err);
	}
	if (rc == 0 && config->tcp) {
		rc = sl_listener_tcp(&disks->tcp, "127.0.0.1", config->port, err);
	}
	return rc;
}

static int check(struct sl_disks *disks, const struct sl_disks_config *config, struct sl_err *err)
{
	int rc = 0;

	if (config->n_disks < 1 || config->n_disks > SL_DISKS_MAX) {
		return sl_err_set(err, -EINVAL, "1 to %d disks can be served", SL_DISKS_MAX);
	}
	for (int i = 0; i < config->n_disks && rc == 0; i++) {
		rc = name_check(config->disks[i].name, err);
		if (rc == 0) {
			rc = size_of(&config->disks[i], &disks->disks[i].size_bytes, err);
		}
		for (int k = 0; k < i && rc == 0; k++) {
			if (strcmp(config->disks[k].name, config->disks[i].name) == 0) {
				rc =
				    sl_err_set(err, -EEXIST,
					       "disk %s: named twice; give one another name with DEVICE=NAME",
					       config->disks[i].name);
			}
		}
	}
	return rc;
}

/* Images are made where nobody else can put a link to another file. */
static int folder_trust(const char *dir, struct sl_err *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	if (fd < 0) {
		return sl_err_set(err, -errno, "folder %s: %s", dir, strerror(errno));
	}
	rc = sl_own_folder(fd, dir, err);
	(void)close(fd);
	return rc ? sl_err_wrap(err, "folder %s", dir) : 0;
}

static int disks_open(struct sl_disks *disks, const struct sl_disks_config *config, struct sl_err *err)
{
	int rc = check(disks, config, err);

	if (rc == 0 && mkdir(config->dir, 0755) < 0 && errno != EEXIST) {
		rc = sl_err_set(err, -errno, "folder %s: cannot be made: %s", config->dir, strerror(errno));
	}
	rc = rc ? rc : folder_trust(config->dir, err);
	disks->n_disks = config->n_disks;
	disks->nbd = sl_nbd_new(config->loop);
	disks->conns.buf = malloc(BUF_BYTES);
	if (rc == 0 && (!disks->nbd || !disks->conns.buf || sl_hist_init(&disks->lateness) < 0 ||
			sl_hist_init(&disks->modelled) < 0)) {
		rc = sl_err_set(err, -ENOMEM, "out of memory");
	}
	disks->conns.loop = config->loop;
	disks->conns.nbd = disks->nbd;
	disks->conns.pacers = disks->pacers;
	disks->conns.late = (struct sl_dues_sink){
	    .loop = config->loop, .lateness = &disks->lateness, .credit_cap_ns = config->credit_cap_ns};
	disks->conns.buf_bytes = BUF_BYTES;
	disks->conns.max = SL_DISKS_CONNECTIONS;
	/* Sockets first: what is refused leaves no files. */
	if (rc == 0) {
		rc = sockets_open(disks, config, err);
	}
	if (rc == 0) {
		rc = log_open(disks, config, err);
	}
	for (int i = 0; i < config->n_disks && rc == 0; i++) {
		rc = disk_open(disks, config, i, err);
	}
	return rc;
}

int sl_disks_new(const struct sl_disks_config *config, struct sl_disks **ret, struct sl_err *err)
{
	struct sl_disks *disks = calloc(1, sizeof(*disks));
	int rc;

	if (!disks) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	disks->loop = config->loop;
	disks->dilate = config->dilate;
	disks->destage.fire = disks_destage;
	sl_listener_init(&disks->socket, config->loop, disks_accepted, disks);
	sl_listener_init(&disks->tcp, config->loop, disks_accepted, disks);
	rc = disks_open(disks, config, err);
	if (rc < 0) {
		(void)sl_disks_free(disks, NULL);
		return rc;
	}
	*ret = disks;
	return 0;
}

/* Keeps the first thing that went wrong. */
static void note(int *code, int rc, const char *what, struct sl_err *err)
{
	if (rc < 0 && *code == 0) {
		*code =
		    sl_err_set(err, rc, "%s: cannot be written: %s; free some space", what, strerror(-rc));
	}
}

int sl_disks_free(struct sl_disks *disks, struct sl_err *err)
{
	int rc = 0;

	if (!disks) {
		return 0;
	}
	sl_loop_cancel(disks->loop, &disks->destage);
	sl_control_free(disks->control);
	sl_listener_close(&disks->socket);
	sl_listener_close(&disks->tcp);
	sl_disk_conns_close(&disks->conns, -1);
	for (int i = 0; i < SL_DISKS_MAX; i++) {
		sl_disk_pacer_free(disks->pacers[i]);
	}
	sl_nbd_free(disks->nbd);
	for (int i = 0; i < disks->n_disks && i < SL_DISKS_MAX; i++) {
		note(&rc, sl_served_image_close(disks->disks[i].image), disks->disks[i].name, err);
	}
	note(&rc, sl_writelog_close(disks->log), "write log", err);
	sl_hist_fini(&disks->lateness);
	sl_hist_fini(&disks->modelled);
	free(disks->conns.buf);
	free(disks);
	return rc;
}

uint16_t sl_disks_port(const struct sl_disks *disks)
{
	return disks->tcp.port;
}

const struct sl_hist *sl_disks_lateness(const struct sl_disks *disks)
{
	return &disks->lateness;
}

const struct sl_hist *sl_disks_modelled(const struct sl_disks *disks)
{
	return &disks->modelled;
}

int64_t sl_disks_credit_used(const struct sl_disks *disks)
{
	int64_t sum_ns = 0;

	for (int i = 0; i < disks->n_disks; i++) {
		sum_ns += sl_disk_pacer_credit_used(disks->pacers[i]);
	}
	return sum_ns;
}

uint64_t sl_disks_requests(const struct sl_disks *disks)
{
	uint64_t sum = 0;

	for (int i = 0; i < disks->n_disks; i++) {
		const struct sl_nbd_stats *stats = sl_nbd_stats(disks->nbd, i);

		sum += stats->reads + stats->writes + stats->flushes + stats->trims + stats->zeroes;
	}
	return sum;
}
