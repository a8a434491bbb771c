# SPDX-License-Identifier: GPL-2.0
# lockblame: build, install, test. `make help` lists the targets.

VERSION  := 0.1.0
BUILD    ?= build
PREFIX   ?= /usr/local
DESTDIR  ?=
sbindir   = $(PREFIX)/sbin
mandir    = $(PREFIX)/share/man
bashdir   = $(PREFIX)/share/bash-completion/completions

CC       ?= cc
CLANG    ?= clang
BPFTOOL  ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)
STRIP_BPF ?= $(firstword $(wildcard /usr/bin/llvm-strip /usr/bin/llvm-strip-14 /usr/bin/llvm-strip-19) llvm-strip)
RST2MAN  ?= $(firstword $(wildcard /usr/bin/rst2man /usr/bin/rst2man.py) rst2man)
PKGCONF  ?= pkg-config

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual \
	-Wformat=2 -Wundef -Wno-unused-parameter -Wpointer-arith
WERROR   ?=
OPT      ?= -O2 -g
CFLAGS   ?=
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(OPT) $(WARN) $(WERROR) -fno-strict-aliasing \
	-DLB_VERSION='"$(VERSION)"' -Iinclude -Isrc -I$(BUILD)/skel $(CFLAGS)
LIBS      = -lbpf -lelf -lz -ldw -ljson-c -lncursesw -lm

# The BPF side is compiled for the oldest instruction set that is needed (5.10 has no fetching
# atomics); ARCH selects the register layout that kprobes read their arguments by.
ARCH      := $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/;s/ppc64le/powerpc/;s/riscv64/riscv/')
BPF_CFLAGS = -g -O2 -target bpf -mcpu=v2 -D__TARGET_ARCH_$(ARCH) -Wall -Wextra $(WERROR) \
	-Wno-unused-parameter -Wno-missing-declarations -I. -Iinclude -Ibpf

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' '$(1)' '$(patsubst $(BUILD)/%,%,$(2))')

BPF_SRC  := $(sort $(wildcard bpf/*.bpf.c))
SKEL     := $(BPF_SRC:bpf/%.bpf.c=$(BUILD)/skel/%.skel.h)
LIB_SRC  := $(sort $(filter-out src/main.c,$(shell find src -name '*.c')))
LIB_OBJ  := $(LIB_SRC:src/%.c=$(BUILD)/obj/%.o)
LIB      := $(BUILD)/liblockblame.a
MAN_SRC  := $(sort $(wildcard man/lockblame*.rst))
MAN      := $(MAN_SRC:man/%.rst=$(BUILD)/man/%)
UNIT     := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(sort $(wildcard tests/unit/test_*.c)))

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all deps test-deps install clean check check-unit check-cli check-native check-vm demo test bench help man format
.SECONDARY:

all: $(BUILD)/lockblame man workloads

help:
	@echo 'make             build $(BUILD)/lockblame, the man pages and the test workloads'
	@echo 'make deps        install what building needs (Debian; as root)'
	@echo 'make install     into DESTDIR and PREFIX (default /usr/local)'
	@echo 'make check       unit and command-line tests, and the native tests when root'
	@echo 'make check-vm    tests on real kernels in QEMU (KERNELS="5.10 6.1 6.12 sid rt")'
	@echo 'make demo        build, start a contended workload, show the live view (as root)'
	@echo 'make test        install what tests need, build, run every ring (as root)'
	@echo 'make bench       cost and speed, as ratios measured in one run (as root)'
	@echo 'make clean       remove $(BUILD)/'
	@echo 'Variables: V=1 (show commands), CC, CLANG, WERROR=-Werror, OPT, BUILD'

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@
	$(Q)$(STRIP_BPF) -g $@

$(BUILD)/skel/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call say,SKEL,$@)
	@mkdir -p $(@D)
	$(Q){ echo '#pragma GCC system_header'; \
		$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf; } > $@

# Skeletons come before any user object on a first build; afterwards -MMD knows who needs which.
$(BUILD)/obj/%.o: src/%.c | $(SKEL)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(LIB): $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/lockblame: $(BUILD)/obj/main.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

man: $(MAN)

$(BUILD)/man/%: man/%.rst $(wildcard man/include/*.rst)
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$(RST2MAN) --halt=2 $< $@

$(BUILD)/tests/unit/%: tests/unit/%.c $(LIB)
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -MMD -MP $(LDFLAGS) -o $@ $< $(LIB) -lcmocka $(LIBS)

check-unit: $(UNIT)
	$(Q)tests/unit/run $(UNIT)

include tests/tests.mk

# What building needs, and what tests need in addition: Debian 12 packages.
BUILD_DEPS = gcc libc6-dev make clang llvm bpftool pkg-config libbpf-dev libelf-dev zlib1g-dev \
	libdw-dev libjson-c-dev libncurses-dev python3-docutils
TEST_DEPS = libcmocka-dev bats tmux mandoc qemu-system-x86 seabios busybox-static cpio xz-utils zstd \
	util-linux e2fsprogs procps debian-archive-keyring clang-19 strace

# $(call apt,PACKAGES): installs those that are missing.
apt = missing=$$(for p in $(1); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | \
	grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends $$missing >/dev/null || \
		{ echo "cannot install: $$missing (run as root, or install them yourself)" >&2; exit 1; }; \
	fi

deps:
	$(Q)$(call apt,$(BUILD_DEPS))

test-deps: deps
	$(Q)$(call apt,$(TEST_DEPS))

install: all
	install -D -m 755 $(BUILD)/lockblame $(DESTDIR)$(sbindir)/lockblame
	for page in $(MAN); do install -D -m 644 $$page $(DESTDIR)$(mandir)/man8/$$(basename $$page); done
	install -D -m 644 dist/lockblame.bash $(DESTDIR)$(bashdir)/lockblame

# Builds in a make of its own, so that what deps installed is found.
demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/demo $(BUILD)

test: test-deps
	$(Q)$(MAKE) --no-print-directory all WERROR=$(WERROR)
	$(Q)tests/all

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
