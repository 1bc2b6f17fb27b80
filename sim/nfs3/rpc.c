#include "sim/nfs3/rpc.h"

#define RPC_VERSION 2u
#define AUTH_BYTES_MAX 400u
#define MACHINE_NAME_MAX 255u

enum {
	MSG_CALL = 0,
	MSG_REPLY = 1
};
enum {
	MSG_ACCEPTED = 0,
	MSG_DENIED = 1
};
enum {
	RPC_MISMATCH = 0,
	AUTH_ERROR = 1
};
enum {
	AUTH_BADCRED = 1,
	AUTH_BADVERF = 3
};
enum {
	AUTH_NONE = 0,
	AUTH_SYS = 1
};

/* The body of an AUTH_SYS credential must fill it exactly. */
static bool auth_sys_decode(struct sl_xdr_bytes body, struct sl_rpc_call *ret)
{
	struct sl_xdr_in in = {.at = body.data, .end = body.data + body.size};
	uint32_t groups, i;

	(void)sl_xdr_u32(&in); /* stamp */
	(void)sl_xdr_opaque(&in, MACHINE_NAME_MAX);
	ret->cred.uid = sl_xdr_u32(&in);
	ret->cred.gid = sl_xdr_u32(&in);
	groups = sl_xdr_enum(&in, SL_CRED_GROUPS);
	for (i = 0; i < groups; i++) {
		ret->cred.groups[i] = sl_xdr_u32(&in);
	}
	ret->cred.group_count = groups;
	return !in.bad && in.at == in.end;
}

enum sl_rpc_verdict sl_rpc_decode(struct sl_xdr_in *in, struct sl_rpc_call *ret)
{
	uint32_t type, version, flavor;
	struct sl_xdr_bytes body;

	memset(ret, 0, sizeof(*ret));
	ret->xid = sl_xdr_u32(in);
	type = sl_xdr_u32(in);
	version = sl_xdr_u32(in);
	ret->program = sl_xdr_u32(in);
	ret->version = sl_xdr_u32(in);
	ret->procedure = sl_xdr_u32(in);
	if (in->bad || type != MSG_CALL) {
		return SL_RPC_IGNORE;
	}
	if (version != RPC_VERSION) {
		return SL_RPC_BAD_VERSION;
	}
	flavor = sl_xdr_u32(in);
	body = sl_xdr_opaque(in, AUTH_BYTES_MAX);
	if (in->bad || (flavor != AUTH_NONE && flavor != AUTH_SYS) ||
	    (flavor == AUTH_SYS && !auth_sys_decode(body, ret))) {
		return SL_RPC_BAD_CRED;
	}
	ret->cred.anonymous = flavor == AUTH_NONE;
	/* The verifier of both flavors says nothing; only its size matters. */
	(void)sl_xdr_u32(in);
	(void)sl_xdr_opaque(in, AUTH_BYTES_MAX);
	return in->bad ? SL_RPC_BAD_VERF : SL_RPC_GOOD;
}

void sl_rpc_accept(struct sl_xdr_out *out, uint32_t xid, enum sl_rpc_accept stat)
{
	sl_xdr_put_u32(out, xid);
	sl_xdr_put_u32(out, MSG_REPLY);
	sl_xdr_put_u32(out, MSG_ACCEPTED);
	sl_xdr_put_u32(out, AUTH_NONE);
	sl_xdr_put_u32(out, 0);
	sl_xdr_put_u32(out, stat);
}

void sl_rpc_mismatch(struct sl_xdr_out *out, uint32_t xid, uint32_t low, uint32_t high)
{
	sl_rpc_accept(out, xid, SL_RPC_PROG_MISMATCH);
	sl_xdr_put_u32(out, low);
	sl_xdr_put_u32(out, high);
}

void sl_rpc_deny(struct sl_xdr_out *out, uint32_t xid, enum sl_rpc_verdict verdict)
{
	sl_xdr_put_u32(out, xid);
	sl_xdr_put_u32(out, MSG_REPLY);
	sl_xdr_put_u32(out, MSG_DENIED);
	if (verdict == SL_RPC_BAD_VERSION) {
		sl_xdr_put_u32(out, RPC_MISMATCH);
		sl_xdr_put_u32(out, RPC_VERSION);
		sl_xdr_put_u32(out, RPC_VERSION);
	} else {
		sl_xdr_put_u32(out, AUTH_ERROR);
		sl_xdr_put_u32(out, verdict == SL_RPC_BAD_CRED ? AUTH_BADCRED : AUTH_BADVERF);
	}
}
