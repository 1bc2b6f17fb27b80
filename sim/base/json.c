#include "sim/base/json.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/outfile.h"

#define FIGURE_DIGITS 6

static _Thread_local bool json_starved; /* jansson's hooks have no argument that could lead elsewhere */

static void *json_alloc(size_t bytes)
{
	void *got = malloc(bytes);

	json_starved = json_starved || !got;
	return got;
}

void sl_json_watch(void)
{
	json_set_alloc_funcs(json_alloc, free);
}

bool sl_json_starved(void)
{
	return json_starved;
}

double sl_round6(double value)
{
	char text[32];
	locale_t c_locale, before;
	double rounded;

	if (!__builtin_isfinite(value)) {
		return value;
	}
	/* To text and back is the one rounding that agrees with what printf shows. */
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	before = uselocale(c_locale);
	(void)snprintf(text, sizeof(text), "%.*g", FIGURE_DIGITS, value);
	rounded = strtod(text, NULL);
	(void)uselocale(before);
	freelocale(c_locale);
	return rounded;
}

json_t *sl_json_figure(double value)
{
	return __builtin_isfinite(value) ? json_real(sl_round6(value)) : json_null();
}

int sl_json_write(const json_t *doc, FILE *out, struct sl_err *err)
{
	if (!doc || json_starved) {
		return sl_err_set(err, -ENOMEM, "cannot write JSON: out of memory");
	}
	errno = 0;
	if (json_dumpf(doc, out, JSON_INDENT(2) | JSON_REAL_PRECISION(FIGURE_DIGITS)) != 0 ||
	    fputc('\n', out) == EOF || fflush(out) != 0) {
		int code = errno != 0 ? -errno : -EIO;

		return sl_err_set(err, code, "cannot write JSON: %s", strerror(-code));
	}
	return 0;
}

int sl_json_write_file(const json_t *doc, const char *path, struct sl_err *err)
{
	struct sl_outfile out;
	int rc = sl_outfile_open(&out, path, err);

	if (rc != 0) {
		return rc;
	}
	rc = sl_json_write(doc, out.file, err);
	return rc == 0 ? sl_outfile_commit(&out, err) : sl_outfile_abort(&out, rc, err);
}

json_t *sl_json_text(const char *text)
{
	json_t *string = json_string(text);
	char clean[512];
	size_t n;

	if (string) {
		return string;
	}
	for (n = 0; text[n] && n < sizeof(clean) - 1; n++) {
		clean[n] = text[n];
		if ((unsigned char)text[n] >= 0x80) {
			clean[n] = '?';
		}
	}
	clean[n] = '\0';
	return json_string(clean);
}
