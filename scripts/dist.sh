#!/usr/bin/env bash
# Makes the files of a release, in target/dist: for each architecture an archive, a deb and an rpm with one static program, its parts and their
# licences, and SHA256SUMS over all. Two runs from the same commit give the same bytes, wherever the clone lies.
#
# Usage: scripts/dist.sh [ARCH]...     ARCH: x86_64, aarch64; default: both
# Environment: TOOLS (see scripts/setup.sh), SOURCE_DATE_EPOCH (default: the commit's time), DIST (default: target/dist)
set -euo pipefail
export LC_ALL=C TZ=UTC
umask 022

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
TOOLS=${TOOLS:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/whyfaster/tools}
# shellcheck source=scripts/cross-env.sh
. scripts/cross-env.sh
dist=${DIST:-$root/target/dist}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

say() { printf 'dist: %s\n' "$*" >&2; }
fail() {
    say "error: $1"
    say "next:  $2"
    exit 1
}

if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null) ||
        fail 'no time for the files: this is no git clone' 'set SOURCE_DATE_EPOCH to seconds since 1970'
fi
export SOURCE_DATE_EPOCH

# ---- the program ----

# Paths of this machine are in no file: they would differ on the next one.
forget=("$root=/whyfaster" "$dist=/dist" "${CARGO_HOME:-$HOME/.cargo}=/cargo")

# compile ARCH: the same way for both, so that neither is a special case of the other.
compile() {
    local arch=$1 target=$1-unknown-linux-gnu map flags=(-C target-feature=+crt-static) cflags=CFLAGS_${1}_unknown_linux_gnu
    cross_env "$arch"
    if [ "$arch" = "$(uname -m)" ]; then
        flags+=(-C "link-args=$(scripts/link-args)")
    else
        forget+=("$away=/away")
        flags+=(-C link-args=-Wl,-Bstatic)
    fi
    forget+=("$("${RUSTC:-rustc}" --print sysroot)=/rust")
    for map in "${forget[@]}"; do
        flags+=(--remap-path-prefix "$map")
        # For the C parts of crates. The worker is compiled by relative paths.
        export "$cflags=${!cflags:-} -ffile-prefix-map=$map"
    done
    local -x CARGO_ENCODED_RUSTFLAGS
    CARGO_ENCODED_RUSTFLAGS=$(printf '%s\x1f' "${flags[@]}")
    CARGO_ENCODED_RUSTFLAGS=${CARGO_ENCODED_RUSTFLAGS%$'\x1f'}
    say "compiling for $target with $("${RUSTC:-rustc}" --version)"
    CARGO_INCREMENTAL=0 cargo build --quiet --release --locked -p whyfaster --bin whyfaster --target "$target" \
        --target-dir "$dist/build"
}

# ---- what goes with it ----

# libraries ARCH: the C libraries and Rust's own that are linked in, for xtask. Debian's copyright files name the licences' texts, which lie together.
libraries() {
    local arch=$1 suffix= package licence texts name facts doc rust text=/usr/share/common-licenses
    [ "$arch" = "$(uname -m)" ] || suffix=-arm64-cross
    while read -r package licence texts; do
        name=${package%-dev*}
        doc=/usr/share/doc/$package/copyright
        if [ -z "$suffix" ] || [ "$package" != "${package%-cross}" ]; then
            facts=$(dpkg-query -W -f '${Version} ${source:Package} ${source:Version}' "$package")
        else
            # As unpacked by scripts/setup.sh.
            facts=$(cat "$TOOLS/$arch/$package.facts")
            doc=$TOOLS/$arch$doc
        fi
        # Version, name of the source package, its version.
        read -r -a facts <<<"$facts"
        printf '%s\t%s\t%s\thttps://snapshot.debian.org/package/%s/%s/\t%s\n' "$name" "${facts[0]}" "${licence//_/ }" \
            "${facts[1]}" "${facts[2]}" "$doc$texts"
    done <<END
libelf-dev LGPL-3.0-or-later_OR_GPL-2.0-or-later :$text/LGPL-3:$text/GPL-3:$text/GPL-2
zlib1g-dev Zlib
libc6-dev$suffix LGPL-2.1-or-later :$text/LGPL-2.1
libgcc-$(gcc -dumpversion | cut -d. -f1)-dev$suffix GPL-3.0-or-later_WITH_GCC-exception-3.1 :$text/GPL-3
END
    rust=$("${RUSTC:-rustc}" --version | cut -d' ' -f2)
    printf 'rust-std\t%s\tMIT OR Apache-2.0\thttps://github.com/rust-lang/rust/tree/%s\t%s\n' "$rust" "$rust" \
        LICENSE-MIT:LICENSE-APACHE
}

# stage ARCH DIRECTORY: everything that the archive and the packages hold.
stage() {
    local arch=$1 to=$2
    rm -rf "$to"
    mkdir -p "$to"
    install -m 755 "$dist/build/$arch-unknown-linux-gnu/release/whyfaster" "$to/whyfaster"
    cp -r man completions README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$to"
    libraries "$arch" >"$dist/build/libraries-$arch"
    cargo run --quiet --locked --target-dir target -p xtask -- notices --target "$arch-unknown-linux-gnu" \
        --libraries "$dist/build/libraries-$arch" --time "$SOURCE_DATE_EPOCH" "$to"
    chmod -R u=rwX,go=rX "$to"
}

