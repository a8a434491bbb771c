// SPDX-License-Identifier: GPL-2.0
#include "names/usym_file.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "util/cleanup.h"

/* Functions indexed in all files together, 8 bytes each. A file with more than this alone is
 * searched from end to end for each new address, which takes some 40 ms, so not too often. */
#define MAX_FUNCS (1536 * 1024U)
#define MAX_SEARCHES 32
#define MAX_SEGMENTS 16
#define HITS 128

struct func {
	uint32_t addr; /* from the file's lowest address */
	uint32_t ndx;  /* number of the symbol */
};

struct segment {
	uint64_t offset, size, addr;
};

enum state { FRESH, READY, TOO_MANY, FAILED };

struct ufile {
	struct ufile *next;
	uint64_t dev, ino;
	unsigned int refs;
	uint64_t used; /* tick of the last lookup */
	enum state state;
	Dwfl *dwfl;
	Dwfl_Module *mod;
	struct segment seg[MAX_SEGMENTS];
	unsigned int n_seg;
	uint64_t base;
	struct func *func;
	uint32_t n_func;
	int n_sym;
	unsigned int searches;
	struct {
		uint64_t addr;
		int ndx;
	} hit[HITS]; /* what searches of a file with too many functions found */
	char name[];
};

struct ufiles {
	struct ufile *first;
	uint64_t tick;
	uint64_t n_func; /* in all files */
};

struct ufiles *ufiles__new(void)
{
	return calloc(1, sizeof(struct ufiles));
}

static void drop_symbols(struct ufiles *fs, struct ufile *f)
{
	fs->n_func -= f->n_func;
	free(f->func);
	f->func = NULL;
	f->n_func = 0;
	if (f->dwfl)
		dwfl_end(f->dwfl);
	f->dwfl = NULL;
	f->mod = NULL;
	f->n_seg = 0;
	f->state = FRESH;
}

void ufiles__free(struct ufiles *fs)
{
	if (!fs)
		return;
	while (fs->first) {
		struct ufile *f = fs->first;

		fs->first = f->next;
		drop_symbols(fs, f);
		free(f);
	}
	free(fs);
}

struct ufile *ufiles__get(struct ufiles *fs, uint64_t dev, uint64_t ino, const char *name)
{
	struct ufile *f;

	for (f = fs->first; f; f = f->next) {
		if (f->ino == ino && f->dev == dev && !strcmp(f->name, name)) {
			f->refs++;
			return f;
		}
	}
	f = calloc(1, sizeof(*f) + strlen(name) + 1);
	if (!f)
		return NULL;
	memcpy(f->name, name, strlen(name) + 1);
	f->dev = dev;
	f->ino = ino;
	f->refs = 1;
	f->next = fs->first;
	fs->first = f;
	return f;
}

void ufiles__put(struct ufiles *fs, struct ufile *f)
{
	struct ufile **at = &fs->first;

	if (--f->refs)
		return;
	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	drop_symbols(fs, f);
	free(f);
}

const char *ufile__name(const struct ufile *f)
{
	const char *slash = strrchr(f->name, '/');

	return slash && slash[1] ? slash + 1 : f->name;
}

/* Only what is on this machine: libdwfl's own search would ask debuginfod servers. */
static int local_debuginfo(Dwfl_Module *mod, void **userdata, const char *modname, Dwarf_Addr base,
			   const char *file_name, const char *debuglink, GElf_Word crc,
			   char **debuginfo_file_name)
{
	const unsigned char *id;
	GElf_Addr vaddr;
	char path[256];
	int n = dwfl_module_build_id(mod, &id, &vaddr), at, fd;

	if (n < 2 || n > 64)
		return -1;
	at = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", id[0]);
	for (int i = 1; i < n; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", id[i]);
	snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		*debuginfo_file_name = strdup(path);
	return fd;
}

static int no_elf(Dwfl_Module *mod, void **userdata, const char *modname, Dwarf_Addr base,
		  char **file_name, Elf **elf)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = no_elf,
	.find_debuginfo = local_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static int open_checked(const char *path, const struct ufile *f)
{
	__close_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	/* the device is not compared: btrfs and overlayfs show another one in maps */
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_ino != f->ino)
		return -ENOENT;
	return take_fd(fd);
}

