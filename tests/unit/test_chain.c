// SPDX-License-Identifier: GPL-2.0
/* Graphs made by hand: roots, depths, cycles, sentences, and what is printed of them. */
#include "support.h"

#include <json-c/json.h>

#include "model/chain.h"
#include "out/chains.h"
#include "out/json.h"
#include "out/out.h"

#define SEC 1000000000ULL

static struct chain_task *task(struct chain *c, pid_t tid, const char *comm, uint64_t blocked_s)
{
	struct chain_task *t = chain__task(c, tid);

	assert_non_null(t);
	t->pid = tid;
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	t->state = blocked_s ? 'D' : 'R';
	t->hung = blocked_s > 0;
	t->blocked_ns = blocked_s * SEC;
	return t;
}

static void lock(struct chain_task *t, const char *kind, uint64_t addr, const char *identity, struct chain_task *holder,
		 enum lb_certainty certainty)
{
	t->wait.kind = kind;
	t->wait.lock = addr;
	t->wait.identity = identity;
	t->wait.mode = LB_WRITE;
	t->wait.mode_known = true;
	t->holder.task = holder;
	t->holder.certainty = certainty;
	t->holder.mode = LB_WRITE;
	t->holder.mode_known = true;
	t->holder.basis = "owner word of the lock";
}

static void because(struct chain_task *t, const char *key, const char *object)
{
	t->wait.reason = reason__by_key(key);
	assert_non_null(t->wait.reason);
	t->wait.object = object;
}

static const struct chain_hang *solved(struct chain *c, size_t want)
{
	const struct chain_hang *h;
	size_t n;

	assert_int_equal(chain__solve(c), 0);
	h = chain__hangs(c, &n);
	assert_int_equal(n, want);
	return h;
}

static void says(struct chain *c, const struct chain_hang *h, const char *want)
{
	char s[2048];

	assert_string_equal(chain__sentence(c, h, s, sizeof(s)), want);
}

/* fault on a frozen file system <- writer <- reader, and a reader behind the writer */
static struct chain *three_hops(void)
{
	struct chain *c = chain__new();
	struct chain_task *cp = task(c, 812, "cp", 131), *db = task(c, 900, "mysqld", 130),
			  *ps = task(c, 14018, "ps", 120), *ps2 = task(c, 14019, "ps", 119);

	because(cp, "frozen-fs", "/data");
	cp->site = "ext4_page_mkwrite";
	lock(db, "rwsem", 0x1000, "mmap_lock of mysqld/1234", cp, LB_LIKELY);
	db->holder.mode = LB_READ;
	lock(ps, "rwsem", 0x1000, "mmap_lock of mysqld/1234", cp, LB_LIKELY);
	lock(ps2, "rwsem", 0x1000, "mmap_lock of mysqld/1234", cp, LB_LIKELY);
	ps->wait.mode = ps2->wait.mode = LB_READ;
	ps->behind = ps2->behind = db;
	return c;
}

static void test_tree(void **state)
{
	struct chain *c = three_hops();
	const struct chain_hang *h = solved(c, 1);
	struct chain_task *cp = chain__find(c, 812), *db = chain__find(c, 900), *ps = chain__find(c, 14018);

	assert_ptr_equal(h->root, cp);
	assert_int_equal(h->waiting, 3);
	assert_false(h->cycle);
	assert_int_equal(h->certainty, LB_LIKELY);
	assert_true(h->longest_ns == 131 * SEC);
	assert_int_equal(db->depth, 1);
	assert_int_equal(db->waiting, 2);
	assert_int_equal(ps->depth, 2);
	assert_ptr_equal(ps->root, cp);
	assert_ptr_equal(db->first_child, ps); /* the longest first */
	says(c, h, "cp/812 probably holds mmap_lock of mysqld/1234 for read; it waits for the frozen file system /data; "
		   "3 tasks wait behind it");
	db->holder.certainty = LB_EXACT;
	h = solved(c, 1); /* may be done again */
	assert_int_equal(h->certainty, LB_EXACT);
	says(c, h, "cp/812 has held mmap_lock of mysqld/1234 for read, at least 131 s; it waits for the frozen file system "
		   "/data; 3 tasks wait behind it");
	assert_int_equal(chain__n_hung(c), 4);
	chain__free(c);
}

