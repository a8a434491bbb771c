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

check: check-unit
