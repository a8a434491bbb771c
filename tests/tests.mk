# SPDX-License-Identifier: GPL-2.0
# Test targets; included by the top Makefile.

WORKLOADS := $(patsubst tests/workload/%.c,$(BUILD)/workload/%,$(sort $(wildcard tests/workload/*.c)))

.PHONY: workloads
workloads: $(WORKLOADS)

# Static, so that a workload runs in a guest that has nothing but an initramfs.
$(BUILD)/workload/%: tests/workload/%.c
	$(call say,LOAD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(OPT) $(WARN) $(WERROR) -static -pthread -MMD -MP -o $@ $< $(LOAD_LIB_$*)

# Workloads that hold a lock for as long as they like.
LOAD_LIB_hold-lock := tests/lib/hold.c
LOAD_LIB_hang := tests/lib/hold.c
$(BUILD)/workload/hold-lock $(BUILD)/workload/hang: tests/lib/hold.c tests/lib/hold.h

# Questions to JSON Lines, for the tests in guests.
$(BUILD)/tests/lib/jl: tests/lib/jl.c
	$(call say,TOOL,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(OPT) $(WARN) $(WERROR) -static -o $@ $< -ljson-c

# Programs around src/kmem that need a kernel; see the head of each source.
CHECKS := $(patsubst tests/lib/%.c,$(BUILD)/tests/lib/%,$(sort $(wildcard tests/lib/kmem-*.c)))
CHECK_LIB := tests/lib/hold.c tests/lib/probe.c

.PHONY: checks
checks: $(CHECKS)

$(BUILD)/tests/lib/kmem-%: tests/lib/kmem-%.c $(CHECK_LIB) tests/lib/hold.h tests/lib/probe.h $(LIB)
	$(call say,CHECK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/lib $(LDFLAGS) -o $@ $< $(CHECK_LIB) $(LIB) -pthread $(LIBS)

KERNELS ?= 5.10 6.1 6.12 sid rt

# The guest tests on real kernels in QEMU, and on the running one.
check-vm: $(BUILD)/lockblame workloads checks $(BUILD)/tests/lib/jl
	$(Q)BUILD=$(BUILD) tests/vm/run $(KERNELS)

check-native: $(BUILD)/lockblame workloads checks $(BUILD)/tests/lib/jl
	$(Q)BUILD=$(BUILD) tests/vm/native

check: check-unit

# Cost and speed, against a plain program; figures, not tests. BENCH=--quick only tries it out.
BENCH_DIR := $(BUILD)/tests/bench
BENCH_SRC := $(sort $(wildcard tests/bench/*.c))
BENCH_SRC := $(filter-out %.bpf.c,$(BENCH_SRC))

$(BENCH_DIR)/plain.bpf.o: tests/bench/plain.bpf.c vmlinux.h
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@
	$(Q)$(STRIP_BPF) -g $@

$(BENCH_DIR)/plain.skel.h: $(BENCH_DIR)/plain.bpf.o
	$(call say,SKEL,$@)
	$(Q){ echo '#pragma GCC system_header'; $(BPFTOOL) gen skeleton $< name plain_bpf; } > $@

$(BENCH_DIR)/bench: $(BENCH_SRC) $(wildcard tests/bench/*.h) $(BENCH_DIR)/plain.skel.h
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -I$(BENCH_DIR) $(LDFLAGS) -o $@ $(BENCH_SRC) -lbpf -lelf -lz -lm

bench: $(BUILD)/lockblame $(BUILD)/workload/mmap-loop $(BENCH_DIR)/bench
	$(Q)$(BENCH_DIR)/bench $(BENCH) $(BUILD)/lockblame $(BUILD)/workload/mmap-loop

# The program as its users call it; LOCKBLAME chooses another binary (an installed one).
check-cli: $(BUILD)/lockblame workloads
	$(Q)LOCKBLAME=$${LOCKBLAME:-$(abspath $(BUILD)/lockblame)} bats --print-output-on-failure tests/cli

check: check-cli
	$(Q)if [ "$$(id -u)" = 0 ]; then $(MAKE) --no-print-directory check-native; else echo "native tests need root: skipped"; fi
