// SPDX-License-Identifier: GPL-2.0
/* lockblame explain: hung-task warnings of a kernel log as trees of who waits for whom. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "klog/explain.h"
#include "klog/log.h"
#include "out/chains.h"
#include "out/json.h"
#include "out/out.h"
#include "util/cleanup.h"

static int read_one(struct klog *k, const char *name, struct err *e)
{
	__close_fd int fd = -1;
	int r;

	if (!strcmp(name, "-"))
		return klog__read(k, STDIN_FILENO, e);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, -errno, "cannot open %s", name);
	r = klog__read(k, fd, e);
	return r ? err_wrap(e, r, "%s", name) : 0;
}

static int read_all(struct klog *k, const struct lb_opts *o, struct err *e)
{
	int r = 0;

	if (!o->n_args)
		return read_one(k, "-", e);
	for (int i = 0; i < o->n_args && !r; i++)
		r = read_one(k, o->args[i], e);
	return r;
}

static void boot_title(struct out *out, const struct klog *k, int boot)
{
	const char *release = klog__release(k, boot);

	out__printf(out, "Boot %d of the log%s%s\n\n", boot + 1, release ? ", Linux " : "", release ? release : "");
}

/* What stands in the way of a better answer. */
static void notes(struct out *out, const struct klog *k)
{
	const struct klog_stats *s = klog__stats(k);

	if (s->dropped)
		out__printf(out, "The log has gaps: %" PRIu64 " messages were dropped by the kernel.\n", s->dropped);
	if (s->suppressed)
		out__puts(out, "The kernel stopped reporting (\"Future hung task reports are suppressed\"): there "
			       "may be more.\n");
	if (s->headless)
		out__printf(out, "%" PRIu64 " warnings do not name their task.\n", s->headless);
	if (s->cut || s->nul)
		out__printf(out, "Skipped: %" PRIu64 " lines that are too long, %" PRIu64 " that are no text.\n",
			    s->cut, s->nul);
	if (s->too_many)
		out__printf(out, "%" PRIu64 " tasks more were not kept.\n", s->too_many);
	if (s->backwards)
		out__puts(out, "Its times jump back: the log may be put together from several.\n");
}

struct totals {
	unsigned int hung;
	size_t hangs;
};

static void text(struct out *out, const struct klog *k, const struct lb_opts *o, int boot, struct chain *c,
		 struct totals *t)
{
	const struct chains_view v = {.stacks = o->stacks, .max_rows = o->rows};

	if (klog__n_boots(k) > 1 && chain__n_hung(c))
		boot_title(out, k, boot);
	chains__text(out, c, &v);
	if (chain__n_hung(c) && boot + 1 < klog__n_boots(k))
		out__putc(out, '\n');
}

static int explain(struct out *out, const struct klog *k, const struct lb_opts *o, struct totals *t,
		   struct err *e)
{
	bool js = o->format == FORMAT_JSON;

	if (js)
		json__header(out, "explain");
	for (int boot = 0; boot < klog__n_boots(k); boot++) {
		struct chain *c = klog_explain(k, boot);
		size_t n = 0;

		if (!c)
			return err_set(e, -ENOMEM, "out of memory");
		t->hung += chain__n_hung(c);
		chain__hangs(c, &n);
		t->hangs += n;
		if (js)
			chains__json(out, c);
		else
			text(out, k, o, boot, c, t);
		chain__free(c);
	}
	return 0;
}

static void summary(struct out *out, const struct klog *k, const struct lb_opts *o, const struct totals *t)
{
	const struct klog_stats *s = klog__stats(k);
	struct json_object *rec;

	if (o->format == FORMAT_JSON) {
		rec = json__record("summary");
		json__u64(rec, "hung", t->hung);
		json__u64(rec, "hangs", t->hangs);
		json__u64(rec, "bytes", s->bytes);
		json__u64(rec, "boots", (uint64_t)klog__n_boots(k));
		json__u64(rec, "dropped", s->dropped);
		json__u64(rec, "headless", s->headless);
		json__bool(rec, "suppressed", s->suppressed);
		json__write(out, rec);
		return;
	}
	if (o->quiet)
		return;
	if (t->hung)
		out__printf(out, "\n%u hung task%s in %zu hang%s.\n", t->hung, t->hung == 1 ? "" : "s", t->hangs,
			    t->hangs == 1 ? "" : "s");
	else
		out__printf(out, "No hung task in %" PRIu64 " bytes of log.\n", s->bytes);
	notes(out, k);
}

int cmd_explain(struct lb_opts *o)
{
	struct klog *k = klog__new();
	struct totals t = {0};
	struct err e = {0};
	struct out *out;
	int r;

	if (!k)
		return cmd_fail(EXIT_FAILED, (err_set(&e, -ENOMEM, "out of memory"), &e));
	out = out__open(o->output, &e);
	r = out ? read_all(k, o, &e) : -EIO;
	if (!r)
		r = explain(out, k, o, &t, &e);
	if (!r)
		summary(out, k, o, &t);
	klog__free(k);
	if (r) {
		if (out)
			out__close(out, NULL);
		return cmd_fail(EXIT_FAILED, &e);
	}
	if (out__close(out, &e))
		return cmd_fail(EXIT_FAILED, &e);
	return t.hung ? EXIT_HUNG : EXIT_OK;
}
