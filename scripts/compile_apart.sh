#!/bin/bash
# Compiles a unit (scripts/make_units.py) source by source and joins the objects: two of its sources do not go together, or one has an error.
#   scripts/compile_apart.sh UNIT.c OBJECT COMPILER FLAG...
set -euo pipefail
unit=$1 object=$2
shift 2
parts=()
: >"${object%.o}.d"
while read -r source; do
  part=${object%.o}-$(basename "$source" .c)
  main=()
  if [[ $source == tests/* ]]; then main=(-Dmain="main_of_$(basename "$source" .c)"); fi
  "$@" "${main[@]}" -MT "$object" -MF "$part.d" -c "$source" -o "$part.o"
  { cat "$part.d" && echo "$source:"; } >>"${object%.o}.d" # a source that is renamed later must not stop make
  parts+=("$part.o")
done < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$unit")
ld -r "${parts[@]}" -o "$object"
