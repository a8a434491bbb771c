/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_NAMES_USYM_FILE_H
#define LOCKBLAME_NAMES_USYM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One executable file that processes have mapped, with its function symbols; private to usym.c.
 * Files are shared between processes and counted; the symbols of those not used lately are dropped
 * when all together become too many. */
struct ufile;
struct ufiles;

struct ufiles *ufiles__new(void);
void ufiles__free(struct ufiles *fs);

/* The file with this identity, made if need be; one reference more. name is the path in
 * /proc/PID/maps. NULL: out of memory. */
struct ufile *ufiles__get(struct ufiles *fs, uint64_t dev, uint64_t ino, const char *name);
void ufiles__put(struct ufiles *fs, struct ufile *f);

/* Where a process has the file mapped, which is how it is opened: through the process while it lives
 * (other mount namespaces, deleted files), by name after. */
struct uplace {
	pid_t pid;
	uint64_t start, end;
};

/* The function at this offset of the file, for a return address. *name lives until the next call.
 * False: no symbol. */
bool ufiles__find(struct ufiles *fs, struct ufile *f, const struct uplace *at, uint64_t offset,
		  const char **name, uint64_t *in_function);

/* The last part of the file's path. */
const char *ufile__name(const struct ufile *f);

#endif
