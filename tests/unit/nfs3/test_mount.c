#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

#include "rig.h"

Test(nfs3_mount, paths_of_the_export)
{
	struct rig rig;
	uint8_t handle[SL_HANDLE_BYTES], dir[SL_HANDLE_BYTES], file[SL_HANDLE_BYTES];
	char path[1100] = "/tank/vm/";

	rig_init(&rig, NULL);
	cr_assert_eq(rig_mount(&rig, "/tank/vm", handle), 0);
	cr_assert_eq(memcmp(handle, rig.root, SL_HANDLE_BYTES), 0);
	cr_assert_eq(rig_mount(&rig, "/tank/vm///", handle), 0);
	cr_assert_eq(memcmp(handle, rig.root, SL_HANDLE_BYTES), 0);
	do_mkdir(&rig, rig.root, "disks", dir);
	do_create(&rig, dir, "a.img", file);
	cr_assert_eq(rig_mount(&rig, "/tank/vm/disks/", handle), 0);
	cr_assert_eq(memcmp(handle, dir, SL_HANDLE_BYTES), 0);
	cr_assert_eq(rig_mount(&rig, "/tank/vm//./disks", handle), 0);
	cr_assert_eq(rig_mount(&rig, "/tank/vm/none", handle), SL_NFSERR_NOENT);
	cr_assert_eq(rig_mount(&rig, "/tank/vmx", handle), SL_NFSERR_NOENT);
	cr_assert_eq(rig_mount(&rig, "", handle), SL_NFSERR_NOENT);
	cr_assert_eq(rig_mount(&rig, "/tank/vm/disks/..", handle), SL_NFSERR_ACCES);
	cr_assert_eq(rig_mount(&rig, "/tank/vm/disks/a.img", handle), SL_NFSERR_NOTDIR);
	cr_assert_eq(rig_mount(&rig, "/tank/vm/disks/a.img/b", handle), SL_NFSERR_NOTDIR);
	memset(path + 9, 'x', 256);
	cr_assert_eq(rig_mount(&rig, path, handle), SL_NFSERR_NAMETOOLONG);
	rig_fini(&rig);
}

/* As on a server that follows links: relative ones, absolute ones on the server's own paths, "..", a chain.
 */
Test(nfs3_mount, links_are_followed_inside_the_export)
{
	static const struct {
		const char *name, *target;
		uint32_t status;
	} links[] = {
	    {"near", "disks", 0},
	    {"chain", "near", 0},
	    {"far", "/tank/vm/disks", 0},
	    {"around", "disks/../../disks", 0}, /* the root's parent is the root */
	    {"out", "/etc", SL_NFSERR_NOENT},
	    {"ring", "ring", SL_NFSERR_INVAL},
	    {"file", "disks/a.img", SL_NFSERR_NOTDIR},
	};
	struct rig rig;
	uint8_t handle[SL_HANDLE_BYTES], dir[SL_HANDLE_BYTES], file[SL_HANDLE_BYTES];
	uint64_t ino;

	rig_init(&rig, NULL);
	do_mkdir(&rig, rig.root, "disks", dir);
	do_create(&rig, dir, "a.img", file);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		char path[64];

		cr_assert_eq(rig.config.tree->ops->symlink(rig.config.tree, SL_TREE_ROOT, links[i].name,
							   links[i].target, NULL, &ino),
			     0);
		(void)snprintf(path, sizeof(path), "/tank/vm/%s/", links[i].name);
		cr_assert_eq(rig_mount(&rig, path, handle), links[i].status, "%s", links[i].name);
		if (links[i].status == 0) {
			cr_assert_eq(memcmp(handle, dir, SL_HANDLE_BYTES), 0, "%s", links[i].name);
		}
	}
	rig_fini(&rig);
}

