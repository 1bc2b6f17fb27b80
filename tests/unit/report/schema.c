#include "tests/unit/report/schema.h"

#include <stdio.h>
#include <string.h>

static const char *const known[] = {"$schema",  "title",      "description", "type", "additionalProperties",
				    "required", "properties", "items",       "enum", "const",
				    "minimum",  "$ref",       "$defs"};

static bool is_type(const char *name, json_t *value)
{
	return (strcmp(name, "object") == 0 && json_is_object(value)) ||
	       (strcmp(name, "array") == 0 && json_is_array(value)) ||
	       (strcmp(name, "string") == 0 && json_is_string(value)) ||
	       (strcmp(name, "number") == 0 && json_is_number(value)) ||
	       (strcmp(name, "integer") == 0 && json_is_integer(value)) ||
	       (strcmp(name, "boolean") == 0 && json_is_boolean(value)) ||
	       (strcmp(name, "null") == 0 && json_is_null(value));
}

static bool type_ok(json_t *type, json_t *value)
{
	json_t *name;
	size_t i;

	if (json_is_string(type)) {
		return is_type(json_string_value(type), value);
	}
	json_array_foreach(type, i, name)
	{
		if (is_type(json_string_value(name), value)) {
			return true;
		}
	}
	return false;
}

static bool enum_ok(json_t *choices, json_t *value)
{
	json_t *choice;
	size_t i;

	json_array_foreach(choices, i, choice)
	{
		if (json_equal(choice, value)) {
			return true;
		}
	}
	return false;
}

static bool object_ok(json_t *root, json_t *schema, json_t *value, char *why, size_t size)
{
	json_t *properties = json_object_get(schema, "properties");
	json_t *more = json_object_get(schema, "additionalProperties");
	json_t *name, *member;
	const char *key;
	size_t i;

	json_array_foreach(json_object_get(schema, "required"), i, name)
	{
		if (!json_object_get(value, json_string_value(name))) {
			snprintf(why, size, "%s is missing", json_string_value(name));
			return false;
		}
	}
	json_object_foreach(value, key, member)
	{
		json_t *sub = json_object_get(properties, key);

		sub = sub ? sub : more;
		if (json_is_false(sub)) {
			snprintf(why, size, "%s is not allowed", key);
			return false;
		}
		if (json_is_object(sub) && !schema_check(root, sub, member, why, size)) {
			size_t n = strlen(why);

			snprintf(why + n, size - n, " in %s", key);
			return false;
		}
	}
	return true;
}

static bool words_known(json_t *schema, char *why, size_t size)
{
	json_t *member;
	const char *key;

	json_object_foreach(schema, key, member)
	{
		size_t i;

		for (i = 0; i < sizeof(known) / sizeof(known[0]) && strcmp(known[i], key) != 0; i++) {
		}
		if (i == sizeof(known) / sizeof(known[0])) {
			snprintf(why, size, "the checker does not know %s", key);
			return false;
		}
	}
	return true;
}

static json_t *dereference(json_t *root, json_t *schema)
{
	const char *ref = json_string_value(json_object_get(schema, "$ref"));

	return ref ? json_object_get(json_object_get(root, "$defs"), ref + strlen("#/$defs/")) : schema;
}

bool schema_check(json_t *root, json_t *schema, json_t *value, char *why, size_t size)
{
	json_t *word, *item;
	size_t i;

	schema = dereference(root, schema);
	if (!schema || !words_known(schema, why, size)) {
		return false;
	}
	snprintf(why, size, "wrong value");
	word = json_object_get(schema, "type");
	if (word && !type_ok(word, value)) {
		snprintf(why, size, "wrong type");
		return false;
	}
	word = json_object_get(schema, "const");
	if (word && !json_equal(word, value)) {
		return false;
	}
	word = json_object_get(schema, "enum");
	if (word && !enum_ok(word, value)) {
		return false;
	}
	word = json_object_get(schema, "minimum");
	if (word && json_is_number(value) && json_number_value(value) < json_number_value(word)) {
		return false;
	}
	word = json_object_get(schema, "items");
	if (word && json_is_array(value)) {
		json_array_foreach(value, i, item)
		{
			if (!schema_check(root, word, item, why, size)) {
				size_t n = strlen(why);

				snprintf(why + n, size - n, " in item %zu", i);
				return false;
			}
		}
	}
	return !json_is_object(value) || object_ok(root, schema, value, why, size);
}
