/* ONC RPC version 2 (RFC 5531): the header of a call and the headers of replies. */
#ifndef SL_NFS3_RPC_H
#define SL_NFS3_RPC_H

#include <stdint.h>

#include "sim/nfs3/cred.h"
#include "sim/nfs3/xdr.h"

struct sl_rpc_call {
	uint32_t xid, program, version, procedure;
	struct sl_cred cred;
};

enum sl_rpc_verdict {
	SL_RPC_GOOD,
	SL_RPC_IGNORE,      /* not a call, or cut off before it says what it wants: no reply is possible */
	SL_RPC_BAD_VERSION, /* answered RPC_MISMATCH */
	SL_RPC_BAD_CRED,    /* answered AUTH_BADCRED */
	SL_RPC_BAD_VERF     /* answered AUTH_BADVERF */
};

enum sl_rpc_accept {
	SL_RPC_SUCCESS = 0,
	SL_RPC_PROG_UNAVAIL = 1,
	SL_RPC_PROG_MISMATCH = 2,
	SL_RPC_PROC_UNAVAIL = 3,
	SL_RPC_GARBAGE_ARGS = 4,
	SL_RPC_SYSTEM_ERR = 5
};

/* Largest header a reply can have, record mark included. */
#define SL_RPC_REPLY_MAX 64u

/* Reads up to the arguments of the procedure. */
enum sl_rpc_verdict sl_rpc_decode(struct sl_xdr_in *in, struct sl_rpc_call *ret);

/* An accepted reply up to the results; PROG_MISMATCH takes its versions from sl_rpc_mismatch(). */
void sl_rpc_accept(struct sl_xdr_out *out, uint32_t xid, enum sl_rpc_accept stat);
void sl_rpc_mismatch(struct sl_xdr_out *out, uint32_t xid, uint32_t low, uint32_t high);

/* A denied reply: verdict is one of the SL_RPC_BAD_... */
void sl_rpc_deny(struct sl_xdr_out *out, uint32_t xid, enum sl_rpc_verdict verdict);

#endif
