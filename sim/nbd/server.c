#include "sim/nbd/nbd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/nbd/inner.h"

struct sl_nbd *sl_nbd_new(struct sl_loop *loop)
{
	struct sl_nbd *nbd = calloc(1, sizeof(*nbd));

	if (nbd) {
		nbd->loop = loop;
		sl_slab_init(&nbd->reqs, sizeof(struct sl_nbd_req));
	}
	return nbd;
}

static void export_free(struct sl_nbd_export *export)
{
	free(export->name);
	free(export->description);
	free(export);
}

void sl_nbd_free(struct sl_nbd *nbd)
{
	if (!nbd) {
		return;
	}
	for (int i = 0; i < nbd->n_exports; i++) {
		sl_nbd_cut(nbd, i, NULL, NULL);
		export_free(nbd->exports[i]);
	}
	free(nbd->exports);
	sl_slab_fini(&nbd->reqs);
	free(nbd);
}

struct sl_nbd_export *sl_nbd_find(const struct sl_nbd *nbd, const uint8_t *name, size_t size)
{
	if (size == 0) {
		return nbd->n_exports > 0 ? nbd->exports[0] : NULL;
	}
	for (int i = 0; i < nbd->n_exports; i++) {
		const char *own = nbd->exports[i]->config.name;

		if (strlen(own) == size && memcmp(own, name, size) == 0) {
			return nbd->exports[i];
		}
	}
	return NULL;
}

static struct sl_nbd_export *export_new(struct sl_nbd *nbd, const struct sl_nbd_export_config *config)
{
	struct sl_nbd_export **grown =
	    realloc(nbd->exports, ((size_t)nbd->n_exports + 1) * sizeof(struct sl_nbd_export *));
	struct sl_nbd_export *export = calloc(1, sizeof(*export));

	nbd->exports = grown ? grown : nbd->exports;
	if (!grown || !export) {
		free(export);
		return NULL;
	}
	export->config = *config;
	export->name = strdup(config->name);
	export->description = strdup(config->description ? config->description : "");
	export->config.name = export->name;
	export->config.description = export->description;
	if (!export->name || !export->description) {
		export_free(export);
		return NULL;
	}
	export->number = nbd->n_exports;
	return export;
}

int sl_nbd_export(struct sl_nbd *nbd, const struct sl_nbd_export_config *config, int *ret, struct sl_err *err)
{
	size_t length = strlen(config->name);
	struct sl_nbd_export *export;

	if (length == 0 || length > SL_NBD_MAX_NAME) {
		return sl_err_set(err, -EINVAL, "disk name \"%.40s\": must have 1 to %d bytes", config->name,
				  SL_NBD_MAX_NAME);
	}
	if (config->description && strlen(config->description) > SL_NBD_MAX_NAME) {
		return sl_err_set(err, -EINVAL, "disk %s: description longer than %d bytes", config->name,
				  SL_NBD_MAX_NAME);
	}
	if (config->size_bytes <= 0) {
		return sl_err_set(err, -EINVAL, "disk %s: has no size", config->name);
	}
	if (sl_nbd_find(nbd, (const uint8_t *)config->name, length)) {
		return sl_err_set(err, -EEXIST,
				  "disk %s: named twice; give one another name with DEVICE=NAME",
				  config->name);
	}
	export = export_new(nbd, config);
	if (!export) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	nbd->exports[nbd->n_exports++] = export;
	*ret = export->number;
	return 0;
}

void sl_nbd_fail(struct sl_nbd *nbd, int number, bool failed)
{
	nbd->exports[number]->failed = failed;
}

const struct sl_nbd_stats *sl_nbd_stats(const struct sl_nbd *nbd, int number)
{
	return &nbd->exports[number]->stats;
}

void sl_nbd_cut(struct sl_nbd *nbd, int number,
		void (*lost)(void *arg, const struct sl_disk_change *change, const void *buf), void *arg)
{
	struct sl_nbd_export *export = nbd->exports[number];

	while (export->first) {
		struct sl_nbd_req *req = export->first;

		if (lost && req->command == SL_NBD_CMD_WRITE) {
			struct sl_disk_change change = sl_nbd_req_change(req);

			lost(arg, &change, req->payload);
		}
		sl_nbd_req_forget(req);
		sl_nbd_req_unlink(req);
		sl_nbd_req_free(req);
	}
}
