# shellcheck shell=bash
# Everything but what tells of time: the seconds, and what they are in the checkpoint and the summary.
same_run() {
  python3 - "$1" "$2" <<'P'
import csv, json, pathlib, sys
def files(folder):
    root = pathlib.Path(folder)
    found = {}
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        name, data = str(path.relative_to(root)), path.read_text()
        if name == "convergence.csv":
            rows = list(csv.reader(data.splitlines()))
            at = rows[0].index("seconds")
            data = [row[:at] + row[at + 1:] for row in rows]
        if name == "summary.json":
            data = json.loads(data)
            for key in ("seconds", "threads", "overrides"): data.pop(key)
        if name == "checkpoint": data = len(data.splitlines())
        found[name] = data
    return found
a, b = files(sys.argv[1]), files(sys.argv[2])
for name in sorted(a.keys() | b.keys()):
    if a.get(name) != b.get(name): print(name, "differs")
print("compared", len(a), "files")
P
}
