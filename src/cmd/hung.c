// SPDX-License-Identifier: GPL-2.0
/* lockblame hung: who is blocked now, and who is at the root of it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/namer.h"
#include "hung/look.h"
#include "names/ksym.h"
#include "out/chains.h"
#include "out/json.h"
#include "out/out.h"
#include "util/clock.h"

#define MIN_NS 1000000000ULL

struct hung {
	const struct lb_opts *o;
	struct namer *namer;
	struct hung_look *look;
	struct out *out;
	uint64_t min_ns;
	unsigned int sources;
};

static int parse_sources(const char *s, unsigned int *mask, struct err *e)
{
	*mask = 0;
	while (*s) {
		size_t len = strcspn(s, ",");
		char word[32];
		int i;

		snprintf(word, sizeof(word), "%.*s", (int)len, s);
		i = hung_source_by_name(word);
		if (i < 0)
			return err_set(e, -EINVAL, "hung: --sources: '%s' is none of stack, blocker, blocked_on, pi, writer", word);
		*mask |= 1u << i;
		s += len;
		s += *s == ',';
	}
	return 0;
}

static void notes(struct hung *h, struct chain *c)
{
	const struct chain_loss *l = chain__loss(c);
	const char *why = namer__why(h->namer);

	if (h->o->quiet)
		return;
	if (l->ended)
		out__printf(h->out, "%u task%s went on while we looked.\n", l->ended, l->ended == 1 ? "" : "s");
	if (l->torn)
		out__printf(h->out, "%u holder%s changed while we looked, and %s left out.\n", l->torn,
			    l->torn == 1 ? "" : "s", l->torn == 1 ? "was" : "were");
	if (l->unreadable)
		out__printf(h->out, "%u task%s for a lock that could not be found.\n", l->unreadable,
			    l->unreadable == 1 ? " waits" : "s wait");
	if (l->disagree)
		out__printf(h->out, "%u task%s different locks in different places.\n", l->disagree,
			    l->disagree == 1 ? " names" : "s name");
	if (why)
		fprintf(stderr, "lockblame: %s\n", why);
}

static void text(struct hung *h, struct chain *c, unsigned int n_hung)
{
	const struct chains_view v = {.stacks = h->o->stacks, .max_rows = h->o->rows};
	char d[32];

	chains__text(h->out, c, &v);
	if (!h->o->quiet) {
		chain__duration(h->min_ns, d, sizeof(d));
		if (n_hung)
			out__printf(h->out, "\n%u of %u tasks blocked for %s or longer.\n", n_hung,
				    hung_look__n_seen(h->look), d);
		else
			out__printf(h->out, "No task is blocked for %s or longer (%u tasks looked at).\n", d,
				    hung_look__n_seen(h->look));
	}
	notes(h, c);
}

static void json(struct hung *h, struct chain *c, uint64_t took)
{
	struct json_object *rec;

	json__header(h->out, "hung");
	chains__json(h->out, c);
	rec = json__record("summary");
	json__u64(rec, "seen", hung_look__n_seen(h->look));
	json__u64(rec, "min_ns", h->min_ns);
	json__u64(rec, "took_ns", took);
	chains__summary(rec, c);
	json__write(h->out, rec);
}

static int snapshot(struct hung *h, struct err *e)
{
	uint64_t begin = clock_ns();
	struct chain *c = hung_look__take(h->look, h->min_ns, h->sources, e);
	unsigned int n;

	if (!c)
		return EXIT_FAILED;
	n = chain__n_hung(c);
	if (h->o->format == FORMAT_JSON)
		json(h, c, clock_ns() - begin);
	else
		text(h, c, n);
	return n ? EXIT_HUNG : EXIT_OK;
}

static int run(struct hung *h, struct err *e)
{
	struct kmem *k;

	h->namer = namer__new(NULL, e);
	if (!h->namer)
		return EXIT_FAILED;
	k = namer__kmem(h->namer);
	if (!k) {
		err_set(e, -EPERM, "%s", namer__no_memory(h->namer));
		return EXIT_FAILED;
	}
	h->look = hung_look__new(k, namer__ksyms(h->namer), namer__identities(h->namer));
	if (!h->look) {
		err_set(e, -ENOMEM, "out of memory");
		return EXIT_FAILED;
	}
	return snapshot(h, e);
}

int cmd_hung(struct lb_opts *o)
{
	struct hung h = {.o = o, .min_ns = o->min ? o->min : MIN_NS, .sources = HUNG_ALL_SOURCES};
	struct err e = {0};
	int code;

	if (o->sources && parse_sources(o->sources, &h.sources, &e))
		return cmd_fail(EXIT_USAGE, &e);
	h.out = out__open(o->output, &e);
	if (!h.out)
		return cmd_fail(EXIT_FAILED, &e);
	code = run(&h, &e);
	hung_look__free(h.look);
	namer__free(h.namer);
	if (code == EXIT_FAILED) {
		out__close(h.out, NULL);
		return cmd_fail(code, &e);
	}
	return out__close(h.out, &e) ? cmd_fail(EXIT_FAILED, &e) : code;
}
