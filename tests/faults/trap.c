#include "tests/faults/trap.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define NUMBERS_MAX 96

/* The one place whose calls the filter lets pass: it knows them by the address that follows the instruction.
 */
long sl_trap_gate(long nr, long a, long b, long c, long d, long e, long f);
extern const char sl_trap_gate_end[];
__asm__(".pushsection .text\n"
	".balign 16\n"
	".globl sl_trap_gate\n"
	".hidden sl_trap_gate\n"
	".type sl_trap_gate, @function\n"
	"sl_trap_gate:\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	mov %rdx, %rsi\n"
	"	mov %rcx, %rdx\n"
	"	mov %r8, %r10\n"
	"	mov %r9, %r8\n"
	"	mov 8(%rsp), %r9\n"
	"	syscall\n"
	".globl sl_trap_gate_end\n"
	".hidden sl_trap_gate_end\n"
	"sl_trap_gate_end:\n"
	"	ret\n"
	".popsection\n");

static sl_trap_fn *trap_fn; /* a signal handler has no other way to know */

long sl_trap_call(long nr, const unsigned long args[6])
{
	return sl_trap_gate(nr, (long)args[0], (long)args[1], (long)args[2], (long)args[3], (long)args[4],
			    (long)args[5]);
}

/* A thread that blocks all signals would die of the next trap, so SIGSYS stays open. The mask that the
 * handler returns to is the one that counts. */
static long mask_change(const unsigned long args[6], ucontext_t *context)
{
	const uint64_t *set = (const uint64_t *)args[1];
	uint64_t *old = (uint64_t *)args[2], now, wanted = set ? *set : 0;

	memcpy(&now, &context->uc_sigmask, sizeof(now));
	if (old) {
		*old = now;
	}
	if (set) {
		now = args[0] == SIG_BLOCK ? now | wanted : args[0] == SIG_UNBLOCK ? now & ~wanted : wanted;
	}
	now &= ~(1ull << (SIGSYS - 1));
	memcpy(&context->uc_sigmask, &now, sizeof(now));
	return 0;
}

static void on_sigsys(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	unsigned long args[6] = {regs[REG_RDI], regs[REG_RSI], regs[REG_RDX],
				 regs[REG_R10], regs[REG_R8],  regs[REG_R9]};
	int saved = errno;

	(void)signal;
	regs[REG_RAX] = info->si_syscall == SYS_rt_sigprocmask ? mask_change(args, context)
							       : trap_fn(info->si_syscall, args);
	errno = saved;
}

static struct sock_filter load(uint32_t at)
{
	return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at);
}

static struct sock_filter when(uint32_t equal, size_t yes, size_t no)
{
	return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, equal, (uint8_t)yes, (uint8_t)no);
}

static struct sock_filter answer(uint32_t action)
{
	return (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
}

int sl_trap_install(const int *numbers, size_t count, sl_trap_fn *fn)
{
	uint64_t gate = (uintptr_t)sl_trap_gate_end;
	struct sock_filter code[NUMBERS_MAX + 10];
	struct sock_fprog program = {.filter = code};
	struct sigaction action = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO | SA_NODEFER};
	size_t at = 0;

	assert(count > 0 && count <= NUMBERS_MAX);
	code[at++] = load(offsetof(struct seccomp_data, arch));
	code[at++] = when(AUDIT_ARCH_X86_64, 0, count + 2);
	code[at++] = load(offsetof(struct seccomp_data, nr));
	code[at++] = when(SYS_rt_sigprocmask, count + 1, 0);
	for (size_t i = 0; i < count; i++) {
		code[at++] = when((uint32_t)numbers[i], count - i, 0);
	}
	code[at++] = answer(SECCOMP_RET_ALLOW);
	code[at++] = load(offsetof(struct seccomp_data, instruction_pointer));
	code[at++] = when((uint32_t)gate, 0, 2);
	code[at++] = load(offsetof(struct seccomp_data, instruction_pointer) + 4);
	code[at++] = when((uint32_t)(gate >> 32), 1, 0);
	code[at++] = answer(SECCOMP_RET_TRAP);
	code[at++] = answer(SECCOMP_RET_ALLOW);
	program.len = (unsigned short)at;
	trap_fn = fn;
	if (sigaction(SIGSYS, &action, NULL) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0) {
		return -errno;
	}
	return 0;
}
