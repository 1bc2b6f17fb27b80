/*
 * System calls of this process go through a function of ours first, whoever makes them: the project, libc's
 * stdio, or a library. Symbols that are wrapped (--wrap, LD_PRELOAD) would miss what libc calls within
 * itself, and that is where a FILE reads and writes. Linux on x86-64: seccomp turns each listed call into a
 * SIGSYS, whose handler answers it.
 *
 * The filter cannot be taken off and is inherited: install it in a process that ends with the test, and let
 * it start no other program.
 */
#ifndef SL_TESTS_FAULTS_TRAP_H
#define SL_TESTS_FAULTS_TRAP_H

#include <stddef.h>

/* Answers the call `nr` (SYS_...) with its result or a negative errno. Runs where the call was made, on its
 * thread. */
typedef long sl_trap_fn(long nr, const unsigned long args[6]);

/* Calls numbers[0..count) are answered by fn from now on, in this thread and those it starts. 0 or negative
 * errno
 * (-EINVAL: the kernel has no such filters). */
int sl_trap_install(const int *numbers, size_t count, sl_trap_fn *fn);

/* Makes the call past the filter. Result or negative errno. */
long sl_trap_call(long nr, const unsigned long args[6]);

/* The same for whoever has the arguments one by one. */
#define SL_TRAP_CALL(nr, a, b, c, d)                                                      \
	sl_trap_call(nr, (const unsigned long[6]){(unsigned long)(a), (unsigned long)(b), \
						  (unsigned long)(c), (unsigned long)(d), 0, 0})

#endif
