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

# Test programs that need the library and a kernel; see the head of each source.
CHECKS := $(patsubst tests/lib/%.c,$(BUILD)/tests/lib/%,$(sort $(wildcard tests/lib/*-check.c)))

.PHONY: checks
checks: $(CHECKS)

$(BUILD)/tests/lib/%-check: tests/lib/%-check.c tests/lib/hold.c tests/lib/hold.h $(LIB)
	$(call say,CHECK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/lib $(LDFLAGS) -o $@ $< tests/lib/hold.c $(LIB) -pthread $(LIBS)

check: check-unit
