/* One column from the program down to the ZIL, frames around what runs on one machine, the disks below side
 * by side. Lengths are in units of the view box; the page scales it. */
#include "sim/report/page_box.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/page.h"

#define WIDTH 400
#define ROW_X 20
#define ROW_WIDTH 360
#define ROW_HEIGHT 37
#define ROW_STEP 44
#define FRAME_HEAD 22 /* room for its name */
#define FRAME_FOOT 9
#define DISK_HEIGHT 78
#define DISK_GAP 26
#define SHARE_X 316
#define SHARE_WIDTH 52.0
#define CHARS_ROW 44
#define WORD 64

/* What is drawn, from the top. */
enum part {
	PART_PROGRAM,
	PART_FS,
	PART_CLIENT,
	PART_NETWORK,
	PART_NFSD,
	PART_ZFS,
	PART_ZIL,
	PART_LOG,
	PART_DATA,
	PART_SPECIAL,
	PART_CACHE,
	PARTS
};

struct row {
	const char *name;
	char facts[160];
	char more[64]; /* a second line, of disks */
};

struct picture {
	const struct sl_box_drawing *drawing;
	const struct sl_workload *workload;
	struct sl_box box;
	FILE *out;
	struct row rows[PARTS];
	int y;
};

static enum part part_of_layer(enum sl_layer layer)
{
	static const enum part parts[SL_LAYERS] = {
	    [SL_LAYER_GUEST] = PART_PROGRAM,   [SL_LAYER_DATABASE] = PART_PROGRAM,
	    [SL_LAYER_FS] = PART_FS,           [SL_LAYER_HYP] = PART_CLIENT,
	    [SL_LAYER_NETWORK] = PART_NETWORK, [SL_LAYER_NFSD] = PART_NFSD,
	    [SL_LAYER_ZFS] = PART_ZFS,         [SL_LAYER_THROTTLE] = PART_ZFS,
	    [SL_LAYER_ZIL] = PART_ZIL,         [SL_LAYER_VDEV] = PART_ZFS,
	    [SL_LAYER_LOG_DISK] = PART_LOG,    [SL_LAYER_DATA_DISK] = PART_DATA,
	};

	return parts[layer];
}

/* The resources of a measurement, where in the box they are. */
static const struct {
	const char *name;
	enum part part;
	enum sl_layer layer;
} resources[] = {
    {"guest vCPUs", PART_PROGRAM, SL_LAYER_GUEST},   {"storage VM vCPUs", PART_NFSD, SL_LAYER_NFSD},
    {"write throttle", PART_ZFS, SL_LAYER_THROTTLE}, {"ZIL", PART_ZIL, SL_LAYER_ZIL},
    {"log device", PART_LOG, SL_LAYER_LOG_DISK},     {"data disks", PART_DATA, SL_LAYER_DATA_DISK},
};

#define RESOURCES (sizeof(resources) / sizeof(resources[0]))

void sl_box_mark_busiest(struct sl_box_drawing *drawing)
{
	double most = 0;

	drawing->has_hot = false;
	for (int i = 0; drawing->measure && i < drawing->measure->n_resources; i++) {
		const struct sl_resource *r = &drawing->measure->resources[i];

		for (size_t k = 0; k < RESOURCES; k++) {
			if (strcmp(r->name, resources[k].name) == 0 && r->utilisation > most) {
				most = r->utilisation;
				drawing->has_hot = true;
				drawing->hot = resources[k].layer;
			}
		}
	}
	if (drawing->has_hot) {
		(void)snprintf(drawing->mark, sizeof(drawing->mark), "busiest");
	}
}

/* How busy `part` is; negative where nobody says. */
static double share_of(const struct picture *p, enum part part)
{
	const struct sl_measure *measure = p->drawing->measure;

	for (int i = 0; measure && i < measure->n_resources; i++) {
		for (size_t k = 0; k < RESOURCES; k++) {
			if (resources[k].part == part &&
			    strcmp(measure->resources[i].name, resources[k].name) == 0) {
				return measure->resources[i].utilisation;
			}
		}
	}
	return -1;
}

