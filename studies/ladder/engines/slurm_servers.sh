# A cluster of one node on the loopback interface: munged, slurmctld, slurmd. All of them want root.
set -eu
[ "$(id -u)" -eq 0 ] || {
    echo 'failed Slurm as it is packaged runs as root only'
    exit 1
}
cd "$LADDER_DIR"
mkdir spool state
dd if=/dev/urandom of=key bs=128 count=1 2>/dev/null
chmod 600 key
munged --foreground --force --key-file="$PWD/key" --socket="$PWD/munge" --pid-file="$PWD/munged.pid" --log-file="$PWD/munged.log" \
    --seed-file="$PWD/seed" &
cat >slurm.conf <<EOF
ClusterName=ladder
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$LADDER_PORT
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$PWD/munge
CredType=cred/munge
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmdPidFile=$PWD/slurmd.pid
SlurmctldLogFile=$PWD/slurmctld.log
SlurmdLogFile=$PWD/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,default_queue_depth=10000
MaxArraySize=20001
MaxJobCount=50000
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
NodeName=n1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$LADDER_SECOND_PORT CPUs=$LADDER_WORKERS Sockets=1 CoresPerSocket=$LADDER_WORKERS ThreadsPerCore=1 RealMemory=1000
PartitionName=p Nodes=n1 Default=YES State=UP
EOF
export SLURM_CONF="$PWD/slurm.conf"
tries=400
until [ -S munge ]; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || exit 1
    sleep 0.05
done
slurmctld -D 2>>out >&2 &
slurmd -D -N n1 2>>out >&2 &
until sinfo -h -o %t 2>/dev/null | grep -q '^idle'; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || exit 1
    sleep 0.05
done
echo ready
wait
