#!/bin/bash
# For scripts that source it: `measure FILE OPTION...` prints a row a block of what `sdrs gradcheck` says of the file, three
# directions a block: file,block,numbers,gradient_norm,relative_error,resolution,order,verdict.
report=$(mktemp)

measure() { # file, options...
  echo "$*" >&2
  OPENBLAS_NUM_THREADS=1 ./sdrs gradcheck "$@" --directions 3 --json -q >"$report" || [[ $? == 1 ]]
  python3 - "$report" "$1" <<'P'
import json, os, sys
for r in json.load(open(sys.argv[1])):
    name = os.path.relpath(sys.argv[2], "scenes").removesuffix(".yaml")
    if r["scenario"] != os.path.basename(name): name += "/" + r["scenario"]
    for block, b in r["blocks"].items():
        order, error, resolution = (
            "" if b[key] is None else format(b[key], form)
            for key, form in (("order", ".2f"), ("relative_error", ".1e"), ("resolution", ".1e"))
        )
        verdict = "failed" if not b["passed"] else "passed" if b["checked"] else "unchecked"
        print(f"{name},{block},{b['numbers']},{b['gradient_norm']:.3g},{error},{resolution},{order},{verdict}")
P
}
