/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_NAMES_IDENTITY_IMPL_H
#define LOCKBLAME_NAMES_IDENTITY_IMPL_H

/* Between the cache (identity.c), the structures it knows (shapes.c) and the words for files
 * (filename.c). */
#include "kmem/inode.h"
#include "names/identity.h"
#include "names/mounts.h"

/* What a shape found. The token tells one object from the next at the same address. */
struct found {
	char text[256]; /* left empty when has_words() said so */
	enum lb_certainty certainty;
	pid_t pid;
	uint64_t token[3];
};

struct shape_ctx {
	struct kmem *k;
	struct mounts *mounts;
	const struct identity_hint *hint; /* never NULL */
	const uint64_t *former;		  /* token of the last look at this object, or NULL */
	bool refresh;			  /* the words are wanted even when the token is the former */
};

/* A lock field of a kernel structure. */
struct shape {
	const char *cls;
	enum kmem_field field; /* of the lock in the structure */
	unsigned int kinds;    /* LB_KIND_BIT()s */
	/* Whether the structure at obj is what it would be; fills f. */
	bool (*verify)(struct shape_ctx *c, uint64_t obj, struct found *f);
	/* An array of locks: how many, and the size of one. */
	unsigned int count;
	enum kmem_field size;
};

extern const struct shape lb_shapes[];
extern const unsigned int lb_n_shapes;

/* A name for the inode: its path where it can be seen ("/usr/lib/x", "/data/" for a directory), "x
 * (deleted)", "socket:[12]", "pipe:[34]", or "dev 8:1 inode 56". Cut in the middle when too long. */
void filename__inode(struct shape_ctx *c, const struct kinode *inode, char *buf, size_t size);
void filename__dentry(struct shape_ctx *c, uint64_t dentry, const struct kinode *inode, char *buf,
		      size_t size);
/* "/data (ext4)", or "ext4 sda1" when it is not mounted here. */
void filename__sb(struct shape_ctx *c, const struct ksb *sb, char *buf, size_t size);

/* Replaces control characters and DEL by "?". Returns s. */
char *clean_text(char *s);

#endif