archive() {
    tar -C "$dist" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu -c "$1" |
        gzip -9n >"$dist/$1.tar.gz"
}

# ---- packages ----

summary='which of two commands is faster, why, and from what load on'

# tree STAGE ROOT ZSH-DIRECTORY: the files where a system looks for them. No capabilities are set: that is the administrator's decision.
tree() {
    local from=$1 to=$2 doc=$2/usr/share/doc/whyfaster page
    rm -rf "$to"
    install -D -m 755 "$from/whyfaster" "$to/usr/bin/whyfaster"
    for page in "$from"/man/*.1; do
        install -D -m 644 "$page" "$to/usr/share/man/man1/${page##*/}"
    done
    gzip -9n "$to"/usr/share/man/man1/*.1
    install -D -m 644 "$from/completions/whyfaster.bash" "$to/usr/share/bash-completion/completions/whyfaster"
    install -D -m 644 "$from/completions/whyfaster.fish" "$to/usr/share/fish/vendor_completions.d/whyfaster.fish"
    install -D -m 644 "$from/completions/_whyfaster" "$to/usr/share/zsh/$3/_whyfaster"
    mkdir -p "$doc"
    install -m 644 "$from"/{README.md,CHANGELOG.md,THIRD-PARTY.txt,sbom.cdx.json,LICENSE-APACHE} "$doc"
    install -m 644 "$from/LICENSE-MIT" "$doc/copyright"
}

deb() {
    local from=$1 arch=$2 tree=$dist/build/deb-$2
    tree "$from" "$tree" vendor-completions
    mkdir "$tree/DEBIAN"
    cat >"$tree/DEBIAN/control" <<END
Package: whyfaster
Version: $version-1
Architecture: $arch
Maintainer: whyfaster <whyfaster@users.noreply.github.com>
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f1)
Section: utils
Priority: optional
Suggests: libcap2-bin
Homepage: https://github.com/whyfaster/whyfaster
Description: $summary
 Runs commands and pipelines that do the same work side by side, alone and many
 at once, and says which is faster, why, and at which load the answer flips.
 One static program. It has no capabilities: see "whyfaster doctor".
END
    dpkg-deb --root-owner-group -Zxz --build "$tree" "$dist/whyfaster_$version-1_$arch.deb" >/dev/null
}

rpm() {
    local from=$1 arch=$2 tree=$dist/build/rpm-$2 work=$dist/build/rpmbuild-$2
    tree "$from" "$tree" site-functions
    rm -rf "$work"
    mkdir -p "$work"
    cat >"$work/whyfaster.spec" <<END
Name: whyfaster
Version: $version
Release: 1
Summary: $summary
License: MIT OR Apache-2.0
URL: https://github.com/whyfaster/whyfaster
AutoReqProv: no
%description
Runs commands and pipelines that do the same work side by side, alone and many
at once, and says which is faster, why, and at which load the answer flips.
One static program. It has no capabilities: see "whyfaster doctor".
%install
mkdir -p %{buildroot}
cp -a $tree/usr %{buildroot}
%files
/usr/bin/whyfaster
/usr/share/man/man1/*
/usr/share/bash-completion/completions/whyfaster
/usr/share/fish/vendor_completions.d/whyfaster.fish
/usr/share/zsh/site-functions/_whyfaster
/usr/share/doc/whyfaster
END
    # No helper may strip or compress files again, and nothing of this machine goes into the header.
    rpmbuild -bb --quiet --target "$arch-linux" -D "_topdir $work" -D "_rpmdir $dist" -D '_rpmfilename %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm' \
        -D 'debug_package %{nil}' -D '__os_install_post %{nil}' -D '_build_id_links none' -D '_buildhost localhost' \
        -D 'use_source_date_epoch_as_buildtime 1' -D 'clamp_mtime_to_source_date_epoch 1' -D '_binary_payload w6.xzdio' \
        "$work/whyfaster.spec" >/dev/null
}

# ---- all of it ----

arches=("$@")
if [ ${#arches[@]} -eq 0 ]; then arches=(x86_64 aarch64); fi
mkdir -p "$dist/build"
rm -f "$dist"/*.tar.gz "$dist"/*.deb "$dist"/*.rpm "$dist/SHA256SUMS"
declare -A debian=([x86_64]=amd64 [aarch64]=arm64)
for arch in "${arches[@]}"; do
    [ -n "${debian[$arch]:-}" ] || fail "no architecture '$arch'" 'name x86_64, aarch64 or none'
    # In a shell of its own, so that what one architecture needs is not there for the other.
    (
        name=whyfaster-$version-$arch-linux
        compile "$arch"
        stage "$arch" "$dist/$name"
        archive "$name"
        deb "$dist/$name" "${debian[$arch]}"
        rpm "$dist/$name" "$arch"
    )
done
(cd "$dist" && sha256sum -- *.tar.gz *.deb *.rpm >SHA256SUMS)
cat "$dist/SHA256SUMS"
