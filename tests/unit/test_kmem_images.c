// SPDX-License-Identifier: GPL-2.0
/* The walkers over memory images recorded on real kernels (tests/lib/kmem-record): each must find
 * what was there, and must neither hang nor read outside its buffers when the image is spoilt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kmem/image.h"
#include "kmem/lock.h"
#include "names/identity.h"
#include "util/cleanup.h"

#define DATA "tests/unit/data/kmem"
#define NOTES_MAX 64

/* A line of the image that says what must be found. */
struct note {
	char what[8];
	uint64_t addr;
	int kind;
	char rest[512];
};

struct scene {
	struct kmem *k;
	struct identities *ids;
	pid_t self;
	struct note notes[NOTES_MAX];
	size_t n;
};

static void read_notes(struct scene *s, const char *path)
{
	FILE *f __close_file = fopen(path, "re");
	char line[1024];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct note *n = &s->notes[s->n];

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "# self %d", &s->self) == 1)
			continue;
		memset(n, 0, sizeof(*n));
		if (sscanf(line, "# %7s 0x%" SCNx64 " %d %511[^\n]", n->what, &n->addr, &n->kind,
			   n->rest) >= 3)
			assert_true(++s->n < NOTES_MAX);
	}
	assert_true(s->n > 0);
}

static void open_scene(struct scene *s, const char *kernel, const char *file)
{
	char path[640];
	struct err e = {{0}};

	memset(s, 0, sizeof(*s));
	snprintf(path, sizeof(path), DATA "/%s/%s", kernel, file);
	s->k = kmem_image__load(path, &e);
	if (!s->k)
		fail_msg("%s", e.msg);
	read_notes(s, path);
	s->ids = identities__new(s->k, NULL);
	assert_non_null(s->ids);
	snprintf(path, sizeof(path), DATA "/%s/mountinfo", kernel);
	assert_int_equal(identities__set_mountinfo(s->ids, path), 0);
}

static void close_scene(struct scene *s)
{
	identities__free(s->ids);
	kmem__free(s->k);
}

static void each_scene(void (*fn)(struct scene *s, const char *where))
{
	struct dirent *d, *f;
	unsigned int n = 0;
	DIR *top = opendir(DATA);

	assert_non_null(top);
	while ((d = readdir(top))) {
		char path[300], where[600];
		DIR *kernel;

		if (*d->d_name == '.')
			continue;
		snprintf(path, sizeof(path), DATA "/%s", d->d_name);
		kernel = opendir(path);
		assert_non_null(kernel);
		while ((f = readdir(kernel))) {
			struct scene s;
			const char *dot = strrchr(f->d_name, '.');

			if (!dot || strcmp(dot, ".kmem"))
				continue;
			open_scene(&s, d->d_name, f->d_name);
			snprintf(where, sizeof(where), "%s/%s", d->d_name, f->d_name);
			fn(&s, where);
			close_scene(&s);
			n++;
		}
		closedir(kernel);
	}
	closedir(top);
	assert_true(n >= 4);
}

static void check_name(struct scene *s, const struct note *n, const char *where)
{
	struct identity_hint h = {.tgid = s->self};
	struct identity id;
	char got[400];

	assert_int_equal(identity__resolve(s->ids, n->addr, (enum lb_kind)n->kind, &h, &id),
			 IDENTITY_SAME);
	snprintf(got, sizeof(got), "%s\t%s", id.cls, id.text);
	if (strcmp(got, n->rest))
		fail_msg("%s: 0x%" PRIx64 ": %s, want %s", where, n->addr, got, n->rest);
	/* And again, from the cache. */
	assert_int_equal(identity__check(s->ids, n->addr, (enum lb_kind)n->kind, NULL, &id),
			 IDENTITY_SAME);
	snprintf(got, sizeof(got), "%s\t%s", id.cls, id.text);
	assert_string_equal(got, n->rest);
	if (strcmp(id.cls, "unknown"))
		assert_int_not_equal(id.certainty, LB_UNKNOWN);
}

