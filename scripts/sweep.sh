#!/bin/bash
# Many runs of one command, a row of a study each, on this machine or on a cluster; docs/batch.md tells more.
#   scripts/sweep.sh [-j N] [-o DIR] [-q] [--anew|--keep] [--halt WHEN] STUDY -- sdrs VERB FILE [options]
#   scripts/sweep.sh [-o DIR] [--anew|--keep] [--block N] --slurm "OPTIONS OF SBATCH" STUDY -- sdrs VERB FILE [options]
# STUDY is a CSV whose header names paths of --set, or a YAML map of paths to lists, whose product is taken.
#   -j N         runs at a time (default: processors)
#   -o DIR       results (default: out/sweeps/<name of the study>); a row's run folder is DIR/<row>
#   -q           say only what failed
#   --anew       run rows again that ended with files (scene, task, meshes) that have been edited since
#   --keep       leave such rows as they are; without either they are named and nothing runs
#   --halt WHEN  of GNU parallel: now,fail=1 or soon,fail=20% (default: never)
#   --slurm ...  a job array instead, a block of rows a task; empty "" for the cluster's own settings
#   --block N    rows of a block (default: 10)
# Rows that have ended are not run again, so the same command goes on after an interruption: a row has ended when its
# summary.json tells exit code 0, or 4 (the solver failed, and would again). One that was interrupted on the way to a
# design goes on from its checkpoint.
# Prints the name of the table that scripts/collect.py makes of DIR. Exit codes: 0 all rows done, 1 some are not,
# 2 wrong usage, 3 bad input, 5 cannot read or write, 130 interrupted; with --slurm, 0 when the array is queued.
set -uo pipefail

# Seconds that a run may take to end in order after a signal.
GRACE=20
# Seconds before the time limit at which Slurm asks for a checkpoint.
WARNING=${SWEEP_WARNING:-120}

# Rows that one call of this script runs at most, where there are that many: a call costs as much as a short run does.
ROWS_AT_ONCE=32

usage() {
  sed -n '2,20s/^# \{0,1\}//p' "$SELF" >&2
  exit 2
}

fail() { # exit code, text
  echo "sweep.sh: error: $2" >&2
  exit "$1"
}

# ---------------------------------------------------------------- one row

