/* Machines on libvirt's own test driver: no daemon, no QEMU. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guests/accel.h"
#include "guests/hypervisor.h"

#define MACHINE "<domain type='test'><name>%s</name><memory>65536</memory><os><type>hvm</type></os></domain>"

static struct sl_hypervisor *driver(void)
{
	struct sl_hypervisor *hypervisor;
	struct sl_err err = {0};

	cr_assert_eq(sl_hypervisor_open_uri("test:///default", &hypervisor, &err), 0, "%s", err.msg);
	return hypervisor;
}

static int start(struct sl_hypervisor *hypervisor, const char *name, struct sl_vm **ret, struct sl_err *err)
{
	char xml[512];

	snprintf(xml, sizeof(xml), MACHINE, name);
	*ret = NULL;
	return sl_vm_start(hypervisor, xml, ret, err);
}

Test(hypervisor, a_machine_lives_until_its_plug_is_pulled)
{
	struct sl_hypervisor *hypervisor = driver();
	struct sl_vm *vm, *again;
	struct sl_err err = {0};

	cr_assert_eq(start(hypervisor, "storage", &vm, &err), 0, "%s", err.msg);
	cr_assert(sl_vm_alive(vm));
	cr_assert_str_eq(sl_vm_name(vm), "storage");
	cr_assert_eq(start(hypervisor, "storage", &again, &err), -EIO, "a second of the same name");
	sl_vm_destroy(vm);
	cr_assert_eq(start(hypervisor, "storage", &again, &err), 0, "forgotten when it stopped: %s", err.msg);
	sl_vm_destroy(again);
	sl_hypervisor_close(hypervisor);
}

Test(hypervisor, saved_and_restored)
{
	char path[] = "/tmp/sloglab-save-XXXXXX";
	struct sl_hypervisor *hypervisor = driver();
	struct sl_vm *vm, *restored;
	struct sl_err err = {0};

	close(mkstemp(path));
	cr_assert_eq(start(hypervisor, "guest", &vm, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_vm_save(vm, path, &err), 0, "%s", err.msg);
	cr_assert_not(sl_vm_alive(vm));
	cr_assert_eq(sl_vm_restore(hypervisor, path, "guest", &restored, &err), 0, "%s", err.msg);
	cr_assert(sl_vm_alive(restored));
	sl_vm_destroy(restored);
	sl_vm_destroy(vm);
	sl_hypervisor_close(hypervisor);
	unlink(path);
}

Test(hypervisor, errors_are_one_line_in_libvirts_words)
{
	static const char *const bad[] = {"", "<domain", "<domain type='test'/>",
					  "<domain type='kvm'><name>\n</name></domain>"};
	struct sl_hypervisor *hypervisor = driver();
	struct sl_vm *vm;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sl_err err = {0};

		cr_assert_eq(sl_vm_start(hypervisor, bad[i], &vm, &err), -EIO, "\"%s\"", bad[i]);
		cr_assert(strncmp(err.msg, "virtual machine: ", 17) == 0 && strlen(err.msg) > 17, "%s",
			  err.msg);
		cr_assert_null(strchr(err.msg, '\n'), "%s", err.msg);
	}
	sl_hypervisor_close(hypervisor);
}

Test(hypervisor, no_agent)
{
	struct sl_hypervisor *hypervisor = driver();
	struct sl_err err = {0};
	struct sl_vm *vm;
	char *answer;

	cr_assert_eq(start(hypervisor, "guest", &vm, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_vm_agent(vm, "{\"execute\": \"guest-ping\"}", 1, &answer, &err), -EIO);
	sl_vm_destroy(vm);
	sl_hypervisor_close(hypervisor);
}

Test(hypervisor, no_such_driver)
{
	struct sl_hypervisor *hypervisor;
	struct sl_err err = {0};

	cr_assert_eq(sl_hypervisor_open_uri("nothing:///", &hypervisor, &err), -EIO);
	cr_assert(strncmp(err.msg, "libvirt: ", 9) == 0, "%s", err.msg);
}

Test(accel, says_why)
{
	char why[200] = "";
	bool kvm = sl_accel_kvm(why, sizeof(why));

	if (kvm) {
		cr_assert_str_eq(why, "KVM");
	} else {
		cr_assert(strncmp(why, "/dev/kvm", 8) == 0 && strstr(why, "TCG"), "%s", why);
	}
}
