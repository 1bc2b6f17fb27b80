#include "guests/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <netinet/in.h> /* resolv.h needs it */
#include <poll.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guests/hypervisor.h"
#include "sim/base/clock.h"

#define ANSWER_S 20 /* an agent under TCG on a busy machine */
#define POLL_MS 100
#define CODE_MAX 255
#define SIGNAL_MAX 127

/* The member "return" of what `command` answers; owned by the caller. */
static int ask(struct sl_vm *vm, const json_t *command, json_t **ret, struct sl_err *err)
{
	char *text = json_dumps(command, JSON_COMPACT), *answer = NULL;
	json_t *root;
	int rc = text ? sl_vm_agent(vm, text, ANSWER_S, &answer, err)
		      : sl_err_set(err, -ENOMEM, "guest agent: out of memory");

	free(text);
	if (rc < 0) {
		return rc;
	}
	root = json_loads(answer, 0, NULL);
	free(answer);
	*ret = json_incref(json_object_get(root, "return"));
	json_decref(root);
	return *ret ? 0 : sl_err_set(err, -EPROTO, "guest agent of %s: no answer", sl_vm_name(vm));
}

bool sl_agent_answers(struct sl_vm *vm)
{
	json_t *ping = json_pack("{s:s}", "execute", "guest-ping"), *answer = NULL;
	bool answers = ping && ask(vm, ping, &answer, NULL) == 0;

	json_decref(ping);
	json_decref(answer);
	return answers;
}

int sl_agent_start(struct sl_vm *vm, const char *shell, struct sl_agent_command *ret, struct sl_err *err)
{
	json_t *command = json_pack("{s:s, s:{s:s, s:[s, s], s:b}}", "execute", "guest-exec", "arguments",
				    "path", "/bin/sh", "arg", "-c", shell, "capture-output", 1);
	json_t *answer = NULL, *pid;
	int rc = command ? ask(vm, command, &answer, err)
			 : sl_err_set(err, -EINVAL, "guest agent: the command is not UTF-8");

	json_decref(command);
	if (rc < 0) {
		return rc;
	}
	*ret = (struct sl_agent_command){0};
	pid = json_object_get(answer, "pid");
	ret->pid = json_integer_value(pid);
	rc = json_is_integer(pid)
		 ? 0
		 : sl_err_set(err, -EPROTO, "guest agent of %s: no process number", sl_vm_name(vm));
	json_decref(answer);
	return rc;
}

/* *ret is terminated and owned by the caller; NULL when there is no such member. */
static int base64_member(const json_t *object, const char *key, char **ret)
{
	const json_t *member = json_object_get(object, key);
	const char *text = json_string_value(member);
	size_t room = text ? strlen(text) / 4 * 3 + 4 : 0;
	int size;

	*ret = NULL;
	if (!text) {
		return member ? -EPROTO : 0;
	}
	*ret = malloc(room);
	if (!*ret) {
		return -ENOMEM;
	}
	size = b64_pton(text, (unsigned char *)*ret, room - 1);
	if (size < 0) {
		free(*ret);
		*ret = NULL;
		return -EPROTO;
	}
	(*ret)[size] = '\0';
	return 0;
}

/* "exitcode", or "signal" as the shell would say it; -EPROTO for what no process ends with. */
static int code_take(const json_t *status, int *ret)
{
	const json_t *code = json_object_get(status, "exitcode"), *signal = json_object_get(status, "signal");
	json_int_t value = json_integer_value(signal ? signal : code);

	if (!json_is_integer(signal ? signal : code) || value < 0 ||
	    value > (signal ? SIGNAL_MAX : CODE_MAX)) {
		return -EPROTO;
	}
	*ret = (int)value + (signal ? 128 : 0);
	return 0;
}

