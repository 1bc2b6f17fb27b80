#include "loadgen/oltp.h"

#include <errno.h>
#include <stdlib.h>

#include "loadgen/crew.h"
#include "loadgen/oltp_session.h"
#include "loadgen/oltp_table.h"

#define THREADS_MAX 1024u

/* Of one thread. */
struct client {
	struct sl_oltp_session *session;
	struct sl_oltp source;
};

static void txn_count(const struct sl_oltp_txn *txn, struct sl_meter_work *ret)
{
	ret->request = true;
	for (int i = 0; i < txn->count; i++) {
		enum sl_oltp_kind kind = txn->statements[i].kind;

		if (kind == SL_OLTP_BEGIN || kind == SL_OLTP_COMMIT) {
			ret->ops[SL_LOAD_OTHER]++;
		} else {
			ret->ops[kind < SL_OLTP_UPDATE_INDEX ? SL_LOAD_READ : SL_LOAD_WRITE]++;
		}
	}
}

static int client_work(void *arg, struct sl_crew_turn *ret, struct sl_err *err)
{
	struct client *client = arg;
	struct sl_oltp_txn txn;
	int rc;

	sl_oltp_next(&client->source, &txn);
	while ((rc = sl_oltp_session_run(client->session, &txn, err)) == -EAGAIN) {
		sl_oltp_next(&client->source, &txn);
		ret->done.errors++;
	}
	txn_count(&txn, &ret->done);
	return rc;
}

static void client_abort(void *arg)
{
	struct client *client = arg;

	sl_oltp_session_abort(client->session);
}

static int clients_run(const struct sl_oltp_load *load, struct client *clients, void **workers,
		       struct sl_load_result *ret, struct sl_err *err)
{
	const struct sl_crew_config crew = {
	    .threads = load->threads,
	    .workers = workers,
	    .work = client_work,
	    .abort = client_abort,
	    .rate = load->rate,
	    .constant = load->constant,
	    .seed = load->seed,
	    .limits = load->limits,
	};
	int rc = 0;

	for (uint32_t i = 0; i < load->threads && rc == 0; i++) {
		workers[i] = &clients[i];
		sl_oltp_init(&clients[i].source, &load->source, load->seed, (int)i);
		rc = sl_oltp_session_open(&load->db, &load->source, load->seed, (int)i, &clients[i].session,
					  err);
	}
	rc = rc ? rc : sl_crew_run(&crew, ret, err);
	for (uint32_t i = 0; i < load->threads; i++) {
		sl_oltp_session_close(clients[i].session);
	}
	return rc;
}

static int stage_run(const struct sl_oltp_load *load, struct sl_load_result *ret, struct sl_err *err)
{
	struct client *clients;
	void **workers;
	int rc = sl_oltp_table_check(load, err);

	if (rc < 0) {
		return rc;
	}
	clients = calloc(load->threads, sizeof(*clients));
	workers = calloc(load->threads, sizeof(*workers));
	rc = clients && workers ? clients_run(load, clients, workers, ret, err)
				: sl_err_set(err, -ENOMEM, "out of memory");
	free(clients);
	free(workers);
	return rc;
}

static int config_check(const struct sl_oltp_load *load, struct sl_err *err)
{
	if (load->threads == 0 || load->threads > THREADS_MAX) {
		return sl_err_set(err, -EINVAL, "number of threads must be 1 to %u", THREADS_MAX);
	}
	if (load->source.rows == 0 || load->source.rows > INT32_MAX) {
		return sl_err_set(err, -EINVAL, "number of rows must be 1 to %d", INT32_MAX);
	}
	return 0;
}

static int stages_run(const struct sl_oltp_load *load, struct sl_load_result *ret, struct sl_err *err)
{
	bool ours = false;
	int rc = 0;

	if (load->stages & SL_LOAD_PREPARE) {
		rc = sl_oltp_table_make(load, err);
		ours = rc == 0;
		if (rc == -EINTR) {
			ret->interrupted = true;
			return 0;
		}
	}
	if (rc == 0 && (load->stages & SL_LOAD_RUN)) {
		rc = stage_run(load, ret, err);
	}
	if ((load->stages & SL_LOAD_CLEANUP) && (ours || load->stages == SL_LOAD_CLEANUP)) {
		struct sl_err late = {0};
		int gone = sl_oltp_table_drop(load, &late);

		if (rc == 0 && gone < 0) {
			*err = late;
			rc = gone;
		}
	}
	return rc;
}

int sl_oltp_load_run(const struct sl_oltp_load *load, struct sl_load_result *ret, struct sl_err *err)
{
	int rc = config_check(load, err);

	if (rc < 0) {
		return rc;
	}
	if (mysql_library_init(0, NULL, NULL) != 0) {
		return sl_err_set(err, -ENOMEM, "libmariadb cannot start");
	}
	rc = stages_run(load, ret, err);
	mysql_library_end();
	return rc;
}
