#!/bin/bash
# Measures benchmarks/results/baselines.csv: what co-design reaches on the gripper tasks and the spider, beside cages, control alone and a search
# without gradients, each with the task's own losses, bounds, steps and number of iterations, so with as many simulated steps (a gradient
# costs about a fifth of a run more). Prints the table.
# Usage: benchmarks/measure_baselines.sh [FOLDER [TASK|TASK,METHOD...]]   what has its run in FOLDER already is not run again; without it none is kept; rows of
# what is not named stay as they are
# Takes some seventeen minutes of CPU time: a run with jaws that do not hold takes seconds, not a tenth of one, as objects slip and tumble.
# program, folder, table come from benchmarks/table.sh
# shellcheck disable=SC1091,SC2154
set -euo pipefail
. "$(dirname "$0")/table.sh" "$@"
wanted=" ${*:2} "

row() { # task, method, run folder
  python3 - "$@" <<'P'
import json, sys
task, method, run = sys.argv[1:]
s = json.load(open(run + "/summary.json"))
def get(*keys):
    for key in keys:
        if key in s: return s[key]
    return ""
trial = s.get("validation") or {}
held = " ".join(f"{o['held']}/{o['tried']}" for o in trial.get("objects", []))
number = lambda x: format(x, ".4g")
print(",".join(map(str, [task, method, s["variables"], s["iterations"], number(s["initial_loss"]), number(s["best_loss"]),
                         s.get("success", ""), held])))
P
}

measure() { # task, method, options...
  local task=$1 method=$2
  shift 2
  if [[ $wanted != "  " && $wanted != *" $task "* && $wanted != *" $task,$method "* ]]; then
    grep "^$task,$method," benchmarks/results/baselines.csv >>"$table" || true
    return
  fi
  echo "$task, $method" >&2
  [[ -e $folder/$task-$method/summary.json ]] ||
    "$program" optimize "scenes/tasks/$task.yaml" -q --threads 1 -o "$folder/$task-$method" "$@" >/dev/null || [[ $? == 1 ]]
  row "$task" "$method" "$folder/$task-$method" >>"$table"
}

cages() { # task, links, what each item says more, the rest of design, cells coarse, cells fine
  measure "$1" cage-coarse --set "design={cage: [$(items "$2" "$5" "$3")], connect: true$4}"
  measure "$1" cage-fine --set "design={cage: [$(items "$2" "$6" "$3")], connect: true$4}"
}

items() { # links, cells, "axes and bounds; axes and bounds"
  local more IFS=';'
  for more in $3; do echo -n "{links: [$1], cells: $2, $more},"; done
}

echo "task,method,variables,iterations,loss_before,loss_after,success,held_of_unseen" >"$table"

measure spider co-design
cages spider 'lower0, lower1, lower2, lower3' 'within: 0.035' '' '[2, 2, 2]' '[4, 4, 4]'
measure spider control --set 'design={}'
measure spider cma-es --set 'optimizer={type: cma_es, iterations: 200, design_step: 4.0e-3, control_step: 0.1}'

measure single-jaw co-design
cages single-jaw gripper 'within: 0.03' '' '[4, 4, 4]' '[16, 16, 16]'
measure single-jaw control --set 'design={}' --set 'control=[{link: gripper, parameters: [values], within: 0.1}]'
measure single-jaw cma-es --set 'optimizer={type: cma_es, iterations: 60, design_step: 1.0e-3}'

jaws=', symmetry: [{type: copy, links: [left, right]}]'
measure parallel-jaw co-design
cages parallel-jaw 'left, right' 'axes: [x, y], within: 0.06;axes: [z], within: 0.03' "$jaws" '[4, 4, 4]' '[16, 16, 16]'
measure parallel-jaw control --set 'design={}' --set 'control=[{link: gripper, parameters: [values], within: 0.1}]'
measure parallel-jaw cma-es --set 'optimizer={type: cma_es, iterations: 100, design_step: 2.0e-3}'

fingers=', symmetry: [{type: copy, links: [upper0, upper1, upper2]}, {type: copy, links: [lower0, lower1, lower2]}]'
measure hand co-design
cages hand 'upper0, upper1, upper2, lower0, lower1, lower2' 'within: 0.05' "$fingers" '[2, 2, 2]' '[4, 4, 4]'
measure hand control --set 'design={}' --set 'control=[{link: gripper, parameters: [values], within: 0.1}]'
measure hand cma-es --set 'optimizer={type: cma_es, iterations: 40, design_step: 1.0e-3}'

publish baselines.csv
