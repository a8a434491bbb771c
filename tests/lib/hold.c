// SPDX-License-Identifier: GPL-2.0
#include "hold.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_uffd(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (ioctl(fd, UFFDIO_API, &api)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

bool hold__works(void)
{
	int fd = open_uffd();

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* State letter of a thread of this process, '?' when it can't be read. */
static char state_of(pid_t tid)
{
	char path[64], buf[256], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '?';
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return '?';
	buf[n] = '\0';
	p = strrchr(buf, ')');
	return p && p[1] ? p[2] : '?';
}

/* Until the thread has been asleep at three looks in a row. */
static int wait_asleep(const pid_t *tid)
{
	int asleep = 0;

	for (int i = 0; i < 2000; i++) {
		pid_t t = __atomic_load_n(tid, __ATOMIC_ACQUIRE);
		char s = t ? state_of(t) : 'R';

		asleep = s == 'S' || s == 'D' ? asleep + 1 : 0;
		if (asleep == 3)
			return 0;
		usleep(5000);
	}
	return -ETIMEDOUT;
}

static void *hold_main(void *arg)
{
	struct hold *h = arg;

	__atomic_store_n(&h->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	h->call(h->arg, h->page);
	return NULL;
}

static int catch_page(struct hold *h)
{
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	h->page_size = sysconf(_SC_PAGESIZE);
	h->page = mmap(NULL, (size_t)h->page_size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (h->page == MAP_FAILED)
		return -errno;
	reg.range.start = (unsigned long)h->page;
	reg.range.len = (unsigned long)h->page_size;
	return ioctl(h->uffd, UFFDIO_REGISTER, &reg) ? -errno : 0;
}

int hold__begin(struct hold *h, long (*call)(void *arg, char *page), void *arg)
{
	struct pollfd p;
	struct uffd_msg msg;
	int err;

	memset(h, 0, sizeof(*h));
	h->call = call;
	h->arg = arg;
	h->uffd = open_uffd();
	if (h->uffd < 0)
		return h->uffd;
	err = catch_page(h);
	if (!err)
		err = -pthread_create(&h->thread, NULL, hold_main, h);
	if (err) {
		close(h->uffd);
		return err;
	}
	h->started = true;
	p = (struct pollfd){.fd = h->uffd, .events = POLLIN};
	if (poll(&p, 1, 10000) != 1 || read(h->uffd, &msg, sizeof(msg)) != sizeof(msg)) {
		hold__end(h);
		return -ETIMEDOUT;
	}
	return 0;
}

void hold__end(struct hold *h)
{
	struct uffdio_zeropage z = {0};

	if (!h->started)
		return;
	z.range.start = (unsigned long)h->page;
	z.range.len = (unsigned long)h->page_size;
	ioctl(h->uffd, UFFDIO_ZEROPAGE, &z);
	pthread_join(h->thread, NULL);
	close(h->uffd);
	munmap(h->page, (size_t)h->page_size);
	h->started = false;
}

static void *waiter_main(void *arg)
{
	struct waiter *w = arg;

	__atomic_store_n(&w->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	w->call(w->arg, NULL);
	return NULL;
}

int waiter__begin(struct waiter *w, long (*call)(void *arg, char *page), void *arg)
{
	int err;

	memset(w, 0, sizeof(*w));
	w->call = call;
	w->arg = arg;
	err = -pthread_create(&w->thread, NULL, waiter_main, w);
	return err ? err : wait_asleep(&w->tid);
}

void waiter__end(struct waiter *w)
{
	pthread_join(w->thread, NULL);
}
