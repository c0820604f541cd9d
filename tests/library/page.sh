#!/bin/bash
# page.sh ROOT WORK: builds each example of docs/library.md and compares what it prints with what stands below it.
set -uo pipefail
root=$1 work=$2
faults=0
while read -r name; do
  awk -v name="/* file: $name */" '$0 == name { on = 1 } /^```$/ { on = 0 } on' "$root/docs/library.md" >"$work/$name"
  awk -v name="/* file: $name */" '$0 == name { on = 1 } on && /^    / && closed { print substr($0, 5) }
                                   on && /^[^ ]/ && closed && shown { exit } on && /^```$/ { closed = 1 }
                                   on && closed && /^    / { shown = 1 }' "$root/docs/library.md" >"$work/wanted"
  # shellcheck disable=SC2046
  gcc -Wall -Wextra -Werror "$work/$name" -o "$work/example" $(pkg-config --cflags --libs sdrs) \
    -Wl,-rpath,"$work/root/usr/lib" && (cd "$root" && "$work/example") >"$work/printed" || faults=$((faults + 1))
  [[ -s $work/wanted ]] && diff "$work/wanted" "$work/printed" || faults=$((faults + 1))
done < <(sed -n 's|^/\* file: \(.*\) \*/$|\1|p' "$root/docs/library.md")
exit $((faults > 0))
