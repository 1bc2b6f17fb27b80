#include "sim/base/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/suggest.h"
#include "sim/base/units.h"

struct cursor {
	int argc;
	char **argv;
	int at;
};

/* The option that `name` (of `length` bytes) means: itself, or the only one it is a prefix of. */
static const struct sl_option *option_find(const struct sl_option *options, const char *name, size_t length,
					   bool *ret_ambiguous)
{
	const struct sl_option *found = NULL;
	const struct sl_option *o;

	*ret_ambiguous = false;
	for (o = options; o->name; o++) {
		if (strncmp(o->name, name, length) != 0) {
			continue;
		}
		if (o->name[length] == '\0') {
			*ret_ambiguous = false;
			return o;
		}
		*ret_ambiguous = found != NULL;
		found = o;
	}
	return *ret_ambiguous ? NULL : found;
}

static int option_unknown(const struct sl_option *options, const char *name, size_t length, bool ambiguous,
			  struct sl_err *err)
{
	const char *names[SL_WORDS_MAX];
	const struct sl_option *o;
	const char *near;
	char typed[64];
	int n = 0;

	(void)snprintf(typed, sizeof(typed), "%.*s", (int)(length < 60 ? length : 60), name);
	if (ambiguous) {
		return sl_err_set(err, -EINVAL, "--%s: ambiguous option; write it out, see --help", typed);
	}
	for (o = options; o->name && n < SL_WORDS_MAX - 1; o++) {
		names[n++] = o->name;
	}
	names[n++] = "help";
	near = sl_suggest(typed, names, n);
	if (near) {
		return sl_err_set(err, -EINVAL, "--%s: unknown option; did you mean --%s?", typed, near);
	}
	return sl_err_set(err, -EINVAL, "--%s: unknown option; see --help", typed);
}

static int option_number(const struct sl_option *o, const char *text, struct sl_err *err)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || value < o->min ||
	    value > o->max) {
		return sl_err_set(err, -EINVAL, "--%s: \"%.80s\" is not a whole number from %llu to %llu",
				  o->name, text, (unsigned long long)o->min, (unsigned long long)o->max);
	}
	*(uint64_t *)o->ret = value;
	return 0;
}

/* A value with a unit. Whole numbers below 2^53 are exact as doubles. */
static int option_unit(const struct sl_option *o, const char *text, enum sl_unit unit, struct sl_err *err)
{
	char least[32], most[32];
	double value;
	int rc = sl_units_parse(text, unit, &value, err);

	if (rc < 0) {
		return sl_err_wrap(err, "--%s", o->name);
	}
	if (value < (double)o->min || value > (double)o->max) {
		sl_units_format((double)o->min, unit, least, sizeof(least));
		sl_units_format((double)o->max, unit, most, sizeof(most));
		return sl_err_set(err, -EINVAL, "--%s: \"%.80s\" is not between %s and %s", o->name, text,
				  least, most);
	}
	if (unit == SL_UNIT_TIME) {
		*(int64_t *)o->ret = (int64_t)value;
	} else {
		*(uint64_t *)o->ret = (uint64_t)value;
	}
	return 0;
}

static int option_choice(const struct sl_option *o, const char *text, struct sl_err *err)
{
	size_t length = strlen(text);
	unsigned index = 0;

	for (const char *at = o->arg; at; at = strchr(at, '|'), index++) {
		at += *at == '|';
		if (strcspn(at, "|") == length && memcmp(at, text, length) == 0) {
			*(unsigned *)o->ret = index;
			return 0;
		}
	}
	return sl_err_set(err, -EINVAL, "--%s: \"%.80s\" is none of %s", o->name, text, o->arg);
}

static int option_store(const struct sl_option *o, const char *value, struct sl_err *err)
{
	struct sl_words *words;

	switch (o->kind) {
	case SL_OPT_FLAG:
		*(bool *)o->ret = true;
		return 0;
	case SL_OPT_TEXT:
		if (value[0] == '\0') {
			return sl_err_set(err, -EINVAL, "--%s: empty value; give %s", o->name, o->arg);
		}
		*(const char **)o->ret = value;
		return 0;
	case SL_OPT_NUMBER:
		return option_number(o, value, err);
	case SL_OPT_WORDS:
		words = o->ret;
		if (words->n == SL_WORDS_MAX) {
			return sl_err_set(err, -EINVAL, "--%s: more than %d times", o->name, SL_WORDS_MAX);
		}
		words->word[words->n++] = value;
		return 0;
	case SL_OPT_TIME:
		return option_unit(o, value, SL_UNIT_TIME, err);
	case SL_OPT_BYTES:
		return option_unit(o, value, SL_UNIT_BYTES, err);
	case SL_OPT_CHOICE:
		return option_choice(o, value, err);
	}
	return 0;
}

static int option_take(const struct sl_option *options, struct cursor *c, bool *ret_help, struct sl_err *err)
{
	const char *name = c->argv[c->at] + 2;
	const char *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const struct sl_option *o;
	const char *value = NULL;
	bool ambiguous;

	if (length == 4 && strncmp(name, "help", 4) == 0) {
		*ret_help = true;
		return 0;
	}
	o = option_find(options, name, length, &ambiguous);
	if (!o) {
		return option_unknown(options, name, length, ambiguous, err);
	}
	if (o->kind == SL_OPT_FLAG) {
		if (equals) {
			return sl_err_set(err, -EINVAL, "--%s: takes no value", o->name);
		}
	} else if (equals) {
		value = equals + 1;
	} else if (c->at + 1 < c->argc) {
		value = c->argv[++c->at];
	} else {
		return sl_err_set(err, -EINVAL, "--%s: value missing; give --%s %s", o->name, o->name,
				  o->arg);
	}
	return option_store(o, value, err);
}

int sl_options_parse(const struct sl_option *options, int argc, char **argv, struct sl_words *operands,
		     bool *ret_help, struct sl_err *err)
{
	struct cursor c = {.argc = argc, .argv = argv};
	bool only_operands = false;
	int rc;

	*ret_help = false;
	operands->n = 0;
	for (c.at = 1; c.at < argc && !*ret_help; c.at++) {
		const char *word = argv[c.at];

		if (!only_operands && strcmp(word, "--") == 0) {
			only_operands = true;
		} else if (!only_operands && strncmp(word, "--", 2) == 0) {
			rc = option_take(options, &c, ret_help, err);
			if (rc < 0) {
				return rc;
			}
		} else if (!only_operands && strcmp(word, "-h") == 0) {
			*ret_help = true;
		} else if (!only_operands && word[0] == '-' && word[1] != '\0') {
			return sl_err_set(err, -EINVAL,
					  "%.40s: unknown option; options are written --name, see --help",
					  word);
		} else if (operands->n == SL_WORDS_MAX) {
			return sl_err_set(err, -EINVAL, "more than %d arguments", SL_WORDS_MAX);
		} else {
			operands->word[operands->n++] = word;
		}
	}
	return 0;
}

void sl_options_print(const struct sl_option *options, FILE *out)
{
	const struct sl_option *o;
	char left[64];

	for (o = options; o->name; o++) {
		(void)snprintf(left, sizeof(left), "--%s%s%s", o->name, o->arg ? " " : "",
			       o->arg ? o->arg : "");
		(void)fprintf(out, "  %-24s %s\n", left, o->help);
	}
	(void)fprintf(out, "  %-24s %s\n", "--help", "this text");
}
