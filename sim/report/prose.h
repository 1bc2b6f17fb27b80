/* Running text for a terminal. */
#ifndef SL_REPORT_PROSE_H
#define SL_REPORT_PROSE_H

#include <stdio.h>

/* Prints `text` word by word, each line indented by `indent` blanks and at most `width` columns wide where
 * its words allow; UTF-8 counts by character. Ends with a newline. */
void sl_prose(const char *text, int indent, int width, FILE *out);

/* Columns of the terminal that `out` is; `otherwise` when it is none or does not say. */
int sl_terminal_width(FILE *out, int otherwise);

/* How wide running text on `out` is: as the terminal, at most 100 columns; 100 elsewhere. */
int sl_prose_width(FILE *out);

#endif
