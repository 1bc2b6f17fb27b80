/* PORTMAP v2 (RFC 1833): two programs, on ports told by the configuration. */
#include "sim/nfs3/numbers.h"
#include "sim/nfs3/procs.h"

#define PROTOCOL_TCP 6u

struct mapping {
	uint32_t program, version, port;
};

static void mappings_get(const struct sl_nfs3 *srv, struct mapping ret[2])
{
	ret[0] = (struct mapping){SL_PROG_NFS, SL_VERS_NFS, srv->config.nfs_port};
	ret[1] = (struct mapping){SL_PROG_MOUNT, SL_VERS_MOUNT, srv->config.mount_port};
}

static bool getport_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	uint32_t program = sl_xdr_u32(in);
	uint32_t version = sl_xdr_u32(in);
	uint32_t protocol = sl_xdr_u32(in);
	struct mapping map[2];
	unsigned i;

	(void)sl_xdr_u32(in); /* port: ignored in a question */
	if (in->bad) {
		return false;
	}
	mappings_get(srv, map);
	for (i = 0; i < 2; i++) {
		if (map[i].program == program && map[i].version == version && protocol == PROTOCOL_TCP) {
			call->count = map[i].port;
		}
	}
	return true;
}

static void getport_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	(void)srv;
	sl_xdr_put_u32(out, call->count);
}

static void portmap_dump_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	struct mapping map[2];
	unsigned i;

	(void)call;
	mappings_get(srv, map);
	for (i = 0; i < 2; i++) {
		sl_xdr_put_u32(out, 1);
		sl_xdr_put_u32(out, map[i].program);
		sl_xdr_put_u32(out, map[i].version);
		sl_xdr_put_u32(out, PROTOCOL_TCP);
		sl_xdr_put_u32(out, map[i].port);
	}
	sl_xdr_put_u32(out, 0);
}

const struct sl_nfs3_proc sl_portmap_getport = {.start = getport_start, .encode = getport_encode};
const struct sl_nfs3_proc sl_portmap_dump = {.encode = portmap_dump_encode};
