/* Domain XML of the lab's machines against golden files; SL_REGENERATE=1 writes them anew: read the
 * difference. */
#include <criterion/criterion.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guests/domain_xml.h"
#include "guests/lab.h"

#define GOLDEN(name) SL_SOURCE_DIR "/tests/unit/guests/" name ".xml"

static const struct sl_dev_spec hard_disk = {.name = "hdd-7200-desktop", .kind = SL_DEV_HDD, .rpm = 7200};
static const struct sl_dev_spec log_ssd = {.name = "intel-dc-s3500-80", .kind = SL_DEV_SSD};

static const struct sl_lab_disk disks[] = {
    {.serial = "hdd0", .spec = &hard_disk},
    {.serial = "hdd1", .spec = &hard_disk},
    {.serial = "log0", .spec = &log_ssd, .role = SL_LAB_LOG},
};

static struct sl_box box_of_2014(void)
{
	return (struct sl_box){.nas_memory_bytes = 8.0 * (1 << 30),
			       .guest_memory_bytes = 512.0 * (1 << 20),
			       .nas_vcpus = 2,
			       .guest_vcpus = 4,
			       .nfsd_threads = 6,
			       .txg_timeout_ns = 5e9,
			       .disk_cache = SL_CACHE_WRITETHROUGH};
}

static struct sl_lab_config lab_of(const struct sl_box *box)
{
	return (struct sl_lab_config){.dir = "/state/labs/b3n",
				      .nbd_socket = "/state/labs/b3n/nbd.sock",
				      .box = box,
				      .storage_image = "/cache/images/storage-2.1",
				      .guest_image = "/cache/images/guest",
				      .storage_cmdline = "console=ttyS0 quiet",
				      .guest_cmdline = "console=ttyS0 root=LABEL=sloglab-guest",
				      .guest = true,
				      .dilate = 8,
				      .n_disks = 3,
				      .disks = disks};
}

/* Freed by the caller. */
static char *xml_of(const struct sl_lab_config *config, enum sl_lab_machine machine)
{
	struct sl_lab_text text;
	struct sl_domain domain;
	struct sl_err err = {0};
	char *xml;

	sl_lab_domain(config, machine, &domain, &text);
	cr_assert_eq(sl_domain_xml(&domain, &xml, &err), 0, "%s", err.msg);
	return xml;
}

static void golden_expect(const char *path, const char *text)
{
	FILE *file;
	static char golden[65536];
	size_t n;

	if (getenv("SL_REGENERATE")) {
		file = fopen(path, "w");
		cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
	}
	file = fopen(path, "r");
	cr_assert_not_null(file, "%s: run with SL_REGENERATE=1 to create it", path);
	n = fread(golden, 1, sizeof(golden) - 1, file);
	fclose(file);
	golden[n] = '\0';
	cr_assert_str_eq(text, golden, "differs from %s:\n%s", path, text);
}

/* What an XML reader finds at `path`; freed by the caller. */
static char *text_at(const char *xml, const char *path)
{
	xmlDocPtr document = xmlReadMemory(xml, (int)strlen(xml), NULL, NULL, XML_PARSE_NONET);
	xmlXPathContextPtr context;
	xmlXPathObjectPtr found;
	xmlChar *text;
	char *copy;

	cr_assert_not_null(document, "no XML: %s", xml);
	context = xmlXPathNewContext(document);
	found = xmlXPathEvalExpression((const xmlChar *)path, context);
	text = xmlXPathCastToString(found);
	copy = strdup((const char *)text);
	xmlFree(text);
	xmlXPathFreeObject(found);
	xmlXPathFreeContext(context);
	xmlFreeDoc(document);
	return copy;
}

static void expect_at(const char *xml, const char *path, const char *expected)
{
	char *text = text_at(xml, path);

	cr_assert_str_eq(text, expected, "%s: \"%s\"", path, text);
	free(text);
}

Test(domain, storage_vm_is_as_in_the_golden_file)
{
	struct sl_box box = box_of_2014();
	struct sl_lab_config config = lab_of(&box);
	char *xml = xml_of(&config, SL_LAB_STORAGE);

	golden_expect(GOLDEN("storage"), xml);
	free(xml);
}

