/* What this machine can run. Each check looks, says what the thing is for, and how to get it. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "engine/image_cache.h"
#include "engine/tempdir.h"
#include "guests/accel.h"
#include "guests/needs.h"
#include "sim/base/hist.h"
#include "sim/base/units.h"
#include "sim/report/table.h"
#include "sim/scenario/paths.h"

#define SLEEPS 50
#define SLEEP_NS 1000000
#define LATE_LIMIT_NS 2000000 /* p99: a fifth of the 10 ms of a hard disk */
#define TEMP_MIN_BYTES 268435456.0
#define PORTMAP_PORT 111

enum state {
	STATE_OK,
	STATE_MISSING, /* the model or live engine cannot run */
	STATE_ABSENT   /* nothing that runs today needs it */
};

struct finding {
	enum state state;
	char detail[sizeof(((struct sl_err *)0)->msg)]; /* an error fits */
	char fix[256];                                  /* a command; "" = none */
};

struct check {
	const char *name, *purpose;
	void (*look)(struct finding *ret);
};

static void say(struct finding *f, enum state state, const char *detail, const char *fix)
{
	f->state = state;
	snprintf(f->detail, sizeof(f->detail), "%s", detail);
	snprintf(f->fix, sizeof(f->fix), "%s", fix);
}

static void look_kernel(struct finding *f)
{
	struct utsname name;
	char *rest;
	char detail[200];
	long major, minor;

	uname(&name);
	snprintf(detail, sizeof(detail), "%.60s %.60s", name.sysname, name.release);
	major = strtol(name.release, &rest, 10);
	minor = *rest == '.' ? strtol(rest + 1, NULL, 10) : 0;
	if (major > 5 || (major == 5 && minor >= 11)) {
		say(f, STATE_OK, detail, "");
	} else {
		say(f, STATE_MISSING, detail,
		    "apt-get install linux-image-amd64 (Linux 5.11 or newer), then reboot");
	}
}

static void look_cores(struct finding *f)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	char detail[64];

	snprintf(detail, sizeof(detail), "%ld", n);
	say(f, n >= 2 ? STATE_OK : STATE_ABSENT, detail,
	    n >= 2 ? "" : "give the machine a second core: server and client share this one");
}

/* Lateness of SLEEPS absolute sleeps with the timer slack that the server uses. */
static void timer_measure(struct sl_hist *late)
{
	struct timespec due, now;
	int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);

	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	for (int i = 0; i < SLEEPS; i++) {
		clock_gettime(CLOCK_MONOTONIC, &due);
		due.tv_nsec += SLEEP_NS;
		due.tv_sec += due.tv_nsec / 1000000000;
		due.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		sl_hist_add(late, (now.tv_sec - due.tv_sec) * 1000000000LL + (now.tv_nsec - due.tv_nsec));
	}
	prctl(PR_SET_TIMERSLACK, slack > 0 ? slack : 50000, 0, 0, 0);
}

static void look_timer(struct finding *f)
{
	struct sl_hist late;
	char detail[128];
	double p50, p99;

	if (sl_hist_init(&late) < 0) {
		say(f, STATE_MISSING, "out of memory", "");
		return;
	}
	timer_measure(&late);
	p50 = (double)sl_hist_quantile(&late, 0.5) / 1000;
	p99 = (double)sl_hist_quantile(&late, 0.99) / 1000;
	sl_hist_fini(&late);
	snprintf(detail, sizeof(detail), "%d sleeps of 1 ms end late by %.0f us (p50), %.0f us (p99)", SLEEPS,
		 p50, p99);
	say(f, p99 * 1000 <= LATE_LIMIT_NS ? STATE_OK : STATE_ABSENT, detail,
	    p99 * 1000 <= LATE_LIMIT_NS ? ""
					: "stop other work on this machine: short latencies will be late");
}

static void look_data(struct finding *f)
{
	struct sl_paths paths;
	struct sl_err err = {0};

	if (sl_paths_find(&paths, &err) < 0) {
		say(f, STATE_MISSING, err.msg,
		    "unset SLOGLAB_DATA, or install sloglab again: cmake --install build/release");
		return;
	}
	snprintf(f->detail, sizeof(f->detail), "%.250s", paths.data);
	f->state = STATE_OK;
}

static void look_load(struct finding *f)
{
	struct sl_paths paths;
	char path[PATH_MAX + 16];

	if (sl_paths_find(&paths, NULL) < 0) {
		say(f, STATE_MISSING, "data folder not found", "see data");
		return;
	}
	snprintf(path, sizeof(path), "%s/sloglab-load", paths.bin);
	if (access(path, X_OK) == 0) {
		say(f, STATE_OK, "sloglab-load is beside sloglab", "");
	} else {
		say(f, STATE_MISSING, "sloglab-load is not beside sloglab", "cmake --build --preset release");
	}
}

