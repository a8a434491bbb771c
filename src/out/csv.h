/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_OUT_CSV_H
#define LOCKBLAME_OUT_CSV_H

#include "out/out.h"

/* RFC 4180: fields quoted when they need it, lines end in CR LF. A NULL cell is an empty field. */
void csv__field(struct out *o, unsigned int column, const char *value);
void csv__end(struct out *o);

void csv__row(struct out *o, const char *const *cells, unsigned int n);

#endif