static int open_file(const struct ufile *f, const struct uplace *at)
{
	char path[PATH_MAX + 64];
	int fd;

	/* the only way to a deleted file; needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE */
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", at->pid,
		 (unsigned long long)at->start, (unsigned long long)at->end);
	fd = open_checked(path, f);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", at->pid, f->name);
	fd = open_checked(path, f);
	if (fd >= 0)
		return fd;
	return open_checked(f->name, f);
}

static void read_segments(struct ufile *f, Elf *elf)
{
	size_t n = 0;

	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n && f->n_seg < MAX_SEGMENTS; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		f->seg[f->n_seg++] = (struct segment){ph.p_offset, ph.p_filesz, ph.p_vaddr};
	}
}

/* The symbol's address if it is a function of this file, else 0. */
static uint64_t function_addr(const struct ufile *f, int ndx, GElf_Sym *sym, const char **name)
{
	GElf_Addr addr;
	GElf_Word shndx;

	*name = dwfl_module_getsym_info(f->mod, ndx, sym, &addr, &shndx, NULL, NULL);
	if (!*name || !**name || shndx == SHN_UNDEF)
		return 0;
	if (GELF_ST_TYPE(sym->st_info) != STT_FUNC && GELF_ST_TYPE(sym->st_info) != STT_GNU_IFUNC)
		return 0;
	return addr;
}

static uint32_t count_functions(struct ufile *f)
{
	uint32_t n = 0;

	f->base = UINT64_MAX;
	for (int i = 0; i < f->n_sym; i++) {
		const char *name;
		GElf_Sym sym;
		uint64_t addr = function_addr(f, i, &sym, &name);

		if (!addr)
			continue;
		n++;
		if (addr < f->base)
			f->base = addr;
	}
	return n;
}

static int by_addr(const void *a, const void *b)
{
	const struct func *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->ndx < y->ndx ? -1 : x->ndx > y->ndx;
}

static void drop_oldest(struct ufiles *fs, const struct ufile *but, uint32_t want)
{
	while (fs->n_func + want > MAX_FUNCS) {
		struct ufile *oldest = NULL;

		for (struct ufile *f = fs->first; f; f = f->next)
			if (f != but && f->n_func && (!oldest || f->used < oldest->used))
				oldest = f;
		if (!oldest)
			return;
		drop_symbols(fs, oldest);
	}
}

static int index_functions(struct ufiles *fs, struct ufile *f, uint32_t n)
{
	uint32_t at = 0;

	f->func = malloc((n ? n : 1) * sizeof(*f->func));
	if (!f->func)
		return -ENOMEM;
	for (int i = 0; i < f->n_sym && at < n; i++) {
		const char *name;
		GElf_Sym sym;
		uint64_t addr = function_addr(f, i, &sym, &name);

		if (addr && addr - f->base <= UINT32_MAX)
			f->func[at++] = (struct func){(uint32_t)(addr - f->base), (uint32_t)i};
	}
	qsort(f->func, at, sizeof(*f->func), by_addr);
	f->n_func = at;
	fs->n_func += at;
	return 0;
}

/* Reading a symbol table touches all of its pages; they are the kernel's cache and would only count
 * as ours. */
static void forget_pages(Elf *elf)
{
	size_t size;
	char *start = elf ? elf_rawfile(elf, &size) : NULL;

	if (start && !((uintptr_t)start & 4095))
		madvise(start, size, MADV_DONTNEED);
}

static int open_elf(struct ufile *f, const struct uplace *at)
{
	__close_fd int fd = open_file(f, at);

	if (fd < 0)
		return fd;
	f->dwfl = dwfl_begin(&callbacks);
	if (!f->dwfl)
		return -ENOMEM;
	dwfl_report_begin(f->dwfl);
	f->mod = dwfl_report_elf(f->dwfl, f->name, f->name, fd, 0, true);
	if (!f->mod)
		return -ENOEXEC;
	(void)take_fd(fd); /* libdwfl's now */
	dwfl_report_end(f->dwfl, NULL, NULL);
	return 0;
}

static int read_symbols(struct ufiles *fs, struct ufile *f, const struct uplace *at)
{
	GElf_Addr bias;
	uint32_t n;
	Elf *elf;
	int r = open_elf(f, at);

	if (r)
		return r;
	elf = dwfl_module_getelf(f->mod, &bias);
	if (!elf || bias)
		return -ENOEXEC;
	read_segments(f, elf);
	f->n_sym = dwfl_module_getsymtab(f->mod);
	n = count_functions(f);
	if (n > MAX_FUNCS) {
		f->state = TOO_MANY;
		memset(f->hit, 0, sizeof(f->hit));
		return 0;
	}
	drop_oldest(fs, f, n);
	r = index_functions(fs, f, n);
	forget_pages(elf);
	f->state = READY;
	return r;
}

