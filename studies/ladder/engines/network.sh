# Runs a program in a network that has the loopback interface alone, so that nobody else reaches what listens there: 'make PROGRAM...'
# gives it one of its own, 'join PROGRAM...' that of the program that made it in this directory.
set -eu
way=$1
shift
as_root=
case $way in
make)
    [ "$(id -u)" -eq 0 ] || as_root=-r
    # shellcheck disable=SC2016
    exec unshare $as_root -n sh -c 'ip link set lo up && echo $$ >"$LADDER_DIR/network" && exec "$@"' sh "$@"
    ;;
join)
    # The network belongs to a user namespace, in which we are root.
    [ "$(id -u)" -eq 0 ] || as_root='-U --preserve-credentials'
    # shellcheck disable=SC2086
    exec nsenter $as_root -n -t "$(cat "$LADDER_DIR/network")" "$@"
    ;;
esac
