# An sshd on a port of the loopback interface with keys of its own, and what its clients need to know, in ssh.conf.
set -eu
cd "$LADDER_DIR"
ssh-keygen -q -t ed25519 -N '' -f host
ssh-keygen -q -t ed25519 -N '' -f key
cp key.pub authorized
cat >sshd.conf <<EOF
Port $LADDER_PORT
ListenAddress 127.0.0.1
HostKey $LADDER_DIR/host
AuthorizedKeysFile $LADDER_DIR/authorized
PidFile none
UsePAM no
StrictModes no
MaxStartups 1000
MaxSessions 1000
PermitRootLogin yes
SetEnv HOME=$LADDER_DIR
EOF
cat >ssh.conf <<EOF
Host *
HostName 127.0.0.1
Port $LADDER_PORT
IdentityFile $LADDER_DIR/key
IdentitiesOnly yes
StrictHostKeyChecking no
UserKnownHostsFile $LADDER_DIR/known
LogLevel ERROR
EOF
# As root it wants this directory, which it empties itself of its rights.
[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
"$(command -v sshd)" -D -e -f sshd.conf &
tries=200
until ssh -F ssh.conf -o BatchMode=yes box true </dev/null >&2; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || exit 1
    sleep 0.05
done
if [ "${1:-}" = shared ]; then
    # The connection that all share. It is part of what is started once, like the server.
    ssh -F ssh.conf -o BatchMode=yes -o ControlMaster=yes -o ControlPath="$LADDER_DIR/shared" -N box </dev/null &
    until [ -S shared ]; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || exit 1
        sleep 0.05
    done
fi
echo ready
wait
