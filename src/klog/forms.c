// SPDX-License-Identifier: GPL-2.0
#include "klog/forms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

static const char *blanks(const char *p)
{
	return p + strspn(p, " ");
}

static bool is_digit(char c)
{
	return isdigit((unsigned char)c);
}

static pid_t number(const char *p)
{
	unsigned long v = strtoul(p, NULL, 10);

	return v <= 0x7fffffff ? (pid_t)v : 0;
}

static void copy(char *to, size_t size, const char *from, size_t len)
{
	while (len && *from == ' ')
		from++, len--;
	while (len && from[len - 1] == ' ')
		len--;
	if (len >= size)
		len = size - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

/* "COMM:PID" or "COMM/PID" that ends at end; names may have either sign in them. */
static bool comm_pid(const char *start, const char *end, char sep, char *comm, size_t size, pid_t *pid)
{
	const char *p = end;

	while (p > start && is_digit(p[-1]))
		p--;
	if (p == end || p <= start || p[-1] != sep)
		return false;
	*pid = number(p);
	copy(comm, size, start, (size_t)(p - 1 - start));
	return true;
}

static const char *behind(const char *text, const char *word)
{
	const char *p = strstr(text, word);

	return p ? p + strlen(word) : NULL;
}

#define INFO_TASK "INFO: task "

bool form_header(const char *text, struct form_header *h)
{
	static const char *const said[] = {" blocked for", " blocked in I/O wait"};
	const char *start = behind(text, INFO_TASK), *end = NULL, *more;

	memset(h, 0, sizeof(*h));
	h->seconds = -1;
	if (!start)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(said) && !end; i++) {
		end = strstr(start, said[i]);
		h->io_wait = end && i;
	}
	if (!end)
		return false;
	if (!comm_pid(start, end, ':', h->comm, sizeof(h->comm), &h->pid))
		copy(h->comm, sizeof(h->comm), start, (size_t)(end - start));
	more = behind(end, "more than");
	if (more && is_digit(*blanks(more)))
		h->seconds = (int)number(blanks(more));
	return true;
}

static char mode_word(const char *p)
{
	p = blanks(p);
	return !strncmp(p, "<reader>", 8) ? 'r' : !strncmp(p, "<writer>", 8) ? 'w' : 0;
}

bool form_owner(const char *text, struct form_owner *o)
{
	const char *start = behind(text, INFO_TASK), *end, *what, *by;
	char ignored[FORM_COMM];

	memset(o, 0, sizeof(*o));
	end = start ? strstr(start, " blocked on a") : NULL;
	if (!end)
		return false;
	what = strchr(end + strlen(" blocked on a"), ' ');
	what = what ? blanks(what) : "";
	if (!strncmp(what, "mutex", 5))
		o->kind = "mutex";
	else if (!strncmp(what, "semaphore", 9))
		o->kind = "semaphore";
	else if (!strncmp(what, "rw-semaphore", 12))
		o->kind = "rwsem";
	else
		return false;
	if (end - start > 3 && !memcmp(end - 3, " is", 3))
		end -= 3;
	if (end - start > 9 && end[-1] == '>') {
		end -= 9;
		o->mode = mode_word(end);
	}
	if (!comm_pid(start, end, ':', ignored, sizeof(ignored), &o->waiter))
		return false;
	o->last = strstr(what, "last held") != NULL;
	by = behind(what, " by task ");
	if (!by)
		return true;
	end = by + strlen(by);
	if (end > by && end[-1] == '>')
		for (o->owner_mode = mode_word(end - 8 > by ? end - 8 : by); end > by && *end != '<';)
			end--;
	while (end > by && (end[-1] == ' ' || end[-1] == '.'))
		end--;
	comm_pid(by, end, ':', o->comm, sizeof(o->comm), &o->pid);
	return true;
}

static pid_t member(const char *text, const char *name)
{
	const char *p = behind(text, name);

	return p && is_digit(*blanks(p)) ? number(blanks(p)) : 0;
}

static bool new_task(const char *text, struct form_task *t)
{
	const char *start, *state;

	if (strncmp(text, "task:", 5))
		return false;
	start = text + 5;
	state = strstr(start, " state:");
	if (!state)
		return false;
	copy(t->comm, sizeof(t->comm), start, (size_t)(state - start));
	t->state = state[7];
	t->pid = member(state, " pid:");
	t->tgid = member(state, " tgid:");
	return true;
}

