# Fetches packages into a directory, as an ordinary user and without installing anything: $1 is the directory, the others are debian:NAME
# or pypi:NAME. Packages of Debian come with what they depend on and this machine lacks.
set -eu
root=$1
shift
umask 022
mkdir -p "$root/debian" "$root/python" "$root/packages"
debian= pypi=
for package; do
    case $package in
    debian:*) debian="$debian ${package#debian:}" ;;
    pypi:*) pypi="$pypi ${package#pypi:}" ;;
    esac
done
if [ -n "$debian" ]; then
    cd "$root/packages"
    # A simulation may be run by anybody: it names what would be installed.
    # shellcheck disable=SC2086
    names=$(apt-get -s --no-install-recommends install $debian | sed -n 's/^Inst \([^ ]*\) .*/\1/p')
    # shellcheck disable=SC2086
    apt-get download $names
    for file in ./*.deb; do
        dpkg-deb -x "$file" "$root/debian"
        rm "$file"
    done
fi
if [ -n "$pypi" ]; then
    # shellcheck disable=SC2086
    python3 -m pip install --quiet --upgrade --target "$root/python" $pypi
fi
