#!/bin/bash
# The recipe of CONTRIBUTING.md for a contact law, followed outside the tree: one law file (law_spring.c here), its name in
# the table of src/contact/laws.c, and this test. Nothing else is compiled; the rest of the program is the library of the
# last build. Judged by a closed form, by differences (gradcheck), by what the schema and the reader say of its keys.
# BUILD is the folder of that build (out/build/check); the program made stands in out/door/.
set -euo pipefail
cd "$(dirname "$0")/../.."

BUILD=${BUILD:-out/build/check}
WORK=out/door/law
passed=0 failed=0
mkdir -p "$WORK"

verdict() { # name, exit code of what was tried
  if (($2 == 0)); then
    passed=$((passed + 1))
    echo "ok   $1"
  else
    failed=$((failed + 1))
    echo "FAIL $1"
  fi
}

# ---- the recipe: the row, and two objects
sed 's/^#define LAWS(ROW) .*/& ROW(spring)/' src/contact/laws.c >"$WORK/laws.c"
cmp -s src/contact/laws.c "$WORK/laws.c" && { echo "src/contact/laws.c has no table to add a row to"; exit 1; }
read -ra compiler <<<"$(sed 's/ tests:.*//' "$BUILD/flags")"
read -ra libraries <<<"$(sed -n 's/^LDLIBS := //p' Makefile)"
sources=("$WORK/laws.c" tests/door/law_spring.c)
echo "files that the recipe touches: ${#sources[@]}"
((${#sources[@]} <= 3)) || exit 1
for source in "${sources[@]}"; do
  "${compiler[@]}" -Werror -Isrc -I"$BUILD" -c "$source" -o "$WORK/$(basename "$source" .c).o"
done
"${compiler[@]}" "$BUILD/src/main.o" "$WORK"/*.o "$BUILD/libsdrs.a" "${libraries[@]}" -o "$WORK/sdrs"
SDRS=$WORK/sdrs

# ---- two bodies at rest, drawn together and apart: with r = 1 / (1 - i h w), w^2 = kappa / (reduced mass), the first-order
# step has z_n = z_0 Re r^n for the stretch z of the spring (derivation: z+ (1 + h^2 w^2) = 2 z - z-, z- = z at the start)
cat >"$WORK/two.yaml" <<'YAML'
simulation: {dt: 0.02, steps: 200, gravity: [0, 0, 0], tolerance: 1.0e-12, integrator: first_order}
contact: {model: spring, stiffness: 6, rest_length: 1.5, friction: 0}
links:
  - {name: one, mass: 2, shape: {type: box, size: [0.1, 0.2, 0.1]}}
  - {name: two, mass: 3, shape: {type: box, size: [0.1, 0.1, 0.3]}, position: [1.2, 1.6, 0]}
YAML
"$SDRS" simulate "$WORK/two.yaml" -q -o "$WORK/two" >/dev/null
python3 - "$WORK/two/trajectory.csv" <<'PYTHON' && code=0 || code=$?
import csv, math, sys
kappa, rest, h, start = 6.0, 1.5, 0.02, 2.0
w = math.sqrt(kappa * (1 / 2 + 1 / 3))
rows = list(csv.DictReader(open(sys.argv[1])))
worst = 0
for n, row in enumerate(rows):
    found = math.dist([float(row["one/c" + x]) for x in "xyz"], [float(row["two/c" + x]) for x in "xyz"])
    wanted = rest + (start - rest) * ((1 / (1 - 1j * h * w)) ** n).real
    worst = max(worst, abs(found - wanted))
print(f"{len(rows)} states, largest difference from the closed form {worst:.2e} m")
sys.exit(not (len(rows) == 201 and worst < 1e-9))
PYTHON
verdict "the motion has the closed form" "$code"

# ---- gradients by everything that the law and its friction depend on, with turning bodies whose mean vertex is not the
# centre of mass; friction acts
cat >"$WORK/three.yaml" <<'YAML'
simulation: {dt: 0.02, steps: 25, gravity: [0, 0, -1], integrator: first_order}
contact: {model: spring, stiffness: 6, rest_length: 0.3, friction: 0.4, smoothing: 0.01}
shapes:
  roof: {type: points, points: [[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0.3, 0.2, 0], [0.1, 0.1, 0.25]]}
links:
  - {name: one, density: 900, shape: roof}
  - {name: two, mass: 3, shape: roof, position: [0.9, 0.3, 0.2]}
  - {name: three, mass: 1, shape: {type: sphere, radius: 0.1}, position: [0.2, 1, -0.4]}
initial:
  - {link: one, velocities: [0, 0.3, 0, 1, 2, -1]}
YAML
"$SDRS" gradcheck "$WORK/three.yaml" -q -o "$WORK/three" && code=0 || code=$?
verdict "gradients agree with differences" "$code"
"$SDRS" simulate "$WORK/three.yaml" -q -o "$WORK/rubs" >/dev/null
"$SDRS" simulate "$WORK/three.yaml" -q -o "$WORK/slips" --set contact.friction=0 >/dev/null
cmp -s "$WORK/rubs/trajectory.csv" "$WORK/slips/trajectory.csv" && code=1 || code=0
verdict "friction acts" "$code"

# ---- the schema and the reader know its keys, and whose they are
"$SDRS" schema scene --markdown | grep '^| .rest_length. | number | m |' >/dev/null && code=0 || code=1
verdict "the schema has its rows" "$code"
complaint=$("$SDRS" validate "$WORK/two.yaml" --set contact.blend=0.5 2>&1) && code=1 || code=0
grep -q "spring has no .*'blend'" <<<"$complaint" || code=1
verdict "a key of another law is refused" "$code"
"$SDRS" simulate "$WORK/two.yaml" -q --steps 3 -o "$WORK/other" --set contact.model=none >/dev/null && code=0 || code=1
verdict "the same scene without contact" "$code"
grep -q '"model": "spring"' "$WORK/two/summary.json" && code=0 || code=1
verdict "summary.json names the law" "$code"

echo "$passed passed, $failed failed"
((failed == 0))
