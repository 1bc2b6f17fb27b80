/* Attributes, handles and names as NFSv3 writes them; status numbers. */
#ifndef SL_NFS3_ATTR_H
#define SL_NFS3_ATTR_H

#include "sim/nfs3/server.h"

/* RFC 1813 nfsstat3, as far as used. The mount protocol's mountstat3 has the same numbers. */
enum sl_nfsstat {
	SL_NFS_OK = 0,
	SL_NFSERR_PERM = 1,
	SL_NFSERR_NOENT = 2,
	SL_NFSERR_IO = 5,
	SL_NFSERR_ACCES = 13,
	SL_NFSERR_EXIST = 17,
	SL_NFSERR_NOTDIR = 20,
	SL_NFSERR_ISDIR = 21,
	SL_NFSERR_INVAL = 22,
	SL_NFSERR_FBIG = 27,
	SL_NFSERR_NOSPC = 28,
	SL_NFSERR_ROFS = 30,
	SL_NFSERR_MLINK = 31,
	SL_NFSERR_NAMETOOLONG = 63,
	SL_NFSERR_NOTEMPTY = 66,
	SL_NFSERR_DQUOT = 69,
	SL_NFSERR_STALE = 70,
	SL_NFSERR_BADHANDLE = 10001,
	SL_NFSERR_NOT_SYNC = 10002,
	SL_NFSERR_BAD_COOKIE = 10003,
	SL_NFSERR_NOTSUPP = 10004,
	SL_NFSERR_TOOSMALL = 10005,
	SL_NFSERR_SERVERFAULT = 10006,
	SL_NFSERR_BADTYPE = 10007
};

#define SL_POST_ATTR_BYTES 88u   /* post_op_attr, present */
#define SL_POST_HANDLE_BYTES 32u /* post_op_fh3, present */

/* Status of a negative errno of the tree (0 is OK). */
uint32_t sl_nfs_status(int rc);

/* nfs_fh3: the bytes only; open them with sl_nfs_open once all arguments are decoded. */
struct sl_xdr_bytes sl_nfs_handle_decode(struct sl_xdr_in *in);

/* Finds what a handle names: OK and *ret, else BADHANDLE, STALE, ... */
uint32_t sl_nfs_open(struct sl_nfs3 *srv, struct sl_xdr_bytes handle, struct sl_attr *ret);

/* The same with the further demands of a directory (NOTDIR) and that the caller may do what he wants with it
 * (SL_MAY_..., ACCES). *ret is set whenever the handle was good. */
uint32_t sl_nfs_open_dir(struct sl_nfs3_call *call, struct sl_xdr_bytes handle, unsigned want,
			 struct sl_nfs3_object *ret);

/* The object of a call, with what it is now as what it was before. */
void sl_nfs_object_set(struct sl_nfs3_object *object, const struct sl_attr *attr);

/* May the caller write to this file? Its owner may whatever the mode says: who has it open goes on writing
 * after a chmod, and of opens this protocol knows nothing. */
bool sl_nfs_may_write(const struct sl_nfs3_call *call, const struct sl_attr *attr);

/* What comes first in a procedure that changes something: OK, or ROFS of a read-only export. */
uint32_t sl_nfs_writable(const struct sl_nfs3 *srv);

/* May the caller take the name of `child` out of `dir` (whose names he may change)? Of a sticky directory
 * only what is his, or all when the directory is. OK or PERM; a child that is not there is the tree's to
 * tell. */
uint32_t sl_nfs_may_take(struct sl_nfs3_call *call, uint64_t dir, const char *name);

/* diropargs3: borrowed from the input until opened. */
struct sl_nfs_dirop {
	struct sl_xdr_bytes handle, name;
};
void sl_nfs_dirop_decode(struct sl_xdr_in *in, struct sl_nfs_dirop *ret);
/* Opens the directory as above and checks the name. */
uint32_t sl_nfs_dirop_open(struct sl_nfs3_call *call, const struct sl_nfs_dirop *args, unsigned want,
			   struct sl_nfs3_object *ret_dir, char name[SL_TREE_NAME_MAX + 1]);

/* What a new thing in the directory call->object gets when the client leaves its owner open: his own, and the
 * group of a setgid directory, which a new directory hands on; only root may say otherwise. */
void sl_nfs_owner_default(const struct sl_nfs3_call *call, enum sl_ftype type, struct sl_setattr *set);

/* CREATE3res, MKDIR3res, SYMLINK3res: handle and attributes of call->child, wcc_data of call->object. */
void sl_nfs_created_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out);

/* filename3 into a C string of its own: OK, NAMETOOLONG, or INVAL (empty, '/' or NUL inside). */
uint32_t sl_nfs_name(struct sl_xdr_bytes bytes, char ret[SL_TREE_NAME_MAX + 1]);

/* "." or ".." */
bool sl_nfs_name_is_dots(const char *name);

/* sattr3; "server time" is the tree's present wall time. Returns whether a time is the client's. */
bool sl_nfs_sattr_decode(struct sl_nfs3 *srv, struct sl_xdr_in *in, struct sl_setattr *ret);

/* nfstime3 <-> ns; times before the epoch are written as the epoch. */
int64_t sl_nfs_time_decode(struct sl_xdr_in *in);
void sl_nfs_time_encode(struct sl_xdr_out *out, int64_t time_ns);

/* fattr3 */
void sl_nfs_fattr_encode(struct sl_xdr_out *out, const struct sl_attr *attr);

/* post_op_attr of `ino` as it is now: FALSE when ino is 0 or gone. */
void sl_nfs_post_attr_encode(struct sl_nfs3 *srv, struct sl_xdr_out *out, uint64_t ino);

/* wcc_data. Before and after belong together (RFC 1813 2.6: atomically, or not at all): a client that knows
 * the object as it was before knows it after, so both are of the call's own moment and not of its reply's. */
void sl_nfs_wcc_encode(struct sl_xdr_out *out, const struct sl_nfs3_object *object);

/* nfs_fh3 of an inode with these attributes. */
void sl_nfs_handle_encode(struct sl_nfs3 *srv, struct sl_xdr_out *out, const struct sl_attr *attr);

/* Before a reply says that something is stable: it is, or the status becomes that of the error. */
void sl_nfs_settle(struct sl_nfs3 *srv, struct sl_nfs3_call *call);

/* The whole result of SETATTR, REMOVE and RMDIR: status and wcc_data of call->object. */
void sl_nfs_wcc_result_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out);

#endif
