#!/usr/bin/env bash
# Runs cargo's tests of the whole workspace, all of them also after one that failed. Beside those that wait, and before those that measure, it does
# what only needs the CPUs: it links the worker for other systems, compiles the release, lints, and makes the documentation of the code.
#
# Usage: scripts/unit-tests.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# All but tests/waiting judge times of their own, so that nothing may run beside them.
mapfile -t others < <(cargo metadata --locked --no-deps --format-version 1 | python3 -c '
import json, sys
targets = [target for package in json.load(sys.stdin)["packages"] for target in package["targets"]]
print(*sorted(target["name"] for target in targets if "test" in target["kind"] and target["name"] not in ("measuring", "waiting")), sep="\n")
')
log=$(mktemp)
beside=
trap '[ -z "$beside" ] || kill "$beside" 2>/dev/null || true; rm -f "$log"' EXIT

failed=
# Always of the whole workspace: see `compiled` in the Makefile.
tests() {
    cargo test --workspace --locked "$@" || failed=1
}

# One file of tests after the other: some measure without a turn, and the tests of the next file would run beside their last.
measuring() {
    local names file of_it
    names=$(cargo test --quiet --workspace --locked --test=measuring -- --list --format terse | sed -n 's/: test$//p')
    [ -n "$names" ]
    for file in $(cut -d: -f1 <<<"$names" | uniq); do
        mapfile -t of_it < <(grep "^$file::" <<<"$names")
        tests --no-fail-fast --test=measuring -- --exact "${of_it[@]}"
    done
}

tests --no-run
[ -z "$failed" ]
make cross build >"$log" 2>&1 &
beside=$!
tests --no-fail-fast --test=waiting
# At its end a build has work for one CPU.
make lint rustdoc || failed=1
wait "$beside" || failed=1
beside=
cat "$log"
measuring
tests --no-fail-fast --lib --bins "${others[@]/#/--test=}"
tests --no-fail-fast --doc
[ -z "$failed" ]
