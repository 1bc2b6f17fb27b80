/*
 * Calls every procedure of NFS, MOUNT and PORTMAP once or more, errors included, over one connection:
 * something for a protocol analyser to look at. Fails when a reply is not what it should be.
 */
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/nfs3/numbers.h"
#include "sim/nfs3/xdr.h"

#define HANDLE_MAX 64u

struct handle {
	uint8_t bytes[HANDLE_MAX];
	uint32_t size;
};

struct wire {
	int fd;
	uint32_t xid, procedure;
	struct sl_xdr_out out;
	uint8_t call[8192], reply[1 << 17];
};

static void die(const struct wire *wire, const char *what)
{
	(void)fprintf(stderr, "procedure %u: %s\n", wire->procedure, what);
	exit(1);
}

static void begin(struct wire *wire, uint32_t program, uint32_t version, uint32_t procedure)
{
	const uint32_t head[] = {0, ++wire->xid, 0, 2, program, version, procedure, 1, 24};

	wire->procedure = procedure;
	wire->out = (struct sl_xdr_out){.at = wire->call, .end = wire->call + sizeof(wire->call)};
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++) {
		sl_xdr_put_u32(&wire->out, head[i]);
	}
	sl_xdr_put_u32(&wire->out, 0);            /* stamp */
	sl_xdr_put_opaque(&wire->out, "host", 4); /* machine */
	for (int i = 0; i < 3; i++) {             /* uid, gid, groups */
		sl_xdr_put_u32(&wire->out, 0);
	}
	sl_xdr_put_u64(&wire->out, 0); /* verifier */
}

static void begin_on(struct wire *wire, uint32_t procedure, const struct handle *handle)
{
	begin(wire, SL_PROG_NFS, SL_VERS_NFS, procedure);
	sl_xdr_put_opaque(&wire->out, handle->bytes, handle->size);
}

static void put_words(struct wire *wire, int count)
{
	for (int i = 0; i < count; i++) {
		sl_xdr_put_u32(&wire->out, 0);
	}
}

static void put_name(struct wire *wire, const char *name)
{
	sl_xdr_put_opaque(&wire->out, name, (uint32_t)strlen(name));
}

static void receive(struct wire *wire, uint8_t *to, size_t size)
{
	if (recv(wire->fd, to, size, MSG_WAITALL) != (ssize_t)size) {
		die(wire, "no reply");
	}
}

/* Sends the call; the results behind the accept status, which must be `accept`. */
static struct sl_xdr_in answer(struct wire *wire, uint32_t accept)
{
	size_t size = (size_t)(wire->out.at - wire->call);

	sl_put_be32(wire->call, 0x80000000u | (uint32_t)(size - 4));
	if (send(wire->fd, wire->call, size, MSG_NOSIGNAL) != (ssize_t)size) {
		die(wire, "cannot send");
	}
	receive(wire, wire->reply, 4);
	size = sl_be32(wire->reply) & 0x7fffffffu;
	if (size < 24 || size > sizeof(wire->reply)) {
		die(wire, "reply too short or too long");
	}
	receive(wire, wire->reply, size);
	if (sl_be32(wire->reply) != wire->xid || sl_be32(wire->reply + 20) != accept) {
		die(wire, "another xid or accept status");
	}
	return (struct sl_xdr_in){.at = wire->reply + 24, .end = wire->reply + size};
}

/* The same for a procedure whose results begin with a status. */
static struct sl_xdr_in result(struct wire *wire, uint32_t status)
{
	struct sl_xdr_in in = answer(wire, 0);
	uint32_t got = sl_xdr_u32(&in);

	if (got != status) {
		(void)fprintf(stderr, "status %u instead of %u, ", got, status);
		die(wire, "status");
	}
	return in;
}

static void handle_keep(struct wire *wire, struct sl_xdr_in *in, struct handle *ret)
{
	struct sl_xdr_bytes bytes = sl_xdr_opaque(in, HANDLE_MAX);

	if (in->bad) {
		die(wire, "no handle");
	}
	memcpy(ret->bytes, bytes.data, bytes.size);
	ret->size = bytes.size;
}

/* post_op_fh3 */
static void made(struct wire *wire, struct handle *ret)
{
	struct sl_xdr_in in = result(wire, 0);

	(void)sl_xdr_u32(&in);
	handle_keep(wire, &in, ret);
}

static void mount_all(struct wire *wire, const char *path, struct handle *ret)
{
	struct sl_xdr_in in;

	for (uint32_t procedure = SL_MOUNT_NULL; procedure <= SL_MOUNT_EXPORT; procedure++) {
		begin(wire, SL_PROG_MOUNT, SL_VERS_MOUNT, procedure);
		if (procedure == SL_MOUNT_MNT || procedure == SL_MOUNT_UMNT) {
			put_name(wire, path);
		}
		in = answer(wire, 0);
		if (procedure == SL_MOUNT_MNT) {
			(void)sl_xdr_u32(&in);
			handle_keep(wire, &in, ret);
		}
	}
	begin(wire, SL_PROG_MOUNT, SL_VERS_MOUNT, SL_MOUNT_MNT);
	put_name(wire, "/not/exported");
	(void)result(wire, 2);
}

static void portmap_all(struct wire *wire)
{
	begin(wire, SL_PROG_PORTMAP, SL_VERS_PORTMAP, SL_PORTMAP_NULL);
	(void)answer(wire, 0);
	begin(wire, SL_PROG_PORTMAP, SL_VERS_PORTMAP, SL_PORTMAP_GETPORT);
	sl_xdr_put_u32(&wire->out, SL_PROG_NFS);
	sl_xdr_put_u32(&wire->out, SL_VERS_NFS);
	sl_xdr_put_u32(&wire->out, 6);
	put_words(wire, 1);
	(void)answer(wire, 0);
	begin(wire, SL_PROG_PORTMAP, SL_VERS_PORTMAP, SL_PORTMAP_DUMP);
	(void)answer(wire, 0);
}

