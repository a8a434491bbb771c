/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_OUT_JSON_H
#define LOCKBLAME_OUT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

#include "out/out.h"

/* JSON Lines: one object a line. Addresses and ids are strings ("0x…"), durations integer ns. */
#define JSON_SCHEMA 1

/* A new object whose first member is "record": record. NULL when out of memory, which every
 * function here takes; json__write then makes the stream fail. */
struct json_object *json__record(const char *record);

/* Add one member to obj. Text that is no UTF-8 gets U+FFFD for each bad byte; a NULL string is
 * null. */
void json__str(struct json_object *obj, const char *key, const char *value);
void json__u64(struct json_object *obj, const char *key, uint64_t value);
void json__i64(struct json_object *obj, const char *key, int64_t value);
void json__double(struct json_object *obj, const char *key, double value);
void json__bool(struct json_object *obj, const char *key, bool value);
void json__hex(struct json_object *obj, const char *key, uint64_t value);
void json__null(struct json_object *obj, const char *key);
/* obj takes over value (an object or array); returned for convenience. */
struct json_object *json__add(struct json_object *obj, const char *key, struct json_object *value);
/* Appends a string to an array. */
void json__push_str(struct json_object *array, const char *value);

/* Writes obj as one line and frees it. */
void json__write(struct out *o, struct json_object *obj);

/* The header record that every stream starts with: schema, tool, version, command, host, kernel,
 * boot_id, start (RFC 3339, UTC). */
void json__header(struct out *o, const char *command);

#endif
