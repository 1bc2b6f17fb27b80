#include "sim/report/report_powercut.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sim/report/fudges.h"
#include "sim/report/prose.h"
#include "sim/report/report.h"
#include "sim/report/report_costs.h"
#include "sim/report/table.h"

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void sl_powercut_what(const struct sl_powercut *powercut, char *buf, size_t size)
{
	static const char *const radius[] = {"The whole box loses its power", "The storage VM crashes alone",
					     "Nothing loses its power"};
	static const char *const faults[] = {"", "; the log device does not come back",
					     "; one side of the mirrored log does not come back", ""};
	const struct sl_powercut_options *o = &powercut->options;
	char when[96], pulled[64] = "";

	if (powercut->real) {
		(void)snprintf(
		    buf, size,
		    "A storage VM with OpenZFS and its disks lose their power under load in a guest, "
		    "once a variant, after %.6g s",
		    (double)o->at_ns[0] / 1e9);
		return;
	}
	switch (o->when) {
	case SL_WHEN_RANDOM:
		(void)snprintf(when, sizeof(when), "at %" PRIu64 " random event%s", o->n_random,
			       plural(o->n_random));
		break;
	case SL_WHEN_AT:
		(void)snprintf(when, sizeof(when),
			       o->n_at == 1 ? "at %.6g s" : "at %.6g s and at other times, %d in all",
			       (double)o->at_ns[0] / 1e9, o->n_at);
		break;
	case SL_WHEN_EVERY:
		(void)snprintf(when, sizeof(when), "at every event from %.6g s to %.6g s",
			       (double)o->from_ns / 1e9, (double)o->to_ns / 1e9);
		break;
	}
	if (o->fault == SL_FAULT_SLOG_PULLED) {
		(void)snprintf(pulled, sizeof(pulled), "; the log device is pulled at %.6g s",
			       (double)o->pulled_ns / 1e9);
	}
	(void)snprintf(buf, size, "%s%s%s%s%s; audited %s", radius[o->radius], faults[o->fault], pulled,
		       o->broken != SL_ZIL_INTACT ? "; rule broken on purpose: " : "",
		       o->broken != SL_ZIL_INTACT ? sl_zil_broken_name(o->broken) : "", when);
}

void sl_powercut_verdict(const struct sl_verdict *verdict, char *buf, size_t size)
{
	char bytes[32], window[32];

	if (verdict->worst.lost == 0) {
		(void)snprintf(buf, size, "0 lost");
		return;
	}
	sl_costs_bytes((double)verdict->worst.lost_bytes, bytes, sizeof(bytes));
	sl_units_time(verdict->window_ns, window, sizeof(window));
	(void)snprintf(buf, size, "%s%" PRIu64 " write%s, %s, %s: %s",
		       verdict->at_least     ? "at least "
		       : verdict->n_cuts > 1 ? "up to "
					     : "",
		       verdict->worst.lost, plural(verdict->worst.lost), bytes, window, verdict->why);
}

static void append(char *buf, size_t size, const char *text)
{
	size_t used = strlen(buf);

	(void)snprintf(buf + used, size - used, "%s", text);
}

static void real_return(const struct sl_verdict *verdict, char *buf, size_t size)
{
	const struct sl_outcome *cut = &verdict->worst;
	const struct sl_imported *in = &cut->imported;
	char txg[96] = "", waited[32];

	if (verdict->longest_answer_ns == SL_NEVER) {
		(void)snprintf(
		    buf, size,
		    "cut at %.6g s: what is left of the pool cannot be imported, the guest waits for ever",
		    (double)cut->at_ns / 1e9);
		return;
	}
	if (in->txg > 0) {
		(void)snprintf(txg, sizeof(txg), "txg %" PRIu64 " imported", in->txg);
	}
	if (in->txg > 0 && in->believed > in->txg) {
		(void)snprintf(txg, sizeof(txg), "txg %" PRIu64 " imported (%" PRIu64 " rolled back)",
			       in->txg, in->believed - in->txg);
	}
	sl_units_time(verdict->longest_answer_ns, waited, sizeof(waited));
	(void)snprintf(buf, size,
		       "cut at %.6g s: %s%sthe guest's writes waited %s and went on, %" PRIu64
		       " acknowledged until the audit",
		       (double)cut->at_ns / 1e9, txg, txg[0] ? ", " : "", waited, verdict->acknowledged);
}

