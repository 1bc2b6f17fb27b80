/* Which procedure answers which number. */
#include <assert.h>

#include "sim/nfs3/numbers.h"
#include "sim/nfs3/procs.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct sl_nfs3_proc *const nfs_procs[] = {
    [SL_NFS_NULL] = &sl_nfs_null,         [SL_NFS_GETATTR] = &sl_nfs_getattr,
    [SL_NFS_SETATTR] = &sl_nfs_setattr,   [SL_NFS_LOOKUP] = &sl_nfs_lookup,
    [SL_NFS_ACCESS] = &sl_nfs_access,     [SL_NFS_READLINK] = &sl_nfs_readlink,
    [SL_NFS_READ] = &sl_nfs_read,         [SL_NFS_WRITE] = &sl_nfs_write,
    [SL_NFS_CREATE] = &sl_nfs_create,     [SL_NFS_MKDIR] = &sl_nfs_mkdir,
    [SL_NFS_SYMLINK] = &sl_nfs_symlink,   [SL_NFS_MKNOD] = &sl_nfs_mknod,
    [SL_NFS_REMOVE] = &sl_nfs_remove,     [SL_NFS_RMDIR] = &sl_nfs_rmdir,
    [SL_NFS_RENAME] = &sl_nfs_rename,     [SL_NFS_LINK] = &sl_nfs_link,
    [SL_NFS_READDIR] = &sl_nfs_readdir,   [SL_NFS_READDIRPLUS] = &sl_nfs_readdirplus,
    [SL_NFS_FSSTAT] = &sl_nfs_fsstat,     [SL_NFS_FSINFO] = &sl_nfs_fsinfo,
    [SL_NFS_PATHCONF] = &sl_nfs_pathconf, [SL_NFS_COMMIT] = &sl_nfs_commit,
};

static const struct sl_nfs3_proc *const mount_procs[] = {
    [SL_MOUNT_NULL] = &sl_nfs_null,         [SL_MOUNT_MNT] = &sl_mount_mnt,
    [SL_MOUNT_DUMP] = &sl_mount_dump,       [SL_MOUNT_UMNT] = &sl_mount_umnt,
    [SL_MOUNT_UMNTALL] = &sl_mount_umntall, [SL_MOUNT_EXPORT] = &sl_mount_export,
};

/* SET, UNSET and CALLIT are left out: nobody registers anything here. */
static const struct sl_nfs3_proc *const portmap_procs[] = {
    [SL_PORTMAP_NULL] = &sl_nfs_null,
    [SL_PORTMAP_GETPORT] = &sl_portmap_getport,
    [SL_PORTMAP_DUMP] = &sl_portmap_dump,
};

const struct sl_nfs3_program sl_nfs_v3 = {
    .number = SL_PROG_NFS,
    .version = SL_VERS_NFS,
    .proc_count = COUNT(nfs_procs),
    .procs = nfs_procs,
};

const struct sl_nfs3_program sl_mount_v3 = {
    .number = SL_PROG_MOUNT,
    .version = SL_VERS_MOUNT,
    .proc_count = COUNT(mount_procs),
    .procs = mount_procs,
};

const struct sl_nfs3_program sl_portmap_v2 = {
    .number = SL_PROG_PORTMAP,
    .version = SL_VERS_PORTMAP,
    .proc_count = COUNT(portmap_procs),
    .procs = portmap_procs,
};

const char *sl_nfs3_proc_name(int procedure)
{
	static const char *const names[] = {
	    [SL_NFS_NULL] = "NULL",     [SL_NFS_GETATTR] = "GETATTR", [SL_NFS_SETATTR] = "SETATTR",
	    [SL_NFS_LOOKUP] = "LOOKUP", [SL_NFS_ACCESS] = "ACCESS",   [SL_NFS_READLINK] = "READLINK",
	    [SL_NFS_READ] = "READ",     [SL_NFS_WRITE] = "WRITE",     [SL_NFS_CREATE] = "CREATE",
	    [SL_NFS_MKDIR] = "MKDIR",   [SL_NFS_SYMLINK] = "SYMLINK", [SL_NFS_MKNOD] = "MKNOD",
	    [SL_NFS_REMOVE] = "REMOVE", [SL_NFS_RMDIR] = "RMDIR",     [SL_NFS_RENAME] = "RENAME",
	    [SL_NFS_LINK] = "LINK",     [SL_NFS_READDIR] = "READDIR", [SL_NFS_READDIRPLUS] = "READDIRPLUS",
	    [SL_NFS_FSSTAT] = "FSSTAT", [SL_NFS_FSINFO] = "FSINFO",   [SL_NFS_PATHCONF] = "PATHCONF",
	    [SL_NFS_COMMIT] = "COMMIT",
	};

	static_assert(COUNT(names) == SL_NFS3_PROCS, "a name for each procedure");
	static_assert(COUNT(nfs_procs) == SL_NFS3_PROCS, "a counter for each procedure");
	return procedure >= 0 && procedure < SL_NFS3_PROCS ? names[procedure] : "";
}
