/* A store on disk whose parts a test takes away or changes. Everything asserted. */
#ifndef SL_TESTS_UNIT_SERVE_FOLDER_RIG_H
#define SL_TESTS_UNIT_SERVE_FOLDER_RIG_H

#include "files_rig.h"

/* The last line that was said, and how many. */
struct said {
	char line[512];
	int count;
};

/* Opens the tree; what it says is in *said. */
struct sl_tree *folder_open_hearing(const char *dir, struct said *said);
void folder_put(const char *dir, const char *name, const char *text);
bool folder_there(const char *dir, const char *name);
uint64_t folder_size_in(const char *dir, const char *name);
void folder_gone(const char *dir, const char *name);
/* A store with ten files of six bytes each, file0 to file9: numbers 2 to 11. */
char *folder_ten_files(void);

#endif
