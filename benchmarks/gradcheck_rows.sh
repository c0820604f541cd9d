#!/bin/bash
# For scripts that source it: `measure FILE OPTION...` prints a row a block of what `sdrs gradcheck` ($SDRS, else ./sdrs) says of the file, three
# directions a block, or $DIRECTIONS: file,block,numbers,gradient_norm,relative_error,resolution,order,verdict. A task's own variables are the blocks
# of <file>/variables; LABEL, where it is set, follows the file's name.
report=$(mktemp)

measure() { # file, options...
  echo "$*" >&2
  OPENBLAS_NUM_THREADS=1 "${SDRS:-./sdrs}" gradcheck "$@" --directions "${DIRECTIONS:-3}" --json -q >"$report" || [[ $? == 1 ]]
  python3 - "$report" "$1" "${LABEL:-}" <<'P'
import json, os, sys
for r in json.load(open(sys.argv[1])):
    name = os.path.relpath(sys.argv[2], "scenes").removesuffix(".yaml")
    name += sys.argv[3]
    if "task" in r: name += "/variables"
    elif ", scenario " in r["scenario"]: name += "/" + r["scenario"].split(", scenario ")[-1]
    for block, b in r["blocks"].items():
        order, error, resolution = (
            "" if b[key] is None else format(b[key], form)
            for key, form in (("order", ".2f"), ("relative_error", ".1e"), ("resolution", ".1e"))
        )
        verdict = "failed" if not b["passed"] else "passed" if b["checked"] else "unchecked"
        print(f"{name},{block},{b['numbers']},{b['gradient_norm']:.3g},{error},{resolution},{order},{verdict}")
P
}