static bool is_hot(const struct picture *p, enum part part)
{
	return p->drawing->has_hot && part_of_layer(p->drawing->hot) == part;
}

/* What the scenario says of `key`, cut to WORD bytes; a string in buf. */
static const char *said(const struct picture *p, const char *key, char buf[WORD])
{
	const struct sl_scenario *sc = p->drawing->scenario;
	int n = sl_scenario_params(sc);

	buf[0] = '\0';
	for (int i = 0; i < n; i++) {
		struct sl_param param;

		if (sl_scenario_param(sc, p->drawing->variant, i, &param) == 0 &&
		    strcmp(param.key, key) == 0) {
			(void)snprintf(buf, WORD, "%s", param.text);
			break;
		}
	}
	return buf;
}

static void facts(struct picture *p, enum part part, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void facts(struct picture *p, enum part part, const char *name, const char *fmt, ...)
{
	va_list args;

	p->rows[part].name = name;
	va_start(args, fmt);
	(void)vsnprintf(p->rows[part].facts, sizeof(p->rows[part].facts), fmt, args);
	va_end(args);
}

static void more(struct picture *p, enum part part, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void more(struct picture *p, enum part part, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(p->rows[part].more, sizeof(p->rows[part].more), fmt, args);
	va_end(args);
}

static bool is_local(const struct picture *p)
{
	return p->workload->kind == SL_WL_SYNCWRITE && p->workload->access == SL_ACCESS_LOCAL;
}

static void tell_guest(struct picture *p)
{
	static const char *const clients[SL_CLIENTS] = {
	    [SL_CLIENT_ESXI] = "every WRITE is FILE_SYNC",
	    [SL_CLIENT_LIBNFS] = "WRITE is UNSTABLE, then COMMIT",
	    [SL_CLIENT_LINUX] = "stable as open and sync ask",
	};
	char a[WORD], b[WORD];

	switch (p->workload->kind) {
	case SL_WL_OLTP:
		facts(p, PART_PROGRAM, "Database", "%s, %lld thread%s, buffer pool %s",
		      said(p, "guests.database", a), (long long)p->workload->threads,
		      p->workload->threads == 1 ? "" : "s", said(p, "guests.buffer_pool", b));
		break;
	case SL_WL_FILEIO:
		facts(p, PART_PROGRAM, "Program", "reads and writes files, page cache");
		break;
	case SL_WL_SYNCWRITE:
	case SL_WL_DISK:
		facts(p, PART_PROGRAM, "Program", "synchronous writes");
		break;
	}
	facts(p, PART_FS, "ext4 + jbd2", "virtual disk, cache=%s", said(p, "guests.disk_cache", a));
	facts(p, PART_CLIENT, "NFS client", "%s: %s", said(p, "host.client", a), clients[p->box.client]);
	if (p->box.host_link_bps > 0) {
		facts(p, PART_NETWORK, "Network", "wire of %s, MTU %s", said(p, "host.link", a),
		      said(p, "params.nic.mtu", b));
	} else {
		facts(p, PART_NETWORK, "Network", "virtual switch, %s, MTU %s", said(p, "host.nic", a),
		      said(p, "params.nic.mtu", b));
	}
}

static void tell_storage(struct picture *p)
{
	char a[WORD], b[WORD], c[WORD];

	facts(p, PART_NFSD, "NFS server", "%s threads, %s vCPUs", said(p, "nas.nfsd_threads", a),
	      said(p, "nas.vcpus", b));
	facts(p, PART_ZFS, "ZFS", "generation %s, records of %s, encryption %s", said(p, "nas.zil", a),
	      said(p, "pool.recordsize", b), said(p, "pool.encryption", c));
	facts(p, PART_ZIL, "ZIL", "sync=%s, logbias=%s", said(p, "pool.sync", a), said(p, "pool.logbias", b));
	if (p->box.n_log > 0) {
		facts(p, PART_LOG, "SLOG", "%s", said(p, "pool.log", a));
		more(p, PART_LOG, "flush %s", said(p, "pool.log_flush", a));
	} else {
		facts(p, PART_LOG, "no SLOG", "log blocks go to");
		more(p, PART_LOG, "%s", "the data disks");
	}
	facts(p, PART_DATA, "Data disks", "%s", said(p, "pool.data.disks", a));
	more(p, PART_DATA, "%s, flush %s", said(p, "pool.data.layout", b), said(p, "pool.data.flush", c));
	if (p->box.n_special > 0) {
		facts(p, PART_SPECIAL, "Special", "%s", said(p, "pool.special", a));
	}
	if (p->box.n_cache > 0) {
		facts(p, PART_CACHE, "Cache", "%s", said(p, "pool.cache", a));
	}
}

/* At most `max` characters, whole ones, "..." in place of what is cut. */
static void put_text(FILE *out, const char *text, int max)
{
	char buf[200];
	size_t n = 0;
	int chars = 0;

	for (size_t i = 0; text[i] && n < sizeof(buf) - 1; i++) {
		bool starts = ((unsigned char)text[i] & 0xc0) != 0x80;

		if (starts && chars++ == max) {
			while (n > 0 && ((unsigned char)buf[n - 1] & 0xc0) == 0x80) {
				n--;
			}
			n -= n > 0;
			buf[n] = '\0';
			sl_html_text(buf, out);
			fputs("\xe2\x80\xa6", out);
			return;
		}
		buf[n++] = text[i];
	}
	buf[n] = '\0';
	sl_html_text(buf, out);
}

/* A frame of `rows` rows below the present line, which moves below its name. */
static void frame(struct picture *p, int inset, int height, const char *name)
{
	fprintf(p->out, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\"/>",
		inset, p->y, WIDTH - 2 * inset, height);
	fprintf(p->out, "<text class=\"err\" x=\"%d\" y=\"%d\">", inset + 10, p->y + 16);
	put_text(p->out, name, CHARS_ROW + 8);
	fputs("</text>\n", p->out);
	p->y += FRAME_HEAD;
}

static void share(const struct picture *p, enum part part, double at, int y)
{
	double busy = share_of(p, part);

	if (busy < 0) {
		return;
	}
	fprintf(p->out,
		"<rect class=\"track\" x=\"%.0f\" y=\"%d\" width=\"%.0f\" height=\"5\" rx=\"2\"/>"
		"<rect class=\"busy\" x=\"%.0f\" y=\"%d\" width=\"%.1f\" height=\"5\" rx=\"2\"/>"
		"<text class=\"err\" x=\"%.0f\" y=\"%d\" text-anchor=\"end\">%.0f %%</text>\n",
		at, y + 22, SHARE_WIDTH, at, y + 22, SHARE_WIDTH * fmin(busy, 1), at + SHARE_WIDTH, y + 16,
		busy * 100);
}

static void row(struct picture *p, enum part part)
{
	bool hot = is_hot(p, part);
	double busy = share_of(p, part);

	fprintf(p->out,
		"<g><rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>"
		"<text class=\"name\" x=\"%d\" y=\"%d\">%s",
		hot ? "layer hot" : "layer", ROW_X, p->y, ROW_WIDTH, ROW_HEIGHT, ROW_X + 10, p->y + 15,
		p->rows[part].name);
	if (hot) {
		fputs("<tspan class=\"mark\" dx=\"8\">\xe2\x97\x86 ", p->out);
		put_text(p->out, p->drawing->mark, CHARS_ROW - 16);
		fputs("</tspan>", p->out);
	}
	fprintf(p->out, "</text><text class=\"err\" x=\"%d\" y=\"%d\">", ROW_X + 10, p->y + 30);
	put_text(p->out, p->rows[part].facts, busy < 0 ? CHARS_ROW + 8 : CHARS_ROW);
	fputs("</text>", p->out);
	share(p, part, SHARE_X, p->y);
	fputs("</g>\n", p->out);
	p->y += ROW_STEP;
}

/* One line of a disk; nothing for an empty text. */
static void disk_line(const struct picture *p, const char *class, double x, int y, const char *text, int max)
{
	if (text[0] != '\0') {
		fprintf(p->out, "<text class=\"%s\" x=\"%.0f\" y=\"%d\">", class, x + 10, p->y + y);
		put_text(p->out, text, max);
		fputs("</text>", p->out);
	}
}

static void disk(const struct picture *p, enum part part, double x, double width)
{
	bool hot = is_hot(p, part);
	bool absent = part == PART_LOG && p->box.n_log == 0;
	int max = (int)((width - 16) / 6.4);
	char mark[64];

	fprintf(p->out,
		"<g><rect class=\"layer%s%s\" x=\"%.0f\" y=\"%d\" width=\"%.0f\" height=\"%d\" rx=\"6\"/>",
		hot ? " hot" : "", absent ? " absent" : "", x, p->y, width, DISK_HEIGHT);
	disk_line(p, "name", x, 16, p->rows[part].name, max);
	disk_line(p, "err", x, 38, p->rows[part].facts, max);
	disk_line(p, "err", x, 53, p->rows[part].more, max);
	if (hot) {
		(void)snprintf(mark, sizeof(mark), "\xe2\x97\x86 %s", p->drawing->mark);
		disk_line(p, "mark", x, 69, mark, max);
	}
	share(p, part, x + width - SHARE_WIDTH - 10, p->y - 5);
	fputs("</g>\n", p->out);
}

/* From the ZIL and ZFS down to what keeps their data. */
static void arrow(const struct picture *p, double x, const char *name)
{
	fprintf(p->out,
		"<path class=\"arrow\" d=\"M%.0f %dV%dm-4 -5l4 5l4 -5\"/><text class=\"err\" x=\"%.0f\" "
		"y=\"%d\">%s</text>\n",
		x, p->y - DISK_GAP + 2, p->y - 2, x + 9, p->y - 8, name);
}

static void disks(struct picture *p)
{
	static const enum part all[] = {PART_LOG, PART_DATA, PART_SPECIAL, PART_CACHE};
	int n = 2 + (p->box.n_special > 0) + (p->box.n_cache > 0);
	double width = (double)(ROW_WIDTH - 8 * (n - 1)) / n, x = ROW_X;

	p->y += DISK_GAP - (ROW_STEP - ROW_HEIGHT);
	if (p->box.n_log > 0) {
		arrow(p, ROW_X + width / 2 - 20, "commits");
	}
	arrow(p, ROW_X + width + 8 + width / 2 - 20, p->box.n_log > 0 ? "txgs" : "commits, txgs");
	for (int i = 0; i < 4; i++) {
		if ((all[i] == PART_SPECIAL && p->box.n_special == 0) ||
		    (all[i] == PART_CACHE && p->box.n_cache == 0)) {
			continue;
		}
		disk(p, all[i], x, width);
		x += width + 8;
	}
	p->y += DISK_HEIGHT;
}

static void storage(struct picture *p, bool served)
{
	char name[256], memory[WORD];

	(void)snprintf(name, sizeof(name), "%s, %s",
		       p->box.host_link_bps > 0 || !served ? "Storage machine" : "Storage VM",
		       said(p, "nas.memory", memory));
	frame(p, 10, FRAME_HEAD + 3 * ROW_STEP - (ROW_STEP - ROW_HEIGHT) + FRAME_FOOT, name);
	row(p, served ? PART_NFSD : PART_PROGRAM);
	row(p, PART_ZFS);
	row(p, PART_ZIL);
	disks(p);
}

static void guest(struct picture *p)
{
	char name[256], vcpus[WORD], memory[WORD];

	(void)snprintf(name, sizeof(name), "Guest VM, %s vCPUs, %s", said(p, "guests.vcpus", vcpus),
		       said(p, "guests.memory", memory));
	frame(p, 10, FRAME_HEAD + 2 * ROW_STEP - (ROW_STEP - ROW_HEIGHT) + FRAME_FOOT, name);
	row(p, PART_PROGRAM);
	row(p, PART_FS);
	p->y += FRAME_FOOT;
	row(p, PART_CLIENT);
	row(p, PART_NETWORK);
}

/* Draws into p->out and returns the height. */
static int draw(struct picture *p)
{
	char name[256], hypervisor[WORD];

	p->y = 4;
	if (p->workload->kind == SL_WL_DISK) {
		disk(p, PART_DATA, ROW_X, ROW_WIDTH);
		return p->y + DISK_HEIGHT + 4;
	}
	if (is_local(p)) {
		storage(p, false);
		return p->y + 4;
	}
	(void)snprintf(name, sizeof(name), "Hypervisor: %s", said(p, "host.hypervisor", hypervisor));
	fputs("<text class=\"err\" x=\"10\" y=\"14\">", p->out);
	put_text(p->out, name, CHARS_ROW);
	fputs("</text>\n", p->out);
	p->y = FRAME_HEAD;
	guest(p);
	storage(p, true);
	return p->y + 4;
}

static const char *hot_name(const struct picture *p)
{
	return p->rows[part_of_layer(p->drawing->hot)].name;
}

static bool picture_make(const struct sl_box_drawing *drawing, struct picture *ret)
{
	*ret = (struct picture){.drawing = drawing,
				.workload = sl_scenario_workload(drawing->scenario, drawing->workload)};
	if (sl_scenario_box(drawing->scenario, drawing->variant, &ret->box, NULL) < 0) {
		return false;
	}
	tell_guest(ret);
	tell_storage(ret);
	return true;
}

void sl_box_caption(const struct sl_box_drawing *drawing, char *buf, size_t size)
{
	const char *variant = sl_scenario_variant_name(drawing->scenario, drawing->variant);
	const char *load = sl_scenario_workload(drawing->scenario, drawing->workload)->name;
	struct picture p;

	buf[0] = '\0';
	if (!picture_make(drawing, &p)) {
		return;
	}
	if (drawing->has_hot) {
		(void)snprintf(buf, size, "%s under %s; marked: %s, %s", variant, load, hot_name(&p),
			       drawing->mark);
	} else {
		(void)snprintf(buf, size, "%s under %s", variant, load);
	}
}

/* The same in words, for those who do not see it. */
static void describe(struct picture *p)
{
	static const enum part first = PART_PROGRAM;

	for (int i = (int)first; i < PARTS; i++) {
		double busy = share_of(p, (enum part)i);

		if (!p->rows[i].name || (p->workload->kind == SL_WL_DISK && i != PART_DATA) ||
		    (is_local(p) && i > PART_PROGRAM && i < PART_ZFS)) {
			continue;
		}
		sl_html_text(p->rows[i].name, p->out);
		fputs(": ", p->out);
		sl_html_text(p->rows[i].facts, p->out);
		fputs(p->rows[i].more[0] ? ", " : "", p->out);
		sl_html_text(p->rows[i].more, p->out);
		if (busy >= 0) {
			fprintf(p->out, ", %.0f %% busy", busy * 100);
		}
		if (is_hot(p, (enum part)i)) {
			fputs(", ", p->out);
			sl_html_text(p->drawing->mark, p->out);
		}
		fputs(". ", p->out);
	}
}

void sl_box_svg(const struct sl_box_drawing *drawing, FILE *out)
{
	struct picture p;
	char *shapes = NULL;
	size_t size = 0;
	int height;

	if (!picture_make(drawing, &p)) {
		return;
	}
	p.out = open_memstream(&shapes, &size);
	if (!p.out) {
		return;
	}
	height = draw(&p);
	if (fclose(p.out) == 0) {
		fprintf(out,
			"<svg class=\"box\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"box-title "
			"box-text\">\n<title id=\"box-title\">The box: ",
			WIDTH, height);
		sl_html_text(sl_scenario_variant_name(drawing->scenario, drawing->variant), out);
		fputs("</title>\n<desc id=\"box-text\">", out);
		p.out = out;
		describe(&p);
		fputs("</desc>\n", out);
		fwrite(shapes, 1, size, out);
		fputs("</svg>\n", out);
	}
	free(shapes);
}
