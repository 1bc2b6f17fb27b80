/* What a guest agent may answer, from inside a machine that is not to be trusted. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guests/agent.h"

static int parse(const char *answer, struct sl_agent_command *ret, struct sl_err *err)
{
	*ret = (struct sl_agent_command){0};
	return sl_agent_parse_status(answer, ret, err);
}

Test(agent, output_and_exit_code)
{
	struct sl_agent_command command;
	struct sl_err err = {0};

	cr_assert_eq(parse("{\"return\": {\"exited\": true, \"exitcode\": 3, \"out-data\": \"b25saW5lCg==\", "
			   "\"err-data\": \"\", \"out-truncated\": true}}",
			   &command, &err),
		     0, "%s", err.msg);
	cr_assert(command.exited && command.truncated);
	cr_assert_eq(command.code, 3);
	cr_assert_str_eq(command.out, "online\n");
	cr_assert_str_eq(command.error, "");
	sl_agent_command_fini(&command);
}

Test(agent, not_yet)
{
	struct sl_agent_command command;

	cr_assert_eq(parse("{\"return\": {\"exited\": false}}", &command, NULL), 0);
	cr_assert_not(command.exited);
	cr_assert_null(command.out);
}

Test(agent, a_signal_is_an_exit_code_as_in_the_shell)
{
	struct sl_agent_command command;

	cr_assert_eq(parse("{\"return\": {\"exited\": true, \"signal\": 9}}", &command, NULL), 0);
	cr_assert_eq(command.code, 137);
}

Test(agent, control_characters_and_zeros_are_data)
{
	struct sl_agent_command command;

	cr_assert_eq(
	    parse("{\"return\": {\"exited\": true, \"exitcode\": 0, \"out-data\": \"G1syShsA/w==\"}}",
		  &command, NULL),
	    0);
	cr_assert_eq(memcmp(command.out, "\x1b[2J\x1b\0\xff", 8), 0);
	sl_agent_command_fini(&command);
}

static const char *const nonsense[] = {
    "",
    "{",
    "null",
    "[]",
    "\"return\"",
    "{\"return\": 7}",
    "{\"return\": {}}",
    "{\"return\": [true]}",
    "{\"error\": {\"class\": \"GenericError\", \"desc\": \"PID 7 does not exist\"}}",
    "{\"return\": {\"exited\": 1}}",
    "{\"return\": {\"exited\": \"true\"}}",
    /* base64 cut off, of other letters, with something after its end */
    "{\"return\": {\"exited\": true, \"exitcode\": 0, \"out-data\": \"b25saW5lCg\"}}",
    "{\"return\": {\"exited\": true, \"exitcode\": 0, \"out-data\": \"b25s*W5l\"}}",
    "{\"return\": {\"exited\": true, \"exitcode\": 0, \"out-data\": \"Cg==Cg==\"}}",
    "{\"return\": {\"exited\": true, \"exitcode\": 0, \"out-data\": \"Cg==\", \"err-data\": \"C\"}}",
    /* numbers that are none, or not of a process */
    "{\"return\": {\"exited\": true}}",
    "{\"return\": {\"exited\": true, \"exitcode\": \"0\"}}",
    "{\"return\": {\"exited\": true, \"exitcode\": 4294967296}}",
    "{\"return\": {\"exited\": true, \"exitcode\": -1}}",
    "{\"return\": {\"exited\": true, \"signal\": 2147483647}}",
    "{\"return\": {\"exited\": true, \"signal\": true}}",
    "{\"return\": {\"exited\": true, \"exitcode\": 0, \"out-data\": 7}}",
};

Test(agent, nonsense_is_refused)
{
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		struct sl_agent_command command;
		struct sl_err err = {0};

		cr_assert_eq(parse(nonsense[i], &command, &err), -EPROTO, "%s: %d", nonsense[i], err.code);
		cr_assert(strncmp(err.msg, "guest agent: ", 13) == 0, "%s", err.msg);
		cr_assert(!command.out && !command.error, "%s: left something", nonsense[i]);
	}
}

/* As much as guest-exec ever captures: 16 MiB. */
Test(agent, large_output)
{
	enum {
		PLAIN = 16 << 20,
		CODED = PLAIN / 3 * 4
	};
	static const char head[] = "{\"return\": {\"exited\": true, \"exitcode\": 0, \"out-data\": \"",
			  tail[] = "\"}}";
	char *answer = malloc(sizeof(head) + CODED + sizeof(tail));
	struct sl_agent_command command;
	struct sl_err err = {0};

	cr_assert_not_null(answer);
	memcpy(answer, head, sizeof(head) - 1);
	memset(answer + sizeof(head) - 1, 'A', CODED);
	memcpy(answer + sizeof(head) - 1 + CODED, tail, sizeof(tail));
	cr_assert_eq(parse(answer, &command, &err), 0, "%s", err.msg);
	cr_assert_eq(command.out[0], '\0');
	cr_assert_eq(command.out[CODED / 4 * 3], '\0');
	sl_agent_command_fini(&command);
	free(answer);
}
