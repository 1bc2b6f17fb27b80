/* A folder that goes with the test. */
#ifndef SL_TESTS_NBD_SCRATCH_H
#define SL_TESTS_NBD_SCRATCH_H

struct scratch {
	char dir[64];
	char path[8][128]; /* ring of results */
	int next;
};

void scratch_init(struct scratch *scratch);
/* DIR/NAME, valid until the eighth call from now. */
const char *scratch_path(struct scratch *scratch, const char *name);
/* Removes the files and the folder. */
void scratch_fini(struct scratch *scratch);

#endif
