#!/usr/bin/env python3
"""How many seeded one-line faults in src do the tests find?

  scripts/mutation.py [--long] [--minutes M] [--resume] [FAULTS [SEED]]
      60 faults of seed 1 by default; --long: the tests in their long form; --minutes: no test starts later;
      --resume: go on after a run of the same faults was ended, with the tests that did not run then

All faults are planted in one copy of the checkout (out/mutation/checkout), each behind a switch, so that one build of the
flavour check serves all of them. SDRS_FAULT=N turns fault N on; a run without it has the results of the checkout and tells which
faults it reaches. Tests run from the shortest to the longest. A test runs once without a fault, then once with each fault
that it reaches and that no test has found. A test that fails without a fault as well finds nothing. Unit tests of a folder with a
fault that is not found count as ten times shorter.
A fault that no test finds and that leaves the object file as it was is no fault, and is reported as `same object`. A fault that no
test finds and whose line fails to compile without its switch, with warnings as errors, is found by the compiler (`compiler`).
Writes out/mutation/faults.csv (number, kind, file, line, source line, faulty line, found by, reached by) after each finding.
Not run: sanitized programs, fuzzers, and tests that start other programs (MuJoCo, browsers, mpirun).
"""

import argparse
import csv
import glob
import hashlib
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "out/mutation"
COPY = RESULTS / "checkout"
COPIED = ".git Makefile assets docs examples python scenes scripts src tests README.md CONTRIBUTING.md LICENSE CITATION.cff mkdocs.yml"

# kind: pattern, what the faulty line has in its place
KINDS = {
    "sign": (r"(?<=[\w)\]]) ([+-]) (?=[\w(])", lambda m: " - " if m[1] == "+" else " + "),
    "index": (r"\[(\w+)\]", lambda m: f"[{m[1]} + 1]" if not m[1].isdigit() else f"[{int(m[1]) ^ 1}]"),
    "bound": (r" (<=?|>=?) ", lambda m: f" {m[1][0]} " if m[1].endswith("=") else f" {m[1]}= "),
    "missing term": (r" [+-] [\w.]+(?:\[\w+\])?(?: \* [\w.]+(?:\[\w+\])?)*(?=;)", lambda m: ""),
}
# Neither directives, comments, strings, assertions nor declarations of arrays.
SKIPPED = re.compile(r"\s*(//|/\*|\*|#|assert|(static |const |enum )*(double|int|size_t|char|bool|Vec3|Mat3) \w+\[)")

SWITCHES = """#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wextra"
extern int fault_planted;
extern unsigned char fault_reached[];
void fault_reach(int n);
static inline long fault(int n) {
  if (!fault_reached[n]) fault_reach(n);
  return fault_planted == n;
}
static inline long fault_sign(int n) { return fault(n) ? -1 : 1; }
"""
SWITCHES_SOURCE = """#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int fault_planted = -1;
unsigned char fault_reached[10000];
__attribute__((constructor)) static void read_fault(void) {
  const char* number = getenv("SDRS_FAULT");
  if (number) fault_planted = atoi(number);
}
void fault_reach(int n);
void fault_reach(int n) {
  fault_reached[n] = 1;
  const char* path = getenv("SDRS_FAULTS_REACHED");
  if (!path) return;
  char line[6] = {(char)('0' + n / 1000), (char)('0' + n / 100 % 10), (char)('0' + n / 10 % 10), (char)('0' + n % 10), '\\n'};
  int file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
  if (file < 0) return;
  if (write(file, line, 5) != 5) _exit(99);
  close(file);
}
"""


class Fault:
    def __init__(self, kind, path, line, match, text):
        self.kind, self.path, self.line, self.match, self.text = kind, path, line, match, text
        self.faulty = text[: match.start()] + KINDS[kind][1](match) + text[match.end() :]
        self.found, self.reached = "", []