Test(nfs3_mount, root_export_serves_any_path)
{
	struct rig rig;
	uint8_t handle[SL_HANDLE_BYTES], dir[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	rig.config.export_path = "/";
	rig_restart(&rig);
	do_mkdir(&rig, rig.root, "d", dir);
	cr_assert_eq(rig_mount(&rig, "/", handle), 0);
	cr_assert_eq(memcmp(handle, rig.root, SL_HANDLE_BYTES), 0);
	cr_assert_eq(rig_mount(&rig, "/d", handle), 0);
	cr_assert_eq(memcmp(handle, dir, SL_HANDLE_BYTES), 0);
	cr_assert_eq(rig_mount(&rig, "", handle), 0); /* libnfs, asked for nfs://host/file */
	cr_assert_eq(memcmp(handle, rig.root, SL_HANDLE_BYTES), 0);
	cr_assert_eq(rig_mount(&rig, "d", handle), SL_NFSERR_NOENT);
	rig_fini(&rig);
}

Test(nfs3_mount, a_bad_export_path_is_refused)
{
	struct rig rig;
	struct sl_nfs3 *srv = NULL;
	struct sl_err err = {0};

	rig_init(&rig, NULL);
	rig.config.export_path = "tank";
	cr_assert_eq(sl_nfs3_new(&rig.config, &srv, &err), -EINVAL);
	cr_assert(strstr(err.msg, "tank") != NULL);
	rig.config.export_path = "";
	cr_assert_eq(sl_nfs3_new(&rig.config, &srv, &err), -EINVAL);
	cr_assert_eq(srv, NULL);
	rig_fini(&rig);
}

Test(nfs3_mount, lists_and_unmounts)
{
	struct rig rig;
	struct msg msg;
	struct sl_xdr_in in;
	struct sl_xdr_bytes path;

	rig_init(&rig, NULL);
	call_begin(&rig, &msg, SL_PROG_MOUNT, 3, SL_MOUNT_NULL);
	in = rig_call(&rig, &msg);
	get_end(&in);
	call_begin(&rig, &msg, SL_PROG_MOUNT, 3, SL_MOUNT_DUMP);
	cr_assert_eq(rig_status(&rig, &msg, &in), 0);
	get_end(&in);
	call_begin(&rig, &msg, SL_PROG_MOUNT, 3, SL_MOUNT_EXPORT);
	cr_assert_eq(rig_status(&rig, &msg, &in), 1);
	path = sl_xdr_opaque(&in, 1024);
	cr_assert_eq(path.size, 8);
	cr_assert_eq(memcmp(path.data, "/tank/vm", 8), 0);
	cr_assert_eq(sl_xdr_u64(&in), 0);
	get_end(&in);
	call_begin(&rig, &msg, SL_PROG_MOUNT, 3, SL_MOUNT_UMNT);
	put_name(&msg, "/tank/vm");
	in = rig_call(&rig, &msg);
	get_end(&in);
	call_begin(&rig, &msg, SL_PROG_MOUNT, 3, SL_MOUNT_UMNTALL);
	in = rig_call(&rig, &msg);
	get_end(&in);
	rig_fini(&rig);
}

static uint32_t getport(struct rig *rig, uint32_t program, uint32_t version, uint32_t protocol)
{
	struct msg msg;

	call_begin(rig, &msg, SL_PROG_PORTMAP, 2, SL_PORTMAP_GETPORT);
	put_u32(&msg, program);
	put_u32(&msg, version);
	put_u32(&msg, protocol);
	put_u32(&msg, 0);
	return rig_status(rig, &msg, NULL);
}

Test(nfs3_mount, portmap_tells_the_ports)
{
	static const uint32_t expected[] = {1, SL_PROG_PORTMAP, 2, 6, 111,  1, SL_PROG_PORTMAP, 2, 17, 111,
					    1, SL_PROG_NFS,     3, 6, 2049, 1, SL_PROG_MOUNT,   3, 6,  20048,
					    0};
	struct rig rig;
	struct msg msg;
	struct sl_xdr_in in;

	rig_init(&rig, NULL);
	cr_assert_eq(getport(&rig, SL_PROG_NFS, 3, 6), 2049);
	cr_assert_eq(getport(&rig, SL_PROG_MOUNT, 3, 6), 20048);
	cr_assert_eq(getport(&rig, SL_PROG_NFS, 3, 17), 0);
	cr_assert_eq(getport(&rig, SL_PROG_NFS, 4, 6), 0);
	cr_assert_eq(getport(&rig, 100021, 4, 6), 0);
	cr_assert_eq(getport(&rig, SL_PROG_PORTMAP, 2, 6), 111);
	cr_assert_eq(getport(&rig, SL_PROG_PORTMAP, 2, 17), 111);
	call_begin(&rig, &msg, SL_PROG_PORTMAP, 2, SL_PORTMAP_DUMP);
	in = rig_call(&rig, &msg);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		cr_assert_eq(sl_xdr_u32(&in), expected[i], "word %zu", i);
	}
	get_end(&in);
	call_begin(&rig, &msg, SL_PROG_PORTMAP, 2, SL_PORTMAP_NULL);
	in = rig_call(&rig, &msg);
	get_end(&in);
	/* SET is for registrars */
	call_begin(&rig, &msg, SL_PROG_PORTMAP, 2, 1);
	rig_send(&rig, &msg);
	rig_run(&rig);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->refused, 1);
	rig_fini(&rig);
}

