# Sourced by the scripts that compile for another architecture: with what. scripts/setup.sh dist puts it there.

# cross_env ARCH: tells cargo and the build scripts of crates; nothing where ARCH is this machine's.
cross_env() {
    local arch=$1 target=$1-unknown-linux-gnu upper
    [ "$arch" != "$(uname -m)" ] || return 0
    away=${TOOLS:?}/$arch
    if ! [ -e "$away/complete" ]; then
        echo "error: nothing to build for $arch with in $away; run scripts/setup.sh dist" >&2
        return 1
    fi
    # A compiler of its own where the one at hand has no standard library for this architecture.
    if [ -x "$away/rustc" ]; then export RUSTC=$away/rustc; fi
    upper=$(tr '[:lower:]-' '[:upper:]_' <<<"$target")
    export "CARGO_TARGET_${upper}_LINKER=$arch-linux-gnu-gcc" "CARGO_TARGET_${upper}_RUNNER=qemu-$arch" \
        "CC_${target//-/_}=$arch-linux-gnu-gcc" "LIBBPF_SYS_LIBRARY_PATH_${target//-/_}=$away/usr/lib/$arch-linux-gnu" \
        "CFLAGS_${target//-/_}=-I$away/usr/include"
}