static void look_libnfs(struct finding *f)
{
	void *lib = dlopen("libnfs.so.13", RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map = NULL;
	char real[PATH_MAX];
	const char *base;

	if (!lib) {
		say(f, STATE_MISSING, "libnfs.so.13 not found", "apt-get install libnfs13");
		return;
	}
	if (dlinfo(lib, RTLD_DI_LINKMAP, &map) == 0 && map && realpath(map->l_name, real)) {
		base = strrchr(real, '/');
		snprintf(f->detail, sizeof(f->detail), "%.200s", base ? base + 1 : real);
	} else {
		snprintf(f->detail, sizeof(f->detail), "libnfs.so.13");
	}
	f->state = STATE_OK;
	dlclose(lib);
}

static void look_temp(struct finding *f)
{
	const char *dir = sl_tempdir_base();
	struct statvfs fs;
	char room[32];
	double bytes;

	if (statvfs(dir, &fs) < 0) {
		snprintf(f->detail, sizeof(f->detail), "%.100s: %s", dir, strerror(errno));
		snprintf(f->fix, sizeof(f->fix), "export TMPDIR=a folder that exists");
		f->state = STATE_MISSING;
		return;
	}
	bytes = (double)fs.f_bavail * (double)fs.f_frsize;
	snprintf(room, sizeof(room), "%.1f GiB", bytes / 1073741824.0);
	snprintf(f->detail, sizeof(f->detail), "%.150s, %s free%s", dir, room,
		 access(dir, W_OK | X_OK) == 0 ? "" : ", not writable");
	f->state = bytes >= TEMP_MIN_BYTES && access(dir, W_OK | X_OK) == 0 ? STATE_OK : STATE_MISSING;
	if (f->state == STATE_MISSING) {
		snprintf(f->fix, sizeof(f->fix), "export TMPDIR=a writable folder with 256 MiB free");
	}
}

static void look_loopback(struct finding *f)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0) {
		say(f, STATE_OK, "127.0.0.1 takes a server", "");
	} else {
		say(f, STATE_MISSING, strerror(errno), "ip link set lo up");
	}
	if (fd >= 0) {
		close(fd);
	}
}

static void look_portmap(struct finding *f)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(PORTMAP_PORT),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0) {
		say(f, STATE_ABSENT, strerror(errno), "");
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0) {
		say(f, STATE_OK, "free on 127.0.0.1", "");
	} else if (errno == EADDRINUSE) {
		say(f, STATE_ABSENT, "in use", "systemctl stop rpcbind.socket rpcbind.service");
	} else {
		say(f, STATE_ABSENT, "needs root", "run as root");
	}
	close(fd);
}

static void look_kvm(struct finding *f)
{
	char why[200];

	if (sl_accel_kvm(why, sizeof(why))) {
		say(f, STATE_OK, "usable", "");
	} else if (access("/dev/kvm", R_OK | W_OK) == 0) {
		say(f, STATE_ABSENT, why, "none here: this machine is itself a guest that may not have any");
	} else if (errno == ENOENT) {
		say(f, STATE_ABSENT, why,
		    "modprobe kvm_intel || modprobe kvm_amd (and VT-x / AMD-V in the firmware)");
	} else {
		say(f, STATE_ABSENT, why, "adduser $USER kvm, then log in again");
	}
}

/* Tried in a child: a namespace that was entered cannot be left. */
static bool namespaces_allowed(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
	}
	return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The lab's network is made in a namespace of its own; as a user, in a user namespace as well. */
static void look_network(struct finding *f)
{
	if (access("/dev/net/tun", R_OK | W_OK) < 0) {
		say(f, STATE_ABSENT, errno == ENOENT ? "no /dev/net/tun" : "no access to /dev/net/tun",
		    errno == ENOENT ? "modprobe tun" : "run as root, or chmod 666 /dev/net/tun");
	} else if (geteuid() == 0) {
		say(f, STATE_OK, "/dev/net/tun, as root", "");
	} else if (namespaces_allowed()) {
		say(f, STATE_OK, "/dev/net/tun, user namespaces", "");
	} else {
		say(f, STATE_ABSENT, "no user namespaces",
		    "run as root, or sysctl kernel.unprivileged_userns_clone=1");
	}
}

/* What engine vm is made of, with the packages that bring it. */
static void look_lab(struct finding *f)
{
	static const struct {
		const char *file, *package;
	} parts[] = {
	    {"/usr/bin/qemu-system-x86_64", "qemu-system-x86"},
	    {"/usr/lib/x86_64-linux-gnu/qemu/block-nfs.so", "qemu-block-extra"},
	    {"/usr/lib/x86_64-linux-gnu/libvirt/connection-driver/libvirt_driver_qemu.so", "libvirt-daemon"},
	    {"/usr/sbin/mke2fs", "e2fsprogs"},
	};
	char missing[200] = "";
	size_t n = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (access(parts[i].file, R_OK) < 0) {
			n += (size_t)snprintf(missing + n, sizeof(missing) - n, " %s", parts[i].package);
		}
	}
	if (n == 0) {
		say(f, STATE_OK, "qemu-system-x86_64 with its NFS driver, libvirt, mke2fs", "");
		return;
	}
	snprintf(f->detail, sizeof(f->detail), "without%s", missing);
	snprintf(f->fix, sizeof(f->fix), "apt-get install%s", missing);
	f->state = STATE_ABSENT;
}

