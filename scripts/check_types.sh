#!/bin/bash
# Are the types of the Python package right? pyright reads python/sdrs with /usr/bin/python3's numpy and torch.
#   scripts/check_types.sh           prints the findings; exits 1 when there are some, 77 when pyright cannot be had
#   scripts/check_types.sh --fetch   only have pyright there; exits 77 when it cannot be had
# pyright is the command of this name, or npm fetches version VERSION into out/node/types (38 MB, once), without running scripts of it.
# sdrs.torch and sdrs.jax are left out, by name, where this Python has no torch or jax.
set -euo pipefail
cd "$(dirname "$0")/.."

VERSION=1.1.414
FOLDER=out/node/types

skip() {
  echo "types: not checked, $1"
  exit 77
}

pyright=$(command -v pyright || true)
if [[ ! $pyright ]]; then
  pyright=$FOLDER/node_modules/.bin/pyright
  if ! grep -qF "\"version\": \"$VERSION\"" $FOLDER/node_modules/pyright/package.json 2>/dev/null; then
    command -v npm >/dev/null || skip "neither pyright nor npm is installed"
    mkdir -p $FOLDER
    timeout 120 npm install --prefix $FOLDER --ignore-scripts --no-audit --no-fund --fetch-retries 1 "pyright@$VERSION" >$FOLDER/npm.log 2>&1 ||
      skip "npm cannot fetch pyright ($FOLDER/npm.log)"
  fi
fi
[[ ${1:-} != --fetch ]] || exit 0

# A module that is missing would be taken for ours of the same name.
left_out=
for module in torch jax; do
  if ! /usr/bin/python3 -c "import importlib.util, sys; sys.exit(not importlib.util.find_spec('$module'))"; then
    left_out+="${left_out:+, }\"../../../python/sdrs/$module.py\""
    echo "types: $module.py is left out, /usr/bin/python3 has no $module"
  fi
done
mkdir -p $FOLDER
# gymnasium and matplotlib are optional, and named where they are missing.
echo "{\"include\": [\"../../../python/sdrs\"], \"exclude\": [$left_out], \"reportMissingImports\": \"warning\"}" >$FOLDER/pyrightconfig.json
"$pyright" --project $FOLDER --pythonpath /usr/bin/python3
