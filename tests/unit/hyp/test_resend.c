#include <criterion/criterion.h>

#include "sim/hyp/resend.h"

#define CUT 100

/* RFC 1813: UNSTABLE data is the client's until a COMMIT returns the same verifier. */
Test(resend, who_sends_again_what)
{
	static const struct sl_ledger_write unanswered = {.replied_ns = 101, .committed_ns = SL_NEVER},
					    unstable = {.replied_ns = 50, .committed_ns = SL_NEVER},
					    late_commit = {.replied_ns = 50, .committed_ns = 101},
					    committed = {.replied_ns = 50, .committed_ns = 100};
	static const struct {
		const struct sl_ledger_write *write;
		bool sends[SL_CLIENTS]; /* esxi, libnfs, linux */
	} cases[] = {{&unanswered, {true, true, true}},
		     {&unstable, {false, false, true}},
		     {&late_commit, {false, false, true}},
		     {&committed, {false, false, false}}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int client = 0; client < SL_CLIENTS; client++) {
			cr_assert_eq(sl_nfs_client_resends((enum sl_nfs_client)client, cases[i].write, CUT),
				     cases[i].sends[client], "case %zu, %s", i,
				     sl_nfs_client_name((enum sl_nfs_client)client));
		}
	}
}

Test(resend, client_of_a_box)
{
	/* Its own word, whoever the hypervisor is. */
	for (int client = 0; client < SL_CLIENTS; client++) {
		const struct sl_box box = {.hypervisor = SL_HYP_QEMU, .client = client};

		cr_assert_eq((int)sl_nfs_client_of(&box), client);
	}
}
