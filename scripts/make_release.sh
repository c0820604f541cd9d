#!/bin/bash
# Makes the source archive of the checked-out commit and builds it where it is unpacked, outside of the checkout.
#   scripts/make_release.sh VERSION [FOLDER]     FOLDER/sdrs-VERSION.tar.gz (default out)
# The archive holds the files of the commit and COMMIT, its hash, for `sdrs --version`. Two runs give the same bytes.
# Refuses a checkout with changes that are not committed. Prints the archive's name; exits 1 where the archive does not build or run.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
folder=${2:-out}
if [[ -n $(git status --porcelain --untracked-files=no) ]]; then
  echo "make_release.sh: there are changes that are not committed: commit or stash them" >&2
  exit 1
fi
mkdir -p "$folder"
folder=$(realpath "$folder")
name=sdrs-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

git describe --always --abbrev=12 --exclude '*' >"$work/COMMIT"
git archive --prefix="$name/" --add-file="$work/COMMIT" HEAD | gzip -9n >"$folder/$name.tar.gz"

# GIT_CEILING_DIRECTORIES: no checkout above the temporary folder is taken for that of the archive.
export GIT_CEILING_DIRECTORIES=$work
tar -xzf "$folder/$name.tar.gz" -C "$work"
cd "$work/$name"
make --no-print-directory program library >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
./sdrs --version | grep -qF "$(cat "$work/COMMIT")" || { echo "make_release.sh: the archive's program does not name its commit" >&2; exit 1; }
./sdrs simulate scenes/slide.yaml -q -o "$work/slide"
./sdrs certify "$work/slide"
./sdrs optimize scenes/tasks/throw.yaml -q -o "$work/throw"
echo "$folder/$name.tar.gz"
