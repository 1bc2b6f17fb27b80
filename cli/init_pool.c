/* The answers about the pool: disks, layout, vdevs, log devices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init_inner.h"
#include "cli/init_list.h"
#include "sim/base/fuzzy.h"

#define LOGS_MAX 8

/* Appends to the comma-separated list in `list`; false when it is full. */
static bool list_add(char *list, const char *form, const char *name, int count)
{
	size_t used = strlen(list);
	int n = snprintf(list + used, SL_INIT_ANSWER_MAX - used, "%s", used ? ", " : "");

	used += (size_t)n;
	if (used >= SL_INIT_ANSWER_MAX) {
		return false;
	}
	if (count > 0) {
		n = snprintf(list + used, SL_INIT_ANSWER_MAX - used, "%s x %d", name, count);
	} else {
		n = snprintf(list + used, SL_INIT_ANSWER_MAX - used, "%s%s", form, name);
	}
	return (size_t)n < SL_INIT_ANSWER_MAX - used;
}

static bool names_none(const char *text, const char *const *names, int n)
{
	struct sl_fuzzy found;

	sl_fuzzy_find(text, names, n, &found);
	return found.kind == SL_FUZZY_NONE || found.kind == SL_FUZZY_NEAR;
}

/* One item of the disks: its index in names->disk and its count, at least 1. -EINVAL. */
static int disk_read(const struct sl_init_question *q, const char *text, const struct sl_init_names *names,
		     int *ret_count, char *suggestion, struct sl_err *err)
{
	char name[SL_INIT_ANSWER_MAX], near[SL_INIT_ANSWER_MAX] = "";
	int count = 0, index;

	if (!sl_init_item(text, name, sizeof(name), &count) || name[0] == '\0' || count < 0) {
		return sl_err_set(err, -EINVAL,
				  "--%s: \"%.40s\": write NAME x COUNT, such as hdd-7200-desktop x 4",
				  q->flag, text);
	}
	if (count == 0 && names_none(name, names->disk, names->n_disks)) {
		count = sl_init_item_tail(name);
	}
	index = sl_init_find_name(q, name, names->disk, names->n_disks, "drive of the catalogue", near, err);
	if (index < 0 && near[0] != '\0') {
		snprintf(suggestion, SL_INIT_ANSWER_MAX, "%.200s x %d", near, count > 0 ? count : 1);
	}
	*ret_count = count > 0 ? count : 1;
	return index;
}

int sl_init_take_pool(struct sl_init *a, const struct sl_init_question *q, const char *text,
		      const struct sl_init_names *names, char *suggestion, struct sl_err *err)
{
	char copy[SL_INIT_ANSWER_MAX], list[SL_INIT_ANSWER_MAX] = "";
	char *rest = copy, *item;
	int total = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((item = strsep(&rest, ",+")) != NULL) {
		int count = 0;
		int index = disk_read(q, item, names, &count, suggestion, err);

		if (index < 0) {
			/* What was understood of a list goes before the guess. */
			if (suggestion[0] != '\0' && (total > 0 || rest)) {
				suggestion[0] = '\0';
			}
			return index;
		}
		total += count;
		if (!list_add(list, "", names->disk[index], count)) {
			return sl_err_set(err, -EINVAL, "--%s: longer than %d bytes", q->flag,
					  SL_INIT_ANSWER_MAX - 1);
		}
	}
	if (total > (int)q->max) {
		return sl_err_set(err, -EINVAL, "--%s: %d disks; a pool has at most %d here", q->flag, total,
				  (int)q->max);
	}
	snprintf(a->answer[SL_INIT_DISKS], SL_INIT_ANSWER_MAX, "%s", list);
	return 0;
}

/* Are n disks enough and equally shared? The message says what would be right; so does the suggestion. */
static int vdevs_check(const char *flag, const char *layout, int n, int vdevs, char *suggestion,
		       struct sl_err *err)
{
	int least = sl_init_least(layout), most = n / least;

	if (n < least) {
		return sl_err_set(err, -EINVAL, "--%s: %s needs at least %d disks, not %d", flag, layout,
				  least, n);
	}
	while (most > 1 && n % most != 0) {
		most--;
	}
	if (vdevs < 1 || n % vdevs != 0 || n / vdevs < least) {
		snprintf(suggestion, SL_INIT_ANSWER_MAX, "%d", most);
		return sl_err_set(err, -EINVAL,
				  "--%s: %d disks are not %d x %s of equal size, %d disks each at least; %d "
				  "would be %d disks each",
				  flag, n, vdevs, layout, least, most, n / most);
	}
	return 0;
}

int sl_init_take_layout(struct sl_init *a, const struct sl_init_question *q, const char *text,
			char *suggestion, struct sl_err *err)
{
	char name[SL_INIT_ANSWER_MAX], layout[32];
	int n = sl_init_disks(a), vdevs = 0, rc, index;

	if (!sl_init_item(text, name, sizeof(name), &vdevs) || vdevs < 0) {
		return sl_err_set(err, -EINVAL, "--%s: \"%.40s\": write mirror, or 2 x raidz2", q->flag,
				  text);
	}
	index = sl_init_find_word(q, name, suggestion, err);
	if (index < 0) {
		return index;
	}
	(void)sl_init_word(q, index, layout, sizeof(layout));
	/* Flags come before the disks are known; those are checked when they are. */
	rc = a->known[SL_INIT_DISKS] ? vdevs_check(q->flag, layout, n, vdevs > 0 ? vdevs : 1, suggestion, err)
				     : 0;
	if (rc < 0) {
		suggestion[0] = '\0';
		return rc;
	}
	snprintf(a->answer[SL_INIT_LAYOUT], SL_INIT_ANSWER_MAX, "%s", layout);
	if (vdevs > 0 && strcmp(layout, "stripe") != 0) {
		snprintf(a->answer[SL_INIT_VDEVS], SL_INIT_ANSWER_MAX, "%d", vdevs);
		a->known[SL_INIT_VDEVS] = true;
	}
	return 0;
}

