#!/bin/bash
# A sweep as a job array of a real Slurm gives the table of one on this machine; a task that is told to end leaves
# checkpoints, is queued again and goes on. One node on loopback, with keys, ports and logs of its own, started and
# stopped here; needs slurm-wlm, munge, and root.
cd "$(dirname "$0")/../.." || exit 1
SDRS=${SDRS:-./sdrs}
PATIENCE=600 # s for all jobs of an array

skip() {
  echo "SKIP: $1"
  echo "0 passed, 0 failed"
  exit 0
}
for tool in munged slurmctld slurmd sbatch scontrol; do
  command -v $tool >/dev/null || PATH=$PATH:/usr/sbin command -v $tool >/dev/null ||
    skip "no $tool here (scripts/deps.sh long)"
done
((EUID == 0)) || skip "slurmd needs root"
PATH=$PATH:/usr/sbin

work=$(mktemp -d) || exit 1
passed=0 failed=0

stop_slurm() {
  local name
  for name in slurmd slurmctld munged; do
    if [[ -e $work/$name.pid ]]; then kill "$(<"$work/$name.pid")" 2>/dev/null; fi
  done
  for _ in {1..100}; do # they remove these when they have ended
    if [[ ! -e $work/slurmd.pid && ! -e $work/slurmctld.pid ]]; then break; fi
    sleep 0.1
  done
  rm -rf "$work"
}
trap stop_slurm EXIT

start_slurm() {
  mkdir "$work/spool" "$work/state"
  # munged lets others through to its socket, which sits below a folder of root's.
  chmod 755 "$work"
  (umask 077 && head -c 1024 /dev/urandom >"$work/munge.key")
  munged --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" \
    --log-file="$work/munged.log" --seed-file="$work/munge.seed" || return 1
  # Requeued jobs wait until the credential of their first start is void: 10 s instead of 2 minutes.
  cat >"$work/slurm.conf" <<END
ClusterName=loopback
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket,cred_expire=10
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmdSpoolDir=$work/spool
StateSaveLocation=$work/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
KillWait=5
NodeName=$(hostname) NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
  export SLURM_CONF=$work/slurm.conf
  slurmctld && slurmd || return 1
  for _ in {1..200}; do
    if [[ $(sinfo -h -o %t 2>/dev/null) == idle ]]; then return 0; fi
    sleep 0.1
  done
  return 1
}

if ! start_slurm >"$work/start.log" 2>&1; then
  tail -n 5 "$work"/*.log
  skip "Slurm does not start here (the lines above)"
fi

judge() { # name, what is wrong ("" = nothing)
  if [[ -z $2 ]]; then
    passed=$((passed + 1))
    echo "ok   $1"
  else
    failed=$((failed + 1))
    printf 'FAIL %s\n%s\n' "$1" "$2"
  fi
}

wait_for_jobs() {
  local end=$((SECONDS + PATIENCE))
  while [[ -n $(squeue -h) ]]; do
    if ((SECONDS > end)); then
      squeue
      scancel -u root
      return 1
    fi
    sleep 0.5
  done
}

compare_tables() { # two folders
  local folder
  for folder in "$1" "$2"; do scripts/collect.py --no-timings "$folder" >"$folder.csv" || echo "$folder is not done"; done
  cmp "$1.csv" "$2.csv" || diff "$1.csv" "$2.csv" | head -n 5
}

cat >"$work/slide.yaml" <<END
contact.friction: [$(seq -s , 0.05 0.05 1)]
links.box.mass: [$(seq -s , 1 10)]
END
slide=("$work/slide.yaml" -- "$SDRS" simulate scenes/slide.yaml --steps 100)
scripts/sweep.sh -q -o "$work/slide-here" "${slide[@]}" >/dev/null
scripts/sweep.sh -q -o "$work/slide-slurm" --block 15 --slurm "--time=10" "${slide[@]}" >/dev/null
problem=$(wait_for_jobs || echo "jobs do not end")
problem+=$(compare_tables "$work/slide-here" "$work/slide-slurm" 2>&1)
(($(wc -l <"$work/slide-here.csv") == 201)) || problem+="not 200 rows"
(($(find "$work/slide-slurm" -name 'slurm-*.log' | wc -l) == 14)) || problem+="not 14 tasks"
judge "200 rows in blocks of 15" "$problem"

# Only blocks with rows to run are submitted again.
rm "$work"/slide-slurm/1[67]*/summary.json
scripts/sweep.sh -q -o "$work/slide-slurm" --block 15 --slurm "--time=10" "${slide[@]}" >"$work/said"
array=$(scontrol show job "$(grep -o '[0-9]*$' "$work/said")" 2>/dev/null | grep -o 'ArrayTaskId=[0-9,-]*' | sort -u | paste -sd' ')
problem=$(wait_for_jobs || echo "jobs do not end")
problem+=$(compare_tables "$work/slide-here" "$work/slide-slurm" 2>&1)
[[ $array == *ArrayTaskId=10* || $array == *ArrayTaskId=11* ]] || problem+="tasks: $array"
[[ $array != *ArrayTaskId=0* ]] || problem+="tasks: $array"
judge "rows that are missing again" "$problem"

# What the time limit does, without its wait of minutes: Slurm's SIGUSR1 to the shell of each task that is on its way.
printf 'optimizer.control_step\n0.3\n0.05\n' >"$work/spider.csv"
spider=("$work/spider.csv" -- "$SDRS" optimize scenes/tasks/spider-control.yaml --iterations 100)
scripts/sweep.sh -q -o "$work/spider-here" "${spider[@]}" >/dev/null
scripts/sweep.sh -q -o "$work/spider-slurm" --block 2 --slurm "--time=10" "${spider[@]}" >"$work/said"
job=$(grep -o '[0-9]*$' "$work/said")
limit=$((SECONDS + PATIENCE))
iterations() { grep -cs "" "$work/spider-slurm/1/convergence.csv"; }
while lines=$(iterations); ((${lines:-0} < 12 && SECONDS < limit)); do sleep 0.05; done # a header, the start, ten iterations
scancel --batch --signal=USR1 "$job"
problem=$(wait_for_jobs || echo "jobs do not end")
problem+=$(compare_tables "$work/spider-here" "$work/spider-slurm" 2>&1)
grep -qs 'goes on after iteration [1-9]' "$work/spider-slurm/1/log" || problem+="the task was not queued again"
judge "SIGUSR1: checkpoint, queued again, gone on" "$problem"
[[ -z $problem ]] || tail -n 3 "$work"/spider-slurm/slurm-*.log

echo "$passed passed, $failed failed"
((failed == 0))
