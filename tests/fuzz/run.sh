#!/bin/bash
# Runs one fuzzer on its seeds and on shipped scenes, tasks and meshes, then says so in the form of a test. Other flavours
# than fuzz have the target without a fuzzer (replay.c), which takes each of these files once.
#   tests/fuzz/run.sh out/build/fuzz/tests/fuzz/fuzz_NAME [SECONDS]     SECONDS: else FUZZ_SECONDS, else 60
# What it learns stays in out/fuzz/NAME/corpus, what it finds in out/fuzz/NAME/.
set -uo pipefail

name=$(basename "$1")
name=${name#fuzz_}
seconds=${2:-${FUZZ_SECONDS:-60}}
found=out/fuzz/$name
mkdir -p "$found/corpus"
folders=("$found/corpus")

# Shipped files that the target reads, by their kind: copies of those below a mebibyte. Shipped meshes are too large for
# fuzz_decompose, which takes 12 corners.
shipped() {
  case $name in
    scene_yaml) echo scenes/*.yaml scenes/*/*.yaml ;;
    task) echo scenes/tasks/*.yaml scenes/identify/*.yaml ;;
    obj) echo assets/*.obj ;;
    urdf) echo assets/*.urdf ;;
    mjcf) echo assets/*.xml tests/mujoco/models/*.xml ;;
    heights) echo assets/*.png assets/*.csv ;;
    csv | measured) echo scenes/*.csv scenes/identify/*.csv ;;
    query) echo tests/cli/query-*/*.json* ;;
  esac
}

rm -rf "$found/shipped" && mkdir "$found/shipped"
for file in $(shipped); do
  if [[ -f $file && $(stat -c %s "$file") -lt 1048576 ]]; then cp "$file" "$found/shipped/${file//\//-}"; fi
done
# Scenes as JSON hold the same keys.
if [[ $name == scene_json ]]; then
  python3 - "$found/shipped" <<'END' || echo "no scenes as JSON: no PyYAML here"
import json, pathlib, sys
import yaml
for path in sorted(pathlib.Path("scenes").glob("*.yaml")):
    pathlib.Path(sys.argv[1], path.stem + ".json").write_text(json.dumps(yaml.safe_load(path.read_text())))
END
fi
for seeds in "tests/fuzz/corpus/$name" "$found/shipped"; do
  if [[ -d $seeds ]]; then folders+=("$seeds"); fi
done

if "$1" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 \
  -artifact_prefix="$found/" "${folders[@]}"; then
  echo "1 passed, 0 failed"
else
  echo "fuzz_$name stopped; what made it stop is in $found/"
  echo "0 passed, 1 failed"
  exit 1
fi