int sl_init_take_vdevs(struct sl_init *a, const struct sl_init_question *q, const char *text,
		       char *suggestion, struct sl_err *err)
{
	const char *layout = a->answer[SL_INIT_LAYOUT];
	char name[SL_INIT_ANSWER_MAX];
	int vdevs = 0, rc;

	if (strspn(text, "0123456789") == strlen(text) && strlen(text) < 4) {
		vdevs = atoi(text);
	} else if (!sl_init_item(text, name, sizeof(name), &vdevs)) {
		vdevs = 0;
	}
	if (vdevs < 1 || vdevs > (int)q->max) {
		return sl_err_set(err, -EINVAL, "--%s: \"%.40s\" is not a whole number from %d to %d",
				  q->flag, text, (int)q->min, (int)q->max);
	}
	rc = a->known[SL_INIT_DISKS] ? vdevs_check(q->flag, layout, sl_init_disks(a), vdevs, suggestion, err)
				     : 0;
	if (rc == 0) {
		snprintf(a->answer[SL_INIT_VDEVS], SL_INIT_ANSWER_MAX, "%d", vdevs);
	}
	return rc;
}

/* "mirror NAME", "NAME mirrored": the other words into `rest`; says whether that one was there. */
static bool mirror_take(const char *item, char *rest)
{
	char copy[SL_INIT_ANSWER_MAX];
	char *words = copy, *word;
	bool found = false;

	snprintf(copy, sizeof(copy), "%s", item);
	rest[0] = '\0';
	while ((word = strsep(&words, " \t")) != NULL) {
		size_t used = strlen(rest);

		if (strcasecmp(word, "mirror") == 0 || strcasecmp(word, "mirrored") == 0) {
			found = true;
		} else {
			snprintf(rest + used, SL_INIT_ANSWER_MAX - used, "%s%s", used ? " " : "", word);
		}
	}
	return found;
}

/* One log device or mirror of two onto the list. */
static int log_take(const struct sl_init_question *q, const char *item, const struct sl_init_names *names,
		    char *list, char *suggestion, struct sl_err *err)
{
	char rest[SL_INIT_ANSWER_MAX], name[SL_INIT_ANSWER_MAX], near[SL_INIT_ANSWER_MAX] = "", form[80];
	bool mirror = mirror_take(item, rest);
	int count = 0, index;

	if (!sl_init_item(rest, name, sizeof(name), &count) || count < 0) {
		return sl_err_set(err, -EINVAL, "--%s: \"%.40s\": write NAME, or mirror NAME", q->flag, item);
	}
	index = sl_init_find_name(q, name, names->log, names->n_logs, "drive of the catalogue", near, err);
	if (index < 0) {
		snprintf(suggestion, SL_INIT_ANSWER_MAX, "%s%.200s", mirror && near[0] ? "mirror " : "",
			 near);
		return index;
	}
	if (count > 1 && !(mirror && count == 2)) {
		snprintf(suggestion, SL_INIT_ANSWER_MAX, "mirror %.200s", names->log[index]);
		return sl_err_set(
		    err, -EINVAL,
		    "--%s: %d x %s: write mirror %s for a mirror of two; two in turn are rarely "
		    "faster",
		    q->flag, count, names->log[index], names->log[index]);
	}
	snprintf(form, sizeof(form), "%s%.64s", mirror ? "mirror " : "", names->log[index]);
	for (const char *at = list; *at; at += strcspn(at, ","), at += strspn(at, ", ")) {
		if (strcspn(at, ",") == strlen(form) && strncmp(at, form, strlen(form)) == 0) {
			return sl_err_set(err, -EINVAL, "--%s: %s is named twice", q->flag, form);
		}
	}
	return list_add(list, "", form, 0)
		   ? 0
		   : sl_err_set(err, -EINVAL, "--%s: longer than %d bytes", q->flag, SL_INIT_ANSWER_MAX - 1);
}

int sl_init_take_logs(struct sl_init *a, const struct sl_init_question *q, const char *text,
		      const struct sl_init_names *names, char *suggestion, struct sl_err *err)
{
	char copy[SL_INIT_ANSWER_MAX], list[SL_INIT_ANSWER_MAX] = "";
	char *rest = copy, *item;
	int n = 0, rc = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	while (rc == 0 && (item = strsep(&rest, ",")) != NULL) {
		rc = log_take(q, item, names, list, suggestion, err);
		if (rc < 0 && (n > 0 || rest)) {
			suggestion[0] = '\0';
		}
		n++;
	}
	if (rc == 0 && n > LOGS_MAX) {
		rc = sl_err_set(err, -EINVAL, "--%s: at most %d at once", q->flag, LOGS_MAX);
	}
	if (rc == 0 && n > 1 && (strncmp(list, "none", 4) == 0 || strstr(list, ", none"))) {
		rc = sl_err_set(err, -EINVAL, "--%s: none is compared with anyway; name the drives alone",
				q->flag);
	}
	if (rc == 0) {
		snprintf(a->answer[SL_INIT_SLOG], SL_INIT_ANSWER_MAX, "%s", list);
	}
	return rc;
}
