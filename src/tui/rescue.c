// SPDX-License-Identifier: GPL-2.0
#include "tui/rescue.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "util/cleanup.h"

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT, SIGTRAP, SIGSYS};

static struct termios modes;
static bool have_modes;
static char bytes[256];
static size_t n_bytes;
static struct sigaction before[ARRAY_SIZE(crashes)];
static char stack[64 * 1024];

void rescue__save_modes(void)
{
	have_modes = tcgetattr(STDOUT_FILENO, &modes) == 0;
	n_bytes = 0;
}

void rescue__add_bytes(const char *s)
{
	if (!s || s == (const char *)-1)
		return;
	while (*s && n_bytes < sizeof(bytes)) {
		const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;

		if (end)
			s = end + 1;
		else
			bytes[n_bytes++] = *s++;
	}
}

static void on_crash(int sig)
{
	size_t at = 0;

	while (at < n_bytes) {
		ssize_t n = write(STDOUT_FILENO, bytes + at, n_bytes - at);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
	if (have_modes)
		tcsetattr(STDOUT_FILENO, TCSANOW, &modes);
	/* SA_RESETHAND has put the default back: die of it, with a core if there would be one */
	raise(sig);
}

void rescue__arm(void)
{
	const stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_handler = on_crash,
			       .sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER};

	sigaltstack(&alt, NULL);
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
		sigaction(crashes[i], &sa, &before[i]);
}

void rescue__disarm(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
		sigaction(crashes[i], &before[i], NULL);
}
