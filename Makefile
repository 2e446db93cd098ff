# The tasks of this repository. Each also stands alone: `make lint`, `make unit`, `make docs`, ...
# What is missing on the machine is installed by scripts/setup.sh, which says what and why.

include scripts/versions

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := help

# rustup's directory, for shells that did not read its profile (sudo, cron, CI).
export PATH := $(PATH):$(HOME)/.cargo/bin
# Tools are kept outside the clone, by version, so that a fresh clone finds them again.
TOOLS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/whyfaster/tools
export TOOLS

TYPOS := $(TOOLS)/typos-$(TYPOS_VERSION)/bin/typos
NEXTEST := $(TOOLS)/cargo-nextest-$(NEXTEST_VERSION)/bin/cargo-nextest nextest
export NEXTEST
CARGO_DENY := $(TOOLS)/cargo-deny-$(CARGO_DENY_VERSION)/bin/cargo-deny
MDBOOK := $(TOOLS)/mdbook-$(MDBOOK_VERSION)/bin/mdbook
export PLAYWRIGHT := $(TOOLS)/playwright-core-$(PLAYWRIGHT_VERSION)
HYPERFINE := $(TOOLS)/hyperfine-$(HYPERFINE_VERSION)/bin/hyperfine
WHYFASTER := target/release/whyfaster
# `make bench BENCHES=launch` runs one of them.
BENCHES ?= launch noise verdict load prices trace analyse fleet screen causes real
# `make test-kernels KERNELS=debian:6.1 CONDITIONS=none CHECKS=doctor,strace,trace_full WHYFASTER=FILE` boots one of them with a binary
# that is there already; WHYFASTER_ARM64=FILE adds arm64.
KERNELS ?= all
CONDITIONS ?= all
CHECKS ?= all
# `make dist` leaves one there.
WHYFASTER_ARM64 ?= $(wildcard target/dist/build/aarch64-unknown-linux-gnu/release/whyfaster)
# The kernel that the tests boot under instruction counting; scripts/setup.sh fetches it.
export INSIDE_KERNEL ?= $(TOOLS)/test-kernel/vmlinuz

# A clone that is thrown away gains nothing from incremental compilation, and nobody debugs what it built: without tables of lines and names the
# program has half its size, and many tests send it somewhere.
ifdef CI
export CARGO_INCREMENTAL := 0
export CARGO_PROFILE_DEV_DEBUG := none
export CARGO_PROFILE_DEV_STRIP := symbols
export CARGO_TERM_COLOR ?= never
endif

.PHONY: help setup setup-demo setup-test setup-test-all setup-bench setup-kernels setup-dist setup-ladder setup-kubernetes build dist test-dist demo test kernels test-kernels bench docs install clean \
	install-caps uninstall-caps test-live test-systems test-all test-repeat engines none-skipped compiled format format-check lint unit drop-in scores cross one-file generated fuzz programs deny advisories spelling rustdoc browser screenshots

help:
	@echo 'make demo     build, then compare two commands that change places under load'
	@echo 'make test     format, lints, tests, generated files, licences, spelling, docs; minutes'
	@echo 'make test-live  planted causes, verdicts and prices on the real clock, many times'
	@echo 'make test-systems  kernels, engines, servers, a browser, the release binary'
	@echo 'make test-all  all three, with the time of each part; RESUME=1: what has not passed yet'
	@echo 'make test-repeat  the tests N=10 times, half of them on a busy machine; a table'
	@echo 'make test-kernels  the binary booted on the kernels of Debian and Ubuntu, under every condition; see CONTRIBUTING.md'
	@echo 'make fuzz     hostile inputs for ten minutes (FUZZ_SECONDS=N: for N seconds); make test tries a number of them'
	@echo 'make bench    side by side with hyperfine, xargs, perf bench, stress-ng, ...; results in target/bench/'
	@echo 'make build    the release binary: $(WHYFASTER)'
	@echo 'make install  the release binary into cargo'\''s bin directory'
	@echo 'make install-caps  the same, and let it observe everything without root (sudo setcap; see docs/src/privileges.md)'
	@echo 'make uninstall-caps  takes the capabilities off again'
	@echo 'make docs     the book: docs/book/index.html'
	@echo 'make dist     the files of a release, for x86-64 and arm64: target/dist/'
	@echo 'make test-dist  those files: programs, packages, licences, and the same bytes once more'
	@echo 'make screenshots  the pictures of the page in docs/src/images'
	@echo 'make programs compile the BPF programs anew, after a change in crates/trace/bpf'
	@echo 'make setup    install all that demo, test and bench need (they do it themselves too)'
	@echo 'make setup-ladder  install the engines of study ladder that Debian has'
	@echo 'make setup-kubernetes  build a Kubernetes that the tests of fleet start; ten minutes and more'
	@echo 'make clean    remove target/ and docs/book/'

# ---- what is needed ----

setup: setup-demo setup-test-all setup-bench

