#!/bin/bash
# A study on a shared file system from 16 nodes, one process each:  sbatch slurm.sh /lustre/scratch/me
#SBATCH --job-name=iosonde
#SBATCH --nodes=16
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --time=00:30:00
#SBATCH --requeue
set -eu
target=${1:?usage: sbatch slurm.sh DIRECTORY}
# The notebook lies on rank 0's side, and not on what is measured. It has the job's number, which a job keeps when Slurm
# starts it again after a lost node (--requeue): the run then goes on, with as many nodes as before. After an end by the
# time limit, go on by hand:  scontrol requeue JOB
export IOSONDE_STORE=$SLURM_SUBMIT_DIR/iosonde-$SLURM_JOB_ID.db
report=$SLURM_SUBMIT_DIR/iosonde-$SLURM_JOB_ID.html
if [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && [ -e "$IOSONDE_STORE" ]; then
    exec srun --mpi=pmix iosonde-mpi resume last --out "$report"
fi
exec srun --mpi=pmix iosonde-mpi run quick "$target" --out "$report"