/* Its reply, without the words that each reply has: xid, REPLY, accepted, no verifier (2). */
static struct sl_xdr_in datagram(struct rig *rig, const uint32_t *words, size_t count,
				 uint8_t reply[SL_NFS3_DATAGRAM_MAX])
{
	uint8_t call[128];
	struct sl_xdr_out out = {.at = call, .end = call + sizeof(call)};
	struct sl_xdr_in in;
	size_t size;

	for (size_t i = 0; i < count; i++) {
		sl_xdr_put_u32(&out, words[i]);
	}
	size = sl_nfs3_datagram(rig->srv, call, (size_t)(out.at - call), reply);
	in = (struct sl_xdr_in){.at = reply, .end = reply + size};
	cr_assert(size >= 20);
	cr_assert_eq(sl_xdr_u32(&in), words[0]);
	cr_assert_eq(sl_xdr_u32(&in), 1);
	return in;
}

static void words_expect(struct sl_xdr_in in, const uint32_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		cr_assert_eq(sl_xdr_u32(&in), words[i], "word %zu", i);
	}
	get_end(&in);
}

/* rpcinfo and showmount ask so: first with the versions of rpcbind, then with 2. */
Test(nfs3_mount, portmap_answers_datagrams_too)
{
	enum {
		CALL = 0,
		RPC = 2
	};
	/* xid, CALL, RPC version, program, version, procedure, no credentials (2), no verifier (2) */
	static const uint32_t null[] = {7, CALL, RPC, SL_PROG_PORTMAP, 2, SL_PORTMAP_NULL, 0, 0, 0, 0};
	static const uint32_t getport_nfs[] = {
	    7, CALL, RPC, SL_PROG_PORTMAP, 2, SL_PORTMAP_GETPORT, 0, 0, 0, 0, SL_PROG_NFS, 3, 6, 0};
	static const uint32_t short_getport[] = {7, CALL, RPC, SL_PROG_PORTMAP, 2, SL_PORTMAP_GETPORT, 0,
						 0, 0,    0,   SL_PROG_NFS,     3};
	static const uint32_t dump[] = {7, CALL, RPC, SL_PROG_PORTMAP, 2, SL_PORTMAP_DUMP, 0, 0, 0, 0};
	static const uint32_t rpcbind[] = {7, CALL, RPC, SL_PROG_PORTMAP, 4, 3, 0, 0, 0, 0};
	static const uint32_t callit[] = {7, CALL, RPC, SL_PROG_PORTMAP, 2, 5, 0, 0, 0, 0};
	static const uint32_t nfs[] = {7, CALL, RPC, SL_PROG_NFS, 3, 0, 0, 0, 0, 0};
	/* accepted, no verifier (2), then what came of it: 0 success, 1 no program, 2 versions, 3 no
	 * procedure, 4 garbage. */
	static const uint32_t null_reply[] = {0, 0, 0, 0}, getport_reply[] = {0, 0, 0, 0, 2049};
	static const uint32_t garbage_reply[] = {0, 0, 0, 4}, versions_reply[] = {0, 0, 0, 2, 2, 2};
	static const uint32_t no_procedure[] = {0, 0, 0, 3}, no_program[] = {0, 0, 0, 1};
	static const uint32_t dump_reply[] = {
	    0,           0, 0, 0,    1, SL_PROG_PORTMAP, 2, 6, 111,   1, SL_PROG_PORTMAP, 2, 17, 111, 1,
	    SL_PROG_NFS, 3, 6, 2049, 1, SL_PROG_MOUNT,   3, 6, 20048, 0};
	uint8_t reply[SL_NFS3_DATAGRAM_MAX];
	struct rig rig;

	rig_init(&rig, NULL);
#define EXPECT(call, want)                                                              \
	words_expect(datagram(&rig, call, sizeof(call) / sizeof(call[0]), reply), want, \
		     sizeof(want) / sizeof(want[0]))
	EXPECT(null, null_reply);
	EXPECT(getport_nfs, getport_reply);
	EXPECT(short_getport, garbage_reply);
	EXPECT(dump, dump_reply);
	EXPECT(rpcbind, versions_reply);
	EXPECT(callit, no_procedure);
	EXPECT(nfs, no_program);
#undef EXPECT
	/* A reply, or what is too short for a call, is never answered: two servers would go on for ever. */
	cr_assert_eq(sl_nfs3_datagram(rig.srv, "\0\0\0\7\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24, reply),
		     0);
	cr_assert_eq(sl_nfs3_datagram(rig.srv, "\0\0\0\7", 4, reply), 0);
	cr_assert_eq(sl_nfs3_datagram(rig.srv, "", 0, reply), 0);
	rig_fini(&rig);
}

/* The paths in a DUMP, with spaces between; only ours. */
static void dump(struct rig *rig, char *ret, size_t size)
{
	struct msg msg;
	struct sl_xdr_in in;

	call_begin(rig, &msg, SL_PROG_MOUNT, 3, SL_MOUNT_DUMP);
	in = rig_call(rig, &msg);
	ret[0] = '\0';
	while (sl_xdr_u32(&in)) {
		struct sl_xdr_bytes host = sl_xdr_opaque(&in, 255), path = sl_xdr_opaque(&in, 1024);
		size_t used = strlen(ret);

		cr_assert_eq(host.size, 9);
		cr_assert_eq(memcmp(host.data, "127.1.2.3", 9), 0);
		snprintf(ret + used, size - used, "%.*s ", (int)path.size, (const char *)path.data);
	}
	get_end(&in);
}

static void mount_path(struct rig *rig, uint32_t procedure, const char *path)
{
	struct msg msg;

	call_begin(rig, &msg, SL_PROG_MOUNT, 3, procedure);
	if (path) {
		put_name(&msg, path);
	}
	(void)rig_call(rig, &msg);
}

Test(nfs3_mount, who_mounted_what_is_remembered)
{
	struct rig rig;
	uint8_t dir[SL_HANDLE_BYTES];
	char list[8192];

	rig_init(&rig, NULL);
	sl_nfs3_conn_client(rig.conn, "127.1.2.3");
	do_mkdir(&rig, rig.root, "a", dir);
	mount_path(&rig, SL_MOUNT_MNT, "/tank/vm");
	mount_path(&rig, SL_MOUNT_MNT, "/tank/vm/a");
	mount_path(&rig, SL_MOUNT_MNT, "/tank/vm");
	mount_path(&rig, SL_MOUNT_MNT, "/tank/vm/none");
	dump(&rig, list, sizeof(list));
	cr_assert_str_eq(list, "/tank/vm/a /tank/vm ");
	mount_path(&rig, SL_MOUNT_UMNT, "/tank/vm/a");
	dump(&rig, list, sizeof(list));
	cr_assert_str_eq(list, "/tank/vm ");
	mount_path(&rig, SL_MOUNT_UMNTALL, NULL);
	dump(&rig, list, sizeof(list));
	cr_assert_str_eq(list, "");
	rig_fini(&rig);
}

/* The list is bounded: the oldest entries make room. */
Test(nfs3_mount, a_flood_of_mounts_is_borne)
{
	struct rig rig;
	uint8_t dir[SL_HANDLE_BYTES];
	char path[64], list[8192];

	rig_init(&rig, NULL);
	sl_nfs3_conn_client(rig.conn, "127.1.2.3");
	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "d%d", i);
		do_mkdir(&rig, rig.root, path, dir);
		snprintf(path, sizeof(path), "/tank/vm/d%d", i);
		mount_path(&rig, SL_MOUNT_MNT, path);
	}
	dump(&rig, list, sizeof(list));
	cr_assert(strstr(list, "/tank/vm/d99 ") && strstr(list, "/tank/vm/d36 "));
	cr_assert(!strstr(list, "/tank/vm/d35 "));
	rig_fini(&rig);
}