# A part that scripts/parts runs finds all there.
setup-demo setup-test setup-test-all setup-bench setup-kernels setup-dist setup-ladder: setup-%:
	@$(if $(PARTS),:,scripts/setup.sh $*)

setup-kubernetes:
	@scripts/setup-kubernetes

# ---- the main job ----

# One file that needs nothing from the system: the C library, libelf and zlib are inside. The feature is given to the last
# link only: for the whole build it would forbid procedural macros, which are shared libraries.
build: setup-demo
	cargo rustc --release --locked -p whyfaster --bin whyfaster -- \
		-C target-feature=+crt-static -C link-args="$$(scripts/link-args)"

# The files of a release, for both architectures, in target/dist.
dist: setup-dist
	scripts/dist.sh

# Those files, packages in empty systems, the same bytes once more, and the crates without clang. It compiles everything twice.
test-dist: dist
	scripts/test-dist.sh

demo: build
	$(WHYFASTER) demo

# Where cargo install puts programs.
BIN = $(or $(CARGO_INSTALL_ROOT),$(CARGO_HOME),$(HOME)/.cargo)/bin

install: build
	install -D -m 755 $(WHYFASTER) $(BIN)/whyfaster

# The full level of `trace` for ordinary users. The commands that whyfaster starts do not inherit the capabilities: they
# are in the file's permitted and effective sets and in no inheritable or ambient one (capabilities(7)). With GROUP=name only
# members of that group may run it.
install-caps: install
	@bin="$(BIN)/whyfaster"; \
	sudo=; [ "$$(id -u)" -eq 0 ] || sudo=sudo; \
	PATH=$$PATH:/usr/sbin:/sbin; \
	command -v setcap >/dev/null || { echo 'setcap is missing: install libcap2-bin' >&2; exit 1; }; \
	if [ '$(origin GROUP)' != undefined ]; then \
		[ -n "$(GROUP)" ] || { echo 'GROUP is empty: name a group, or leave GROUP= out' >&2; exit 1; }; \
		$$sudo chgrp -- "$(GROUP)" "$$bin"; \
		$$sudo chmod 0750 -- "$$bin"; \
	fi; \
	$$sudo "$$(command -v setcap)" cap_bpf,cap_perfmon+ep "$$bin"; \
	echo "$$bin may observe everything now; undo it with: make uninstall-caps"

uninstall-caps:
	@bin="$(BIN)/whyfaster"; \
	sudo=; [ "$$(id -u)" -eq 0 ] || sudo=sudo; \
	PATH=$$PATH:/usr/sbin:/sbin; \
	[ -z "$$(getcap "$$bin")" ] || $$sudo "$$(command -v setcap)" -r "$$bin"; \
	echo "$$bin has no capabilities; rm removes it"

# ---- tests: three tiers, by what a test needs ----

# A part of a tier is a target of this file; scripts/parts runs them one after the other and prints the time of each.
GATE = format-check spelling deny compiled lint generated docs unit scores
SYSTEMS = rustdoc engines drop-in cross one-file browser kernels

test: none-skipped setup-test
	@scripts/parts $(GATE)
	@$(LIST_SKIPPED)

# Each family of planted effects many times, judged once.
test-live: none-skipped setup-test-all compiled
	@$(LINTED) scripts/test-live
	@$(LIST_SKIPPED)

test-systems: none-skipped setup-test-all
	@scripts/parts $(SYSTEMS)
	@$(LIST_SKIPPED)

# With RESUME=1 only what has not passed on this state of the files.
test-all: $(if $(RESUME),,none-skipped) setup-test-all
	@scripts/parts $(if $(RESUME),--resume) $(GATE) test-live $(SYSTEMS)
	@$(LIST_SKIPPED)

# The tests of the gate N times, half of them beside a busy loop on each CPU.
N ?= 10
test-repeat: compiled
	@$(LINTED) scripts/test-repeat $(N)

# The tests that find something missing here add a line each. With WHYFASTER_REQUIRE=full they fail if a privilege or a package is
# what is missing.
export WHYFASTER_SKIPPED := $(abspath $(or $(CARGO_TARGET_DIR),target))/skipped
LIST_SKIPPED = if [ -s $(WHYFASTER_SKIPPED) ]; then sort -u $(WHYFASTER_SKIPPED); else echo 'none skipped'; fi

# Clippy compiles what the tests run, and lints it on the way. For `cargo clippy`, cargo would compile all dependencies once more.
# The documentation of clippy-driver warns that it optimises less than rustc: a release is made without it.
LINTED := RUSTC_WORKSPACE_WRAPPER=clippy-driver

# All that the tests run. Of a part of the workspace, dependencies would have other features and be compiled again: so what runs on the way
# to `test` is taken from here, too.
COMPILE := $(LINTED) cargo build --quiet --workspace --locked --lib --bins --tests --benches
compiled: setup-test
	$(COMPILE)

DEBUG := $(abspath $(or $(CARGO_TARGET_DIR),target))/debug