static void look_images(struct finding *f)
{
	struct sl_image *images = NULL;
	char cache[PATH_MAX];
	struct sl_err err = {0};
	size_t n = 0;
	int count = sl_image_cache_path(cache, &err) < 0 ? err.code : sl_images(cache, &images, &err);

	for (int i = 0; images && i < count; i++) {
		if (images[i].current && n < sizeof(f->detail)) {
			n += (size_t)snprintf(f->detail + n, sizeof(f->detail) - n, "%s%s", n > 0 ? ", " : "",
					      images[i].label);
		}
	}
	free(images);
	f->state = n > 0 ? STATE_OK : STATE_ABSENT;
	if (n == 0) {
		say(f, STATE_ABSENT, count < 0 ? err.msg : "none built", "sloglab image build");
	}
}

static const struct check checks[] = {
    {"data", "catalogue, host profiles and scenarios", look_data},
    {"kernel", "live: sleeps to the nanosecond (epoll_pwait2)", look_kernel},
    {"cores", "live: server and client at the same time", look_cores},
    {"timer", "live: replies on time", look_timer},
    {"loopback", "live: the server listens there only", look_loopback},
    {"temp", "live: the datastore's files", look_temp},
    {"load", "live: the load generator", look_load},
    {"libnfs", "live: the NFS client", look_libnfs},
    {"port 111", "QEMU's NFS driver asks a portmapper; run does not need it", look_portmap},
    {"/dev/kvm", "engine vm: real speed", look_kvm},
    {"network", "engine vm: a network of its own", look_network},
    {"lab", "engine vm: virtual machines", look_lab},
    {"images", "engine vm: what the virtual machines run", look_images},
};

static void finding_print(const char *name, const char *purpose, const struct finding *f, bool colour)
{
	static const char *const words[] = {
	    [STATE_OK] = "ok", [STATE_MISSING] = "missing", [STATE_ABSENT] = "note"};
	static const enum sl_tint tints[] = {
	    [STATE_OK] = SL_TINT_GOOD, [STATE_MISSING] = SL_TINT_BAD, [STATE_ABSENT] = SL_TINT_WARN};
	enum sl_tint tint = colour ? tints[f->state] : SL_TINT_NONE;

	printf("%s%-7s%s  %-9s  %s  [%s]\n", sl_tint_start(tint), words[f->state], sl_tint_end(tint), name,
	       f->detail, purpose);
	if (f->fix[0] != '\0') {
		printf("%20s fix: %s\n", "", f->fix);
	}
}

/* What the guest of engine live needs: without it, live still runs syncwrite. Returns how many are missing.
 */
static int guest_print(bool colour)
{
	size_t n;
	const struct sl_need *needs = sl_needs(&n);
	int missing = 0;

	for (size_t i = 0; i < n; i++) {
		struct finding f = {.state = STATE_OK};
		char purpose[128];

		if (!sl_need_met(&needs[i], f.detail, sizeof(f.detail))) {
			f.state = STATE_ABSENT;
			snprintf(f.fix, sizeof(f.fix), "%s", needs[i].fix);
			missing++;
		}
		snprintf(purpose, sizeof(purpose), "live, guest: %s", needs[i].purpose);
		finding_print(needs[i].name, purpose, &f, colour);
	}
	return missing;
}

int sl_cmd_doctor(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	static const struct sl_option none[] = {{NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	bool colour = sl_tint_wanted(stdout);
	struct sl_words operands;
	int missing = 0, guest_missing;
	bool help;

	if (sl_options_parse(none, argc, argv, &operands, &help, err) < 0) {
		return SL_EXIT_USAGE;
	}
	if (help) {
		printf("usage: sloglab %s\n%s\n\n", self->name, self->summary);
		sl_options_print(none, stdout);
		return SL_EXIT_OK;
	}
	if (operands.n > 0) {
		sl_err_set(err, -EINVAL, "doctor: %.60s: takes no argument; usage: sloglab doctor",
			   operands.word[0]);
		return SL_EXIT_USAGE;
	}
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct finding f = {.state = STATE_MISSING};

		checks[i].look(&f);
		finding_print(checks[i].name, checks[i].purpose, &f, colour);
		missing += f.state == STATE_MISSING;
	}
	guest_missing = guest_print(colour);
	if (missing > 0) {
		sl_err_set(err, -ENOENT,
			   "doctor: %d missing: run --engine live will fail, see the lines above", missing);
		return SL_EXIT_FAILED;
	}
	puts(guest_missing > 0 ? "engines model and live can run, live without a database"
			       : "engines model and live can run, live with a database");
	return SL_EXIT_OK;
}
