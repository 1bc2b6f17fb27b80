/* A record of the metadata journal: one change of a tree's names, and its bytes. */
#ifndef SL_DATASTORE_RECORD_H
#define SL_DATASTORE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#define SL_RECORD_MAX 598u /* bytes */

enum sl_meta_kind {
	SL_META_INODE = 1,  /* snapshot of an inode with one of its names */
	SL_META_NAME = 2,   /* snapshot of a further name: ino, parent, name, cookie */
	SL_META_CREATE = 3, /* as INODE, and the parent's times become ctime_ns */
	SL_META_LINK = 4,   /* as NAME, and the times of parent and inode become ctime_ns */
	SL_META_UNLINK = 5, /* parent, name: gone, and the inode too when it was its last name */
	SL_META_RENAME = 6, /* from_parent, from -> parent, name, cookie; what had the name is unlinked */
	SL_META_ATTR = 7,   /* ino, mode, uid, gid, times */
	SL_META_NEXT = 8    /* ino: lowest number never given out */
};

/* One record. Inode numbers and cookies come from one sequence that never repeats. */
struct sl_meta {
	enum sl_meta_kind kind;
	uint8_t type; /* enum sl_ftype */
	uint32_t mode, uid, gid;
	uint64_t ino, generation, parent, cookie, from_parent;
	int64_t atime_ns, mtime_ns, ctime_ns;
	char name[256], from[256];
};

/* Writes it to buf (SL_RECORD_MAX bytes) and returns its size. */
uint32_t sl_record_encode(const struct sl_meta *meta, uint8_t *buf);
/* The size of the record at `at`, or 0 when it is cut short or damaged. */
uint32_t sl_record_decode(const uint8_t *at, uint64_t left, struct sl_meta *ret);
/* Where the first whole record at `from` or behind it begins; `size` when there is none. */
uint64_t sl_record_next(const uint8_t *bytes, uint64_t size, uint64_t from);
/* The last `left` bytes of a journal hold no whole record: was one being written when the server died? A kill
 * leaves the beginning of one, a crash of the host one whose end is zeros. A record that is complete and
 * wrong, or whole but for one bit, is damage: it was acknowledged. */
bool sl_record_torn(const uint8_t *at, uint64_t left);

#endif
