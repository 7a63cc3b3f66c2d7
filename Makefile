# SPDX-License-Identifier: MIT
# The front door: short names for what CMake and the scripts do. `make help` lists them.

PRESET ?= release
build = build/$(PRESET)

.PHONY: all run check deps deps-bench perf perf-gate perf-baseline stress model mutants coverage valgrind cross matrix fuzz format install clean help

all: ## build build/release (PRESET=debug, asan, tsan ... for another one)
	@./scripts/build.sh '$(PRESET)'

run: deps ## install what is missing, build, show the demo
	@./scripts/build.sh release filch_cli
	@build/release/tools/filch/filch demo --table

check: deps ## install what is missing, then every gate and test
	@./scripts/check.sh

deps: ## install the missing packages of scripts/packages.txt (DEPS=no: do not)
	@./scripts/deps.sh

deps-bench: ## the same for the other runtimes of the grid (scripts/packages-bench.txt); optional
	@./scripts/deps.sh packages-bench.txt

perf: ## build, measure, print JSON (PERF_ARGS=--gate: judge the claims too)
	@./scripts/build.sh release >&2
	@./scripts/perf.py build/release $(PERF_ARGS)

perf-gate: ## has Filch become slower against serial and other designs? 15 % over bench/baseline.json fails
	@./scripts/build.sh release >&2
	@./scripts/perf_gate.py build/release

perf-baseline: ## measure bench/baseline.json anew, on a quiet machine
	@./scripts/build.sh release >&2
	@./scripts/perf_gate.py --write build/release

stress: ## stress tests with delays, round after round (MINUTES=3, SCALE=0.1, SEED=, ONLY=, PRESET=tsan)
	@./scripts/build.sh '$(PRESET)'
	@./scripts/stress.py --minutes '$(or $(MINUTES),3)' --scale '$(or $(SCALE),0.1)' \
	    $(if $(SEED),--seed '$(SEED)') $(if $(ONLY),--only '$(ONLY)') '$(build)'

model: ## every client of the schedule explorer, what each searched, and the sum (MINUTES=5)
	@./scripts/build.sh release
	@./scripts/model.py --minutes '$(or $(MINUTES),5)' build/release

coverage: ## lines and branches of src/ that the tests reach; fails below 95 % of lines
	@./scripts/build.sh coverage
	@./scripts/coverage.py $(COVERAGE_ARGS) build/coverage

valgrind: ## unit and stress tests, scaled down, under memcheck
	@./scripts/build.sh release
	@./scripts/valgrind.py $(if $(SCALE),--scale '$(SCALE)') build/release

cross: ## build for aarch64 and riscv64, and test under qemu
	@./scripts/check_cross.sh

matrix: ## build every supported way, and try each
	@./scripts/build.sh release
	@ctest --test-dir build/release -R '^check_matrix$$' --output-on-failure

fuzz: ## fuzz the readers of system files, all targets at once (MINUTES=10, KEEP=yes: keep inputs)
	@./scripts/fuzz.py --minutes '$(or $(MINUTES),10)' $(if $(KEEP),--keep)

mutants: ## break the library in one place at a time: the model tests must notice
	@./scripts/build.sh release
	@./scripts/mutants.py build/release $(MUTANTS_ARGS)

format: ## lay out all C and C++ files with clang-format
	@./scripts/check_format.sh --write

install: ## install build/release (DESTDIR= and PREFIX= as usual)
	@./scripts/build.sh release
	@cmake --install build/release $(if $(PREFIX),--prefix '$(PREFIX)')

clean: ## remove build/
	@rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24