none-skipped:
	@mkdir -p $(dir $(WHYFASTER_SKIPPED)); : >$(WHYFASTER_SKIPPED)

format:
	cargo fmt --all

format-check:
	cargo fmt --all -- --check

spelling: setup-test
	$(TYPOS)

# Advisories are left out here: their database is not reachable from everywhere. See deny.toml.
deny: setup-test
	$(CARGO_DENY) --locked --log-level error check bans licenses sources

advisories: setup-test
	$(CARGO_DENY) --locked check advisories

# Cargo repeats the warnings of what it does not compile again, and is silent without any.
lint: compiled
	@told=$$($(COMPILE) 2>&1); [ -z "$$told" ] || { echo "$$told"; exit 1; }

# Unit, property and end-to-end tests, and a number of hostile inputs (see fuzz/). The environment must not make the runner repeat a test that failed.
# Half of the tests wait most of the time, so two for each CPU keep it busy.
unit test-repeat: export NEXTEST_TEST_THREADS ?= $(shell echo $$((2 * $$(nproc))))
unit: setup-test
	$(LINTED) NEXTEST_RETRIES=0 $(NEXTEST) run --workspace --locked

# Engines, servers, guests and ssh, for real. WHYFASTER_ENGINES=record records the answers of Slurm and Ray anew.
engines: export WHYFASTER_ENGINES ?= real
engines: setup-test-all
	$(LINTED) NEXTEST_RETRIES=0 $(NEXTEST) run --workspace --locked --profile systems

# hyperfine's own tests, of both versions, against the program that `unit` built. The crates are kept between clones.
drop-in: compiled
	bench/peers/hyperfine $(DEBUG)/whyfaster $(TOOLS)/hyperfine-tests

# What judges the records of bench/real.
scores:
	python3 -m unittest -q bench.test_real

# The worker of `prices` for systems that are not at hand; the arm64 one also runs. Needs no more than a C compiler from PyPI.
cross: setup-test-all
	scripts/cross-link.sh

# What make build makes needs nothing from the system.
one-file: build
	scripts/one-file.py $(WHYFASTER)

# The pages in a real browser: stored records of each kind, hostile names, a trace of a million events.
browser: setup-test-all compiled build
	@mkdir -p target/browser
	$(DEBUG)/xtask many-events 1000000 target/browser/million.json
	node tests/browser/run.mjs --whyfaster $(WHYFASTER) --events target/browser/million.json

# The pictures of the page in the book, of a stored record.
screenshots: setup-test-all build
	node tests/browser/screenshots.mjs --whyfaster $(WHYFASTER)

# The same hostile inputs for longer. What fails is kept in target/fuzz/.
fuzz: export FUZZ_SECONDS ?= 600
fuzz: export FUZZ_SEED ?= $(shell date +%s)
fuzz: setup-demo
	@echo "FUZZ_SEED=$$FUZZ_SEED"
	cargo test --locked --lib -p whyfaster -p whyfaster-run -p whyfaster-trace fuzz_ -- --nocapture

generated: compiled
	$(DEBUG)/xtask-programs check
	$(DEBUG)/xtask check

# The BPF programs, after a change in crates/trace/bpf: their bytes are committed, so that a build needs no clang.
programs:
	cargo run --quiet --locked -p xtask-programs -- generate

rustdoc:
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --document-private-items --locked

docs: setup-test
	$(MDBOOK) build docs
	scripts/check-links.py docs/book README.md CONTRIBUTING.md CHANGELOG.md bench/README.md

# ---- the kernels that people have ----

# Two kernels with the checks that take seconds and depend on the kernel; the rest is test-kernels. The guests are x86-64, and so must be the binary.
kernels: setup-test-all compiled build
	python3 -m unittest discover -q -s tests/kernels
	@[ "$$(uname -m)" = x86_64 ] || { echo "skipped: kernels: this is $$(uname -m), and the guests are x86-64" | tee -a $(WHYFASTER_SKIPPED); exit 0; }; \
	XTASK=$(DEBUG)/xtask tests/kernels/run --whyfaster $(WHYFASTER) --kernels debian:6.1,debian:6.12 --conditions none --checks \
		facts,doctor,strace,trace_auto,trace_full,trace_ptrace,trace_unprivileged,trace_rusage,compare_why,user,capable

# A binary that is named on the command line is not built.
test-kernels: setup-kernels $(if $(filter command line,$(origin WHYFASTER)),,build)
	tests/kernels/run --whyfaster $(WHYFASTER) $(if $(WHYFASTER_ARM64),--whyfaster-arm64 $(WHYFASTER_ARM64)) \
		--kernels $(KERNELS) --conditions $(CONDITIONS) --checks $(CHECKS) $(if $(TABLE),--write-table $(TABLE))

# ---- benches ----

bench: setup-bench build
	bench/run --whyfaster $(WHYFASTER) --hyperfine $(HYPERFINE) $(BENCHES)

clean:
	cargo clean
	rm -rf docs/book
