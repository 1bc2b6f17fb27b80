/* Who asks, and what of an object he may do: squash rules and UNIX permissions. */
#ifndef SL_NFS3_CRED_H
#define SL_NFS3_CRED_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/nfs3/nfs3.h"

#define SL_CRED_GROUPS 16u /* what AUTH_SYS can carry */
#define SL_CRED_NOBODY 65534u

#define SL_MODE_SETUID 04000u
#define SL_MODE_SETGID 02000u

struct sl_cred {
	uint32_t uid, gid, group_count;
	uint32_t groups[SL_CRED_GROUPS]; /* beside gid */
	bool anonymous;                  /* AUTH_NONE: nobody in particular */
};

enum {
	SL_MAY_READ = 4,
	SL_MAY_WRITE = 2,
	SL_MAY_EXECUTE = 1 /* of a directory: use the names in it */
};

/* What the export makes of a client's claim. */
void sl_cred_squash(struct sl_cred *cred, const struct sl_nfs3_config *config);

/* Root may everything. */
bool sl_cred_may(const struct sl_cred *cred, const struct sl_attr *attr, unsigned want);
bool sl_cred_owns(const struct sl_cred *cred, const struct sl_attr *attr);
/* What is left of a file's mode when somebody has written to it, cut it or given it away: the right to run as
 * somebody else goes, as under Linux (file_remove_privs, nfsd_sanitize_attrs). Root's writes leave it. */
uint32_t sl_cred_mode_written(const struct sl_cred *cred, uint32_t mode);
uint32_t sl_cred_mode_given(uint32_t mode);
bool sl_cred_in_group(const struct sl_cred *cred, uint32_t gid);

#endif
