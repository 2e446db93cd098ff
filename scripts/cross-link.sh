#!/usr/bin/env bash
# Compiles and links the worker of crates/probe for systems that are not at hand, with the C compiler in PyPI's ziglang, and runs the arm64
# Linux one under qemu-user. What only links is only known to link: the README claims no more.
#
# Usage: scripts/cross-link.sh [TARGET]...     default: all targets
# Environment: TOOLS (see scripts/setup.sh), QEMU_AARCH64 (default: qemu-aarch64 or qemu-aarch64-static on PATH)
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/versions
. "$here/versions"
TOOLS=${TOOLS:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/whyfaster/tools}
zig_dir=$TOOLS/ziglang-$ZIGLANG_VERSION
# Zig builds each system's C library once; kept by version beside the compiler.
export ZIG_GLOBAL_CACHE_DIR=$zig_dir/cache ZIG_LOCAL_CACHE_DIR=$zig_dir/cache

say() { printf 'cross-link: %s\n' "$*" >&2; }
fail() {
    say "error: $1"
    say "next:  $2"
    exit 1
}

zig() { "$zig_dir/bin/python" -m ziglang "$@"; }

install_zig() {
    [ "$(zig version 2>/dev/null)" = "$ZIGLANG_VERSION" ] && return
    say "installing ziglang $ZIGLANG_VERSION from PyPI (the C compiler for other systems)"
    "$here/from-pypi" ziglang "$ZIGLANG_VERSION" "$zig_dir" ||
        fail "PyPI gave no ziglang $ZIGLANG_VERSION" 'check the network, and its digests in scripts/pip.txt'
    [ "$(zig version)" = "$ZIGLANG_VERSION" ] || fail 'ziglang was installed but does not run' "rm -r $zig_dir"
}

# link TARGET OUTPUT: the compiler's warnings are errors here, so that a system's surprises are seen.
link() {
    local target=$1 output=$2 system=other static=()
    case $target in *linux*)
        system=linux
        static=(-static)
        ;;
    esac
    (cd "$here/../crates/probe" && zig cc -target "$target" -std=gnu11 -O2 -Wall -Wextra -Werror -pthread "${static[@]}" \
        -I./include c/*.c "c/$system"/*.c -o "$output")
}

# run_arm64 WORKER: every line must be verified, or say why not.
run_arm64() {
    local worker=$1 qemu=${QEMU_AARCH64:-} out=$work/arm64.txt
    [ -n "$qemu" ] || qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
    if [ -z "$qemu" ]; then
        say 'aarch64-linux-musl was linked, not run: no qemu-aarch64 (Debian package qemu-user)'
        return
    fi
    if ! timeout 600 "$qemu" "$worker" --all 1 >"$out"; then
        tail -n 3 "$out" >&2
        fail 'the arm64 worker failed under qemu-user' 'see above'
    fi
    local lines ended
    lines=$("$qemu" "$worker" --print all 1 | grep -c '^probe')
    ended=$(grep -Ec '^(verify|unavailable)' "$out")
    [ "$lines" = "$ended" ] || fail "the arm64 worker ended $ended lines of $lines" 'run it by hand'
    if grep -P '^verify\t.*\tok=0' "$out" >&2; then fail 'the arm64 worker: a probe did not verify' 'see above'; fi
    say "aarch64-linux-musl runs under qemu-user: $(grep -c '^verify' "$out") rows verified," \
        "$(grep -c '^unavailable' "$out" || true) unavailable there"
}

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    targets=(aarch64-linux-musl x86_64-macos aarch64-macos x86_64-freebsd aarch64-freebsd x86_64-netbsd aarch64-netbsd
        x86_64-openbsd aarch64-openbsd)
fi
install_zig
work=$(mktemp -d) || fail 'cannot make a temporary directory' 'set TMPDIR'
trap 'rm -rf "$work"' EXIT
for target in "${targets[@]}"; do
    began=$SECONDS
    link "$target" "$work/worker-$target" || fail "the worker does not link for $target" 'see above'
    say "$target links ($((SECONDS - began)) s)"
    if [ "$target" = aarch64-linux-musl ]; then run_arm64 "$work/worker-$target"; fi
done