static void check_owner(struct scene *s, const struct note *n, const char *where)
{
	struct lock_owner o;
	char got[128];

	assert_int_equal(kmem__lock_owner(s->k, n->addr, (enum lb_kind)n->kind, &o), 0);
	snprintf(got, sizeof(got), "%d %d %d %d %u %d", (int)o.state, (int)o.mode, o.tid,
		 (int)o.certainty, o.readers, o.waiters);
	if (strcmp(got, n->rest))
		fail_msg("%s: owner %s, want %s", where, got, n->rest);
}

static void check_queue(struct scene *s, const struct note *n, const char *where)
{
	struct lock_waiter w[8];
	char got[256] = "";
	size_t count;
	bool more;

	assert_int_equal(kmem__lock_waiters(s->k, n->addr, (enum lb_kind)n->kind, w, ARRAY_SIZE(w),
					    &count, &more),
			 0);
	assert_false(more);
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(got);

		assert_int_equal(w[i].tgid, s->self);
		snprintf(got + len, sizeof(got) - len, "%s%d/%d/%d", i ? " " : "", w[i].tid,
			 (int)w[i].mode, w[i].mode_known);
	}
	if (strcmp(got, n->rest))
		fail_msg("%s: queue %s, want %s", where, got, n->rest);
	if (!count)
		return;
	/* A buffer that is too small says so. */
	assert_int_equal(kmem__lock_waiters(s->k, n->addr, (enum lb_kind)n->kind, w, count - 1,
					    &count, &more),
			 0);
	assert_true(more);
}

static void check_notes(struct scene *s, const char *where)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!strcmp(s->notes[i].what, "name"))
			check_name(s, &s->notes[i], where);
		else if (!strcmp(s->notes[i].what, "owner"))
			check_owner(s, &s->notes[i], where);
		else
			check_queue(s, &s->notes[i], where);
	}
}

static void test_recorded(void **state)
{
	each_scene(check_notes);
}

static uint64_t rnd_state;

static uint64_t rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return rnd_state;
}

/* Everything that walkers can be asked, on whatever the image is now. */
static void ask_all(struct scene *s)
{
	struct identity_hint h = {.tgid = s->self};

	for (size_t i = 0; i < s->n; i++) {
		enum lb_kind kind = (enum lb_kind)s->notes[i].kind;
		uint64_t addr = s->notes[i].addr;
		struct lock_waiter w[8];
		struct lock_owner o;
		struct identity id;
		bool more;
		size_t n;

		identity__resolve(s->ids, addr, kind, &h, &id);
		assert_true(strlen(id.text) > 0 && strlen(id.cls) > 0);
		for (const char *p = id.text; *p; p++)
			assert_true((unsigned char)*p >= ' ' && *p != 0x7f);
		identity__check(s->ids, addr, kind, &h, &id);
		if (!kmem__lock_owner(s->k, addr, kind, &o) && o.certainty == LB_EXACT)
			assert_true(o.tid > 0 && o.state == LOCK_HELD);
		kmem__lock_waiters(s->k, addr, kind, w, ARRAY_SIZE(w), &n, &more);
		assert_true(n <= ARRAY_SIZE(w));
	}
}

static int collect_word(void *ctx, uint64_t addr, uint64_t value)
{
	uint64_t *words = ctx;

	if (words[0] < 4000) {
		words[++words[0]] = addr;
		words[4001 + words[0]] = value;
	}
	return 0;
}

/* Spoils one word: a pointer to somewhere else in the image (cycles), nonsense, or a hole. */
static void spoil(struct kmem *k, const uint64_t *words)
{
	uint64_t i = 1 + rnd() % words[0], addr = words[i], other = words[1 + rnd() % words[0]];

	switch (rnd() % 5) {
	case 0:
		kmem_image__put_u64(k, addr, other);
		break;
	case 1:
		kmem_image__put_u64(k, addr, words[4001 + 1 + rnd() % words[0]]);
		break;
	case 2:
		kmem_image__put_u64(k, addr, rnd());
		break;
	case 3:
		kmem_image__put_u64(k, addr, rnd() | 0xffff800000000000ull);
		break;
	default:
		kmem_image__drop(k, addr, 8);
	}
}

