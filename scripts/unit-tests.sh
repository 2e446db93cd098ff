#!/usr/bin/env bash
# Runs cargo's tests of the whole workspace, all of them also after one that failed, and compiles the release beside those that wait.
#
# Usage: scripts/unit-tests.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# End-to-end tests that wait for guests, servers and engines most of the time, and judge no time of their own. The others measure.
waiting=(book elsewhere_k8s elsewhere_kubernetes elsewhere_ssh fleet inside_kernels inside_ssh store store_server)
# One of them that waits as long as all others together, in networks of its own: it runs beside them.
longest=elsewhere_ray

mapfile -t measuring < <(cargo metadata --locked --no-deps --format-version 1 | python3 -c '
import json, sys
targets = [target for package in json.load(sys.stdin)["packages"] for target in package["targets"]]
names = {target["name"] for target in targets if "test" in target["kind"]}
waiting = set(sys.argv[1:])
if not waiting <= names:
    sys.exit(f"no such test: {waiting - names}")
print(*sorted(names - waiting), sep="\n")
' "$longest" "${waiting[@]}")
logs=$(mktemp -d)
beside=()
trap 'kill "${beside[@]}" 2>/dev/null || true; rm -rf "$logs"' EXIT

failed=
# Always of the whole workspace: see `compiled` in the Makefile.
tests() {
    cargo test --workspace --locked "$@" || failed=1
}

tests --no-run
[ -z "$failed" ]
make build >"$logs/build" 2>&1 &
beside+=($!)
cargo test --workspace --locked --no-fail-fast --test="$longest" >"$logs/longest" 2>&1 &
beside+=($!)
tests --no-fail-fast "${waiting[@]/#/--test=}"
for one in "${beside[@]}"; do wait "$one" || failed=1; done
beside=()
cat "$logs"/*
tests --no-fail-fast --lib --bins "${measuring[@]/#/--test=}"
tests --no-fail-fast --doc
[ -z "$failed" ]
