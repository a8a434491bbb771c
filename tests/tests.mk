# SPDX-License-Identifier: GPL-2.0
# Test targets; included by the top Makefile.

WORKLOADS := $(patsubst tests/workload/%.c,$(BUILD)/workload/%,$(sort $(wildcard tests/workload/*.c)))

.PHONY: workloads
workloads: $(WORKLOADS)

# Static, so that a workload runs in a guest that has nothing but an initramfs.
$(BUILD)/workload/%: tests/workload/%.c
	$(call say,LOAD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(OPT) $(WARN) $(WERROR) -static -pthread -MMD -MP -o $@ $<

# Programs around src/kmem that need a kernel; see the head of each source.
CHECKS := $(patsubst tests/lib/%.c,$(BUILD)/tests/lib/%,$(sort $(wildcard tests/lib/kmem-*.c)))
CHECK_LIB := tests/lib/hold.c tests/lib/probe.c

.PHONY: checks
checks: $(CHECKS)

$(BUILD)/tests/lib/kmem-%: tests/lib/kmem-%.c $(CHECK_LIB) tests/lib/hold.h tests/lib/probe.h $(LIB)
	$(call say,CHECK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/lib $(LDFLAGS) -o $@ $< $(CHECK_LIB) $(LIB) -pthread $(LIBS)

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