def places():
    """Kind to list of (path, line, match, text)."""
    found = {kind: [] for kind in KINDS}
    for path in sorted((ROOT / "src").glob("*/*.c")):
        for k, line in enumerate(path.read_text().split("\n")):
            if not line.startswith("  ") or '"' in line or SKIPPED.match(line):
                continue
            comment = line.find("//")
            for kind, (pattern, _) in KINDS.items():
                for match in re.finditer(pattern, line):
                    if comment < 0 or match.start() < comment:
                        found[kind].append((path.relative_to(ROOT), k, match, line))
    return found


def operand_left(text, end):
    """Start of the operand of a comparison that ends at end."""
    depth, k = 0, end - 1
    while k >= 0:
        two, c = text[k - 1 : k + 1], text[k]
        if c in ")]":
            depth += 1
        elif c in "([":
            if depth == 0:
                return k + 1
            depth -= 1
        elif depth == 0:
            if two in ("&&", "||", "==", "!=") or c in "?:,;{}=":
                return k + 1
            if re.match(r"return\b", text[k:]) and not re.match(r"\w", text[k - 1]):
                return k + 6
        k -= 1
    return 0


def operand_right(text, start):
    depth, k = 0, start
    while k < len(text):
        two, c = text[k : k + 2], text[k]
        if c in "([":
            depth += 1
        elif c in ")]":
            if depth == 0:
                return k
            depth -= 1
        elif depth == 0 and (two in ("&&", "||", "==", "!=") or c in "?:,;{}"):
            return k
        k += 1
    return k


def switched(fault, number, text, start, end):
    """The file's text with the fault behind its switch; start, end: the match in text."""
    match = fault.match
    if fault.kind == "sign":
        return text[:start] + f" {match[1]} fault_sign({number}) * " + text[end:]
    if fault.kind == "index":
        switch = f"{match[1]} ^ fault({number})" if match[1].isdigit() else f"{match[1]} + fault({number})"
        return text[:start] + f"[{switch}]" + text[end:]
    if fault.kind == "missing term":
        return text[:start] + text[start : start + 3] + f"(fault({number}) ? 0 : ({text[start + 3 : end]}))" + text[end:]
    left, right = operand_left(text, start), operand_right(text, end)
    a, b, other = text[left:start], text[end:right], KINDS["bound"][1](match).strip()
    return text[:left] + f" (fault({number}) ? ({a}) {other} ({b}) : ({a}) {match[1]} ({b}))" + text[right:]


def plant(faults):
    """Writes the copy's sources anew, with all faults."""
    by_path = {}
    for number, fault in faults.items():
        by_path.setdefault(fault.path, []).append((number, fault))
    for path, planted in by_path.items():
        text = (ROOT / path).read_text()
        starts = [0]
        for line in text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        # From the end to the start: positions before a fault stay.
        for number, fault in sorted(planted, key=lambda p: (p[1].line, p[1].match.start()), reverse=True):
            text = switched(fault, number, text, starts[fault.line] + fault.match.start(), starts[fault.line] + fault.match.end())
        text = '#include "faults.h"\n' + text
        if (COPY / path).read_text() != text:
            (COPY / path).write_text(text)


def environment():
    env = dict(os.environ, SDRS_CACHE="off", OPENBLAS_NUM_THREADS="1", OMP_WAIT_POLICY="passive", FLAVOUR="check")
    env["SDRS"] = str(COPY / "out/build/check/sdrs")
    if (COPY / "out/bin/python3").exists():
        env["PATH"] = f"{COPY}/out/bin:{env['PATH']}"
    return env


def make(*words):
    return subprocess.run(["make", "-s", "FLAVOUR=check", "WERROR_FLAG=", *words], cwd=COPY, capture_output=True, text=True)


