/* The monotonic clock of the host, for what lives outside a loop: how long to be patient, how long a thing
 * took. Models never read it (scripts/check_model_purity.sh); what runs in a loop asks sl_loop_clock. */
#ifndef SL_BASE_CLOCK_H
#define SL_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in ns and in whole ms; cannot fail. */
int64_t sl_clock_ns(void);
int64_t sl_clock_ms(void);

#endif
