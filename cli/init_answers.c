#include "cli/init_answers.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init_inner.h"
#include "sim/base/fuzzy.h"
#include "sim/base/units.h"
#include "sim/box/box.h"

#define WORDS_MAX 32
#define LISTED_MAX 6
#define VDEVS_MAX 16
#define GIB 0x1p30

static const struct sl_init_question questions[SL_INIT_N] = {
    [SL_INIT_HYPERVISOR] = {"hypervisor", "esxi|proxmox|qemu", "Hypervisor",
			    "It decides which virtual disk the guest has, and which NFS client.",
			    SL_INIT_WORD,
			    "esxi|proxmox|qemu|esxi=vmware|esxi=vsphere|proxmox=pve|qemu=kvm|qemu=libvirt", 0,
			    0},
    [SL_INIT_CLIENT] = {"client", "linux|libnfs|esxi", "NFS client of the virtual disks",
			"linux: a mount of the host's kernel, as Proxmox has it. libnfs: QEMU's own driver "
			"nfs://. esxi: ESXi's.",
			SL_INIT_WORD, "linux|libnfs|esxi|linux=kernel|linux=mount|libnfs=nfs", 0, 0},
    [SL_INIT_LINK] =
	{"link", "virtual|RATE", "Network to the storage: virtual, or the wire to a NAS of its own",
	 "virtual: the storage is a VM on the same host. Else the line rate, such as 1GbE or 10GbE.",
	 SL_INIT_WIRE, "virtual|1GbE|2.5GbE|10GbE|25GbE|40GbE|100GbE", 0, 0},
    [SL_INIT_PROFILE] = {"profile", "NAME", "CPU that the host's is most like",
			 "A host profile says what each software step costs. modern-xeon: a server or "
			 "desktop core of the 2020s.",
			 SL_INIT_NAME, NULL, 0, 0},
    [SL_INIT_CORES] = {"cores", "N", "CPU cores of the host",
		       "No VM runs on more; vCPUs beyond them are noted.", SL_INIT_COUNT, NULL, 1, 1024},
    [SL_INIT_NAS_VCPUS] = {"nas-vcpus", "N", "Virtual CPUs of the storage VM, or cores of the NAS",
			   "ZFS, NFS, checksums and parity run on them.", SL_INIT_COUNT, NULL, 1, 128},
    [SL_INIT_NAS_MEMORY] = {"nas-memory", "SIZE", "Memory of the storage",
			    "A size such as 16GiB. 70 % of it is the ARC, 10 % may be dirty.", SL_INIT_BYTES,
			    NULL, 268435456, 0},
    [SL_INIT_ZIL] =
	{"zil", "RELEASE", "ZFS of the storage: a release of OpenZFS, or a product",
	 "Such as 2.3, TrueNAS SCALE 24.04, Proxmox 8.3 or OmniOS r151046: the log differs by release.",
	 SL_INIT_RELEASE, NULL, 0, 0},
    [SL_INIT_DISKS] = {"disks", "LIST", "Disks of the pool, NAME x COUNT",
		       "Part of a name will do where it fits only one; sloglab disk list says more of each.",
		       SL_INIT_POOL, NULL, 1, SL_BOX_DATA_MAX},
    [SL_INIT_LAYOUT] =
	{"layout", "stripe|mirror|raidz1|raidz2|raidz3", "Layout of the pool",
	 "mirror: pairs, unless you say another number of vdevs. \"2 raidz2\" is two of them.", SL_INIT_VDEV,
	 "stripe|mirror|raidz1|raidz2|raidz3|raidz1=raidz|raidz1=raid5|raidz2=raid6|stripe=raid0|"
	 "mirror=mirrors|mirror=pairs|mirror=raid10|mirror=raid1|stripe=single",
	 0, 0},
    [SL_INIT_VDEVS] = {"vdevs", "N", "Vdevs of that layout which share the disks",
		       "Mirrors are pairs: 6 disks are 3 vdevs. Each vdev adds the speed of a disk.",
		       SL_INIT_VDEVS_N, NULL, 1, VDEVS_MAX},
    [SL_INIT_FLUSH] = {"flush", "honoured|ignored",
		       "Does a cache flush reach the disks (virtual disks on a datastore may ignore it)",
		       "Whole disks and controllers that are passed through honour it.", SL_INIT_WORD,
		       "honoured|ignored|honoured=yes|honoured=y|honoured=honored|ignored=no|ignored=n", 0,
		       0},
    [SL_INIT_SLOG] = {"slog", "LIST", "SLOGs to compare with having none: drives, \"mirror NAME\", or none",
		      "Several with commas between: each is a variant of its own.", SL_INIT_LOGS, NULL, 0, 0},
    [SL_INIT_GUEST_VCPUS] = {"guest-vcpus", "N", "Virtual CPUs of the guest",
			     "Of the VM whose speed counts, or of all that write together.", SL_INIT_COUNT,
			     NULL, 1, 128},
    [SL_INIT_GUEST_MEMORY] = {"guest-memory", "SIZE", "Memory of the guest", "A size such as 4GiB.",
			      SL_INIT_BYTES, NULL, 268435456, 0},
    [SL_INIT_LOAD] =
	{"load", "database|files|copy|vms", "What the guests do",
	 "database: transactions that commit. files: random writes with fsync. copy: a backup or an "
	 "upload.\n  vms: many small VMs with synchronous writes.",
	 SL_INIT_WORD,
	 "database|files|copy|vms|database=db|database=mysql|database=mariadb|database=postgres|"
	 "database=oltp|files=fileserver|copy=backup|vms=desktops|vms=several",
	 0, 0},
    [SL_INIT_THREADS] = {"threads", "N", "Threads that write at the same time, of all guests together",
			 "Clients of the database, copies, or VMs.", SL_INIT_COUNT, NULL, 1, 1024},
    [SL_INIT_ROWS] = {"rows", "N", "Rows of the database's table",
		      "225 bytes each; 100k and 1M are understood.", SL_INIT_COUNT, NULL, 1, 1000000000},
    [SL_INIT_SIZE] = {"size", "SIZE", "Size of the files that are written", "A size such as 4GiB.",
		      SL_INIT_BYTES, NULL, 16777216, 0},
};