static void test_running_root(void **state)
{
	struct chain *c = chain__new();
	struct chain_task *a = task(c, 5, "busy", 0), *b = task(c, 6, "w", 9);
	const struct chain_hang *h;

	a->on_cpu = true;
	a->cpu = 3;
	a->running_ns = 12 * SEC;
	lock(b, "mutex", 0x10, "rtnl_mutex", a, LB_EXACT);
	h = solved(c, 1);
	says(c, h, "busy/5 holds rtnl_mutex; it is running on CPU 3, for 12 s; 1 task waits behind it");
	assert_null(chain__advice(h));
	chain__free(c);
}

static void test_alone(void **state)
{
	struct chain *c = chain__new();
	struct chain_task *a = task(c, 5, "dd", 700);
	const struct chain_hang *h;

	because(a, "block-io", "sda");
	h = solved(c, 1);
	says(c, h, "dd/5 has not run for 11 min: it waits for block I/O on sda; nobody waits behind it");
	a->wait.reason = NULL;
	a->wait.object = NULL;
	lock(a, "rwsem", 0xffff888000001000, NULL, NULL, LB_UNKNOWN);
	a->holder.basis = "it is held by 2 readers";
	h = solved(c, 1);
	says(c, h, "dd/5 has not run for 11 min: it waits for the rwsem 0xffff888000001000 to write, whose holder is not "
		   "known: it is held by 2 readers; nobody waits behind it");
	a->hung = false;
	solved(c, 0);
	chain__free(c);
}

static void test_thread(void **state)
{
	struct chain *c = chain__new();
	struct chain_task *a = task(c, 5, "dd", 3);
	char s[128];

	a->pid = 4;
	assert_string_equal(chain__name(a, s, sizeof(s)), "dd/5 (thread of 4)");
	a->tid = 0;
	assert_string_equal(chain__name(a, s, sizeof(s)), "dd");
	chain__free(c);
}

static void test_cycle(void **state)
{
	struct chain *c = chain__new();
	struct chain_task *a = task(c, 1, "a", 50), *b = task(c, 2, "b", 51), *w = task(c, 3, "w", 20),
			  *v = task(c, 4, "v", 10);
	const struct chain_hang *h;

	lock(a, "mutex", 0x20, "L2", b, LB_EXACT);
	lock(b, "mutex", 0x10, "L1", a, LB_EXACT);
	lock(w, "mutex", 0x10, "L1", a, LB_EXACT);
	lock(v, "mutex", 0x30, "L3", w, LB_EXACT);
	h = solved(c, 1);
	assert_true(h->cycle);
	assert_int_equal(h->cycle_len, 2);
	assert_int_equal(h->waiting, 4);
	assert_ptr_equal(h->root, a); /* most wait for it */
	assert_ptr_equal(v->root, a);
	assert_ptr_equal(b->root, a);
	assert_int_equal(b->depth, 0);
	assert_int_equal(v->depth, 2);
	says(c, h, "deadlock of 2 tasks: a/1 waits for L2 (mutex), held by b/2; b/2 waits for L1 (mutex), held by a/1; "
		   "2 more tasks wait behind them");
	b->holder.certainty = LB_LIKELY;
	h = solved(c, 1);
	assert_int_equal(h->certainty, LB_LIKELY);
	chain__free(c);
}

/* A task that waits for what it has itself; and a guess that would say so is none. */
static void test_self(void **state)
{
	struct chain *c = chain__new();
	struct chain_task *a = task(c, 1, "a", 50);
	const struct chain_hang *h;

	lock(a, "mutex", 0x20, "L2", a, LB_EXACT);
	h = solved(c, 1);
	assert_true(h->cycle);
	says(c, h, "deadlock of 1 task: a/1 waits for L2 (mutex), held by itself");
	a->holder.certainty = LB_LIKELY;
	h = solved(c, 1);
	assert_false(h->cycle);
	chain__free(c);
}

static void test_fuse_cycle(void **state)
{
	struct chain *c = chain__new();
	struct chain_task *a = task(c, 1, "a", 50), *s = task(c, 2, "server", 49);
	const struct chain_hang *h;

	because(a, "fuse", NULL);
	a->holder.task = s;
	a->holder.certainty = LB_LIKELY;
	lock(s, "rwsem", 0x20, "i_rwsem of /mnt/", a, LB_EXACT);
	h = solved(c, 1);
	says(c, h, "probably a deadlock of 2 tasks: a/1 waits for the answer of a FUSE server, that is server/2; server/2 "
		   "waits for i_rwsem of /mnt/ (rwsem) to write, held by a/1");
	chain__free(c);
}

