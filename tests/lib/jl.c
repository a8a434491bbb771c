// SPDX-License-Identifier: GPL-2.0
/* jl: questions to JSON Lines, for test scripts on systems that have nothing.
 *
 *   jl [-f FILE] count|sum|max|first FIELD [COND...]     (count takes no FIELD: use -)
 *
 * COND is NAME=VALUE, NAME!=VALUE or NAME~PART (contains); NAME may be a path (owner.comm,
 * lost.ring). Prints one value; "first" and "max" print nothing when no record matches. Exit 1 when a
 * line is no JSON. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct json_object *field(struct json_object *o, const char *path)
{
	char word[64];

	while (o && *path) {
		size_t len = strcspn(path, ".");

		snprintf(word, sizeof(word), "%.*s", (int)len, path);
		if (!json_object_is_type(o, json_type_object) || !json_object_object_get_ex(o, word, &o))
			return NULL;
		path += len + (path[len] == '.');
	}
	return o;
}

static int matches(struct json_object *o, const char *cond)
{
	size_t len = strcspn(cond, "=!~");
	char name[64];
	const char *v;

	snprintf(name, sizeof(name), "%.*s", (int)len, cond);
	o = field(o, name);
	v = o ? json_object_get_string(o) : "null";
	if (cond[len] == '=')
		return !strcmp(v, cond + len + 1);
	if (cond[len] == '~')
		return strstr(v, cond + len + 1) != NULL;
	return strcmp(v, cond + len + 2) != 0;
}

int main(int argc, char **argv)
{
	const char *op, *name;
	FILE *f = stdin;
	char *line = NULL;
	size_t cap = 0;
	long count = 0;
	double sum = 0, max = 0;
	int bad = 0, i = 1;

	if (argc > 2 && !strcmp(argv[1], "-f")) {
		f = fopen(argv[2], "re");
		i = 3;
	}
	if (!f || argc < i + 2)
		return fprintf(stderr, "usage: jl [-f FILE] count|sum|max|first FIELD [COND...]\n"), 2;
	op = argv[i];
	name = argv[i + 1];
	while (getline(&line, &cap, f) > 0) {
		struct json_object *o = json_tokener_parse(line), *v;
		int all = 1;

		if (!o) {
			bad = 1;
			continue;
		}
		for (int c = i + 2; c < argc; c++)
			all = all && matches(o, argv[c]);
		if (all) {
			v = field(o, name);
			if (!count++ && !strcmp(op, "first"))
				puts(v ? json_object_get_string(v) : "null");
			sum += v ? json_object_get_double(v) : 0;
			if (v && json_object_get_double(v) > max)
				max = json_object_get_double(v);
		}
		json_object_put(o);
	}
	if (!strcmp(op, "count"))
		printf("%ld\n", count);
	else if (!strcmp(op, "sum"))
		printf("%.0f\n", sum);
	else if (!strcmp(op, "max") && count)
		printf("%.0f\n", max);
	free(line);
	return bad;
}