const struct sl_init_question *sl_init_question(enum sl_init_at at)
{
	return &questions[at];
}

bool sl_init_asked(const struct sl_init *a, enum sl_init_at at)
{
	bool database = strcmp(a->answer[SL_INIT_LOAD], "database") == 0;
	bool layout = sl_init_disks(a) > 1;
	bool vdevs = layout && strcmp(a->answer[SL_INIT_LAYOUT], "stripe") != 0 &&
		     sl_init_disks(a) >= 2 * sl_init_least(a->answer[SL_INIT_LAYOUT]);

	return at == SL_INIT_CLIENT   ? strcmp(a->answer[SL_INIT_HYPERVISOR], "esxi") != 0
	       : at == SL_INIT_CORES  ? !sl_init_separate(a)
	       : at == SL_INIT_LAYOUT ? layout
	       : at == SL_INIT_VDEVS  ? vdevs
	       : at == SL_INIT_ROWS   ? database
	       : at == SL_INIT_SIZE   ? !database
				      : true;
}

/* Words of a question with the other names for them: word[i] means word[means[i]]. */
struct vocabulary {
	char text[512];
	int n;
	const char *word[WORDS_MAX];
	int means[WORDS_MAX];
};

static void vocabulary_read(const char *words, struct vocabulary *v)
{
	char *rest = v->text, *word;

	snprintf(v->text, sizeof(v->text), "%s", words);
	for (v->n = 0; (word = strsep(&rest, "|")) != NULL && v->n < WORDS_MAX; v->n++) {
		char *other = strchr(word, '=');

		v->word[v->n] = word;
		v->means[v->n] = v->n;
		if (other) {
			*other = '\0';
			v->word[v->n] = other + 1;
			for (int i = 0; i < v->n; i++) {
				v->means[v->n] = strcmp(v->word[i], word) == 0 ? i : v->means[v->n];
			}
		}
	}
}

