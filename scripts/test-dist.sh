#!/usr/bin/env bash
# Tests the files of a release, as scripts/dist.sh made them in target/dist: the programs, the packages in an empty system, the list of parts, and
# that the same bytes come out once more in another directory; and that the crates install without clang.
#
# Usage: scripts/test-dist.sh [PART]...     PART: programs, arm64, packages, parts, crates, again; default: all
# Environment: TOOLS (see scripts/setup.sh)
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
TOOLS=${TOOLS:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/whyfaster/tools}
PATH=$PATH:/usr/sbin:/sbin
# shellcheck source=scripts/cross-env.sh
. scripts/cross-env.sh
dist=$root/target/dist
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf 'test-dist: %s\n' "$*"; }
fail() {
    printf 'test-dist: error: %s\n' "$*" >&2
    exit 1
}

# ---- parts ----

programs() {
    local arch
    scripts/one-file.py "$dist/whyfaster-$version-x86_64-linux/whyfaster"
    for arch in x86_64 aarch64; do
        mkdir "$work/$arch"
        tar -C "$work/$arch" -xzf "$dist/whyfaster-$version-$arch-linux.tar.gz"
        cmp "$work/$arch/whyfaster-$version-$arch-linux/whyfaster" "$dist/whyfaster-$version-$arch-linux/whyfaster"
        ! grep -aF -e "$root" -e "${CARGO_HOME:-$HOME/.cargo}" "$dist/whyfaster-$version-$arch-linux/whyfaster" >/dev/null ||
            fail "the program for $arch names directories of this machine"
    done
    (cd "$dist" && sha256sum --quiet --check SHA256SUMS)
    say 'programs: static, small, quick to start; archives and checksums agree'
}

# What an emulator of user programs can show: it has neither BPF nor perf events. The record and the list are those of an x86-64 machine.
arm64() {
    local program=$dist/whyfaster-$version-aarch64-linux/whyfaster run own other
    readelf --file-header "$program" | grep -q AArch64 || fail 'the arm64 program is not for arm64'
    ! readelf --wide --program-headers --dynamic "$program" | grep -E 'INTERP|NEEDED' || fail 'the arm64 program is not static'
    run=(qemu-aarch64 "$program")
    [ "$("${run[@]}" --version)" = "whyfaster $version" ] || fail 'arm64: --version'
    for record in tests/records/*.json; do
        own=$("$dist/whyfaster-$version-x86_64-linux/whyfaster" show "$record")
        other=$("${run[@]}" show "$record")
        [ "$own" = "$other" ] || fail "arm64: show $record differs from x86-64"
    done
    [ "$("${run[@]}" machines | wc -l)" -gt 10 ] || fail 'arm64: machines'
    "${run[@]}" doctor >"$work/doctor" || [ $? -lt 64 ] || fail 'arm64: doctor'
    grep -q aarch64 "$work/doctor" || fail 'arm64: doctor says nothing of the machine'
    # Every probe has its description, which the build asks of the worker.
    "${run[@]}" prices --list >"$work/arm64.list"
    "$dist/whyfaster-$version-x86_64-linux/whyfaster" prices --list >"$work/x86.list"
    diff "$work/x86.list" "$work/arm64.list" || fail 'arm64: other probes than on x86-64'
    cross_env aarch64
    # Static, because there is no arm64 loader here.
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS='-C target-feature=+crt-static' \
        cargo test --quiet --locked --target aarch64-unknown-linux-gnu --target-dir target/arm64 -p whyfaster-core -p whyfaster-stats --lib
    say 'arm64: shows, compares and lists under qemu-user; the unit tests of the core pass'
}

# file_tree ROOT: the files in it, without the package manager's own.
file_tree() { (cd "$1" && find . -path ./var -prune -o -type f -print | sort); }

# An empty system with nothing but the package manager's database; the packages have no scripts that would need more.
packages() {
    local file system
    for file in "$dist"/*.deb; do
        system=$work/${file##*/}.root
        mkdir -p "$system"/var/lib/dpkg/{info,updates}
        : >"$system/var/lib/dpkg/status"
        dpkg --root="$system" --log=/dev/null --force-architecture --force-not-root --install "$file" >"$work/log" 2>&1 ||
            fail "dpkg refuses $file: $(cat "$work/log")"
        installed "$system" "$file"
        dpkg --root="$system" --log=/dev/null --force-not-root --purge whyfaster >/dev/null 2>&1
        [ -z "$(file_tree "$system")" ] || fail "$file leaves files behind: $(file_tree "$system")"
    done
    for file in "$dist"/*.rpm; do
        system=$work/${file##*/}.root
        mkdir -p "$system"
        command rpm --root "$system" --dbpath /var/lib/rpm --initdb
        command rpm --root "$system" --dbpath /var/lib/rpm --ignorearch --install "$file"
        installed "$system" "$file"
        command rpm --root "$system" --dbpath /var/lib/rpm --erase whyfaster
        [ -z "$(file_tree "$system")" ] || fail "$file leaves files behind: $(file_tree "$system")"
    done
    say 'packages: installed, started and removed in an empty system; no capabilities are set'
}