/* The word that ends at *end; moves end in front of it. */
static const char *last_word(const char *text, const char **end, size_t *len)
{
	const char *e = *end, *p;

	while (e > text && e[-1] == ' ')
		e--;
	for (p = e; p > text && p[-1] != ' ';)
		p--;
	*len = (size_t)(e - p);
	*end = p;
	return p;
}

static bool all_of(const char *p, size_t len, const char *set)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr(set, p[i]))
			return false;
	return len > 0;
}

#define DIGITS "0123456789"
#define HEX "0123456789abcdef"
#define STATES "RSDTtXZxKWPIN"

/* From the end: flags, parent, pid, free stack, an address or "running task", the state, the name. */
static bool old_task(const char *text, pid_t expected, struct form_task *t)
{
	const char *end = text + strlen(text), *w;
	pid_t nums[6];
	size_t n = 0, len;
	bool glued;

	w = last_word(text, &end, &len);
	if (len < 3 || w[0] != '0' || w[1] != 'x' || !all_of(w + 2, len - 2, HEX))
		return false;
	while ((w = last_word(text, &end, &len)) && all_of(w, len, DIGITS) && n < ARRAY_SIZE(nums))
		nums[n++] = number(w);
	if (n < 2)
		return false;
	if (len >= 8 && all_of(w, len, HEX))
		w = last_word(text, &end, &len);
	if (len == 4 && !memcmp(w, "task", 4)) { /* "running task" */
		last_word(text, &end, &len);
		w = last_word(text, &end, &len);
	}
	glued = len > 1 && all_of(w + 1, len - 1, DIGITS);
	if (!len || !strchr(STATES, *w) || (len > 1 && !glued) || end <= text)
		return false;
	t->state = *w;
	copy(t->comm, sizeof(t->comm), text, (size_t)(w - text));
	t->pid = nums[1];
	for (size_t i = 1; i < n; i++)
		if (nums[i] == expected && expected)
			t->pid = expected;
	return t->comm[0] != '\0';
}

bool form_task(const char *text, pid_t expected, struct form_task *t)
{
	memset(t, 0, sizeof(*t));
	return new_task(text, t) || old_task(text, expected, t);
}

bool form_cpu(const char *text, struct form_cpu *c)
{
	const char *cpu = behind(text, "CPU: "), *pid, *comm, *end;

	memset(c, 0, sizeof(*c));
	if (!cpu || !is_digit(*blanks(cpu)))
		return false;
	pid = behind(cpu, "PID: ");
	comm = pid ? behind(pid, " Comm: ") : NULL;
	if (!comm)
		return false;
	c->cpu = (int)number(blanks(cpu));
	c->pid = number(blanks(pid));
	end = strstr(comm, " Not tainted");
	if (!end)
		end = strstr(comm, " Tainted:");
	if (!end)
		end = comm + strlen(comm);
	copy(c->comm, sizeof(c->comm), comm, (size_t)(end - comm));
	return true;
}

static size_t name_len(const char *p)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*p) && *p != '_' && *p != '.')
		return 0;
	while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.' || p[n] == '$')
		n++;
	return n;
}

/* "[<ffffffff81000000>]" and "[c000000000012345]", with or without "(" around. */
static const char *addresses(const char *p)
{
	for (;;) {
		const char *q = p;
		size_t n;

		p = blanks(p);
		if (*p == '(')
			p = blanks(p + 1);
		if (*p == '[') {
			p += p[1] == '<' ? 2 : 1;
			n = strspn(p, HEX);
			if (n >= 8 && p[n] == '>' && p[n + 1] == ']')
				p += n + 2;
			else if (n >= 8 && p[n] == ']')
				p += n + 1;
			else
				return q;
		}
		if (p == q)
			return p;
	}
}

/* What stands behind a name that is a function: its offset, or its line in the source. */
static const char *behind_name(const char *p)
{
	size_t n;

	if (p[0] == '+' && p[1] == '0' && p[2] == 'x') {
		p += 3 + strspn(p + 3, HEX);
		if (p[0] == '/' && p[1] == '0' && p[2] == 'x')
			p += 3 + strspn(p + 3, HEX);
		return p;
	}
	if (*p != ' ')
		return NULL;
	p = blanks(p);
	if (*p == '(')
		p++;
	n = strcspn(p, " :()");
	if (p[n] == ':' && is_digit(p[n + 1]) && memchr(p, '.', n) && memchr(p, '/', n))
		return p - 1;
	return NULL;
}

static bool is_bare(const char *rest)
{
	rest = blanks(rest);
	if (*rest == '[') {
		rest = strchr(rest, ']');
		rest = rest ? blanks(rest + 1) : "x";
	}
	return !*rest;
}

