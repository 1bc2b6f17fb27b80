#include "sim/nfs3/cred.h"

static uint32_t or_nobody(uint32_t id)
{
	return id != 0 ? id : SL_CRED_NOBODY;
}

void sl_cred_squash(struct sl_cred *cred, const struct sl_nfs3_config *config)
{
	uint32_t anon_gid = or_nobody(config->anon_gid);

	if (cred->anonymous || config->squash == SL_NFS3_SQUASH_ALL ||
	    (config->squash == SL_NFS3_SQUASH_ROOT && cred->uid == 0)) {
		*cred = (struct sl_cred){.uid = or_nobody(config->anon_uid), .gid = anon_gid};
		return;
	}
	if (config->squash == SL_NFS3_SQUASH_ROOT) {
		cred->gid = cred->gid == 0 ? anon_gid : cred->gid;
		for (uint32_t i = 0; i < cred->group_count; i++) {
			cred->groups[i] = cred->groups[i] == 0 ? anon_gid : cred->groups[i];
		}
	}
}

bool sl_cred_in_group(const struct sl_cred *cred, uint32_t gid)
{
	bool in = cred->gid == gid;

	for (uint32_t i = 0; !in && i < cred->group_count; i++) {
		in = cred->groups[i] == gid;
	}
	return in;
}

uint32_t sl_cred_mode_given(uint32_t mode)
{
	/* Without the group's x bit, setgid stood for mandatory locks and gives nobody anything. */
	return mode & ~(SL_MODE_SETUID | ((mode & 010) != 0 ? SL_MODE_SETGID : 0u));
}

uint32_t sl_cred_mode_written(const struct sl_cred *cred, uint32_t mode)
{
	return cred->uid != 0 ? sl_cred_mode_given(mode) : mode;
}

bool sl_cred_owns(const struct sl_cred *cred, const struct sl_attr *attr)
{
	return cred->uid == 0 || cred->uid == attr->uid;
}

bool sl_cred_may(const struct sl_cred *cred, const struct sl_attr *attr, unsigned want)
{
	unsigned bits = attr->mode;

	if (cred->uid == 0) {
		/* Even root executes only what somebody may. */
		return !(want & SL_MAY_EXECUTE) || attr->type == SL_FT_DIR || (attr->mode & 0111) != 0;
	}
	if (cred->uid == attr->uid) {
		bits >>= 6;
	} else if (sl_cred_in_group(cred, attr->gid)) {
		bits >>= 3;
	}
	return (bits & want) == want;
}