# installed SYSTEM PACKAGE: the program runs there, alone, and has no powers.
installed() {
    local system=$1 run=()
    case $2 in *arm64* | *aarch64*) run=(qemu-aarch64) ;; esac
    [ "$("${run[@]}" "$system/usr/bin/whyfaster" --version)" = "whyfaster $version" ] || fail "$2: the program does not run"
    [ ${#run[@]} -gt 0 ] || [ "$(id -u)" -ne 0 ] || chroot "$system" /usr/bin/whyfaster --version >/dev/null ||
        fail "$2: the program needs something from the system"
    [ -z "$(getcap "$system/usr/bin/whyfaster")" ] || fail "$2: the program has capabilities"
    [ -s "$system/usr/share/man/man1/whyfaster-compare.1.gz" ] || fail "$2: no manual page"
    [ -s "$system/usr/share/doc/whyfaster/THIRD-PARTY.txt" ] || fail "$2: no licences"
}

parts() {
    local arch stage
    for arch in x86_64 aarch64; do
        stage=$dist/whyfaster-$version-$arch-linux
        python3 - "$stage/sbom.cdx.json" "$stage/THIRD-PARTY.txt" <<'END'
import json, sys
parts = {part["name"]: part for part in json.load(open(sys.argv[1]))["components"]}
text = open(sys.argv[2]).read()
for name in ("libbpf-sys", "libelf", "zlib1g", "libc6", "clap", "rust-std"):
    assert name in parts, f"{name} is not in {sys.argv[1]}"
    assert f"{name} {parts[name]['version']}: " in text, f"{name} is not in {sys.argv[2]}"
for name in ("proptest", "libbpf-cargo", "cc"):
    assert name not in parts, f"{name} is no part of the program"
assert "GNU LESSER GENERAL PUBLIC LICENSE" in text.upper() and "elfutils" in text
END
    done
    say 'parts: the lists name the crates and C libraries that are inside, and their licences'
}

# As a user of crates.io would install it. Whoever looks for clang finds one that tells on them and fails.
crates() {
    local name crate patches=() ours=(whyfaster{,-core,-host,-probe,-render,-run,-store,-trace,-words})
    mkdir "$work/crates" "$work/bin"
    for name in clang clang-{13..22} bpftool; do
        printf '#!/bin/sh\necho "%s $*" >>%s\nexit 1\n' "$name" "$work/called" >"$work/bin/$name"
        chmod +x "$work/bin/$name"
    done
    cargo package --quiet --locked --offline --allow-dirty --no-verify "${ours[@]/#/--package=}" 2>"$work/log" ||
        fail "cargo package: $(cat "$work/log")"
    for crate in "${ours[@]}"; do
        tar -C "$work/crates" -xzf "target/package/$crate-$version.crate"
        [ -s "$work/crates/$crate-$version/LICENSE-MIT" ] || fail "$crate comes without its licence"
        if [ "$crate" != whyfaster ]; then
            patches+=(--config "patch.crates-io.$crate.path='$work/crates/$crate-$version'")
        fi
    done
    (cd "$work/crates" && PATH=$work/bin:$PATH cargo install --quiet --locked --offline --debug --path "whyfaster-$version" \
        --root "$work/installed" --target-dir "$root/target/crates" "${patches[@]}") || fail 'the crates do not install'
    [ ! -e "$work/called" ] || fail "the crates call a compiler for BPF: $(cat "$work/called")"
    [ "$("$work/installed/bin/whyfaster" --version)" = "whyfaster $version" ] || fail 'the installed program does not run'
    "$work/installed/bin/whyfaster" trace --level auto true >/dev/null || fail 'the installed program does not trace'
    say 'crates: packaged, unpacked and installed without a network and without clang'
}

again() {
    local elsewhere=$work/elsewhere
    mkdir "$elsewhere"
    git ls-files -z | tar --null --files-from - -c | tar -C "$elsewhere" -x
    # Only the helpers of the build are shared: nothing of them is in the files.
    mkdir -p "$elsewhere/target" target/debug
    ln -s "$root/target/debug" "$elsewhere/target/debug"
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} "$elsewhere/scripts/dist.sh" >/dev/null
    diff "$dist/SHA256SUMS" "$elsewhere/target/dist/SHA256SUMS" || fail 'another directory gives other bytes'
    say 'again: the same bytes in another directory'
}

wanted=("$@")
if [ ${#wanted[@]} -eq 0 ]; then wanted=(programs arm64 packages parts crates again); fi
for part in "${wanted[@]}"; do
    case $part in
    programs | arm64 | packages | parts | crates | again) "$part" ;;
    *) fail "no part '$part'; name programs, arm64, packages, parts, crates or again" ;;
    esac
done