static unsigned int underscores(const char *s)
{
	return (unsigned int)strspn(s, "_");
}

/* Is a better known by its users than b (NULL: no b)? */
static bool better(const GElf_Sym *a, const char *an, const GElf_Sym *b, const char *bn)
{
	bool ag = GELF_ST_BIND(a->st_info) == STB_GLOBAL, bg;

	if (!bn)
		return true;
	bg = GELF_ST_BIND(b->st_info) == STB_GLOBAL;
	if (underscores(an) != underscores(bn))
		return underscores(an) < underscores(bn);
	return ag && !bg;
}

/* The best of the symbols at the same address as func[i] whose size covers addr. */
static bool pick(struct ufile *f, int64_t i, uint64_t addr, const char **name, uint64_t *in)
{
	uint32_t at = f->func[i].addr;
	GElf_Sym best = {0};

	*name = NULL;
	for (; i >= 0 && f->func[i].addr == at; i--) {
		const char *n;
		GElf_Sym sym;
		uint64_t start = function_addr(f, (int)f->func[i].ndx, &sym, &n);

		if (!start || (sym.st_size && addr >= start + sym.st_size))
			continue;
		if (!better(&sym, n, &best, *name))
			continue;
		best = sym;
		*name = n;
		*in = addr - start;
	}
	return *name != NULL;
}

static bool find_indexed(struct ufile *f, uint64_t addr, const char **name, uint64_t *in)
{
	uint32_t lo = 0, hi = f->n_func;

	if (!hi || addr < f->base)
		return false;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (f->func[mid].addr <= addr - f->base)
			lo = mid + 1;
		else
			hi = mid;
	}
	return pick(f, (int64_t)lo - 1, addr, name, in);
}

static int search(struct ufile *f, uint64_t addr)
{
	uint64_t best = 0;
	int found = -1;

	for (int i = 0; i < f->n_sym; i++) {
		const char *name;
		GElf_Sym sym;
		uint64_t start = function_addr(f, i, &sym, &name);

		if (start && start <= addr && addr < start + sym.st_size && start >= best) {
			best = start;
			found = i;
		}
	}
	return found;
}

static bool find_searching(struct ufile *f, uint64_t addr, const char **name, uint64_t *in)
{
	unsigned int slot = (unsigned int)(addr ^ addr >> 8) % HITS;
	GElf_Addr bias;
	uint64_t start;
	GElf_Sym sym;

	if (f->hit[slot].addr != addr) {
		if (f->searches++ >= MAX_SEARCHES)
			return false;
		f->hit[slot].ndx = search(f, addr);
		f->hit[slot].addr = addr;
		forget_pages(dwfl_module_getelf(f->mod, &bias));
	}
	if (f->hit[slot].ndx < 0)
		return false;
	start = function_addr(f, f->hit[slot].ndx, &sym, name);
	*in = addr - start;
	return start != 0;
}

/* The address that the file's symbols give to an offset of it; 0: not code. */
static uint64_t addr_of(const struct ufile *f, uint64_t offset)
{
	for (unsigned int i = 0; i < f->n_seg; i++)
		if (offset - f->seg[i].offset < f->seg[i].size)
			return offset - f->seg[i].offset + f->seg[i].addr;
	return 0;
}

bool ufiles__find(struct ufiles *fs, struct ufile *f, const struct uplace *at, uint64_t offset,
		  const char **name, uint64_t *in_function)
{
	uint64_t addr;
	bool found;

	f->used = ++fs->tick;
	if (f->state == FRESH && read_symbols(fs, f, at)) {
		drop_symbols(fs, f);
		f->state = FAILED;
	}
	if (f->state == FAILED || !offset)
		return false;
	/* a call that does not return may be the last instruction of its function */
	addr = addr_of(f, offset - 1);
	if (!addr)
		return false;
	found = f->state == READY ? find_indexed(f, addr, name, in_function)
				  : find_searching(f, addr, name, in_function);
	if (found)
		++*in_function;
	return found;
}
