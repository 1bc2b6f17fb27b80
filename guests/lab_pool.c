#include "guests/lab_pool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define KEY_FILE "/run/sloglab-pool.key" /* in a tmpfs */

/* Text that grows; once full it stays so. */
struct command {
	char *text;
	size_t size, used;
};

static struct command on(char *text, size_t size)
{
	struct command command;

	command.text = text;
	command.size = size;
	command.used = 0;
	return command;
}

__attribute__((format(printf, 2, 3))) static void add(struct command *command, const char *format, ...)
{
	va_list args;

	if (command->used < command->size) {
		va_start(args, format);
		command->used += (size_t)vsnprintf(command->text + command->used,
						   command->size - command->used, format, args);
		va_end(args);
	}
}

static int finish(const struct command *command)
{
	return command->used < command->size ? 0 : -E2BIG;
}

static const char *layout_word(int layout)
{
	static const char *const words[] = {[SL_LAYOUT_STRIPE] = "",
					    [SL_LAYOUT_MIRROR] = "mirror",
					    [SL_LAYOUT_RAIDZ1] = "raidz1",
					    [SL_LAYOUT_RAIDZ2] = "raidz2",
					    [SL_LAYOUT_RAIDZ3] = "raidz3"};

	return words[layout];
}

/* Where sl-storage part puts the partition of a disk. */
static void add_part(struct command *command, const char *serial)
{
	add(command, " /dev/disk/by-serial/%s-part1", serial);
}

static void partition_begin(struct command *command)
{
	add(command, "for d in");
}

static void partition_end(struct command *command)
{
	add(command, "; do sl-storage part $d >/dev/null || exit 1; done; ");
}

/* Plain ones first: behind the word "mirror" all is of that mirror. */
static void add_vdevs(struct command *command, const struct sl_lab_config *config,
		      const struct sl_lab_vdev *vdevs, int n)
{
	for (int mirrors = 0; mirrors < 2; mirrors++) {
		for (int i = 0; i < n; i++) {
			if ((vdevs[i].n > 1) != (mirrors == 1)) {
				continue;
			}
			add(command, "%s", mirrors ? " mirror" : "");
			for (int k = 0; k < vdevs[i].n; k++) {
				add_part(command, config->disks[vdevs[i].disk[k]].serial);
			}
		}
	}
}

/* "raidz1 disk disk disk raidz1 ...": each vdev with its share of the disks. */
static void add_data(struct command *command, const struct sl_lab_config *config)
{
	const struct sl_box *box = config->box;
	int vdevs = (int)box->data_vdevs, per = box->n_data / (vdevs > 0 ? vdevs : 1);

	for (int i = 0, n = 0; i < config->n_disks; i++) {
		if (config->disks[i].role != SL_LAB_DATA) {
			continue;
		}
		if (box->data_layout != SL_LAYOUT_STRIPE && n++ % per == 0) {
			add(command, " %s", layout_word(box->data_layout));
		}
		add_part(command, config->disks[i].serial);
	}
}

static void add_caches(struct command *command, const struct sl_lab_config *config)
{
	const char *word = " cache";

	for (int i = 0; i < config->n_disks; i++) {
		if (config->disks[i].role == SL_LAB_CACHE) {
			add(command, "%s", word);
			add_part(command, config->disks[i].serial);
			word = "";
		}
	}
}

int sl_lab_pool_create(const struct sl_lab_config *config, char *text, size_t size)
{
	const struct sl_box *box = config->box;
	struct command command = on(text, size);

	partition_begin(&command);
	for (int i = 0; i < config->n_disks; i++) {
		if (config->disks[i].role != SL_LAB_LOG) {
			add(&command, " %s", config->disks[i].serial);
		}
	}
	partition_end(&command);
	add(&command, "zpool create -f -o ashift=%d -O atime=off -O checksum=on", (int)box->ashift);
	if (sl_lab_pool_encrypted(config)) {
		add(&command, " -O encryption=aes-256-gcm -O keyformat=raw -O keylocation=file://" KEY_FILE);
	}
	if (config->n_special > 0) {
		add(&command, " -O special_small_blocks=%.0f", box->special_small_bytes);
	}
	add(&command, " tank");
	add_data(&command, config);
	if (config->n_special > 0) {
		add(&command, " special");
		add_vdevs(&command, config, config->special, config->n_special);
	}
	add_caches(&command, config);
	add(&command, " && zfs create tank/vm");
	return finish(&command);
}

int sl_lab_pool_properties(const struct sl_box *box, char *text, size_t size)
{
	static const char *const sync[] = {
	    [SL_SYNC_STANDARD] = "standard", [SL_SYNC_ALWAYS] = "always", [SL_SYNC_DISABLED] = "disabled"};
	struct command command = on(text, size);

	add(&command, "zfs set sync=%s logbias=%s recordsize=%.0f compression=%s tank/vm", sync[box->sync],
	    box->logbias == SL_LOGBIAS_THROUGHPUT ? "throughput" : "latency", box->recordsize_bytes,
	    box->compression == SL_COMPRESS_LZ4 ? "lz4" : "off");
	return finish(&command);
}

int sl_lab_pool_log_add(const struct sl_lab_config *config, const struct sl_lab_vdev *logs, int n, char *text,
			size_t size)
{
	struct command command = on(text, size);

	partition_begin(&command);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < logs[i].n; k++) {
			add(&command, " %s", config->disks[logs[i].disk[k]].serial);
		}
	}
	partition_end(&command);
	add(&command, "zpool add -f tank log");
	add_vdevs(&command, config, logs, n);
	return finish(&command);
}

/* A mirror goes by a name that zpool chose ("mirror-1"); without all of its sides but one it goes by the name
 * of that disk. */
int sl_lab_pool_log_remove(const struct sl_lab_config *config, const struct sl_lab_vdev *logs, int n,
			   char *text, size_t size)
{
	struct command command = on(text, size);

	for (int i = 0; i < n; i++) {
		for (int k = logs[i].n - 1; k >= 0; k--) {
			add(&command, "%szpool %s tank", i > 0 || k < logs[i].n - 1 ? " && " : "",
			    k > 0 ? "detach" : "remove");
			add_part(&command, config->disks[logs[i].disk[k]].serial);
		}
	}
	return finish(&command);
}

int sl_lab_pool_import(const struct sl_lab_config *config, char *text, size_t size)
{
	struct command command = on(text, size);

	add(&command, "sl-storage disks >/dev/null && zpool import%s -d /dev/disk/by-serial tank",
	    sl_lab_pool_encrypted(config) ? " -l" : "");
	return finish(&command);
}

bool sl_lab_pool_encrypted(const struct sl_lab_config *config)
{
	return !config->ext4 && config->box->encryption == SL_ENCRYPT_ZFS;
}

int sl_lab_pool_key(const unsigned char key[SL_LAB_POOL_KEY_BYTES], char *text, size_t size)
{
	struct command command = on(text, size);

	add(&command, "umask 077; printf '");
	for (int i = 0; i < SL_LAB_POOL_KEY_BYTES; i++) {
		add(&command, "\\%03o", key[i]);
	}
	add(&command, "' >" KEY_FILE);
	return finish(&command);
}
