#include "sim/datastore/affinity.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CALLS_TO_FOLLOW 64u
#define CALLS_TO_LOOK 16u
/* Queueing of a call that is dearer than waking an idle CPU would be: behind its client's way to sleep alone
 * the thread waits 2 to 5 us. What is beyond adds up; as much as some time slices of another task is given
 * away. */
#define QUEUED_MAX_NS 20000
#define LOSS_MAX_NS 10000000
#define REST_MIN_NS 1000000000
#define REST_MAX_NS 64000000000

/* Time the thread has been runnable without running, in ns (Linux: Documentation/scheduler/sched-stats.rst);
 * negative when the kernel does not tell. */
static int64_t thread_queued_ns(struct sl_affinity *affinity)
{
	char text[96], *end;
	ssize_t size;

	if (affinity->schedstat_fd < 0) {
		affinity->schedstat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	}
	size = pread(affinity->schedstat_fd, text, sizeof(text) - 1, 0);
	if (size <= 0) {
		return -1;
	}
	text[size] = '\0';
	(void)strtoll(text, &end, 10);
	return strtoll(end, NULL, 10);
}

static void go_home(struct sl_affinity *affinity)
{
	affinity->lone = 0;
	if (affinity->cpu >= 0) {
		affinity->cpu = -1;
		(void)sched_setaffinity(0, sizeof(affinity->home), &affinity->home);
	}
}

static void go_to(struct sl_affinity *affinity, int cpu, int64_t now_ns)
{
	cpu_set_t set;

	if (!CPU_ISSET((size_t)cpu, &affinity->home)) {
		return;
	}
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0) {
		affinity->unable = true;
		return;
	}
	affinity->since_ns = now_ns;
	affinity->loss_ns = 0;
	affinity->cpu = cpu;
}

/* CPU on which the last bytes of the socket came in: over loopback, that of the sender (socket(7)). */
static int sender_cpu(int fd)
{
	socklen_t size = sizeof(int);
	int cpu = -1;

	return getsockopt(fd, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &size) == 0 ? cpu : -1;
}

/* It did not pay. The longer it stayed, the sooner it may try again. */
static void rest(struct sl_affinity *affinity, int64_t now_ns)
{
	if (now_ns - affinity->since_ns > affinity->rest_ns) {
		affinity->rest_ns = REST_MIN_NS;
	} else if (affinity->rest_ns < REST_MAX_NS) {
		affinity->rest_ns *= 2;
	}
	affinity->rest_until_ns = now_ns + affinity->rest_ns;
	go_home(affinity);
}

/* What following has lost in queues since the last look, less what it has won. */
static void loss_add(struct sl_affinity *affinity, int64_t queued_ns)
{
	affinity->loss_ns += queued_ns - affinity->queued_ns - (int64_t)CALLS_TO_LOOK * QUEUED_MAX_NS;
	if (affinity->loss_ns < 0) {
		affinity->loss_ns = 0;
	}
}

static void look(struct sl_affinity *affinity, int64_t now_ns)
{
	int cpu = sender_cpu(affinity->client_fd);
	int64_t queued_ns = thread_queued_ns(affinity);

	if (cpu < 0 || cpu >= CPU_SETSIZE || queued_ns < 0) {
		affinity->unable = true;
		go_home(affinity);
	} else if (affinity->cpu < 0) {
		go_to(affinity, cpu, now_ns);
	} else {
		loss_add(affinity, queued_ns);
		if (cpu != affinity->cpu || affinity->loss_ns > LOSS_MAX_NS) {
			rest(affinity, now_ns);
		}
	}
	affinity->queued_ns = queued_ns;
}

void sl_affinity_init(struct sl_affinity *affinity)
{
	*affinity =
	    (struct sl_affinity){.schedstat_fd = -1, .client_fd = -1, .cpu = -1, .rest_ns = REST_MIN_NS};
	affinity->unable = sched_getaffinity(0, sizeof(affinity->home), &affinity->home) < 0 ||
			   CPU_COUNT(&affinity->home) < 2;
}

void sl_affinity_fini(struct sl_affinity *affinity)
{
	go_home(affinity);
	if (affinity->schedstat_fd >= 0) {
		close(affinity->schedstat_fd);
		affinity->schedstat_fd = -1;
	}
}

void sl_affinity_heard(struct sl_affinity *affinity, int fd, bool lone, int64_t now_ns)
{
	if (affinity->unable) {
		return;
	}
	if (!lone || fd != affinity->client_fd) {
		go_home(affinity);
		affinity->client_fd = fd;
		return;
	}
	affinity->lone++;
	if (affinity->lone % CALLS_TO_LOOK == 0 && affinity->lone >= CALLS_TO_FOLLOW &&
	    now_ns >= affinity->rest_until_ns) {
		look(affinity, now_ns);
	}
}

void sl_affinity_forget(struct sl_affinity *affinity, int fd)
{
	if (fd == affinity->client_fd) {
		go_home(affinity);
		affinity->client_fd = -1;
	}
}