/* "a, b, c and 4 more" */
static void list_some(const char *const *names, const int *hit, int n, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (int i = 0; i < n && i < LISTED_MAX && used < size; i++) {
		used +=
		    (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", names[hit ? hit[i] : i]);
	}
	if (n > LISTED_MAX && used < size) {
		snprintf(buf + used, size - used, " and %d more", n - LISTED_MAX);
	}
}

int sl_init_find_word(const struct sl_init_question *q, const char *text, char *suggestion,
		      struct sl_err *err)
{
	struct vocabulary v;
	struct sl_fuzzy found;
	char list[256];
	int own = 0, meant = -1;

	vocabulary_read(q->words, &v);
	while (own < v.n && v.means[own] == own) {
		own++;
	}
	sl_fuzzy_find(text, v.word, v.n, &found);
	for (int i = 0; i < found.n; i++) {
		int means = v.means[found.hit[i]];

		meant = i == 0 || means == meant ? means : -1;
	}
	if (meant >= 0 && found.kind != SL_FUZZY_NEAR) {
		return meant;
	}
	snprintf(suggestion, SL_INIT_ANSWER_MAX, "%s", meant >= 0 ? v.word[meant] : "");
	list_some(v.word, NULL, own, list, sizeof(list));
	return sl_err_set(err, -EINVAL, "--%s: \"%.40s\" is none of %s%s%s%s", q->flag, text, list,
			  meant >= 0 ? "; did you mean " : "", meant >= 0 ? v.word[meant] : "",
			  meant >= 0 ? "?" : "");
}

const char *sl_init_word(const struct sl_init_question *q, int index, char *buf, size_t size)
{
	struct vocabulary v;

	vocabulary_read(q->words, &v);
	snprintf(buf, size, "%s", v.word[index]);
	return buf;
}

/* Stores the word itself. */
static int take_word(const struct sl_init_question *q, const char *text, char *canonical, char *suggestion,
		     struct sl_err *err)
{
	int index = sl_init_find_word(q, text, suggestion, err);

	if (index < 0) {
		return index;
	}
	(void)sl_init_word(q, index, canonical, SL_INIT_ANSWER_MAX);
	return 0;
}

int sl_init_find_name(const struct sl_init_question *q, const char *text, const char *const *names, int n,
		      const char *what, char *suggestion, struct sl_err *err)
{
	struct sl_fuzzy found;
	char list[400];

	sl_fuzzy_find(text, names, n, &found);
	if (found.kind == SL_FUZZY_ONE) {
		return found.hit[0];
	}
	list_some(names, found.hit, found.n, list, sizeof(list));
	/* Nobody is offered one of several. */
	snprintf(suggestion, SL_INIT_ANSWER_MAX, "%s", found.n == 1 ? names[found.hit[0]] : "");
	if (found.kind == SL_FUZZY_SEVERAL) {
		return sl_err_set(err, -EINVAL, "--%s: \"%.40s\" fits %s: write more of one", q->flag, text,
				  list);
	}
	return sl_err_set(err, -EINVAL, "--%s: \"%.40s\" is no %s%s%s%s", q->flag, text, what,
			  found.n == 0  ? "; sloglab disk list shows all"
			  : found.n > 1 ? "; did you mean one of "
					: "; did you mean ",
			  list, found.n > 0 ? "?" : "");
}

/* "8", "100k", "1 000 000" */
static int take_count(const struct sl_init_question *q, const char *text, char *canonical, struct sl_err *err)
{
	char digits[24];
	uint64_t value = 0, factor = 1;
	size_t n = 0;

	for (const char *p = text; *p && n < sizeof(digits) - 1; p++) {
		bool between = (*p == ' ' || *p == ',' || *p == '_') && n > 0 && isdigit((unsigned char)p[1]);

		if (!between) {
			digits[n++] = *p;
		}
	}
	digits[n] = '\0';
	if (n > 1 && q->max >= 1000000 && strchr("kKmM", digits[n - 1])) {
		factor = tolower((unsigned char)digits[n - 1]) == 'k' ? 1000 : 1000000;
		digits[--n] = '\0';
	}
	if (n > 0 && n < 13 && strspn(digits, "0123456789") == n) {
		value = strtoull(digits, NULL, 10) * factor;
	}
	if (value < q->min || value > q->max) {
		return sl_err_set(err, -EINVAL, "--%s: \"%.40s\" is not a whole number from %llu to %llu",
				  q->flag, text, (unsigned long long)q->min, (unsigned long long)q->max);
	}
	snprintf(canonical, SL_INIT_ANSWER_MAX, "%llu", (unsigned long long)value);
	return 0;
}

/* Memory is sold in powers of 1024 under the names of 1000: "16 GB", "16g" and "16GiB" are the same here. */
static int take_bytes(const struct sl_init_question *q, const char *text, char *canonical, char *suggestion,
		      struct sl_err *err)
{
	size_t number = strspn(text, "0123456789.");
	const char *unit = text + number + strspn(text + number, " ");
	char plain[32];
	double bytes;

	if (number > 0 && number < 20 && unit[0] == '\0') {
		snprintf(suggestion, SL_INIT_ANSWER_MAX, "%.*sGiB", (int)number, text);
		return sl_err_set(err, -EINVAL, "--%s: \"%.40s\" has no unit; did you mean %s?", q->flag,
				  text, suggestion);
	}
	snprintf(plain, sizeof(plain), "%.*s%c", (int)(number < 20 ? number : 20), text,
		 toupper((unsigned char)unit[0]));
	if ((strcasecmp(unit + 1, "") != 0 && strcasecmp(unit + 1, "b") != 0 &&
	     strcasecmp(unit + 1, "ib") != 0) ||
	    !strchr("KkMmGgTt", unit[0]) || sl_units_parse(plain, SL_UNIT_BYTES, &bytes, NULL) < 0) {
		return sl_err_set(err, -EINVAL, "--%s: \"%.40s\" is no size; write it as 16GiB", q->flag,
				  text);
	}
	if (bytes < (double)q->min || bytes > 8192 * GIB) {
		sl_units_format((double)q->min, SL_UNIT_BYTES, plain, sizeof(plain));
		return sl_err_set(err, -EINVAL, "--%s: \"%.40s\" is not between %s and 8TiB", q->flag, text,
				  plain);
	}
	sl_units_format(bytes, SL_UNIT_BYTES, canonical, SL_INIT_ANSWER_MAX);
	return 0;
}

/* "10 GbE", "10g", "10 gbit/s" are 10GbE. */
static int take_wire(const struct sl_init_question *q, const char *text, char *canonical, char *suggestion,
		     struct sl_err *err)
{
	static const char *const same[] = {"virtual", "none", "same host", "vswitch", "local", "internal"};
	static const char *const units[] = {"gbe", "g", "gb", "gbit", "gbit/s", "gbps", "gb/s", "gige"};
	size_t number = strspn(text, "0123456789.");
	const char *unit = text + number + strspn(text + number, " ");
	double rate;

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		if (strcasecmp(text, same[i]) == 0) {
			snprintf(canonical, SL_INIT_ANSWER_MAX, "virtual");
			return 0;
		}
	}
	for (size_t i = 0; number > 0 && number < 8 && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcasecmp(unit, units[i]) == 0) {
			snprintf(canonical, SL_INIT_ANSWER_MAX, "%.*sGbE", (int)number, text);
			return sl_units_parse(canonical, SL_UNIT_LINK, &rate, err);
		}
	}
	if (number > 0 && number < 8 && unit[0] == '\0') {
		snprintf(suggestion, SL_INIT_ANSWER_MAX, "%.*sGbE", (int)number, text);
	}
	return sl_err_set(
	    err, -EINVAL,
	    "--%s: \"%.40s\" is neither virtual (a VM on the same host) nor a line rate such as "
	    "10GbE%s%s%s",
	    q->flag, text, suggestion[0] ? "; did you mean " : "", suggestion, suggestion[0] ? "?" : "");
}