def draw(count, seed):
    """Faults by number that compile behind their switch."""
    found, faults, drawn, seen = places(), {}, 0, set()
    kinds = list(KINDS)
    refused = 0
    while len(faults) < count:
        while len(faults) < count:
            drawn += 1
            rng = random.Random(1000 * seed + drawn)
            kind = rng.choice(kinds)
            fault = Fault(kind, *rng.choice(found[kind]))
            key = (fault.path, fault.line)
            if key not in seen:  # one fault a line
                seen.add(key)
                faults[drawn] = fault
        plant(faults)
        objects = {f"out/build/check/{fault.path.with_suffix('.o')}" for fault in faults.values()}
        outcome = make("-k", *sorted(objects))
        if outcome.returncode:
            for number, fault in list(faults.items()):
                # An error at the fault's line, one lower in the copy; else at a neighbour's, for an operand of several lines.
                if re.search(rf"{re.escape(str(fault.path))}:{fault.line + 2}:\d+: error", outcome.stderr):
                    print(f"{number}: {fault.path}:{fault.line + 1} does not compile behind a switch, drawn anew: {fault.faulty.strip()}", flush=True)
                    shutil.copy(ROOT / fault.path, COPY / fault.path)
                    del faults[number]
                    refused += 1
            if len(faults) == count:
                sys.exit(outcome.stderr)
    return faults, drawn


def known_seconds():
    seconds = {}
    for path in glob.glob(str(ROOT / "out/tests/*.cpu")):
        words = pathlib.Path(path).read_text().split()
        seconds[pathlib.Path(path).stem] = float(words[0]) if words else 1.0
    for path in glob.glob(str(ROOT / "out/tests/*.cases")):
        for line in pathlib.Path(path).read_text().split("\n"):
            words = line.split()
            if len(words) == 2 and words[1].startswith("cli/"):
                seconds[words[1]] = float(words[0])
    return seconds


def tests(long):
    """(seconds, name, command), the shortest first."""
    seconds, found = known_seconds(), []
    for pattern in ("unit/*", "property", "determinism", "gradient"):
        for source in sorted((ROOT / "tests").glob(f"{pattern}/test_*.c")):
            program = f"out/build/check/tests/{source.relative_to(ROOT / 'tests').with_suffix('')}"
            name = program.removeprefix("out/build/check/tests/")
            key = "check_tests_" + name.replace("/", "_")
            found.append((seconds.get(key, seconds.get(key.replace("check_", "readers_", 1), 2.0) / 4), name, [program]))
    stored = sorted(path.parent for path in (ROOT / "tests/golden").rglob("joints.csv"))
    for path in stored:
        scene = str(path.relative_to(ROOT / "tests/golden"))
        found.append((0.5, f"golden:{scene}", ["scripts/update_golden.sh", "--check", scene]))
    for path in sorted((ROOT / "tests/cli").glob("*/cmd")):
        if long or not (path.parent / "long").exists():
            case = path.parent.name
            found.append((2 * seconds.get(f"cli/{case}", 1.0), f"cli:{case}", ["tests/cli/run.sh", case]))
    found.append((15.0, "physics", ["tests/physics/run.sh"]))
    found.append((15.0, "variables", ["tests/variables/run.sh"]))
    return sorted(found)


