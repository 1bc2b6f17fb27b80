#include "engine/serving.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "sim/base/clock.h"
#include "sim/base/runwait.h"

static void stop_fire(struct sl_io *io, uint32_t events, int64_t now_ns)
{
	struct sl_serving *serving = sl_container_of(io, struct sl_serving, stop);
	struct signalfd_siginfo info;

	(void)events;
	(void)now_ns;
	if (read(io->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		serving->signal = (int)info.ssi_signo;
	}
	sl_loop_stop(serving->loop);
}

int sl_serving_init(struct sl_serving *serving, struct sl_err *err)
{
	sigset_t set;

	*serving = (struct sl_serving){.stop = {.fd = -1, .events = EPOLLIN, .fire = stop_fire}};
	/* A late reply looks like a slow disk, so other work waits for us. Where we may not (no root), the
	 * lateness tells. The kernel leaves the others 5 % even if we should never sleep. */
	(void)sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK,
				 &(struct sched_param){.sched_priority = 1});
	serving->begin_ns = sl_clock_ns();
	if (sl_runwait_ns(0, &serving->wait_begin_ns) < 0) {
		serving->wait_begin_ns = -1;
	}
	serving->loop = sl_loop_new_wall(err);
	if (!serving->loop) {
		return err->code;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	serving->stop.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (serving->stop.fd < 0) {
		return sl_err_set(err, -errno, "signalfd: %s", strerror(errno));
	}
	return sl_loop_io_add(serving->loop, &serving->stop, err);
}

void sl_serving_fini(struct sl_serving *serving)
{
	if (!serving->loop) {
		return;
	}
	if (serving->stop.fd >= 0) {
		sl_loop_io_del(serving->loop, &serving->stop);
		close(serving->stop.fd);
	}
	sl_loop_free(serving->loop);
	serving->loop = NULL;
}

void sl_serving_trust(const struct sl_serving *serving, const struct sl_hist *lateness_wall_ns,
		      int64_t modelled_p50_wall_ns, struct sl_trust *ret)
{
	struct sl_trust_input input = {.lateness_p99_wall_ns = sl_hist_quantile(lateness_wall_ns, 0.99),
				       .modelled_p50_wall_ns = modelled_p50_wall_ns,
				       .measured_wall_ns = sl_clock_ns() - serving->begin_ns};
	struct sl_trust_wait *own = &input.waits[SL_TRUST_SERVER];
	int64_t now_ns;

	own->present = true;
	own->unknown = serving->wait_begin_ns < 0 || sl_runwait_ns(0, &now_ns) < 0;
	own->wait_wall_ns = own->unknown ? 0 : now_ns - serving->wait_begin_ns;
	sl_trust_judge(&input, ret);
}
