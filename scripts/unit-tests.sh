#!/usr/bin/env bash
# Runs cargo's tests of the whole workspace, all of them also after one that failed. Beside those that wait it does what only needs the
# CPUs: it links the worker for other systems, compiles the release, lints, and makes the documentation of the code.
#
# Usage: scripts/unit-tests.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# End-to-end tests that wait for guests, servers and engines most of the time, and judge no time of their own. The others measure.
waiting=(book elsewhere_k8s elsewhere_kubernetes elsewhere_ray elsewhere_slurm elsewhere_ssh fleet inside_kernels inside_ssh store store_server)

mapfile -t measuring < <(cargo metadata --locked --no-deps --format-version 1 | python3 -c '
import json, sys
targets = [target for package in json.load(sys.stdin)["packages"] for target in package["targets"]]
names = {target["name"] for target in targets if "test" in target["kind"]}
waiting = set(sys.argv[1:])
if not waiting <= names:
    sys.exit(f"no such test: {waiting - names}")
print(*sorted(names - waiting), sep="\n")
' "${waiting[@]}")
log=$(mktemp)
beside=
trap '[ -z "$beside" ] || kill "$beside" 2>/dev/null || true; rm -f "$log"' EXIT

failed=
# Always of the whole workspace: see `compiled` in the Makefile.
tests() {
    cargo test --workspace --locked "$@" || failed=1
}

tests --no-run
[ -z "$failed" ]
make cross build lint rustdoc >"$log" 2>&1 &
beside=$!
tests --no-fail-fast "${waiting[@]/#/--test=}"
wait "$beside" || failed=1
beside=
cat "$log"
tests --no-fail-fast --lib --bins "${measuring[@]/#/--test=}"
tests --no-fail-fast --doc
[ -z "$failed" ]
