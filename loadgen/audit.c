#include "loadgen/audit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>

#include "loadgen/audit_log.h"
#include "loadgen/audit_place.h"
#include "loadgen/crew.h"
#include "loadgen/record.h"

#define THREADS_MAX 1024u

struct audit {
	const struct sl_audit_config *config;
	uint64_t run;
	atomic_ullong next;
	struct sl_audit_log log;
};

/* Of one thread. */
struct writer {
	struct audit *audit;
	struct sl_audit_place *place;
	uint8_t *record;
};

static int writer_work(void *arg, struct sl_crew_turn *ret, struct sl_err *err)
{
	struct writer *writer = arg;
	struct audit *audit = writer->audit;
	size_t bytes = audit->config->record_bytes;
	uint64_t number = atomic_fetch_add(&audit->next, 1);
	int rc;

	sl_record_make(audit->run, number, writer->record, bytes);
	rc = writer->place->ops->put(writer->place, number, writer->record, bytes, err);
	rc = rc ? rc : sl_audit_log_add(&audit->log, number, err);
	ret->done.request = true;
	ret->done.ops[SL_LOAD_WRITE] = 1;
	ret->done.bytes[SL_LOAD_WRITE] = (uint32_t)bytes;
	return rc;
}

static void writer_abort(void *arg)
{
	struct writer *writer = arg;

	writer->place->ops->abort(writer->place);
}

static int writers_run(struct audit *audit, struct writer *writers, void **workers,
		       struct sl_load_result *ret, struct sl_err *err)
{
	const struct sl_audit_config *config = audit->config;
	const struct sl_crew_config crew = {
	    .threads = config->threads,
	    .workers = workers,
	    .work = writer_work,
	    .abort = writer_abort,
	    .limits = config->limits,
	};
	int rc = 0;

	for (uint32_t i = 0; i < config->threads && rc == 0; i++) {
		workers[i] = &writers[i];
		writers[i].audit = audit;
		writers[i].record = malloc(config->record_bytes);
		rc = writers[i].record ? 0 : sl_err_set(err, -ENOMEM, "out of memory");
		rc = rc ? rc : sl_audit_place_open(&config->target, true, audit->run, &writers[i].place, err);
	}
	/* Last: a list is begun only when there is something to note. */
	rc = rc ? rc
		: sl_audit_log_create(config->acks, audit->run, config->record_bytes, config->acks_sync,
				      &audit->log, err);
	rc = rc ? rc : sl_crew_run(&crew, ret, err);
	for (uint32_t i = 0; i < config->threads; i++) {
		if (writers[i].place) {
			writers[i].place->ops->close(writers[i].place);
		}
		free(writers[i].record);
	}
	sl_audit_log_close(&audit->log);
	return rc;
}

int sl_audit_run(const struct sl_audit_config *config, struct sl_load_result *ret, struct sl_err *err)
{
	struct audit audit = {.config = config};
	struct writer *writers;
	void **workers;
	int rc;

	if (config->threads == 0 || config->threads > THREADS_MAX) {
		return sl_err_set(err, -EINVAL, "number of threads must be 1 to %u", THREADS_MAX);
	}
	if (config->record_bytes < SL_RECORD_BYTES_MIN || config->record_bytes > SL_RECORD_BYTES_MAX ||
	    config->record_bytes % 8 != 0) {
		return sl_err_set(err, -EINVAL, "a record must have 64 B to 1 MiB, and a multiple of 8");
	}
	if (getrandom(&audit.run, sizeof(audit.run), 0) != (ssize_t)sizeof(audit.run)) {
		return sl_err_set(err, -EIO, "no random number for the run");
	}
	writers = calloc(config->threads, sizeof(*writers));
	workers = calloc(config->threads, sizeof(*workers));
	rc = writers && workers ? writers_run(&audit, writers, workers, ret, err)
				: sl_err_set(err, -ENOMEM, "out of memory");
	free(writers);
	free(workers);
	return rc;
}

struct look {
	const struct sl_audit_acks *acks;
	struct sl_audit_verdict *verdict;
	uint64_t next; /* all records below were judged */
};

static void look_lost(struct look *look, uint64_t number)
{
	if (look->verdict->lost == 0) {
		look->verdict->first_lost = number;
	}
	look->verdict->lost++;
}

/* What was not shown is absent. */
static void look_until(struct look *look, uint64_t end)
{
	for (; look->next < end && look->next < look->acks->count; look->next++) {
		if (sl_audit_acks_has(look->acks, look->next)) {
			look_lost(look, look->next);
		}
	}
	look->next = look->next < end ? end : look->next;
}

static int look_found(void *arg, uint64_t number, const void *buf, size_t got, struct sl_err *err)
{
	struct look *look = arg;
	struct sl_audit_verdict *verdict = look->verdict;
	bool acknowledged = sl_audit_acks_has(look->acks, number);
	enum sl_record_state state =
	    sl_record_check(look->acks->run, number, buf, got, look->acks->record_bytes);

	(void)err;
	look_until(look, number);
	look->next = number + 1;
	if (acknowledged && state != SL_RECORD_WHOLE) {
		look_lost(look, number);
		verdict->torn += state == SL_RECORD_TORN;
	} else if (!acknowledged) {
		verdict->extra += state == SL_RECORD_WHOLE;
		verdict->unfinished += state == SL_RECORD_TORN;
	}
	/* Each thread has at most one record that is not acknowledged. */
	return number >= look->acks->count + THREADS_MAX;
}

int sl_audit_verify(const struct sl_audit_target *target, const char *acks_path, struct sl_audit_verdict *ret,
		    struct sl_err *err)
{
	struct sl_audit_verdict verdict = {0};
	struct sl_audit_acks acks;
	struct look look = {.acks = &acks, .verdict = &verdict};
	struct sl_audit_place *place;
	int rc = sl_audit_acks_read(acks_path, &acks, err);

	if (rc < 0) {
		return rc;
	}
	rc = sl_audit_place_open(target, false, acks.run, &place, err);
	if (rc == 0) {
		rc = place->ops->scan(place, acks.run, acks.record_bytes, look_found, &look, err);
		place->ops->close(place);
	}
	look_until(&look, acks.count);
	verdict.acknowledged = acks.acknowledged;
	sl_audit_acks_fini(&acks);
	if (rc < 0) {
		return rc;
	}
	*ret = verdict;
	return 0;
}
