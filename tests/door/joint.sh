#!/bin/bash
# The recipe for a joint type (CONTRIBUTING.md), followed: a helix is added to a copy of the sources - its file and
# its two rows -, the program built with it, and tests/door/joint.py judges its runs. Only what is made of the rows is
# compiled; the rest are the objects of the check build.
# Prints one line a case and `N passed, N failed`; exits 1 when one failed.
set -euo pipefail
cd "$(dirname "$0")/../.."

BUILD=out/build/check
COPY=out/door/joint
rm -rf $COPY
mkdir -p $COPY
cp -r src $COPY/

# the recipe: one file, one row (and one for the number that the type asks for)
cp tests/door/helix.c $COPY/src/joint/
sed -i 's|^\(  ROW(FREE,.*[^\\]\)$|\1 \\\n  ROW(HELIX, "helix", "1", 1, 1, 0, 0)|
  s|^  NUMBER(0, "pitch", "screw", .*)$|& NUMBER(0, "pitch", "helix", "m/rad", "Way along the axis per angle.")|' \
  $COPY/src/joint/kinds.h

files=$({ diff -rq src $COPY/src || true; } | wc -l)
echo "files that the recipe touches: $files"
((files <= 3)) || exit 1

# last_line FILES...: the last command that make would run for a target if these files were new
last_line() { make -s --no-print-directory FLAVOUR=check V=1 -n "${@/#/--what-if=}" "$TARGET" | tail -n 1; }

objects=()
for source in src/joint/helix.c $(grep -lE 'JOINT_(TYPE_NAMES|TYPE_ROWS|PARAMETER_ROWS)\(' src/*/*.c); do
  object=$COPY/$(basename "$source" .c).o
  command=$(TARGET=$BUILD/src/joint/joint.o last_line src/joint/joint.c)
  command=${command//src\/joint\/joint.c/$COPY/$source}
  command=${command//-Isrc/-I$COPY/src}
  ${command//$BUILD\/src\/joint\/joint.o/$object}
  objects+=("$object")
done
command=$(TARGET=$BUILD/sdrs last_line $BUILD/libsdrs.a $BUILD/src/main.o)
command=${command/$BUILD\/libsdrs.a/${objects[*]} $BUILD/libsdrs.a}
${command/-o $BUILD\/sdrs/-o $COPY/sdrs}

exec python3 -B tests/door/joint.py $COPY/sdrs $COPY