/* Whether there is such a release, loading tells; here only nothing that means something to YAML. */
static int take_release(const struct sl_init_question *q, const char *text, char *canonical,
			struct sl_err *err)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || strchr(" .-", text[n] ? text[n] : '!')) {
		n++;
	}
	if (text[n] != '\0' || n == 0 || n > 60) {
		return sl_err_set(err, -EINVAL,
				  "--%s: \"%.40s\" is no release; write 2.3, or TrueNAS SCALE 24.04", q->flag,
				  text);
	}
	snprintf(canonical, SL_INIT_ANSWER_MAX, "%s", text);
	return 0;
}

int sl_init_choices(enum sl_init_at at, const struct sl_init_names *names, const char *const **ret)
{
	enum sl_init_kind kind = questions[at].kind;

	*ret = kind == SL_INIT_POOL ? names->disk : kind == SL_INIT_LOGS ? names->log : names->profile;
	return kind == SL_INIT_POOL   ? names->n_disks
	       : kind == SL_INIT_LOGS ? names->n_logs
	       : kind == SL_INIT_NAME ? names->n_profiles
				      : 0;
}

static int take(struct sl_init *a, enum sl_init_at at, const char *text, const struct sl_init_names *names,
		char *suggestion, struct sl_err *err)
{
	const struct sl_init_question *q = &questions[at];
	char *canonical = a->answer[at];
	int index;

	switch (q->kind) {
	case SL_INIT_WORD:
		return take_word(q, text, canonical, suggestion, err);
	case SL_INIT_NAME:
		index = sl_init_find_name(q, text, names->profile, names->n_profiles, "host profile",
					  suggestion, err);
		if (index >= 0) {
			snprintf(canonical, SL_INIT_ANSWER_MAX, "%s", names->profile[index]);
		}
		return index < 0 ? index : 0;
	case SL_INIT_COUNT:
		return take_count(q, text, canonical, err);
	case SL_INIT_BYTES:
		return take_bytes(q, text, canonical, suggestion, err);
	case SL_INIT_WIRE:
		return take_wire(q, text, canonical, suggestion, err);
	case SL_INIT_RELEASE:
		return take_release(q, text, canonical, err);
	case SL_INIT_POOL:
		return sl_init_take_pool(a, q, text, names, suggestion, err);
	case SL_INIT_VDEV:
		return sl_init_take_layout(a, q, text, suggestion, err);
	case SL_INIT_VDEVS_N:
		return sl_init_take_vdevs(a, q, text, suggestion, err);
	case SL_INIT_LOGS:
		return sl_init_take_logs(a, q, text, names, suggestion, err);
	}
	return 0;
}

int sl_init_take(struct sl_init *answers, enum sl_init_at at, const char *text,
		 const struct sl_init_names *names, char *suggestion, struct sl_err *err)
{
	struct sl_init before = *answers;
	int rc;

	suggestion[0] = '\0';
	if (strlen(text) >= SL_INIT_ANSWER_MAX) {
		return sl_err_set(err, -EINVAL, "--%s: longer than %d bytes", questions[at].flag,
				  SL_INIT_ANSWER_MAX - 1);
	}
	rc = text[0]
		 ? take(answers, at, text, names, suggestion, err)
		 : sl_err_set(err, -EINVAL, "--%s: is empty; give %s", questions[at].flag, questions[at].arg);
	if (rc < 0) {
		*answers = before;
		return rc;
	}
	answers->known[at] = true;
	return 0;
}
