/* sloglab-load audit. */
#include <inttypes.h>
#include <string.h>

#include "loadgen/audit.h"
#include "loadgen/program.h"
#include "sim/base/json.h"

struct audit {
	struct program program;
	struct sl_audit_target target;
	const char *acks;
	uint64_t port, record_bytes;
	unsigned no_sync;
};

static int audit_run(struct audit *audit)
{
	struct program *program = &audit->program;
	struct sl_audit_config config = {
	    .target = audit->target,
	    .acks = audit->acks,
	    .acks_sync = !audit->no_sync,
	    .record_bytes = audit->record_bytes,
	    .threads = (uint32_t)program->threads,
	};
	int rc;

	config.limits = program_limits(program, 0);
	rc = sl_audit_run(&config, &program->result, &program->err);
	return program_end(program, rc, true,
			   json_pack("{s:I}", "block_bytes", (json_int_t)audit->record_bytes));
}

static json_t *verdict_json(const struct sl_audit_verdict *verdict)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "schema", "sloglab-audit/1", "acknowledged",
			 (json_int_t)verdict->acknowledged, "lost", (json_int_t)verdict->lost, "torn",
			 (json_int_t)verdict->torn, "extra", (json_int_t)verdict->extra, "unfinished",
			 (json_int_t)verdict->unfinished, "first_lost",
			 verdict->lost > 0 ? json_integer((json_int_t)verdict->first_lost) : json_null());
}

static int verdict_write(const struct program *program, const struct sl_audit_verdict *verdict,
			 struct sl_err *err)
{
	json_t *doc = verdict_json(verdict);
	int rc = program_json_write(program, doc, err);

	json_decref(doc);
	return rc;
}

static int audit_verify(struct audit *audit)
{
	struct program *program = &audit->program;
	struct sl_audit_verdict verdict;
	int rc = sl_audit_verify(&audit->target, audit->acks, &verdict, &program->err);

	if (rc == 0) {
		(void)fprintf(program->out,
			      "acknowledged %" PRIu64 ", lost %" PRIu64 " (%" PRIu64
			      " of them torn); not acknowledged, "
			      "which is allowed: %" PRIu64 " whole, %" PRIu64 " unfinished\n",
			      verdict.acknowledged, verdict.lost, verdict.torn, verdict.extra,
			      verdict.unfinished);
		rc = program->json ? verdict_write(program, &verdict, &program->err) : 0;
	}
	sl_load_result_fini(&program->result);
	if (rc < 0) {
		(void)fprintf(stderr, "sloglab-load: %s\n", program->err.msg);
		return PROGRAM_FAILED;
	}
	if (verdict.lost > 0) {
		(void)fprintf(stderr,
			      "sloglab-load: audit: %" PRIu64
			      " acknowledged records are lost; the first is number %" PRIu64 "\n",
			      verdict.lost, verdict.first_lost);
		return PROGRAM_FAILED;
	}
	return PROGRAM_OK;
}

/* What is missing or wrong about the options; NULL = nothing. */
static const char *audit_wrong(struct audit *audit, const struct sl_words *operands)
{
	struct sl_audit_target *target = &audit->target;
	int targets;

	target->mariadb = target->db.host != NULL || target->db.socket != NULL;
	targets = target->mariadb + (target->path != NULL) + (target->url != NULL);
	if (operands->n != 1 ||
	    (strcmp(operands->word[0], "run") != 0 && strcmp(operands->word[0], "verify") != 0)) {
		return "say \"audit run\" or \"audit verify\"";
	}
	if (targets != 1) {
		return "give one place for the records: --path, --url, or --host or --socket of MariaDB";
	}
	if (!audit->acks) {
		return "--acks is missing; give a file where the failure does not reach";
	}
	if (audit->record_bytes % 8 != 0) {
		return "--block: not a multiple of 8 bytes";
	}
	return NULL;
}

int program_audit(int argc, char **argv)
{
	struct audit audit = {
	    .target = {.db = {.user = "sbtest", .database = "sbtest"}}, .port = 3306, .record_bytes = 4096};
	struct sl_audit_target *target = &audit.target;
	const struct sl_option options[] = {
	    {"path", "FILE", "records in a file or on a block device, written with O_DSYNC", SL_OPT_TEXT,
	     &target->path, 0, 0},
	    {"url", "URL", "records in nfs://SERVER/EXPORT/FILE, written FILE_SYNC", SL_OPT_TEXT,
	     &target->url, 0, 0},
	    PROGRAM_DB_OPTIONS(&target->db, &audit.port),
	    {"acks", "FILE", "list of acknowledgements; run also takes tcp://HOST:PORT", SL_OPT_TEXT,
	     &audit.acks, 0, 0},
	    {"acks-sync", "on|off", "each acknowledgement reaches the disk of the list (on)", SL_OPT_CHOICE,
	     &audit.no_sync, 0, 0},
	    {"block", "BYTES", "size of a record (4KiB)", SL_OPT_BYTES, &audit.record_bytes, 64, 1 << 20},
	    PROGRAM_OPTIONS(&audit.program),
	    PROGRAM_OPTIONS_END};
	const struct program_command command = {
	    .load = "audit",
	    .usage = "audit run|verify --acks FILE (--path FILE | --url URL | --socket PATH) [OPTION...]",
	    .about = "run writes numbered records and notes each acknowledgement; after the crash,\n"
		     "verify looks for each of them: exit code 1 when one is lost.",
	    .options = options,
	};
	struct sl_words operands;
	const char *wrong;
	int exit_code;

	if (!program_begin(&audit.program, &command, argc, argv, &operands, &exit_code)) {
		return exit_code;
	}
	wrong = audit_wrong(&audit, &operands);
	if (wrong) {
		sl_load_result_fini(&audit.program.result);
		return program_usage(&audit.program, "%s", wrong);
	}
	target->db.port = (uint16_t)audit.port;
	target->db.timeout_ns = target->timeout_ns = audit.program.stall_ns;
	return strcmp(operands.word[0], "run") == 0 ? audit_run(&audit) : audit_verify(&audit);
}