def run(command, env, limit):
    """Whether it ends with 0 within limit seconds of wall time, and the processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(RESULTS / "log", "wb") as log:
        child = subprocess.Popen(command, cwd=COPY, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            good = child.wait(limit) == 0
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            good = False
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return good, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write(faults):
    with open(RESULTS / "faults.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["number", "kind", "file", "line", "source", "faulty", "found by", "reached by"])
        for number, f in sorted(faults.items()):
            rows.writerow([number, f.kind, f.path, f.line + 1, f.text.strip(), f.faulty.strip(), f.found, " ".join(f.reached)])


def compiled_plainly(fault):
    """What a build says of the fault without its switch: `same object`, `compiler` if it fails with warnings as errors, or nothing."""
    hashes = []
    for text in (fault.text, fault.faulty):
        lines = (ROOT / fault.path).read_text().split("\n")
        lines[fault.line] = text
        (COPY / fault.path).write_text("\n".join(lines))
        target = f"out/build/check/{fault.path.with_suffix('.o')}"
        if make(target, "WERROR_FLAG=-Werror").returncode:
            return "" if text == fault.text else "compiler"
        hashes.append(hashlib.sha256((COPY / target).read_bytes()).hexdigest())
    return "same object" if hashes[0] == hashes[1] else ""


def copy_checkout():
    shutil.rmtree(RESULTS, ignore_errors=True)
    COPY.mkdir(parents=True)
    sources = [name for name in COPIED.split() if (ROOT / name).exists()]
    subprocess.run(["cp", "-a", *sources, COPY], cwd=ROOT, check=True)
    (COPY / "out/build").mkdir(parents=True)
    for name in ("build/check", "build/libraries", "build/page", "bin", "node", "meshes"):
        if (ROOT / "out" / name).exists():
            subprocess.run(["cp", "-a", ROOT / "out" / name, COPY / "out" / name], check=True)
    (COPY / "src/faults.h").write_text(SWITCHES)
    (COPY / "src/base/faults.c").write_text(SWITCHES_SOURCE)


def read(faults):
    """Findings of an earlier run; returns the names of the tests that ran."""
    with open(RESULTS / "faults.csv", newline="") as file:
        for row in csv.DictReader(file):
            fault = faults[int(row["number"])]
            fault.found, fault.reached = row["found by"], row["reached by"].split()
    return set((RESULTS / "done").read_text().split("\n"))


def run_test(test, faults, alive, env, end):
    """Runs a test without a fault and with those of `alive` that it reaches; returns the processor time."""
    _, name, command = test
    reached = RESULTS / "reached"
    reached.unlink(missing_ok=True)
    start = time.time()
    good, spent = run(command, dict(env, SDRS_FAULTS_REACHED=str(reached)), 1800)
    wall = time.time() - start
    if not good:
        print(f"{name} fails without a fault", flush=True)
        return spent
    numbers = {int(line) for line in reached.read_text().split()} if reached.exists() else set()
    for number in sorted(numbers.intersection(alive)):
        if time.time() > end:
            break
        good, seconds = run(command, dict(env, SDRS_FAULT=str(number)), 20 + 10 * wall)
        spent += seconds
        if good:
            faults[number].reached.append(name)
        else:
            faults[number].found = name
            print(f"{number},{faults[number].kind},{faults[number].path}:{faults[number].line + 1},{name}", flush=True)
    write(faults)
    return spent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--minutes", type=float, default=1e9, help="start no further test after this time")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("faults", nargs="?", type=int, default=60)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    options = parser.parse_args()
    end = time.time() + 60 * options.minutes

    if not options.resume:
        copy_checkout()
    faults, drawn = draw(options.faults, options.seed)
    print(f"{len(faults)} faults of {drawn} drawn", flush=True)
    outcome = make("program", "unit-tests", "other-tests")
    if outcome.returncode:
        sys.exit(outcome.stderr)
    done = read(faults) if options.resume else set()
    write(faults)
    print("built", flush=True)

    env = environment()
    if options.long:
        env["SDRS_LONG"] = "1"
    left, spent, tried = [test for test in tests(options.long) if test[1] not in done], 0.0, 0
    while left:
        alive = [number for number, f in faults.items() if not f.found]
        if time.time() > end or not alive:
            break
        folders = {f"unit/{faults[number].path.parent.name}" for number in alive}
        test = min(left, key=lambda t: t[0] / 10 if t[1].rpartition("/")[0] in folders else t[0])
        left.remove(test)
        tried += 1
        spent += run_test(test, faults, alive, env, end)
        with open(RESULTS / "done", "a") as file:
            file.write(test[1] + "\n")
    print(f"{tried} tests, {spent:.0f} cpu s", flush=True)
    for fault in faults.values():
        fault.found = fault.found or compiled_plainly(fault)
    write(faults)
    same = sum(f.found == "same object" for f in faults.values())
    found = sum(bool(f.found) for f in faults.values()) - same
    print(f"{found} of {len(faults) - same} found, {same} have the same object")


if __name__ == "__main__":
    main()