static int status_take(const json_t *status, struct sl_agent_command *command, struct sl_err *err)
{
	int rc;

	if (!json_is_boolean(json_object_get(status, "exited"))) {
		return sl_err_set(err, -EPROTO, "guest agent: an answer without \"exited\"");
	}
	command->exited = json_is_true(json_object_get(status, "exited"));
	if (!command->exited) {
		return 0;
	}
	if (code_take(status, &command->code) < 0) {
		return sl_err_set(err, -EPROTO, "guest agent: an answer without an exit code");
	}
	command->truncated = json_is_true(json_object_get(status, "out-truncated"));
	rc = base64_member(status, "out-data", &command->out);
	if (rc == 0) {
		rc = base64_member(status, "err-data", &command->error);
	}
	if (rc < 0) {
		sl_agent_command_fini(command);
		return sl_err_set(err, rc, "guest agent: the output of a command cannot be read");
	}
	return 0;
}

int sl_agent_parse_status(const char *answer, struct sl_agent_command *command, struct sl_err *err)
{
	json_t *root = json_loads(answer, 0, NULL);
	int rc = status_take(json_object_get(root, "return"), command, err);

	json_decref(root);
	return rc;
}

int sl_agent_poll(struct sl_vm *vm, struct sl_agent_command *command, struct sl_err *err)
{
	json_t *question = json_pack("{s:s, s:{s:I}}", "execute", "guest-exec-status", "arguments", "pid",
				     (json_int_t)command->pid);
	json_t *answer = NULL;
	int rc = question ? ask(vm, question, &answer, err)
			  : sl_err_set(err, -ENOMEM, "guest agent: out of memory");

	json_decref(question);
	if (rc == 0) {
		rc = status_take(answer, command, err);
	}
	json_decref(answer);
	return rc;
}

void sl_agent_command_fini(struct sl_agent_command *command)
{
	free(command->out);
	free(command->error);
	*command = (struct sl_agent_command){0};
}

/* The last line with something in it, without control characters. */
static void last_words(const char *text, char *ret, size_t size)
{
	const char *end = text ? text + strlen(text) : NULL, *from;
	size_t used = 0;

	while (end && end > text && (unsigned char)end[-1] <= ' ') {
		end--;
	}
	from = end;
	while (from && from > text && from[-1] != '\n') {
		from--;
	}
	for (; from && from < end && used + 1 < size; from++) {
		ret[used++] = (char)((unsigned char)*from < ' ' ? '?' : *from);
	}
	ret[used] = '\0';
}

int sl_agent_run(struct sl_vm *vm, const char *shell, int timeout_ms, bool (*stopped)(void), char **ret_out,
		 struct sl_err *err)
{
	int64_t end_ms = sl_clock_ms() + timeout_ms;
	struct sl_agent_command command = {0};
	char words[200];
	int rc = sl_agent_start(vm, shell, &command, err);

	while (rc == 0 && !command.exited) {
		(void)poll(NULL, 0, POLL_MS);
		rc = sl_agent_poll(vm, &command, err);
		if (rc == 0 && !command.exited && stopped && stopped()) {
			rc = sl_err_set(err, -EINTR, "interrupted");
		} else if (rc == 0 && !command.exited && sl_clock_ms() > end_ms) {
			rc = sl_err_set(err, -ETIME, "%s: \"%.60s\" is not done after %d s", sl_vm_name(vm),
					shell, timeout_ms / 1000);
		}
	}
	if (rc == 0 && command.code != 0) {
		last_words(command.error && command.error[0] ? command.error : command.out, words,
			   sizeof(words));
		rc = sl_err_set(err, -EIO, "%s: \"%.60s\" failed with exit code %d: %s", sl_vm_name(vm),
				shell, command.code, words);
	}
	if (rc == 0 && ret_out) {
		*ret_out = command.out ? command.out : strdup("");
		command.out = NULL;
		rc = *ret_out ? 0 : sl_err_set(err, -ENOMEM, "guest agent: out of memory");
	}
	sl_agent_command_fini(&command);
	return rc;
}
