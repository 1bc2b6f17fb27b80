/* File handles: inode number, generation and a keyed hash (SipHash-2-4) that makes them unforgeable. */
#ifndef SL_NFS3_HANDLE_H
#define SL_NFS3_HANDLE_H

#include <stddef.h>
#include <stdint.h>

#define SL_HANDLE_BYTES 24u
#define SL_HANDLE_KEY_BYTES 16u

/* SipHash-2-4 (Aumasson, Bernstein 2012) with 64-bit output. */
uint64_t sl_siphash(const uint8_t key[SL_HANDLE_KEY_BYTES], const void *bytes, size_t size);

void sl_handle_make(const uint8_t key[SL_HANDLE_KEY_BYTES], uint64_t ino, uint64_t generation,
		    uint8_t ret[SL_HANDLE_BYTES]);

/* 0, or -EBADF when the bytes are no handle made with this key. */
int sl_handle_open(const uint8_t key[SL_HANDLE_KEY_BYTES], const uint8_t *handle, size_t size,
		   uint64_t *ret_ino, uint64_t *ret_generation);

#endif
