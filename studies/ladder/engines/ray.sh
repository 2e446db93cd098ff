# Ray listens on every interface, so that it gets a network of its own, which has the loopback interface alone.
set -eu
own=
[ "$(id -u)" -eq 0 ] || own=-r
# shellcheck disable=SC2016
exec unshare $own -n sh -c 'ip link set lo up; exec "$LADDER_PYTHON" "$LADDER_FILES/ray_client.py"'
