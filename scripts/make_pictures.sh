#!/bin/bash
# The pictures of docs/gallery.md: every shipped scene and every shipped task, and that of docs/decompose.md, by commands
# that a user could type.
# Usage: scripts/make_pictures.sh [NAME...]   all of them (some minutes), or those of these: spider, tasks/spider
# Runs go to out/pictures/, pictures to docs/pictures/ (tasks) and docs/pictures/scenes/. The program is $SDRS (./sdrs).
set -euo pipefail
cd "$(dirname "$0")/.."

SDRS=${SDRS:-./sdrs}
RUNS=out/pictures
TASKS=$RUNS/tasks
OUT=docs/pictures
wanted=("$@")

# is it wanted?
chosen() {
  [[ ${#wanted[@]} == 0 || " ${wanted[*]} " == *" $1 "* ]] && echo "== $1" >&2
}

# scene NAME [OPTION...]: simulate it
simulate() {
  "$SDRS" simulate "scenes/$1.yaml" -q -o "$RUNS/$1" "${@:2}" >/dev/null
}

# draw PICTURE RUN... [OPTION...]
draw() {
  "$SDRS" render "${@:2}" -q -o "$OUT/$1.png" >/dev/null
}

# optimize TASK: as shipped, then both designs simulated: TASK, TASK-initial, TASK-best
optimize() {
  "$SDRS" optimize "scenes/tasks/$1.yaml" -q -o "$TASKS/$1" >/dev/null
  local first=$TASKS/$1
  [[ ! -d $first/from ]] || first=$first/from # entered by another task, whose beginning it is
  "$SDRS" simulate "$first/initial.scene.yaml" -q -o "$TASKS/$1-initial" >/dev/null
  "$SDRS" simulate "$TASKS/$1/best.scene.yaml" -q -o "$TASKS/$1-best" >/dev/null
}

# both TASK [OPTION...]: the run of the initial design and that of the best one
both() {
  draw "$1" "$TASKS/$1-initial" "$TASKS/$1-best" --size 480x380 "${@:2}"
}

# moved TASK [OPTION...]: both designs, and how far the vertices have moved
moved() {
  draw "$1-design" "$TASKS/$1" --compare --show displacement --size 480x380 "${@:2}"
}

mkdir -p "$OUT/scenes" "$RUNS"

# ---- scenes
if chosen slide; then
  simulate slide
  draw scenes/slide $RUNS/slide --time 0.2 --trail 3 --show contacts,forces --size 640x440
fi
if chosen incline; then
  simulate incline
  draw scenes/incline $RUNS/incline --trail 4 --show contacts,forces --size 640x440
fi
if chosen pendulum; then
  simulate pendulum
  draw scenes/pendulum $RUNS/pendulum --trail 12 --view front --size 640x440
fi
if chosen push; then
  simulate push
  draw scenes/push $RUNS/push --trail 14 --view top --size 640x480
fi
if chosen motor; then
  simulate motor
  draw scenes/motor $RUNS/motor --time 0.4 --trail 5 --size 640x480
fi
if chosen conveyor; then
  simulate conveyor
  draw scenes/conveyor $RUNS/conveyor --trail 4 --size 640x480
fi
if chosen balance; then
  simulate balance --steps 200
  draw scenes/balance $RUNS/balance --trail 6 --view front --size 640x440
fi
if chosen springs; then
  simulate springs
  draw scenes/springs $RUNS/springs --trail 8 --size 640x480
fi
if chosen stick-slip; then
  simulate stick-slip
  draw scenes/stick-slip $RUNS/stick-slip --trail 8 --size 640x480
fi
if chosen four-bar; then
  simulate four-bar
  draw scenes/four-bar $RUNS/four-bar --trail 6 --view front --size 640x480
fi
if chosen biped-terrain; then
  simulate biped-terrain
  draw scenes/biped-terrain $RUNS/biped-terrain --time 0.4 --show contacts,forces --zoom 3 --look-at 0,0,0.4 --size 600x440
fi
if chosen stewart; then
  simulate stewart
  draw scenes/stewart $RUNS/stewart --time 0.5 --size 640x480
fi
if chosen slider-crank; then
  simulate slider-crank
  draw scenes/slider-crank $RUNS/slider-crank --trail 6 --view front --size 640x480
fi
if chosen differential; then
  simulate differential
  draw scenes/differential $RUNS/differential --trail 3 --size 640x480
fi
if chosen rack-gripper; then
  simulate rack-gripper
  draw scenes/rack-gripper $RUNS/rack-gripper --trail 3 --size 640x480
fi
if chosen foot; then
  simulate foot
  draw scenes/foot $RUNS/foot --trail 4 --size 640x480
fi
if chosen belt; then
  simulate belt
  draw scenes/belt $RUNS/belt --trail 3 --size 640x480
fi
if chosen bounce; then
  simulate bounce
  draw scenes/bounce $RUNS/bounce --trail 12 --size 640x480
fi
if chosen roll; then
  simulate roll
  draw scenes/roll $RUNS/roll --trail 6 --size 640x480
fi
if chosen car; then
  simulate car
  draw scenes/car $RUNS/car --trail 4 --size 640x480
fi
if chosen shoulder; then
  simulate shoulder
  draw scenes/shoulder $RUNS/shoulder --trail 6 --size 640x480
fi
if chosen fields; then
  simulate fields
  draw scenes/fields $RUNS/fields --trail 12 --size 640x480
fi
if chosen suction; then
  simulate suction
  draw scenes/suction $RUNS/suction --trail 4 --size 640x480
fi
if chosen magnet; then
  simulate magnet
  draw scenes/magnet $RUNS/magnet --azimuth -75 --elevation 20 --trail 4 --size 640x480
fi
if chosen pulleys; then
  simulate pulleys
  draw scenes/pulleys $RUNS/pulleys --azimuth -90 --elevation 50 --size 640x480
fi
if chosen balls; then
  simulate balls
  draw scenes/balls $RUNS/balls --trail 6 --size 640x480
fi
if chosen bearing; then
  simulate bearing
  draw scenes/bearing $RUNS/bearing --azimuth -75 --elevation 15 --size 640x480
fi
if chosen bowl; then
  simulate bowl --steps 120
  draw scenes/bowl $RUNS/bowl --trail 6 --elevation 50 --size 640x480
fi
if chosen features; then
  simulate features
  draw scenes/features $RUNS/features --trail 3 --azimuth -120 --size 640x480
fi
if chosen snake; then
  simulate snake --steps 300
  draw scenes/snake $RUNS/snake --trail 3 --size 640x480
fi
if chosen cradle; then
  simulate cradle --steps 150
  draw scenes/cradle $RUNS/cradle --strip 4 --view front --size 300x300
fi
if chosen stairs; then
  simulate stairs
  draw scenes/stairs $RUNS/stairs --trail 8 --size 640x480
fi
if chosen rubble; then
  simulate rubble
  draw scenes/rubble $RUNS/rubble --trail 4 --size 640x480
fi
if chosen double-pendulum; then
  simulate double-pendulum
  draw scenes/double-pendulum $RUNS/double-pendulum --trail 10 --show path --view front --size 640x440
fi
if chosen stack; then
  simulate stack --steps 100
  draw scenes/stack $RUNS/stack --show contacts,forces,planes --size 600x440
fi
if chosen book-stacking; then
  simulate book-stacking --steps 100
  draw scenes/book-stacking $RUNS/book-stacking --show contacts,forces --view front --size 600x440
fi
if chosen stack-falls; then
  simulate stack-falls --steps 275
  draw scenes/stack-falls $RUNS/stack-falls --strip 3 --view front --size 320x300
fi
if chosen wall; then
  simulate wall --steps 110
  draw scenes/wall $RUNS/wall --strip 4 --size 300x300
fi
if chosen smooth-shapes; then
  simulate smooth-shapes
  draw scenes/smooth-shapes $RUNS/smooth-shapes --size 640x400
fi
if chosen soft-arm; then
  simulate soft-arm
  draw scenes/soft-arm $RUNS/soft-arm --strip 3 --azimuth -60 --elevation 35
fi
if chosen soft-arm-rods; then
  simulate soft-arm-rods
  draw scenes/soft-arm-rods $RUNS/soft-arm-rods --strip 3 --azimuth -60 --elevation 35
fi
if chosen boat; then
  simulate boat
  draw scenes/boat $RUNS/boat --trail 4 --size 640x480 --azimuth 40 --elevation 25
fi

if chosen knee; then
  simulate knee
  draw scenes/knee $RUNS/knee --strip 3 --size 400x300 --azimuth -90 --elevation 8 --time 1
fi
if chosen engine-mounts; then
  simulate engine-mounts
  draw scenes/engine-mounts $RUNS/engine-mounts --size 640x480 --azimuth 40 --elevation 20
fi
if chosen cable; then
  simulate cable
  draw scenes/cable $RUNS/cable --size 640x480 --azimuth -70 --elevation 12
fi
if chosen soft-fingers; then
  simulate soft-fingers
  draw scenes/soft-fingers $RUNS/soft-fingers --strip 2 --size 400x400 --azimuth -80 --elevation 8
fi
if chosen ten-bodies; then
  simulate ten-bodies
  draw scenes/ten-bodies $RUNS/ten-bodies --strip 4 --size 300x300 --time 3.5
fi
if chosen manifold; then
  simulate manifold
  draw scenes/manifold $RUNS/manifold --strip 2 --size 480x320
fi
if chosen polyhedra; then
  simulate polyhedra
  draw scenes/polyhedra $RUNS/polyhedra --strip 2 --size 480x320
fi
if chosen tumble; then
  simulate tumble --steps 240
  draw scenes/tumble $RUNS/tumble --strip 4 --size 300x300
fi
if chosen pile; then
  simulate pile --steps 350
  draw scenes/pile $RUNS/pile --strip 2 --size 390x310
fi
if chosen mesh; then
  simulate mesh --steps 400
  draw scenes/mesh $RUNS/mesh --size 640x480 --show edges
fi
if chosen rings; then
  simulate rings --steps 400
  draw scenes/rings $RUNS/rings --strip 2 --size 400x360
fi
if chosen chains; then
  simulate chains --steps 300
  draw scenes/chains $RUNS/chains --trail 2 --size 560x400
fi
if chosen spider; then
  simulate spider
  draw scenes/spider $RUNS/spider --trail 5 --show path --size 720x440
fi

# ---- tasks
for task in throw throw-four cue; do
  if chosen tasks/$task; then
    optimize $task
    both $task --trail 6 --show path
  fi
done
if chosen tasks/policy; then
  optimize policy
  both policy --view front --trail 4 --size 400x400
fi
if chosen tasks/fin; then
  optimize fin
  both fin --trail 4 --azimuth 40 --elevation 35
fi
if chosen tasks/curb; then
  optimize curb
  both curb --view front --trail 5 --size 480x300
fi
for task in reach reach-control; do
  if chosen tasks/$task; then
    optimize $task
    both $task --view front --trail 4 --size 400x400
  fi
done
for task in grasp grasp-free; do
  if chosen tasks/$task; then
    optimize $task
    both $task --time 0
  fi
done
if chosen tasks/choose; then
  "$SDRS" optimize scenes/tasks/choose.yaml -q -o "$TASKS/choose" >/dev/null # the first candidate, and the best one
  "$SDRS" simulate "$TASKS/choose/1/initial.scene.yaml" -q -o "$TASKS/choose-initial" >/dev/null
  "$SDRS" simulate "$TASKS/choose/best.scene.yaml" -q -o "$TASKS/choose-best" >/dev/null
  both choose --time 0 --view front --size 400x400
fi
if chosen tutorials/gripper-tips; then
  "$SDRS" optimize docs/tutorials/gripper-tips.yaml -q -o "$RUNS/gripper-tips" >/dev/null
  "$SDRS" simulate "$RUNS/gripper-tips/best.scene.yaml" -q -o "$RUNS/gripper-tips-best" >/dev/null
  draw gripper-tips "$RUNS/gripper-tips-best" --strip 4 --azimuth -15 --elevation 6
fi
if chosen tasks/quadrotor; then
  "$SDRS" optimize scenes/tasks/quadrotor.yaml -q -o "$TASKS/quadrotor" >/dev/null
  python3 scripts/draw_path.py scenes/tasks/quadrotor.yaml "$TASKS/quadrotor" "$OUT/quadrotor.png"
fi
if chosen tasks/balance; then
  optimize balance
  both balance --view front --trail 5
fi
if chosen tasks/follow; then
  "$SDRS" optimize scenes/tasks/follow.yaml -q -o "$TASKS/follow" >/dev/null
  draw follow "$TASKS/follow" --trail 6 --show path --size 720x440
fi
for task in push push-centred; do
  if chosen tasks/$task; then
    "$SDRS" optimize scenes/tasks/$task.yaml -q -o "$TASKS/$task" >/dev/null
    draw $task "$TASKS/$task" --trail 8 --show path --size 720x440
  fi
done
for task in gather sort; do
  if chosen tasks/$task; then
    "$SDRS" optimize scenes/tasks/$task.yaml -q -o "$TASKS/$task" >/dev/null
    draw $task "$TASKS/$task" --strip 4 --size 400x340 --elevation 55
  fi
done
if chosen tasks/pick-place; then
  optimize pick-place
  draw pick-place "$TASKS/pick-place-best" --strip 4 --size 400x340
fi
if chosen tasks/billiards; then
  optimize billiards
  draw billiards "$TASKS/billiards-best" --trail 6 --view top --size 720x480
fi
if chosen tasks/ant-push; then
  optimize ant-push
  draw ant-push "$TASKS/ant-push-best" --strip 4 --size 400x300
fi
if chosen tasks/pinch; then
  optimize pinch
  both pinch --show contacts,forces --newtons 10
  moved pinch
fi
for task in single-jaw parallel-jaw; do
  if chosen tasks/$task; then
    optimize $task
    draw $task "$TASKS/$task-best" --strip 4 --size 400x340
  fi
done
if chosen tasks/single-jaw; then # the loss of each stage, SDRS Fig. 14
  "$SDRS" plot "$TASKS/single-jaw/convergence.csv" --columns loss,still,reach,hold --x iteration --log --title single-jaw \
    --y-label "loss [m^2]" -o "$OUT/single-jaw-loss.png" >/dev/null
fi
if chosen tasks/hand; then
  optimize hand
  "$SDRS" simulate "$TASKS/hand/best.mug.scene.yaml" -q -o "$TASKS/hand-mug" >/dev/null
  draw hand "$TASKS/hand-mug" --strip 4 --size 400x340
  moved hand
fi
for task in biped biped-single biped-control; do
  if chosen tasks/$task; then
    optimize $task
    both $task --view side --trail 5
  fi
done
for task in spider spider-control; do
  if chosen tasks/$task; then
    optimize $task
    both $task --trail 5 --size 480x300
  fi
done
if chosen tasks/biped-single; then moved biped-single --size 360x480; fi
if chosen tasks/spider; then moved spider; fi
if chosen tasks/spider-heading; then
  optimize spider-heading
  both spider-heading --trail 5 --size 480x300
  moved spider-heading
fi

# ---- measured motion; that of the cube and the elbow is not part of the repository (scenes/identify/cube.yaml)
fitted() { # TASK [OPTION...]: a run as measured (pale) and as the fitted scene does it
  "$SDRS" identify "scenes/identify/$1.yaml" ${data:+--data "$data"} -q -o "$RUNS/identify/$1" >/dev/null
  draw "identify/$1" "$RUNS/identify/$1/overlay" "${@:2}"
}
mkdir -p "$OUT/identify" "$RUNS/identify"
TOSSES=${SDRS_TOSSES:-../shared/data/tosses}
data=
if chosen identify/pendulum; then fitted pendulum --strip 4 --size 240x300; fi
if chosen identify/arm; then fitted arm --strip 3 --size 360x380; fi
if chosen identify/pushed; then fitted pushed --strip 3 --size 400x280; fi
if [[ -e $TOSSES/cube ]]; then
  data="$TOSSES/cube/*.csv"
  if chosen identify/cube; then fitted cube --strip 5 --size 300x280; fi
  data="$TOSSES/elbow/*.csv"
  if chosen identify/elbow; then fitted elbow --strip 5 --size 300x280; fi
fi

# ---- convex hulls
if chosen decompose; then
  "$SDRS" decompose assets/mug.obj --max-hulls 24 -q -o "$RUNS/mug" >/dev/null
  cp "$RUNS/mug/hulls.png" "$OUT/decompose.png"
  "$SDRS" decompose assets/mug.obj --primitives superquadric -q -o "$RUNS/mug" >/dev/null
  cp "$RUNS/mug/superquadrics.png" "$OUT/decompose-superquadrics.png"
fi

# ---- tasks of meshes that are not shipped (scripts/prepare_meshes.py)
if [[ -e out/meshes/panda.yaml ]]; then
  if chosen tasks/gather-bunny; then
    "$SDRS" optimize scenes/tasks/gather-bunny.yaml -q -o "$TASKS/gather-bunny" >/dev/null
    draw gather-bunny "$TASKS/gather-bunny" --strip 4 --size 400x340 --elevation 55
  fi
  if chosen tasks/franka-push; then
    optimize franka-push
    draw franka-push "$TASKS/franka-push-best" --strip 4 --size 400x400 --azimuth -60 --elevation 20
  fi
fi
