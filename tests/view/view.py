"""Asks live views and looks at what they answer: python3 view.py SDRS FOLDER. Ends with `N passed, N failed`."""

import atexit
import csv
import http.client
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

SDRS, WORK = sys.argv[1], pathlib.Path(sys.argv[2])
PATIENCE = 60.0  # s, for what is sure to come
counts = {True: 0, False: 0}


def check(good, text):
    counts[bool(good)] += 1
    if not good:
        print(f"FAIL {text}")


class Command:
    """A command with a view, and the port that it has told."""

    def __init__(self, *words, view="--view"):
        self.process = subprocess.Popen([SDRS, *map(str, words), view, "--no-overview"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        self.said, self.port = "", None
        for line in self.process.stderr:
            self.said += line
            told = re.search(r"live view at http://127\.0\.0\.1:(\d+)/", line)
            if told:
                self.port = int(told[1])
                break

    def ask(self, path, method="GET", headers={}, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def moments(self, version, start):
        return json.loads(self.ask(f"/moments?version={version}&from={start}")[1])

    def page(self):
        """Of the run, once there is one."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            text = self.ask("/")[1]
            data = re.search(r'<script type="application/json" id="run">(.*?)</script>', text, re.S)
            if data:
                return json.loads(data[1])
            time.sleep(0.02)
        raise TimeoutError("no page")

    def end(self):
        out, err = self.process.communicate(timeout=PATIENCE)
        self.said += err
        return self.process.returncode


def files(folder, without=("summary.json",)):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(pathlib.Path(folder).rglob("*"))
            if p.is_file() and p.name not in without}


def plain(*words):
    return subprocess.run([SDRS, *map(str, words), "-q", "--no-overview"], capture_output=True, text=True, timeout=PATIENCE)


def is_refused(command, body):
    """With an answer, or by hanging up on who goes on sending."""
    try:
        return command.ask("/", "POST", body=body)[0] == 405
    except ConnectionError:
        return True


def watch_to_the_end(command, version):
    """All moments, as a page asks for them, and how it ended."""
    rows, ended = [], None
    while True:
        try:
            answer = command.moments(version, len(rows))
        except (ConnectionError, http.client.HTTPException, OSError):
            return rows, ended
        if answer["version"] != version:  # the finished page
            return rows, "replaced"
        rows += answer["moments"]
        ended = answer["ended"]
        if ended is not None and len(rows) >= answer["count"]:
            return rows, ended


def test_endless():
    """While it runs: the page, moments, everything else refused, an orderly end."""
    scene = WORK / "fall.yaml"
    scene.write_text("name: fall\nsimulation: {dt: 0.001, steps: 100000000, record_every: 1000, gravity: [0, 0, 0]}\n"
                     "shapes: {b: {type: box, size: [0.1, 0.1, 0.1]}}\nlinks:\n"
                     "  - {name: post, fixed: true, shape: b, position: [3, 0, 0]}\n"
                     "  - {name: box, shape: b, mass: 1}\n"
                     "initial:\n  - {link: box, velocities: [0, 0.5, 0, 0, 0, 0]}\n")
    command = Command("simulate", scene, "-o", WORK / "endless")
    run = command.page()
    check(run["live"]["version"] == 1, "the page says its version")
    check([link["name"] for link in run["links"]] == ["post", "box"], "the page has the links")
    check(command.ask("/")[0] == 200, "/ is there")
    check(command.ask("/", "HEAD")[1] == "", "HEAD has no body")
    check(command.moments(7, 0)["moments"] == [], "another version has no moments")
    check(command.moments(1, 10**9)["moments"] == [], "moments to come are none")
    for path in ("/nothing", "/moments/", "/../etc/passwd", "/index.html"):
        check(command.ask(path)[0] == 404, f"{path} is not there")
    for path in ("/moments?version=-1&from=-5", "/moments?version=x&from=99999999999999999999", "/moments"):
        check(json.loads(command.ask(path)[1])["moments"] == [], f"{path} has no moments")
    check(command.ask("/", "POST", body=b"x" * 1000)[0] == 405, "POST is refused")
    check(is_refused(command, b"x" * 10000000), "so are ten megabytes")
    check(command.ask("/", "DELETE")[0] == 405, "DELETE is refused")
    check(command.ask("/", headers={"X-Long": "a" * 60000})[0] in (413, 431), "a header of 60 kB is refused")
    check(command.ask("/" + "a" * 60000)[0] == 414, "an address of 60 kB is refused")
    check(command.ask("/", headers={"Host": "elsewhere.example"})[0] == 403, "another host's name is refused")
    for junk in (b"\r\n\r\n", b"GET\r\n\r\n", b"\x00\xff" * 5000, b"GET / HTTP/9.9\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", command.port), timeout=PATIENCE) as peer:
            peer.sendall(junk)
            peer.settimeout(1)
            try:
                peer.recv(100)
            except OSError:
                pass
    check(command.ask("/")[0] == 200, "it answers after nonsense")
    taken = plain("simulate", scene, "--steps", 3, f"--view={command.port}", "-o", WORK / "taken")
    check(taken.returncode == 5 and f"127.0.0.1:{command.port}" in taken.stderr, f"a taken port is told: {taken.stderr}")
    end = time.monotonic() + PATIENCE
    while len(rows := command.moments(1, 0)["moments"]) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    # Without gravity the box goes straight on at 0.5 m/s: time, x, y, z.
    check(len(rows) >= 2 and all(abs(row[2] - 0.5 * row[0]) < 1e-6 * row[0] for row in rows), "the box goes straight on")
    command.process.send_signal(signal.SIGINT)
    check(command.end() == 130, "SIGINT ends it")
    check("stopped by SIGINT" in command.said, "and says so")


def test_same_results():
    """Watched or not, results are the same to the bit; the moments are those of the files."""
    words = ("simulate", "scenes/spider.yaml", "--steps", 2000)
    plain(*words, "-o", WORK / "unseen")
    command = Command(*words, "-o", WORK / "seen")
    rows, ended = watch_to_the_end(command, command.page()["live"]["version"])
    check(command.end() == 0, "it ends by itself")
    check(ended in ("all steps done", "replaced"), f"who looks is told the end: {ended}")
    check(files(WORK / "unseen") == files(WORK / "seen"), "files are the same to the bit")
    with open(WORK / "seen" / "trajectory.csv", encoding="utf-8") as file:
        recorded = {row["time"]: row for row in csv.DictReader(file)}
    body = {float(t): [float(r[f"body/{c}"]) for c in ("px", "py", "pz")] for t, r in recorded.items()}
    nearest = lambda t: min(body, key=lambda s: abs(s - t))
    some = rows[:: max(1, len(rows) // 50)]
    check(len(some) > 10, f"there were {len(rows)} moments")
    check(all(max(abs(a - b) for a, b in zip(row[1:4], body[nearest(row[0])])) < 1e-7 for row in some),
          "places are those of trajectory.csv")


def test_optimize():
    """The same for designs, whose page is made anew with every look."""
    words = ("optimize", "scenes/tasks/pinch.yaml", "--iterations", 100, "--no-converge")
    plain(*words, "-o", WORK / "unseen-design")
    command = Command(*words, "-o", WORK / "seen-design")
    versions, ended = set(), None
    while ended is None:
        try:
            version = command.page()["live"]["version"]
            ended = command.moments(version, 0)["ended"]
        except (ConnectionError, http.client.HTTPException, OSError):
            break
        versions.add(version)
        time.sleep(0.05)
    check(command.end() == 0, "the optimization ends by itself")
    check(len(versions) >= 2, f"pages of designs: {sorted(versions)}")
    unseen, seen = (files(WORK / name, ("summary.json", "convergence.csv", "checkpoint.json", "checkpoint"))
                    for name in ("unseen-design", "seen-design"))
    check(unseen == seen, f"designs are the same to the bit: {[n for n in unseen if unseen.get(n) != seen.get(n)]}")
    table = [[{k: v for k, v in row.items() if k != "seconds"}
              for row in csv.DictReader(open(WORK / name / "convergence.csv", encoding="utf-8"))]
             for name in ("unseen-design", "seen-design")]
    check(table[0] == table[1] and len(table[0]) > 20, "the way there too, but for the seconds")


def test_stay():
    """With --stay the finished page is there until a signal; what the run left is complete before."""
    command = Command("simulate", "scenes/slide.yaml", "--steps", 50, "--stay", "-o", WORK / "stays")
    end = time.monotonic() + PATIENCE
    while "live" in (run := command.page()) and time.monotonic() < end:
        time.sleep(0.05)
    check("live" not in run and len(run["time"]) == 51, "the finished page holds the whole run")
    check((WORK / "stays" / "summary.json").is_file(), "the folder is complete")
    check(command.process.poll() is None, "it stays")
    command.process.send_signal(signal.SIGINT)
    check(command.end() == 0, "Ctrl-C ends it, as the run ended")


def test_receding():
    """What is executed of a receding horizon is shown as it comes."""
    command = Command("optimize", "scenes/tasks/follow.yaml", "--set", "receding.iterations=1", "--set", "steps=20",
                      "-o", WORK / "receding")
    rows, ended = watch_to_the_end(command, command.page()["live"]["version"]) if command.port else ([], None)
    code = command.end()
    check(code == 0 and len(rows) > 0 and ended is not None, f"receding: {code}, {len(rows)}, {ended}, {command.said}")


for test in (test_endless, test_same_results, test_optimize, test_stay, test_receding):
    test()
print(f"{counts[True]} passed, {counts[False]} failed")
sys.exit(1 if counts[False] else 0)
