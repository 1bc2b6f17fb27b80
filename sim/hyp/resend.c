#include "sim/hyp/resend.h"

const char *sl_nfs_client_name(enum sl_nfs_client client)
{
	static const char *const names[] = {"esxi", "libnfs", "linux"};

	return names[client];
}

enum sl_nfs_client sl_nfs_client_of(const struct sl_box *box)
{
	return (enum sl_nfs_client)box->client;
}

bool sl_nfs_client_resends(enum sl_nfs_client client, const struct sl_ledger_write *write, int64_t at_ns)
{
	bool answered = write->replied_ns <= at_ns, committed = write->committed_ns <= at_ns;

	return !answered || (client == SL_CLIENT_LINUX && !committed);
}
