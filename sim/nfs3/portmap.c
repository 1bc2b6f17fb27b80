/*
 * PORTMAP v2 (RFC 1833): itself and two programs, on ports told by the configuration. On TCP as every
 * program; in datagrams too, which is how libtirpc (rpcinfo, showmount) asks.
 */
#include "sim/nfs3/numbers.h"
#include "sim/nfs3/procs.h"

#define PROTOCOL_TCP 6u
#define PROTOCOL_UDP 17u
#define MAPPINGS 4

struct mapping {
	uint32_t program, version, protocol, port;
};

/* Those of the portmapper only where it has a port that can be asked for. */
static unsigned mappings_get(const struct sl_nfs3 *srv, struct mapping ret[MAPPINGS])
{
	const struct sl_nfs3_config *config = &srv->config;
	unsigned count = 0;

	if (config->portmap_port != 0) {
		ret[count++] =
		    (struct mapping){SL_PROG_PORTMAP, SL_VERS_PORTMAP, PROTOCOL_TCP, config->portmap_port};
		ret[count++] =
		    (struct mapping){SL_PROG_PORTMAP, SL_VERS_PORTMAP, PROTOCOL_UDP, config->portmap_port};
	}
	ret[count++] = (struct mapping){SL_PROG_NFS, SL_VERS_NFS, PROTOCOL_TCP, config->nfs_port};
	ret[count++] = (struct mapping){SL_PROG_MOUNT, SL_VERS_MOUNT, PROTOCOL_TCP, config->mount_port};
	return count;
}

static bool getport_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	uint32_t program = sl_xdr_u32(in);
	uint32_t version = sl_xdr_u32(in);
	uint32_t protocol = sl_xdr_u32(in);
	struct mapping map[MAPPINGS];
	unsigned count;

	(void)sl_xdr_u32(in); /* port: ignored in a question */
	if (in->bad) {
		return false;
	}
	count = mappings_get(srv, map);
	for (unsigned i = 0; i < count; i++) {
		if (map[i].program == program && map[i].version == version && map[i].protocol == protocol) {
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
	struct mapping map[MAPPINGS];
	unsigned count = mappings_get(srv, map);

	(void)call;
	for (unsigned i = 0; i < count; i++) {
		sl_xdr_put_u32(out, 1);
		sl_xdr_put_u32(out, map[i].program);
		sl_xdr_put_u32(out, map[i].version);
		sl_xdr_put_u32(out, map[i].protocol);
		sl_xdr_put_u32(out, map[i].port);
	}
	sl_xdr_put_u32(out, 0);
}

const struct sl_nfs3_proc sl_portmap_getport = {.start = getport_start, .encode = getport_encode};
const struct sl_nfs3_proc sl_portmap_dump = {.encode = portmap_dump_encode};

/* A good call of the portmapper's. */
static void datagram_answer(struct sl_nfs3 *srv, const struct sl_rpc_call *rpc,
			    const struct sl_nfs3_proc *proc, struct sl_xdr_in *in, struct sl_xdr_out *out)
{
	struct sl_nfs3_call call = {.xid = rpc->xid};

	if (proc->start && !proc->start(srv, &call, in)) {
		srv->stats.garbage++;
		sl_rpc_accept(out, rpc->xid, SL_RPC_GARBAGE_ARGS);
		return;
	}
	sl_rpc_accept(out, rpc->xid, SL_RPC_SUCCESS);
	if (proc->encode) {
		proc->encode(srv, &call, out);
	}
}

size_t sl_nfs3_datagram(struct sl_nfs3 *srv, const void *bytes, size_t size,
			uint8_t reply[SL_NFS3_DATAGRAM_MAX])
{
	const struct sl_nfs3_program *program = &sl_portmap_v2;
	struct sl_xdr_in in = {.at = bytes, .end = (const uint8_t *)bytes + size};
	struct sl_xdr_out out = {.at = reply, .end = reply + SL_NFS3_DATAGRAM_MAX};
	struct sl_rpc_call rpc;
	enum sl_rpc_verdict verdict = sl_rpc_decode(&in, &rpc);
	const struct sl_nfs3_proc *proc =
	    rpc.procedure < program->proc_count ? program->procs[rpc.procedure] : NULL;

	if (verdict == SL_RPC_IGNORE) {
		srv->stats.garbage++;
		return 0;
	}
	srv->stats.calls++;
	if (verdict == SL_RPC_GOOD && rpc.program == program->number && rpc.version == program->version &&
	    proc) {
		datagram_answer(srv, &rpc, proc, &in, &out);
		return out.bad ? 0 : (size_t)(out.at - reply);
	}
	srv->stats.refused++;
	if (verdict != SL_RPC_GOOD) {
		sl_rpc_deny(&out, rpc.xid, verdict);
	} else if (rpc.program != program->number) {
		sl_rpc_accept(&out, rpc.xid, SL_RPC_PROG_UNAVAIL);
	} else if (rpc.version != program->version) {
		sl_rpc_mismatch(&out, rpc.xid, program->version, program->version);
	} else {
		sl_rpc_accept(&out, rpc.xid, SL_RPC_PROC_UNAVAIL);
	}
	return out.bad ? 0 : (size_t)(out.at - reply);
}
