// SPDX-License-Identifier: GPL-2.0
#include "out/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "out/text.h"
#include "util/cleanup.h"

#define REPLACEMENT "\xef\xbf\xbd"

struct json_object *json__record(const char *record)
{
	struct json_object *obj = json_object_new_object();

	json__str(obj, "record", record);
	return obj;
}

/* A string value from bytes that may be anything: json-c passes them on as they are, and a reader
 * would refuse the whole line for one bad byte. */
static struct json_object *text_value(const char *s)
{
	__free_ptr char *clean = NULL;
	size_t at = 0, len = strlen(s);

	if (text__is_utf8(s))
		return json_object_new_string_len(s, (int)len);
	clean = malloc(3 * len + 1);
	if (!clean)
		return NULL;
	while (*s) {
		int n = text__char_len(s);

		if (n > 0) {
			memcpy(clean + at, s, (size_t)n);
			at += (size_t)n;
			s += n;
		} else {
			memcpy(clean + at, REPLACEMENT, 3);
			at += 3;
			s++;
		}
	}
	return json_object_new_string_len(clean, (int)at);
}

struct json_object *json__add(struct json_object *obj, const char *key, struct json_object *value)
{
	/* The keys of one record are all different, and literals. */
	if (obj && !json_object_object_add_ex(obj, key, value, JSON_C_OBJECT_ADD_KEY_IS_NEW))
		return value;
	json_object_put(value);
	return NULL;
}

void json__str(struct json_object *obj, const char *key, const char *value)
{
	json__add(obj, key, value ? text_value(value) : NULL);
}

void json__u64(struct json_object *obj, const char *key, uint64_t value)
{
	json__add(obj, key, json_object_new_uint64(value));
}

void json__i64(struct json_object *obj, const char *key, int64_t value)
{
	json__add(obj, key, json_object_new_int64(value));
}

void json__double(struct json_object *obj, const char *key, double value)
{
	json__add(obj, key, json_object_new_double(value));
}

void json__bool(struct json_object *obj, const char *key, bool value)
{
	json__add(obj, key, json_object_new_boolean(value));
}

void json__hex(struct json_object *obj, const char *key, uint64_t value)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%llx", (unsigned long long)value);
	json__add(obj, key, json_object_new_string(buf));
}

void json__null(struct json_object *obj, const char *key)
{
	json__add(obj, key, NULL);
}

void json__push_str(struct json_object *array, const char *value)
{
	struct json_object *s = value ? text_value(value) : NULL;

	if (!array || json_object_array_add(array, s))
		json_object_put(s);
}

void json__write(struct out *o, struct json_object *obj)
{
	size_t len;
	const char *s;

	s = json_object_to_json_string_length(
		obj, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	if (obj && s) {
		out__write(o, s, len);
		out__putc(o, '\n');
	} else {
		out__fail(o, -ENOMEM);
	}
	json_object_put(obj);
}

static void boot_id(char *buf, size_t size)
{
	__close_file FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f || !fgets(buf, (int)size, f))
		buf[0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

void json__header(struct out *o, const char *command)
{
	struct json_object *obj = json__record("header");
	char boot[64], start[32];
	time_t now = time(NULL);
	struct utsname u;
	struct tm tm;

	boot_id(boot, sizeof(boot));
	strftime(start, sizeof(start), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	json__i64(obj, "schema", JSON_SCHEMA);
	json__str(obj, "tool", "lockblame");
	json__str(obj, "version", LB_VERSION);
	json__str(obj, "command", command);
	if (!uname(&u)) {
		json__str(obj, "host", u.nodename);
		json__str(obj, "kernel", u.release);
	}
	json__str(obj, "boot_id", boot[0] ? boot : NULL);
	json__str(obj, "start", start);
	json__write(o, obj);
}
