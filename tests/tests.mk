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