Test(domain, guest_is_as_in_the_golden_file)
{
	struct sl_box box = box_of_2014();
	struct sl_lab_config config = lab_of(&box);
	char *xml = xml_of(&config, SL_LAB_GUEST);

	golden_expect(GOLDEN("guest"), xml);
	free(xml);
}

Test(domain, kvm_gives_the_cpus_of_the_scenario)
{
	struct sl_box box = box_of_2014();
	struct sl_lab_config config = lab_of(&box);
	char *xml;

	config.kvm = true;
	xml = xml_of(&config, SL_LAB_GUEST);
	expect_at(xml, "/domain/@type", "kvm");
	expect_at(xml, "/domain/vcpu", "4");
	expect_at(xml, "/domain/cpu/@mode", "host-passthrough");
	free(xml);
}

Test(domain, memory_stays_between_half_and_one_gib)
{
	struct sl_box box = {.nas_memory_bytes = 1e6, .guest_memory_bytes = 1e18};
	int64_t storage, guest;

	sl_lab_memory(&box, &storage, &guest);
	cr_assert_eq(storage, INT64_C(512) << 20);
	cr_assert_eq(guest, INT64_C(1) << 30);
}

/* A path of the user cannot add an element or an attribute. */
Test(domain, hostile_strings_stay_strings)
{
	static const char hostile[] = "/a'\"<b>&amp;]]></kernel><disk type='file'/>\xc3\xa4";
	const struct sl_domain domain = {.name = hostile,
					 .kernel = hostile,
					 .initrd = "i",
					 .cmdline = hostile,
					 .tap = "t",
					 .mac = "m",
					 .nic_model = "virtio",
					 .serial_log = hostile,
					 .console_socket = "c",
					 .emulator = "/e",
					 .n_disks = 1,
					 .disks = {{.serial = hostile,
						    .vendor = hostile,
						    .nfs_host = hostile,
						    .nfs_path = hostile,
						    .cache = "none"}}};
	struct sl_err err = {0};
	char *xml;

	cr_assert_eq(sl_domain_xml(&domain, &xml, &err), 0, "%s", err.msg);
	expect_at(xml, "/domain/name", hostile);
	expect_at(xml, "/domain/os/kernel", hostile);
	expect_at(xml, "/domain/os/cmdline", hostile);
	expect_at(xml, "/domain/devices/serial/log/@file", hostile);
	expect_at(xml, "/domain/devices/disk/serial", hostile);
	expect_at(xml, "/domain/devices/disk/source/@name", hostile);
	expect_at(xml, "/domain/devices/disk/source/host/@name", hostile);
	expect_at(xml, "count(//disk)", "1");
	free(xml);
}

Test(domain, every_disk_has_a_target_of_its_own)
{
	struct sl_box box = box_of_2014();
	struct sl_lab_config config = lab_of(&box);
	struct sl_lab_disk many[SL_LAB_DISKS_MAX];
	char *xml;

	for (int i = 0; i < SL_LAB_DISKS_MAX; i++) {
		many[i] = (struct sl_lab_disk){.spec = &hard_disk};
		snprintf(many[i].serial, sizeof(many[i].serial), "hdd%d", i);
	}
	config.disks = many;
	config.n_disks = SL_LAB_DISKS_MAX;
	xml = xml_of(&config, SL_LAB_STORAGE);
	expect_at(xml, "count(//disk)", "40");
	expect_at(xml, "//disk[26]/target/@dev", "sdz");
	expect_at(xml, "//disk[27]/target/@dev", "sdaa");
	expect_at(xml, "count(//disk[target/@dev = preceding::disk/target/@dev])", "0");
	/* All on the one controller there is a driver for. */
	expect_at(xml, "count(//disk/address[@controller = '0' and @target = '0'])", "40");
	expect_at(xml, "count(//disk[address/@unit = preceding::disk/address/@unit])", "0");
	free(xml);
}
