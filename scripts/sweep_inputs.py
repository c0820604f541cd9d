#!/usr/bin/env python3
"""Rows of a sweep whose input files have changed since, for scripts/sweep.sh.

    scripts/sweep_inputs.py DIR ROW...

Compares the hashes in DIR/<row>/summary.json with the files as they are now, and prints `row<TAB>file` for each row with
such a file (the first). Rows without a summary are left out: nothing says what they read.
"""
import functools
import hashlib
import json
import os
import sys


@functools.lru_cache(maxsize=None)
def hash_now(path):
    """None: it is gone."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None


def inputs_of(folder):
    """Path and hash of each file that a run has read; none when it told of none."""
    try:
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
    except (OSError, ValueError):
        return []
    start = summary.get("working_folder") or "."
    pairs = [(item.get("file") or item.get("path"), item.get("sha256")) for item in summary.get("inputs", [])]
    return [(path, os.path.normpath(os.path.join(start, path)), digest) for path, digest in pairs if path and digest]


def changed_file(folder):
    """The first file that is another one now, or None."""
    for told, path, digest in inputs_of(folder):
        if hash_now(path) != digest:
            return told
    return None


def main(words):
    if len(words) < 1:
        print(__doc__, file=sys.stderr)
        return 2
    for row in words[1:]:
        path = changed_file(os.path.join(words[0], row))
        if path:
            print(f"{row}\t{path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
