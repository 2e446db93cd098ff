# A gearmand on a port of the loopback interface, and workers that start a program for every job.
set -eu
user=
[ "$(id -u)" -ne 0 ] || user='-u root'
# shellcheck disable=SC2086
gearmand $user --listen=127.0.0.1 --port="$LADDER_PORT" --threads=1 --log-file="$LADDER_DIR/gearmand.log" &
tries=200
until gearadmin --host=127.0.0.1 --port="$LADDER_PORT" --getpid >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || exit 1
    sleep 0.05
done
for _ in $(seq "$LADDER_WORKERS"); do
    # shellcheck disable=SC2016
    gearman -h 127.0.0.1 -p "$LADDER_PORT" -w -f task -- \
        sh -c 'read -r length; exec "$LADDER_TASK" --task "$LADDER_STAMPS" "$length"' &
done
echo ready
wait
