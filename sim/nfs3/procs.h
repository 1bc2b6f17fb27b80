/* The procedures of the three programs, for their tables. */
#ifndef SL_NFS3_PROCS_H
#define SL_NFS3_PROCS_H

#include "sim/nfs3/server.h"

/* proc_file.c */
extern const struct sl_nfs3_proc sl_nfs_getattr, sl_nfs_setattr, sl_nfs_access, sl_nfs_read, sl_nfs_write,
    sl_nfs_commit;
/* proc_dir.c */
extern const struct sl_nfs3_proc sl_nfs_lookup, sl_nfs_create, sl_nfs_mkdir, sl_nfs_remove, sl_nfs_rmdir;
/* readdir.c */
extern const struct sl_nfs3_proc sl_nfs_readdir, sl_nfs_readdirplus;
/* proc_fs.c; NULL serves all three programs, and UMNTALL */
extern const struct sl_nfs3_proc sl_nfs_null, sl_nfs_fsstat, sl_nfs_fsinfo, sl_nfs_pathconf;
/* proc_link.c */
extern const struct sl_nfs3_proc sl_nfs_readlink, sl_nfs_symlink, sl_nfs_mknod, sl_nfs_rename, sl_nfs_link;
/* mount.c */
extern const struct sl_nfs3_proc sl_mount_mnt, sl_mount_dump, sl_mount_umnt, sl_mount_umntall,
    sl_mount_export;
/* portmap.c */
extern const struct sl_nfs3_proc sl_portmap_getport, sl_portmap_dump;

#endif
