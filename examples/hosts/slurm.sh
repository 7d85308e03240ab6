#!/bin/bash
# A study on a shared file system from 16 nodes, one process each:  sbatch slurm.sh /lustre/scratch/me
#SBATCH --job-name=iosonde
#SBATCH --nodes=16
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --time=00:30:00
set -eu
target=${1:?usage: sbatch slurm.sh DIRECTORY}
# The notebook lies on rank 0's side, and not on what is measured. Submitted again after an end by the time limit or a lost
# node, the run goes on: with as many nodes as before.
export IOSONDE_STORE=$SLURM_SUBMIT_DIR/iosonde-$SLURM_JOB_NAME.db
if [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ]; then
    exec srun --mpi=pmix iosonde-mpi resume last
fi
exec srun --mpi=pmix iosonde-mpi run quick "$target" --out "$SLURM_SUBMIT_DIR/iosonde-$SLURM_JOB_ID.html"
