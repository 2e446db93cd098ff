# A redis on a socket in our directory, which keeps nothing, and a Celery worker with its pool of processes.
set -eu
redis-server --port 0 --unixsocket "$LADDER_DIR/redis.sock" --save '' --appendonly no --dir "$LADDER_DIR" >&2 &
tries=200
until [ -S "$LADDER_DIR/redis.sock" ]; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || exit 1
    sleep 0.05
done
cd "$LADDER_FILES"
exec "$LADDER_PYTHON" -W ignore -m celery --quiet -A celery_tasks worker --pool=prefork --concurrency="$LADDER_WORKERS" \
    --without-gossip --without-mingle --without-heartbeat --loglevel=ERROR
