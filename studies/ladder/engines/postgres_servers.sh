# A PostgreSQL on a socket in our directory, without fsync, and workers that take rows of a queue. It refuses root, so that root's
# becomes nobody's.
set -eu
bin=$(dirname "$(command -v postgres)")
as=
if [ "$(id -u)" -eq 0 ]; then
    as='setpriv --reuid=nobody --regid=nogroup --clear-groups'
    chown nobody "$LADDER_DIR"
    # Its way there leads through directories that are ours alone. Its own stays its own: whoever reaches the socket is its superuser.
    chmod 711 "$LADDER_FILES"
fi
export PGDATA="$LADDER_DIR/data"
$as "$bin/initdb" --no-sync --auth=trust --username=ladder >&2
$as "$bin/postgres" -c listen_addresses= -c unix_socket_directories="$LADDER_DIR" -c fsync=off -c max_connections=$((LADDER_WORKERS + 10)) >&2 &
exec "$LADDER_PYTHON" "$LADDER_FILES/postgres_workers.py"