static void create(struct wire *wire, const struct handle *dir, const char *name, uint32_t how,
		   struct handle *ret)
{
	begin_on(wire, SL_NFS_CREATE, dir);
	put_name(wire, name);
	sl_xdr_put_u32(&wire->out, how);
	put_words(wire, how == 2 ? 2 : 6);
	made(wire, ret);
}

static void names_all(struct wire *wire, const struct handle *root, struct handle *ret_file)
{
	struct handle dir, link, other;

	begin_on(wire, SL_NFS_MKDIR, root);
	put_name(wire, "dir");
	put_words(wire, 6);
	made(wire, &dir);
	create(wire, root, "unchecked", 0, ret_file);
	create(wire, root, "guarded", 1, &other);
	create(wire, root, "exclusive", 2, &other);
	begin_on(wire, SL_NFS_CREATE, root);
	put_name(wire, "guarded");
	sl_xdr_put_u32(&wire->out, 1);
	put_words(wire, 6);
	(void)result(wire, 17);
	begin_on(wire, SL_NFS_SYMLINK, root);
	put_name(wire, "link");
	put_words(wire, 6);
	put_name(wire, "../target");
	made(wire, &link);
	begin_on(wire, SL_NFS_READLINK, &link);
	(void)result(wire, 0);
	begin_on(wire, SL_NFS_LINK, &other);
	sl_xdr_put_opaque(&wire->out, dir.bytes, dir.size);
	put_name(wire, "second");
	(void)result(wire, 0);
	begin_on(wire, SL_NFS_RENAME, &dir);
	put_name(wire, "second");
	sl_xdr_put_opaque(&wire->out, root->bytes, root->size);
	put_name(wire, "moved");
	(void)result(wire, 0);
	begin_on(wire, SL_NFS_MKNOD, root);
	put_name(wire, "pipe");
	sl_xdr_put_u32(&wire->out, 7);
	put_words(wire, 6);
	(void)result(wire, 10004);
	begin_on(wire, SL_NFS_LOOKUP, root);
	put_name(wire, "none");
	(void)result(wire, 2);
	begin_on(wire, SL_NFS_REMOVE, root);
	put_name(wire, "moved");
	(void)result(wire, 0);
	begin_on(wire, SL_NFS_RMDIR, root);
	put_name(wire, "dir");
	(void)result(wire, 0);
}

static void file_all(struct wire *wire, const struct handle *root, const struct handle *file)
{
	static const uint32_t plain[] = {SL_NFS_GETATTR, SL_NFS_FSSTAT, SL_NFS_FSINFO, SL_NFS_PATHCONF};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		begin_on(wire, plain[i], file);
		(void)result(wire, 0);
	}
	begin_on(wire, SL_NFS_WRITE, file);
	sl_xdr_put_u64(&wire->out, 5);
	sl_xdr_put_u32(&wire->out, 5);
	sl_xdr_put_u32(&wire->out, 0); /* UNSTABLE */
	put_name(wire, "hello");
	(void)result(wire, 0);
	begin_on(wire, SL_NFS_COMMIT, file);
	put_words(wire, 3);
	(void)result(wire, 0);
	begin_on(wire, SL_NFS_READ, file);
	sl_xdr_put_u64(&wire->out, 0);
	sl_xdr_put_u32(&wire->out, 4096);
	(void)result(wire, 0);
	begin_on(wire, SL_NFS_ACCESS, file);
	sl_xdr_put_u32(&wire->out, 63);
	(void)result(wire, 0);
	begin_on(wire, SL_NFS_SETATTR, file);
	sl_xdr_put_u32(&wire->out, 1); /* mode */
	sl_xdr_put_u32(&wire->out, 0600);
	put_words(wire, 6);
	(void)result(wire, 0);
	begin_on(wire, SL_NFS_READDIR, root);
	put_words(wire, 4);
	sl_xdr_put_u32(&wire->out, 4096);
	(void)result(wire, 0);
	begin_on(wire, SL_NFS_READDIRPLUS, root);
	put_words(wire, 4);
	sl_xdr_put_u32(&wire->out, 4096);
	sl_xdr_put_u32(&wire->out, 32768);
	(void)result(wire, 0);
}

/* What no client should send is answered all the same. */
static void refusals(struct wire *wire)
{
	begin(wire, SL_PROG_NFS, 9, SL_NFS_NULL);
	(void)answer(wire, 2); /* PROG_MISMATCH */
	begin(wire, 100099, 1, 0);
	(void)answer(wire, 1); /* PROG_UNAVAIL */
	begin(wire, SL_PROG_NFS, SL_VERS_NFS, 22);
	(void)answer(wire, 3); /* PROC_UNAVAIL */
}

int main(int argc, char **argv)
{
	static struct wire wire = {.xid = 100};
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval patience = {.tv_sec = 5};
	struct handle root, file;

	if (argc != 3) {
		(void)fprintf(stderr, "usage: %s PORT EXPORT\n", argv[0]);
		return 2;
	}
	at.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
	wire.fd = socket(AF_INET, SOCK_STREAM, 0);
	if (wire.fd < 0 || connect(wire.fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		perror("connect");
		return 1;
	}
	(void)setsockopt(wire.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	portmap_all(&wire);
	mount_all(&wire, argv[2], &root);
	begin(&wire, SL_PROG_NFS, SL_VERS_NFS, SL_NFS_NULL);
	(void)answer(&wire, 0);
	names_all(&wire, &root, &file);
	file_all(&wire, &root, &file);
	refusals(&wire);
	close(wire.fd);
	return 0;
}