# By the exit code that its summary tells, where it stands once. Without another process: there are hundreds of rows.
has_ended() { # run folder
  local text=
  if [[ ! -e $1/summary.json ]]; then return 1; fi
  IFS= read -r -d '' text <"$1/summary.json"
  [[ $text =~ \"exit_code\":\ *([0-9]+) && (${BASH_REMATCH[1]} == 0 || ${BASH_REMATCH[1]} == 4) ]]
}

# Becomes the program. Whoever was killed may have left a run behind that still writes here: wait for its lock, which
# the program inherits and keeps as long as it lives.
become_run() { # run folder
  local run=$1 folder=${1%/*}
  local -a words sets=()
  exec 9>>"$run/lock"
  flock 9
  if has_ended "$run"; then exit 0; fi
  mapfile -t words <"$folder/command"
  while IFS= read -r line; do sets+=(--set "$line"); done <"$run/set"
  if [[ " ${words[*]} " == *' optimize '* && -e $run/checkpoint ]]; then sets+=(--resume); fi
  if [[ -e $run/exit ]]; then rm -f "$run/exit"; fi
  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
  exec "${words[@]}" -o "$run" "${sets[@]}" </dev/null >"$run/log" 2>&1
}

# A signal ends `wait` before the program ends. Returns the program's exit code.
wait_for_child() {
  local code
  wait "$child"
  code=$?
  while kill -0 "$child" 2>/dev/null; do
    wait "$child"
    code=$?
  done
  child=
  return "$code"
}

# The first error that a run told of, or its last line.
reason_in() { # log
  grep -m 1 error: "$1" 2>/dev/null || tail -n 1 "$1" 2>/dev/null
}

run_row() { # run folder
  local code
  (become_run "$1") &
  child=$!
  wait_for_child
  code=$?
  echo "$code" >"$1/exit"
  return "$code"
}

# GNU parallel signals all of the row's process group: the program has its signal already, for which a second one would
# mean to leave at once. This shell only stays to write down how it ended, and begins no other row.
rows_main() { # DIR, rows...
  local dir=$1 row code worst=0
  asked=false
  trap 'asked=true' TERM INT USR1
  for row in "${@:2}"; do
    if $asked; then break; fi
    run_row "$dir/$row"
    code=$?
    if ((code == 0)); then continue; fi
    worst=$code
    echo "row $row: exit code $code: $(reason_in "$dir/$row/log") ($dir/$row/log)" >&2
  done
  exit "$worst"
}

# ---------------------------------------------------------------- rows of a study

# Rows that have not ended, one a line.
unfinished() { # DIR, rows...
  local dir=$1 row
  for row in "${@:2}"; do
    if ! has_ended "$dir/$row"; then echo "$row"; fi
  done
}

# Rows that ran with files which are others now: `row<tab>file`, one a line.
outdated() { # DIR, rows...
  (($# == 1)) || printf '%s\0' "${@:2}" | xargs -0 "$SCRIPTS/sweep_inputs.py" "$1"
}

name_outdated() { # lines of `outdated`
  local file
  cut -f 2 <<<"$1" | sort -u | while IFS= read -r file; do
    echo "  $file: rows $(awk -F '\t' -v file="$file" '$2 == file { print $1 }' <<<"$1" | paste -sd ' ')" >&2
  done
}

# Nothing that an old run knows is left; whoever still writes there is waited for.
forget_run() { # run folder
  flock "$1/lock" rm -f "$1/summary.json" "$1/checkpoint" "$1/exit"
}

# Rows that ran with other versions of their files, as --anew and --keep say. A row that was refused goes anew too: its
# checkpoint may be of such a version.
settle_outdated() { # DIR, rows...
  local dir=$1 lines row
  lines=$(outdated "$@") || exit
  if [[ -n $lines && -z $changed ]]; then
    echo "sweep.sh: error: files were edited after rows had run with them:" >&2
    name_outdated "$lines"
    fail 3 "--anew runs these rows again, --keep leaves them as they are, -o gives another folder"
  fi
  if [[ $changed != anew ]]; then return; fi
  while IFS= read -r row; do
    if [[ -n $row ]]; then forget_run "$dir/$row"; fi
  done < <(cut -f 1 <<<"$lines")
  for row in "${@:2}"; do
    if [[ $(cat "$dir/$row/exit" 2>/dev/null) == 3 ]]; then forget_run "$dir/$row"; fi
  done
}

make_table() { # DIR; 1 when rows are missing or failed
  local code
  "$SCRIPTS/collect.py" "$1" >"$1/table.csv~"
  code=$?
  mv "$1/table.csv~" "$1/table.csv"
  echo "$1/table.csv"
  return "$code"
}

# ---------------------------------------------------------------- on this machine

# Rows of a call: one, unless every job has dozens to run, and as --halt counts them.
rows_of_a_call() { # rows
  local count=$(($1 / (20 * jobs)))
  if [[ $halt != never || $count -lt 1 ]]; then count=1; fi
  echo $((count < ROWS_AT_ONCE ? count : ROWS_AT_ONCE))
}

run_here() { # DIR, rows to run...
  local dir=$1
  local -a show=()
  if [[ -t 2 ]] && ! $quiet; then show=(--bar); fi
  # One log over all calls.
  if [[ ! -e $dir/joblog ]]; then
    printf 'Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n' >"$dir/joblog"
  fi
  parallel --jobs "$jobs" --joblog "+$dir/joblog" --halt "$halt" --termseq "TERM,${GRACE}000,KILL,25" "${show[@]}" \
    --max-args "$(rows_of_a_call $(($# - 1)))" --quote "$SELF" --rows "$dir" < <(printf '%s\n' "${@:2}") &
  child=$!
  # A terminal's SIGINT reaches parallel too; it ends its runs in order.
  trap 'asked=true' INT
  trap 'asked=true; kill -TERM "$child"' TERM
  wait_for_child
}

# ---------------------------------------------------------------- Slurm

# `0,3,7` for the blocks that hold rows to run.
blocks_of() { # rows of a block, all rows' count, positions of the rows to run...
  local block=$1 position
  for position in "${@:2}"; do echo $((position / block)); done | uniq | paste -sd,
}

# One job array. Which rows a task runs follows from its number alone, so that a task that is queued again, or an array
# that is submitted again, finds its rows.
submit() { # DIR, all rows...
  local dir=$1 array number=0 row
  local -a rows=("${@:2}") positions=() extra
  for row in "${rows[@]}"; do
    if ! has_ended "$dir/$row"; then positions+=("$number"); fi
    number=$((number + 1))
  done
  array=$(blocks_of "$block" "${positions[@]}")
  read -ra extra <<<"$slurm"
  sbatch --job-name="${dir##*/}" --array="$array" --requeue --signal="B:USR1@$WARNING" --open-mode=append \
    --output="$dir/slurm-%a.log" "${extra[@]}" \
    --wrap="exec $(printf '%q ' "$SELF" --task "$dir" "$block")"
}

# A task of the array: its rows one after another, with the task's processors as threads. Slurm's SIGUSR1 reaches this
# shell alone.
task_main() { # DIR, rows of a block
  local dir=$1 block=$2 row ended=0 worst=0
  local -a rows
  child='' asked=false
  trap 'asked=true; if [[ -n $child ]]; then kill -USR1 "$child"; fi' USR1
  trap : TERM INT
  export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
  mapfile -t rows < <(tail -n +2 "$dir/study.csv" | cut -d, -f1 |
    tail -n +$((SLURM_ARRAY_TASK_ID * block + 1)) | head -n "$block")
  for row in "${rows[@]}"; do
    if $asked; then break; fi
    if has_ended "$dir/$row"; then continue; fi
    run_row "$dir/$row" || worst=1
    if has_ended "$dir/$row"; then ended=$((ended + 1)); fi
  done
  if ! $asked; then exit "$worst"; fi
  queue_again "$dir" "$ended" "${rows[@]}"
}

# Back into the queue, unless that could not help: a run that has no checkpoint starts anew, and when it filled all of
# the task's time it will do so again.
queue_again() { # DIR, rows that ended in this task, rows of the block...
  local dir=$1 ended=$2 row
  local -a left
  mapfile -t left < <(unfinished "$dir" "${@:3}")
  if ((${#left[@]} == 0)); then exit 0; fi
  row=${left[0]}
  if ((ended == 0)) && [[ ! -e $dir/$row/checkpoint ]]; then
    fail 1 "row $row does not end within the task's time limit, and leaves no checkpoint: not queued again"
  fi
  echo "told to end: ${#left[@]} rows left, from row $row; queued again"
  exec scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
}

# ---------------------------------------------------------------- the command line

whole() { [[ $2 =~ ^[1-9][0-9]*$ ]] || fail 2 "$1 needs a whole number of at least 1, got '$2'"; }

# Sets the options, the study and the command's words.
read_arguments() {
  jobs=$(nproc) dir='' child='' asked=false quiet=false changed='' halt=never slurm='' by_slurm=false block=10
  while (($# > 0)); do
    case $1 in
      -q) quiet=true && shift && continue ;;
      --anew | --keep) changed=${1#--} && shift && continue ;;
      --) break ;;
      -j | -o | --halt | --slurm | --block) (($# > 1)) || usage ;;
      -*) usage ;;
      *) break ;;
    esac
    case $1 in
      -j) whole "$1" "$2" && jobs=$2 ;;
      -o) dir=$2 ;;
      --halt) halt=$2 ;;
      --slurm) slurm=$2 by_slurm=true ;;
      --block) whole "$1" "$2" && block=$2 ;;
    esac
    shift 2
  done
  if (($# == 0)); then usage; fi
  if [[ ${2:-} != -- ]]; then fail 2 "after the study must follow -- and the command; options stand before the study"; fi
  if (($# < 5)); then fail 2 "the command needs a program, a verb and a file, such as sdrs simulate scene.yaml"; fi
  study=$1
  shift 2
  command=("$@")
  for word in "$@"; do
    case $word in
      -o* | --output*) fail 2 "the rows' folders are sweep.sh's own: give -o before the study" ;;
      *$'\n'*) fail 2 "a word of the command goes over more than one line" ;;
    esac
  done
  command -v "$1" >/dev/null || fail 2 "no program '$1'"
  if $by_slurm; then tool=sbatch; else tool=parallel; fi
  command -v "$tool" >/dev/null || fail 2 "$tool is missing: $($by_slurm && echo "Slurm's own" || echo 'GNU parallel: scripts/deps.sh sweep')"
}

sweep() {
  local names shown code
  local -a rows left
  if [[ -z $dir ]]; then
    dir=${study##*/}
    dir=out/sweeps/${dir%.*}
  fi
  names=$("$SCRIPTS/sweep_plan.py" "$study" "$dir" -- "${command[@]}") || exit
  shown=$dir
  dir=$(realpath "$dir")
  mapfile -t rows <<<"$names"
  settle_outdated "$dir" "${rows[@]}"
  mapfile -t left < <(unfinished "$dir" "${rows[@]}")
  $quiet || echo "${dir##*/}: ${#rows[@]} rows, $((${#rows[@]} - ${#left[@]})) have ended, ${#left[@]} to run" >&2

  if $by_slurm; then
    if ((${#left[@]} > 0)); then
      submit "$dir" "${rows[@]}" || fail 5 "sbatch refused"
      exit 0
    fi
  elif ((${#left[@]} > 0)); then
    run_here "$dir" "${left[@]}"
  fi
  make_table "$shown"
  code=$?
  if $asked; then exit 130; fi
  exit "$code"
}

case ${1:-} in
  --rows) rows_main "${@:2}" ;;
  --task) task_main "$2" "$3" ;;
esac
SELF=$(realpath "$0")
SCRIPTS=$(dirname "$SELF")

# Functions are read whole, and sweep exits: the script may be replaced while it runs.
read_arguments "$@"
sweep
