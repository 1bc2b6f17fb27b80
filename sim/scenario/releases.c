/*
 * nas.zil by release of OpenZFS and by product. The sources of the table are in sloglab-scenario(5).
 *
 * Generations of the ZIL: one batch in flight up to 0.7 ("2014"); a chain of log blocks from 0.8 on ("2.0");
 * an area of their own among the data disks from 2.1 on ("2.1"); writes logged whole from 2.2 on ("2.2");
 * sizes predicted from bursts and the lock shared from 2.2.4 on ("2.3"); special vdevs as log devices in 2.4
 * ("2.4").
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/inner.h"

#define PARTS 3
#define PART 1000000 /* a part is below it: OmniOS counts to 151056 */
#define LAST (PART - 1)

/* 1.2.3 as parts; those that are not written are LAST: the last release of the line. */
struct release {
	long part[PARTS];
};

struct shipped {
	const char *product; /* lower case, without spaces */
	struct release from, zfs;
};

/* Each product from the release on, in rising order. */
static const struct shipped table[] = {
    {"freenas", {{8, 0, 0}}, {{0, 6, 0}}},
    {"freenas", {{11, 2, 0}}, {{0, 8, 0}}}, /* FreeBSD's ZFS with illumos 8585 */
    {"truenas", {{12, 0, 0}}, {{2, 0, 0}}},
    {"truenas", {{13, 0, 0}}, {{2, 1, 1}}},
    {"truenas", {{13, 3, 0}}, {{2, 2, 5}}},
    {"truenas", {{22, 2, 0}}, {{2, 1, 0}}},
    {"truenas", {{23, 10, 0}}, {{2, 2, 1}}},
    {"truenas", {{24, 4, 0}}, {{2, 2, 3}}},
    {"truenas", {{24, 10, 0}}, {{2, 2, 6}}},
    {"truenas", {{25, 4, 0}}, {{2, 3, 0}}},
    {"proxmox", {{5, 0, 0}}, {{0, 7, 0}}},
    {"proxmox", {{6, 0, 0}}, {{0, 8, 1}}},
    {"proxmox", {{6, 4, 0}}, {{2, 0, 4}}},
    {"proxmox", {{7, 1, 0}}, {{2, 1, 1}}},
    {"proxmox", {{8, 1, 0}}, {{2, 2, 0}}},
    {"proxmox", {{8, 3, 0}}, {{2, 2, 6}}},
    {"proxmox", {{9, 0, 0}}, {{2, 3, 3}}},
    {"illumos", {{2010, 0, 0}}, {{0, 6, 0}}},
    {"illumos", {{2018, 0, 0}}, {{0, 8, 0}}}, /* 8585 is of December 2017 */
    {"illumos", {{151002, 0, 0}}, {{0, 6, 0}}},
    {"illumos", {{151026, 0, 0}}, {{0, 8, 0}}}, /* OmniOS of May 2018 */
};

static const struct {
	const char *name, *product;
} names[] = {
    {"", ""},
    {"zfs", ""},
    {"openzfs", ""},
    {"freenas", "freenas"},
    {"truenas", "truenas"},
    {"truenascore", "truenas"},
    {"truenasscale", "truenas"},
    {"core", "truenas"},
    {"scale", "truenas"},
    {"proxmox", "proxmox"},
    {"proxmoxve", "proxmox"},
    {"pve", "proxmox"},
    {"omnios", "illumos"},
    {"omniosr", "illumos"}, /* r151026 */
    {"openindiana", "illumos"},
    {"illumos", "illumos"},
};

static int compare(const struct release *a, const struct release *b)
{
	for (int i = 0; i < PARTS; i++) {
		if (a->part[i] != b->part[i]) {
			return a->part[i] < b->part[i] ? -1 : 1;
		}
	}
	return 0;
}

/* "13.0-U6", "9.2.1.7": up to three parts, what follows them does not matter. False when there is no number.
 */
static bool release_read(const char *text, bool padded, struct release *ret)
{
	*ret = (struct release){{LAST, LAST, LAST}};
	for (int i = 0; i < PARTS; i++) {
		char *end;

		if (!isdigit((unsigned char)*text)) {
			return i > 0;
		}
		ret->part[i] = strtol(text, &end, 10);
		/* "2.04" is no release of OpenZFS, "22.02" one of a product. */
		if (ret->part[i] >= PART || isalnum((unsigned char)*end) ||
		    (!padded && text[0] == '0' && end - text > 1)) {
			return false;
		}
		if (*end != '.') {
			return true;
		}
		text = end + 1;
	}
	return true;
}

/* The product that `text` begins with, NULL when it is none; *ret_rest: its release. */
static const char *product_read(const char *text, const char **ret_rest)
{
	char name[SL_NAME_MAX] = "";
	size_t n = 0;

	if (*text && !isalnum((unsigned char)*text)) {
		return NULL; /* "-1" */
	}
	while (*text && !isdigit((unsigned char)*text)) {
		if (isalpha((unsigned char)*text) && n + 1 < sizeof(name)) {
			name[n++] = (char)tolower((unsigned char)*text);
		}
		text++;
	}
	*ret_rest = text;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i].name) == 0) {
			return names[i].product;
		}
	}
	return NULL;
}

/* The OpenZFS that `release` of the product shipped; false when the table knows none. */
static bool zfs_of(const char *product, const struct release *release, struct release *ret)
{
	bool found = false;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].product, product) == 0 && compare(&table[i].from, release) <= 0) {
			*ret = table[i].zfs;
			found = true;
		}
	}
	return found;
}

const char *sl_zfs_generation(const char *text)
{
	/* The first release of each generation, newest first. */
	static const struct {
		struct release from;
		const char *word;
	} generations[] = {{{{2, 4, 0}}, "2.4"}, {{{2, 2, 4}}, "2.3"}, {{{2, 2, 0}}, "2.2"},
			   {{{2, 1, 0}}, "2.1"}, {{{0, 8, 0}}, "2.0"}, {{{0, 6, 0}}, "2014"}};
	static const struct release last = {{2, 4, LAST}};
	struct release zfs, release;
	const char *rest, *product = product_read(text, &rest);

	if (!product || !release_read(rest, product[0] != '\0', &release)) {
		return NULL;
	}
	if (product[0] == '\0') {
		if (release.part[0] == 2014 && release.part[1] == LAST) {
			return "2014";
		}
		zfs = release;
		if (zfs.part[0] == 1 || (zfs.part[0] == 0 && zfs.part[1] > 8)) {
			return NULL; /* from 0.8 OpenZFS went on to 2.0 */
		}
	} else if (!zfs_of(product, &release, &zfs)) {
		return NULL;
	}
	if (compare(&zfs, &last) > 0) {
		return NULL;
	}
	for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++) {
		if (compare(&generations[i].from, &zfs) <= 0) {
			return generations[i].word;
		}
	}
	return NULL;
}
