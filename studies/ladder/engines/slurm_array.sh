# An array of jobs: $1 tasks of $2 nanoseconds. sbatch waits for all of them.
set -eu
export SLURM_CONF="$LADDER_DIR/slurm.conf"
cd "$LADDER_DIR"
printf '#!/bin/sh\nexec "%s" --task "%s" %s\n' "$LADDER_TASK" "$LADDER_STAMPS" "$2" >job.sh
sbatch --quiet --wait --output=/dev/null --array="1-$1" job.sh