static void restore(struct kmem *k, const uint64_t *words)
{
	for (uint64_t i = 1; i <= words[0]; i++)
		kmem_image__put_u64(k, words[i], words[4001 + i]);
}

static void spoil_scene(struct scene *s, const char *where)
{
	uint64_t *words __free_ptr = calloc(8002, sizeof(*words));

	assert_non_null(words);
	kmem_image__each_word(s->k, collect_word, words);
	assert_true(words[0] > 10);
	rnd_state = 88172645463325252ull;
	for (int round = 0; round < 300; round++) {
		for (int i = 0; i <= round % 8; i++)
			spoil(s->k, words);
		ask_all(s);
		restore(s->k, words);
	}
	/* Nothing of the spoilt rounds stays. */
	for (size_t i = 0; i < s->n; i++) {
		struct identity id;

		if (strcmp(s->notes[i].what, "name"))
			continue;
		identity__resolve(s->ids, s->notes[i].addr, (enum lb_kind)s->notes[i].kind,
				  &(struct identity_hint){.tgid = s->self}, &id);
		if (strncmp(id.cls, s->notes[i].rest, strlen(id.cls)))
			fail_msg("%s: %s after spoiling, want %s", where, id.text,
				 s->notes[i].rest);
	}
}

static void test_spoilt(void **state)
{
	each_scene(spoil_scene);
}

static void test_round_trip(void **state)
{
	char path[] = "/tmp/lockblame-image-XXXXXX";
	struct err e = {{0}};
	struct kmem *a = kmem_image__load(DATA "/6.18/objects.kmem", &e), *b;
	char *one __free_ptr = NULL, *two __free_ptr = NULL;
	size_t cap1 = 0, cap2 = 0;
	FILE *f1, *f2;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_non_null(a);
	assert_int_equal(kmem_image__save(a, path, NULL, &e), 0);
	b = kmem_image__load(path, &e);
	assert_non_null(b);
	f1 = fopen(DATA "/6.18/objects.kmem", "re");
	f2 = fopen(path, "re");
	assert_true(f1 && f2);
	while (getline(&two, &cap2, f2) > 0) {
		do
			assert_true(getline(&one, &cap1, f1) > 0);
		while (*one == '#');
		assert_string_equal(one, two);
	}
	fclose(f1);
	fclose(f2);
	unlink(path);
	kmem__free(a);
	kmem__free(b);
}

static void load_fails(const char *text, const char *message)
{
	char path[] = "/tmp/lockblame-image-XXXXXX";
	struct err e = {{0}};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	assert_null(kmem_image__load(path, &e));
	assert_non_null(strstr(e.msg, message));
	unlink(path);
}

static void test_bad_files(void **state)
{
	struct err e = {{0}};

	assert_null(kmem_image__load("/proc/nonexistent/image", &e));
	assert_non_null(strstr(e.msg, "/proc/nonexistent/image"));
	load_fails("something else\n", "line 1");
	load_fails("lockblame-kmem-image 1\nmem 0x10 0\n", "line 2");
	load_fails("lockblame-kmem-image 1\n\nmem 0x10\n", "line 3");
	load_fails("lockblame-kmem-image 1\nmem 0x10 zz\n", "line 2");
	load_fails("lockblame-kmem-image 1\nmem -1 00\n", "line 2");
	load_fails("lockblame-kmem-image 1\nfield TASK_PID 1\n", "line 2");
	load_fails("lockblame-kmem-image 1\ntask 0x1 0x2 3\n", "line 2");
	load_fails("lockblame-kmem-image 1\ncache 0x1\n", "line 2");
	load_fails("lockblame-kmem-image 1\nbanana\n", "line 2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_spoilt),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_bad_files),
	};

	return cmocka_run_group_tests_name("kmem images", tests, NULL, NULL);
}