static void test_thing(void **state)
{
	struct chain *c = chain__new();
	struct chain_task *a = task(c, 1, "a", 50), *b = task(c, 2, "b", 40), *w = task(c, 3, "w", 30);
	const struct chain_hang *h;

	because(a, "frozen-fs", "/data");
	because(b, "frozen-fs", "/data");
	lock(w, "mutex", 0x10, "L1", b, LB_EXACT);
	h = solved(c, 1);
	assert_true(h->root->thing);
	assert_int_equal(h->waiting, 3);
	assert_ptr_equal(w->root, h->root);
	assert_int_equal(w->depth, 2);
	says(c, h, "2 tasks wait for the frozen file system /data; 1 more waits behind them");
	because(b, "frozen-fs", "/other");
	solved(c, 2);
	chain__free(c);
}

static char *text_of(struct chain *c, struct chains_view v)
{
	struct out *o = out__memory();
	char *s;

	chains__text(o, c, &v);
	s = strdup(out__text(o));
	out__close(o, NULL);
	return s;
}

static unsigned int lines(const char *s)
{
	unsigned int n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

static void test_text(void **state)
{
	struct chain *c = three_hops();
	char *s;

	solved(c, 1);
	s = text_of(c, (struct chains_view){0});
	assert_string_equal(
		s,
		"cp/812 probably holds mmap_lock of mysqld/1234 for read; it waits for the frozen file system /data; 3 tasks wait "
		"behind it.\n"
		"  Thaw it (fsfreeze --unfreeze DIRECTORY), or let the snapshot or backup that froze it end.\n"
		"\n"
		"  TASK                       S  NOT RUN  WHAT IT DOES\n"
		"  cp/812                     D    131 s  waits for the frozen file system /data, in ext4_page_mkwrite\n"
		"    mysqld/900               D    130 s  waits for mmap_lock of mysqld/1234 (rwsem) to write; the holder is likely: "
		"owner word of the lock\n"
		"      ps/14018               D    120 s  waits for mmap_lock of mysqld/1234 (rwsem) to read; probably held by cp/812\n"
		"      ps/14019               D    119 s  waits for mmap_lock of mysqld/1234 (rwsem) to read; probably held by cp/812\n");
	free(s);
	chain__free(c);
}

/* 500 that wait alike take five lines, in a tree and each by itself. */
static void test_many(void **state)
{
	struct chain *c = chain__new();
	struct chain_task *a = task(c, 1, "holder", 50);
	char *s;

	for (int i = 0; i < 500; i++)
		lock(task(c, 10 + i, "waiter", 20), "mutex", 0x10, "L1", a, LB_EXACT);
	assert_int_equal(solved(c, 1)->waiting, 500);
	s = text_of(c, (struct chains_view){0});
	assert_non_null(strstr(s, "and 497 more like this"));
	assert_true(lines(s) < 12);
	free(s);
	chain__free(c);

	c = chain__new();
	for (int i = 0; i < 500; i++)
		because(task(c, 10 + i, "dd", 20), "block-io", NULL);
	solved(c, 500);
	s = text_of(c, (struct chains_view){0});
	assert_non_null(strstr(s, "And 497 more like this."));
	assert_true(lines(s) < 30);
	free(s);
	chain__free(c);

	/* and what is not alike is cut too, but counted */
	c = chain__new();
	a = task(c, 1, "holder", 50);
	for (int i = 0; i < 500; i++) {
		struct chain_task *t = task(c, 10 + i, "x", 20);

		snprintf(t->comm, sizeof(t->comm), "w%d", i);
		lock(t, "mutex", 0x10, "L1", a, LB_EXACT);
	}
	solved(c, 1);
	s = text_of(c, (struct chains_view){0});
	assert_non_null(strstr(s, "and 460 more (--json lists all)"));
	free(s);
	chain__free(c);
}

/* A chain of 3000 tasks, each waiting for the next: no recursion that could run out of stack, no quadratic
 * time. */
static void test_long(void **state)
{
	struct chain *c = chain__new();
	struct chain_task *prev = task(c, 1, "t", 1);

	for (int i = 2; i <= 3000; i++) {
		struct chain_task *t = task(c, i, "t", 1);

		lock(t, "mutex", 0x1000 + (uint64_t)i * 64, "L", prev, LB_EXACT);
		prev = t;
	}
	assert_int_equal(solved(c, 1)->waiting, 2999);
	assert_int_equal(prev->depth, 2999);
	free(text_of(c, (struct chains_view){0}));
	chain__free(c);
}

/* Names are what tasks call themselves: nothing of it may reach a terminal raw. */
static void test_names(void **state)
{
	struct chain *c = chain__new();
	struct chain_task *a = task(c, 1, "a\033[2Jb", 50);
	char *s;

	because(a, "io", NULL);
	solved(c, 1);
	s = text_of(c, (struct chains_view){.stacks = true});
	assert_null(strchr(s, '\033'));
	free(s);
	chain__free(c);
}

static struct json_object *line(const char **s)
{
	struct json_object *obj;
	const char *end = strchr(*s, '\n');
	char *one;

	assert_non_null(end);
	one = strndup(*s, (size_t)(end - *s));
	obj = json_tokener_parse(one);
	assert_non_null(obj);
	free(one);
	*s = end + 1;
	return obj;
}

static const char *str(struct json_object *obj, const char *key)
{
	return json_object_get_string(json_object_object_get(obj, key));
}

static void test_json(void **state)
{
	static const char *const stack[] = {"schedule+0x1", "foo+0x2"};
	struct chain *c = three_hops();
	struct out *o = out__memory();
	struct json_object *obj, *sub;
	const char *s;

	chain__find(c, 812)->stack = stack;
	chain__find(c, 812)->n_stack = 2;
	assert_int_equal(chain__candidate(c, chain__find(c, 900), chain__find(c, 14018)), 0);
	assert_int_equal(chain__candidate(c, chain__find(c, 900), chain__find(c, 14018)), 0);
	solved(c, 1);
	chains__json(o, c);
	s = out__text(o);
	assert_int_equal(lines(s), 5);
	obj = line(&s);
	assert_string_equal(str(obj, "record"), "hang");
	assert_int_equal(json_object_get_int(json_object_object_get(obj, "waiting")), 3);
	assert_string_equal(str(obj, "certainty"), "likely");
	sub = json_object_object_get(obj, "root");
	assert_string_equal(str(sub, "comm"), "cp");
	assert_string_equal(str(sub, "reason"), "frozen-fs");
	assert_string_equal(str(sub, "object"), "/data");
	json_object_put(obj);
	obj = line(&s);
	assert_string_equal(str(obj, "record"), "task");
	assert_int_equal(json_object_array_length(json_object_object_get(obj, "stack")), 2);
	assert_null(json_object_object_get(obj, "root"));
	json_object_put(obj);
	obj = line(&s);
	sub = json_object_object_get(obj, "waits_for");
	assert_string_equal(str(sub, "kind"), "rwsem");
	assert_string_equal(str(sub, "mode"), "write");
	assert_string_equal(str(sub, "lock"), "0x1000");
	sub = json_object_object_get(obj, "holder");
	assert_string_equal(str(sub, "certainty"), "likely");
	assert_int_equal(json_object_array_length(json_object_object_get(obj, "candidates")), 1);
	assert_string_equal(str(json_object_object_get(obj, "root"), "comm"), "cp");
	json_object_put(obj);
	out__close(o, NULL);
	obj = json__record("summary");
	chains__summary(obj, c);
	assert_int_equal(json_object_get_int(json_object_object_get(obj, "hung")), 4);
	assert_int_equal(json_object_get_int(json_object_object_get(obj, "hangs")), 1);
	json_object_put(obj);
	chain__free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),   cmocka_unit_test(test_running_root), cmocka_unit_test(test_alone),
		cmocka_unit_test(test_thread), cmocka_unit_test(test_cycle),	    cmocka_unit_test(test_self),
		cmocka_unit_test(test_fuse_cycle), cmocka_unit_test(test_thing),    cmocka_unit_test(test_text),
		cmocka_unit_test(test_many),   cmocka_unit_test(test_long),	    cmocka_unit_test(test_names),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
