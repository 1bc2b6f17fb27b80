/* Life of a server and of its calls. */
#include "sim/nfs3/server.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/nfs3/above.h"

#define IN_FLIGHT_DEFAULT 256u
#define EXPORT_MAX 1024u /* MNTPATHLEN */

static void server_destroy(struct sl_nfs3 *srv)
{
	while (srv->free_calls) {
		struct sl_nfs3_call *call = srv->free_calls;

		srv->free_calls = call->next;
		free(call);
	}
	for (int i = 0; i < SL_NFS3_PROCS; i++) {
		sl_hist_fini(&srv->stats.procs[i].latency);
	}
	sl_drc_free(srv->drc);
	sl_mounts_clear(&srv->mounts);
	if (srv->above) {
		srv->above->ops->free(srv->above);
	}
	free(srv->export_path);
	free(srv);
}

struct sl_nfs3_call *sl_nfs3_call_get(struct sl_nfs3 *srv)
{
	struct sl_nfs3_call *call = srv->free_calls;

	if (call) {
		srv->free_calls = call->next;
		memset(call, 0, sizeof(*call));
	} else {
		call = calloc(1, sizeof(*call));
	}
	if (call) {
		call->srv = srv;
	}
	return call;
}

void sl_nfs3_call_put(struct sl_nfs3 *srv, struct sl_nfs3_call *call)
{
	call->next = srv->free_calls;
	srv->free_calls = call;
	if (srv->closing && srv->in_service == 0) {
		server_destroy(srv);
	}
}

/* A path that names something, of components that a directory can hold. */
static bool export_is_usable(const char *path)
{
	if (path[0] != '/' || strlen(path) > EXPORT_MAX) {
		return false;
	}
	for (size_t size = 0; *path != '\0'; path += size) {
		path += strspn(path, "/");
		size = strcspn(path, "/");
		if (size > SL_TREE_NAME_MAX) {
			return false;
		}
	}
	return true;
}

/* A copy without trailing slashes; the root stays "/". */
static char *export_copy(const char *path)
{
	char *copy = strdup(path);
	size_t size = copy ? strlen(copy) : 0;

	while (size > 1 && copy[size - 1] == '/') {
		copy[--size] = '\0';
	}
	return copy;
}

static int stats_init(struct sl_nfs3_stats *stats)
{
	int rc = 0;

	for (int i = 0; i < SL_NFS3_PROCS && rc == 0; i++) {
		rc = sl_hist_init(&stats->procs[i].latency);
	}
	return rc;
}

/* While the calls are in service, so that the wait is part of the modelled time. How it ended is seen when
 * they are answered. */
static void settle_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_nfs3 *srv = sl_container_of(timer, struct sl_nfs3, settle);

	(void)now_ns;
	(void)srv->config.tree->ops->settle(srv->config.tree);
}

int sl_nfs3_new(const struct sl_nfs3_config *config, struct sl_nfs3 **ret, struct sl_err *err)
{
	struct sl_nfs3 *srv;

	if (!export_is_usable(config->export_path)) {
		return sl_err_set(err, -EINVAL,
				  "export path \"%.64s\" is not usable; give an absolute path of at most %u "
				  "bytes, each name at most %d",
				  config->export_path, EXPORT_MAX, SL_TREE_NAME_MAX);
	}
	srv = calloc(1, sizeof(*srv));
	if (!srv) {
		return sl_err_set(err, -ENOMEM, "out of memory for the NFS server");
	}
	srv->config = *config;
	srv->config.max_in_flight = config->max_in_flight ? config->max_in_flight : IN_FLIGHT_DEFAULT;
	srv->export_path = export_copy(config->export_path);
	srv->config.export_path = srv->export_path;
	srv->settle.fire = settle_fire;
	srv->drc = sl_drc_new();
	srv->above = srv->export_path ? sl_above_new(config->tree, srv->export_path) : NULL;
	if (!srv->above || !srv->drc || stats_init(&srv->stats) < 0) {
		server_destroy(srv);
		return sl_err_set(err, -ENOMEM, "out of memory for the NFS server");
	}
	srv->config.tree = srv->above;
	*ret = srv;
	return 0;
}

void sl_nfs3_free(struct sl_nfs3 *srv)
{
	if (!srv) {
		return;
	}
	sl_loop_cancel(srv->config.loop, &srv->settle);
	srv->closing = true;
	if (srv->in_service == 0) {
		server_destroy(srv);
	}
}

uint32_t sl_nfs3_in_service(const struct sl_nfs3 *srv)
{
	return srv->in_service;
}

const struct sl_nfs3_stats *sl_nfs3_stats(const struct sl_nfs3 *srv)
{
	return &srv->stats;
}