void sl_powercut_return(const struct sl_powercut *powercut, const struct sl_verdict *verdict, char *buf,
			size_t size)
{
	const struct sl_outcome *worst = &verdict->worst;
	const struct sl_imported *in = &worst->imported;
	char part[120];

	buf[0] = '\0';
	if (powercut->real) {
		real_return(verdict, buf, size);
		return;
	}
	if (powercut->options.radius == SL_RADIUS_NONE) {
		sl_units_time(verdict->longest_answer_ns, part, sizeof(part));
		(void)snprintf(buf, size, "no restart: memory has it all; the longest a write waited: %s",
			       part);
		return;
	}
	(void)snprintf(buf, size, "cut at %.6g s: txg %" PRIu64 " imported", (double)worst->at_ns / 1e9,
		       in->txg);
	if (in->believed > in->txg) {
		(void)snprintf(part, sizeof(part), " (%" PRIu64 " rolled back)", in->believed - in->txg);
		append(buf, size, part);
	}
	(void)snprintf(part, sizeof(part), ", %" PRIu64 " log block%s replayed", in->stop - in->first,
		       plural(in->stop - in->first));
	append(buf, size, part);
	if (powercut->options.radius == SL_RADIUS_STORAGE && verdict->most_resent > 0) {
		(void)snprintf(part, sizeof(part),
			       ", new write verifier, up to %" PRIu64 " writes sent again by %s",
			       verdict->most_resent, sl_nfs_client_name(verdict->client));
		append(buf, size, part);
	}
}

static void put_row(struct sl_table *table, const struct sl_powercut *powercut, const struct sl_verdict *v)
{
	enum sl_tint tint = v->worst.lost == 0                    ? SL_TINT_GOOD
			    : v->worst.cause == SL_CAUSE_DISABLED ? SL_TINT_WARN
								  : SL_TINT_BAD;
	char bytes[32] = "-", window[32] = "-";

	if (v->worst.lost > 0) {
		sl_costs_bytes((double)v->worst.lost_bytes, bytes, sizeof(bytes));
		sl_units_time(v->window_ns, window, sizeof(window));
	}
	sl_table_put(table, SL_TINT_NONE, "%s", sl_scenario_workload(powercut->scenario, v->workload)->name);
	sl_table_put(table, SL_TINT_NONE, "%s", sl_scenario_variant_name(powercut->scenario, v->variant));
	sl_table_put(table, SL_TINT_NONE, "%" PRIu64,
		     v->n_cuts == 1 ? v->worst.acknowledged : v->acknowledged);
	sl_table_put(table, SL_TINT_NONE, "%" PRIu64, v->n_cuts);
	sl_table_put(table, v->lossy > 0 ? tint : SL_TINT_NONE, "%" PRIu64, v->lossy);
	sl_table_put(table, tint, "%" PRIu64, v->worst.lost);
	sl_table_put(table, SL_TINT_NONE, "%s", bytes);
	sl_table_put(table, SL_TINT_NONE, "%s", window);
}

static int print_table(const struct sl_powercut *powercut, FILE *out, struct sl_err *err)
{
	static const char *const headings[] = {"<workload", "<variant", "acknowledged", "cuts",
					       "with loss", "lost",     "bytes",        "window"};
	struct sl_table *table = sl_table_new(headings, 8);

	for (int i = 0; table && i < powercut->n_verdicts; i++) {
		const struct sl_verdict *v = &powercut->verdicts[i];

		if (i > 0 && v->workload != powercut->verdicts[i - 1].workload) {
			sl_table_rule(table);
		}
		if (!sl_table_row(table)) {
			break;
		}
		put_row(table, powercut, v);
	}
	if (!table) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	sl_table_print(table, out);
	sl_table_free(table);
	return 0;
}

int sl_powercut_text(const struct sl_powercut *powercut, FILE *out, struct sl_err *err)
{
	int width = sl_prose_width(out);
	char text[320];

	sl_powercut_what(powercut, text, sizeof(text));
	append(text, sizeof(text), ". Lost: acknowledged writes that are gone, at the worst cut.");
	fprintf(out, "%s\n", sl_scenario_title(powercut->scenario));
	sl_prose(text, 0, width, out);
	fputc('\n', out);
	if (powercut->n_verdicts > 0 && print_table(powercut, out, err) < 0) {
		return err->code;
	}
	fputs(powercut->n_verdicts > 0 ? "\n" : "", out);
	for (int i = 0; i < powercut->n_verdicts; i++) {
		const struct sl_verdict *v = &powercut->verdicts[i];

		fprintf(out, "%s, %s: ", sl_scenario_workload(powercut->scenario, v->workload)->name,
			sl_scenario_variant_name(powercut->scenario, v->variant));
		sl_powercut_verdict(v, text, sizeof(text));
		fprintf(out, "%s\n", text);
		sl_powercut_return(powercut, v, text, sizeof(text));
		fprintf(out, "  %s\n", text);
	}
	for (int i = 0; i < powercut->n_notes; i++) {
		fprintf(out, "note: %s\n", powercut->notes[i]);
	}
	sl_fudges_text(powercut->scenario, out);
	return 0;
}
