#include "cli/ask.h"

#include <ctype.h>
#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "sim/base/fuzzy.h"
#include "sim/base/signals.h"

struct sl_ask {
	bool terminal;
	EditLine *editor; /* owned; NULL where lines are read as they come */
	char prompt[512];
	const struct sl_ask_words *words;
};

/* The next byte of standard input: 1, 0 at its end, -EINTR after Ctrl-C. */
static int byte_read(char *ret)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	if (sl_signals_poll(&input, 1) == -EINTR) {
		return -EINTR;
	}
	return read(STDIN_FILENO, ret, 1) == 1 ? 1 : 0;
}

/* libedit's source of keys. All names are ASCII: of what is not, only the multiplication sign means anything.
 */
static int key_read(EditLine *editor, wchar_t *ret)
{
	char byte = 0;
	int rc;

	(void)editor;
	do {
		rc = byte_read(&byte);
	} while (rc == 1 && (byte & 0x80) != 0 && byte != '\x97');
	if (rc < 0) {
		errno = EINTR;
		return -1;
	}
	*ret = byte == '\x97' ? L'x' : (wchar_t)byte;
	return rc;
}

static struct sl_ask *ask_of(EditLine *editor)
{
	void *ask = NULL;

	(void)el_get(editor, EL_CLIENTDATA, &ask);
	return ask;
}

static char *prompt_get(EditLine *editor)
{
	static char none[] = "";
	struct sl_ask *ask = ask_of(editor);

	return ask ? ask->prompt : none;
}

/* Bytes that all hits begin with. */
static size_t common_prefix(const struct sl_ask_words *words, const struct sl_fuzzy *found)
{
	const char *first = words->word[found->hit[0]];
	size_t length = strlen(first);

	for (int i = 1; i < found->n; i++) {
		size_t k = 0;

		while (k < length && words->word[found->hit[i]][k] == first[k]) {
			k++;
		}
		length = k;
	}
	return length;
}

static void hits_print(const struct sl_ask_words *words, const struct sl_fuzzy *found)
{
	fputc('\n', stderr);
	for (int i = 0; i < found->n; i++) {
		fprintf(stderr, "  %s\n", words->word[found->hit[i]]);
	}
	fflush(stderr);
}

/* Tab: the word at the cursor becomes the name that it means, or as much as all names have that it may mean;
 * where that is nothing new they are listed. */
static unsigned char complete(EditLine *editor, wint_t key)
{
	const struct sl_ask *ask = ask_of(editor);
	const LineInfo *line = el_line(editor);
	const char *start = line->cursor;
	char typed[128], whole[128];
	struct sl_fuzzy found;
	size_t length, common;

	(void)key;
	while (start > line->buffer && start[-1] != ' ' && start[-1] != ',') {
		start--;
	}
	length = (size_t)(line->cursor - start);
	if (!ask || !ask->words || ask->words->n == 0 || length >= sizeof(typed)) {
		return CC_REFRESH_BEEP;
	}
	memcpy(typed, start, length);
	typed[length] = '\0';
	sl_fuzzy_find(typed, ask->words->word, ask->words->n, &found);
	for (int i = 0; length == 0 && i < ask->words->n && i < SL_FUZZY_MAX; i++) {
		found.hit[found.n++] = i;
	}
	if (found.n == 0) {
		return CC_REFRESH_BEEP;
	}
	common = common_prefix(ask->words, &found);
	if (found.n > 1 && common <= length) {
		hits_print(ask->words, &found);
		return CC_REDISPLAY;
	}
	snprintf(whole, sizeof(whole), "%.*s", (int)common, ask->words->word[found.hit[0]]);
	el_deletestr(editor, (int)length);
	return el_insertstr(editor, whole) == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
}

static bool terminal_can_edit(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && term && term[0] != '\0' &&
	       strcmp(term, "dumb") != 0;
}

int sl_ask_new(struct sl_ask **ret, struct sl_err *err)
{
	struct sl_ask *ask = calloc(1, sizeof(*ask));

	if (!ask) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	ask->terminal = isatty(STDIN_FILENO);
	if (terminal_can_edit()) {
		ask->editor = el_init("sloglab", stdin, stderr, stderr);
	}
	if (ask->editor) {
		/* Ctrl-C is ours: sl_signals_poll sees it. */
		(void)el_set(ask->editor, EL_CLIENTDATA, ask);
		(void)el_set(ask->editor, EL_SIGNAL, 0);
		(void)el_set(ask->editor, EL_EDITOR, "emacs");
		(void)el_set(ask->editor, EL_PROMPT, prompt_get);
		(void)el_set(ask->editor, EL_GETCFN, key_read);
		/* The wide call: el_set would copy both names and never free them. */
		(void)el_wset(ask->editor, EL_ADDFN, L"sl-complete", L"complete a name", complete);
		(void)el_set(ask->editor, EL_BIND, "^I", "sl-complete", NULL);
	}
	*ret = ask;
	return 0;
}

void sl_ask_free(struct sl_ask *ask)
{
	if (ask && ask->editor) {
		el_end(ask->editor);
	}
	free(ask);
}

bool sl_ask_terminal(const struct sl_ask *ask)
{
	return ask->terminal;
}

/* `n` bytes of text, trimmed. */
static void line_take(const char *text, size_t n, char *buf, size_t size)
{
	while (n > 0 && isspace((unsigned char)text[n - 1])) {
		n--;
	}
	while (n > 0 && isspace((unsigned char)*text)) {
		text++;
		n--;
	}
	n = n < size ? n : size - 1;
	memcpy(buf, text, n);
	buf[n] = '\0';
}

static int line_edited(struct sl_ask *ask, char *buf, size_t size)
{
	int n = 0;
	const char *text;

	/* Before the prompt is shown: what is typed at its sight must find the editor and not the terminal.
	 */
	(void)el_set(ask->editor, EL_PREP_TERM, 1);
	text = el_gets(ask->editor, &n);

	if (sl_signals_stopped()) {
		fputc('\n', stderr);
		return -EINTR;
	}
	if (!text || n <= 0) {
		return -EPIPE;
	}
	line_take(text, (size_t)n, buf, size);
	return 0;
}

static int line_plain(struct sl_ask *ask, char *buf, size_t size)
{
	char text[1024], byte = 0;
	size_t n = 0;
	bool any = false;

	if (ask->terminal) {
		fputs(ask->prompt, stderr);
		fflush(stderr);
	}
	while (byte != '\n') {
		int rc = byte_read(&byte);

		if (rc < 0) {
			return rc;
		}
		if (rc == 0) {
			break;
		}
		any = true;
		if (n < sizeof(text)) {
			text[n++] = byte;
		}
	}
	if (!any) {
		return -EPIPE;
	}
	line_take(text, n, buf, size);
	return 0;
}

int sl_ask_line(struct sl_ask *ask, const char *prompt, const struct sl_ask_words *words, char *buf,
		size_t size)
{
	snprintf(ask->prompt, sizeof(ask->prompt), "%s", prompt);
	ask->words = words;
	return ask->editor ? line_edited(ask, buf, size) : line_plain(ask, buf, size);
}
