/* nas.zil: releases of OpenZFS and products. */
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/scenario/lib.h"

Test(releases, have_the_generation_of_their_zil)
{
	static const struct {
		const char *text, *word;
	} cases[] = {
	    /* up to 0.7 one batch is in flight; 0.8 has the chain of log blocks, 2.1 an embedded log, 2.2
	     * logs writes whole, 2.2.4 predicts from bursts, 2.4 takes special vdevs for log devices */
	    {"2014", "2014"},
	    {"0.6", "2014"},
	    {"0.6.3", "2014"},
	    {"0.7", "2014"},
	    {"0.7.13", "2014"},
	    {"0.8", "2.0"},
	    {"2.0", "2.0"},
	    {"2.1", "2.1"},
	    {"2.1.11", "2.1"},
	    {"2.2.0", "2.2"},
	    {"2.2.3", "2.2"},
	    {"2.2.4", "2.3"},
	    {"2.2", "2.3"},
	    {"2.3", "2.3"},
	    {"2.3.4", "2.3"},
	    {"2.4", "2.4"},
	    {"OpenZFS 2.1.5", "2.1"},
	    {"zfs-0.6.3", "2014"},
	    {"FreeNAS 9", "2014"},
	    {"FreeNAS 9.2.1.7", "2014"},
	    {"freenas-11.1-U7", "2014"},
	    {"FreeNAS 11.2", "2.0"},
	    {"FreeNAS 11.3", "2.0"},
	    {"FreeNAS 11", "2.0"},
	    {"TrueNAS CORE 12.0-U8", "2.0"},
	    {"TrueNAS CORE 13.0", "2.1"},
	    {"TrueNAS 13.0-U6.1", "2.1"},
	    {"TrueNAS CORE 13.3", "2.3"},
	    {"TrueNAS SCALE 22.02", "2.1"},
	    {"TrueNAS SCALE 22.12", "2.1"},
	    {"SCALE 23.10", "2.2"},
	    {"TrueNAS SCALE 24.04", "2.2"},
	    {"TrueNAS SCALE 24.10", "2.3"},
	    {"TrueNAS 25.04", "2.3"},
	    {"TrueNAS 24", "2.3"},
	    {"Proxmox VE 5.4", "2014"},
	    {"Proxmox 6.0", "2.0"},
	    {"pve 7.4", "2.1"},
	    {"Proxmox VE 8.0", "2.1"},
	    {"Proxmox VE 8.2", "2.2"},
	    {"Proxmox VE 8.3", "2.3"},
	    {"Proxmox 8", "2.3"},
	    {"Proxmox VE 9", "2.3"},
	    {"OmniOS 2014", "2014"},
	    {"OmniOS r151024", "2014"},
	    {"OmniOS r151026", "2.0"},
	    {"OpenIndiana 2017.10", "2014"},
	    {"OpenIndiana 2018.04", "2.0"},
	    {"", NULL},
	    {"0.5", NULL},
	    {"-1", NULL},
	    {"1.0", NULL},
	    {"0.9", NULL},
	    {"2.04", NULL},
	    {"02.3", NULL},
	    {"2014.1", NULL},
	    {"2.5", NULL},
	    {"3", NULL},
	    {"new", NULL},
	    {"Windows 11", NULL},
	    {"FreeNAS", NULL},
	    {"TrueNAS 9", NULL},
	    {"99999999999", NULL},
	    {"2.1x", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *word = sl_zfs_generation(cases[i].text);

		cr_assert(cases[i].word ? word && strcmp(word, cases[i].word) == 0 : !word, "%s: %s",
			  cases[i].text, word ? word : "none");
	}
}

Test(releases, are_kept_as_written)
{
	struct sl_scenario *sc =
	    load_text(HEAD "nas: {zil: FreeNAS 9.2.1.7}\nvariants: {a: {}, b: {set: {nas.zil: "
			   "TrueNAS SCALE 25.04}}}\n");
	struct sl_box *a = box_of(sc, "a"), *b = box_of(sc, "b");

	cr_assert_eq(a->zil, SL_ZFS_2014);
	cr_assert_eq(b->zil, SL_ZFS_23);
	cr_assert_str_eq(param_of(sc, 0, "nas.zil").text, "FreeNAS 9.2.1.7");
	cr_assert_eq(sl_scenario_set(sc, "nas.zil", "0.8", "--set", NULL), 0);
	cr_assert_eq(sl_scenario_touched(sc, 0), SL_TOUCH_NAME);
	free(a);
	free(b);
	sl_scenario_free(sc);
}
