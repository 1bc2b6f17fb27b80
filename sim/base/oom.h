/* Models have no way back from a step half done: without memory the program ends there, with a word and exit
 * code 1. */
#ifndef SL_BASE_OOM_H
#define SL_BASE_OOM_H

_Noreturn void sl_oom(void);

#endif