/* arm: "(a) from [<80100000>] (b+0x1/0x2)", "a from b+0x1/0x2". */
static const char *arm_caller(const char *p)
{
	if (*p == ')')
		p++;
	if (strncmp(p, " from ", 6))
		return NULL;
	return addresses(p + 6);
}

bool form_frame(const char *text, bool bare, struct form_frame *f)
{
	const char *p = addresses(text), *rest, *caller;
	size_t n;

	f->from[0] = '\0';
	f->sure = true;
	if (*p == '?') {
		f->sure = false;
		p = blanks(p + 1);
	}
	n = name_len(p);
	if (!n)
		return false;
	caller = arm_caller(p + n);
	if (caller) {
		copy(f->from, sizeof(f->from), p, n);
		p = caller;
		n = name_len(p);
		if (!n)
			return false;
	}
	rest = behind_name(p + n);
	if (!rest) {
		if (!bare || !is_bare(p + n))
			return false;
		rest = p + n;
	}
	copy(f->name, sizeof(f->name), p, p[n] == '+' ? (size_t)(rest - p) : n);
	if (strstr(rest, "(unreliable)"))
		f->sure = false;
	return true;
}

bool form_holds(const char *text, struct form_holds *h)
{
	const char *p = strstr(text, " held by "), *end;

	memset(h, 0, sizeof(*h));
	if (!p || p - text < 5 || (memcmp(p - 5, " lock", 5) && memcmp(p - 5, "locks", 5)))
		return false;
	if (!strncmp(text, "no ", 3))
		h->n = 0;
	else if (is_digit(*text))
		h->n = (int)number(text);
	else
		return false;
	p += 9;
	end = p + strlen(p);
	while (end > p && !is_digit(end[-1]))
		end--;
	return comm_pid(p, end, '/', h->comm, sizeof(h->comm), &h->pid);
}

static void function_at(const char *p, char *to, size_t size)
{
	size_t n;

	p = addresses(p);
	n = name_len(p);
	copy(to, size, p, n);
}

bool form_held(const char *text, struct form_held *h)
{
	const char *p = text, *open, *close, *at;
	char *end;

	memset(h, 0, sizeof(*h));
	if (*p != '#' || !is_digit(p[1]))
		return false;
	p += 1 + strspn(p + 1, DIGITS);
	if (*p != ':')
		return false;
	p = blanks(p + 1);
	h->addr = strtoull(p, &end, 16);
	if (end == p || *end != ' ')
		h->addr = 0;
	else
		p = blanks(end);
	open = strchr(p, '(');
	close = open ? strstr(open, "){") : NULL;
	if (!close && open)
		close = strstr(open, ") {");
	if (!close && open)
		close = strrchr(open, ')');
	if (!close)
		return false;
	copy(h->name, sizeof(h->name), open + 1, (size_t)(close - open - 1));
	at = strstr(close, "at: ");
	if (at)
		function_at(at + 4, h->at, sizeof(h->at));
	return true;
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

bool form_incomplete(const char *text)
{
	const char *info = strstr(text, INFO_TASK), *p;

	if (info) {
		if (strstr(info, "blocked on a"))
			return !strstr(info, "not found") && !strstr(info, " by task ");
		return !strstr(info, "more than ") || !strstr(info, "second");
	}
	if (starts(text, "task:"))
		return !strstr(text, " flags:");
	if (starts(text, "\"echo 0 >"))
		return !strstr(text, "message");
	if (*text == '#' && is_digit(text[1])) {
		p = strstr(text, "at:");
		return !p || !*blanks(p + 3);
	}
	p = strstr(text, "locks held by");
	if (p && is_digit(*text))
		return !strchr(p, '/');
	p = strchr(text, '(');
	return p && strchr(p, '/') && !strchr(p, ')') && name_len(text);
}

bool form_begins(const char *text)
{
	struct form_frame f;

	if (strstr(text, INFO_TASK) || starts(text, "task:") || *text == '#' || starts(text, "Call ") ||
	    starts(text, "Showing ") || starts(text, "Workqueue:") || starts(text, "<TASK>") || starts(text, "</TASK>") ||
	    starts(text, "Tainted:") || starts(text, "Not tainted") || starts(text, "\"echo") || !*text)
		return true;
	if (strstr(text, " held by ") && is_digit(*text))
		return true;
	return form_frame(text, false, &f) && !strstr(text, " (");
}
