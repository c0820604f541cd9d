#!/usr/bin/env python3
"""Check that what CONTRIBUTING.md, src/README.md and src/simulate/README.md name is there.

Between backquotes: paths and files, of which a bare name may stand in any folder; `<name>` stands for a word that is the
same wherever it occurs in the path, and something must match it; identifiers of the sources and targets of the Makefile.
In indented blocks: the functions and files of a call chain. The include orders of both are the same, name every folder
of src/ once, and the table of src/README.md lists the folders in the reverse order, each with its doors. In the pages of
docs/ paths that begin with a folder of the checkout are looked at alone. Every picture of docs/ is shown by a page, or linked to.
The table of src/simulate/README.md lists every constant of step control, and nothing else.
Prints one line per fault; exits 1 when there is one.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENDINGS = r"\.(c|h|py|sh|md|js|mjs|html)"
PICTURES = r"\.(png|svg|jpg)$"
BASES = ("", "src/", "tests/")
MADE = ("out/",)  # what the build and the program write


def tracked():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                            check=True).stdout.split("\n")
    files = [name for name in listed if name and (ROOT / name).exists()]
    return files + sorted({f"{parent}/" for name in files for parent in pathlib.PurePath(name).parents} - {"./"})


def pattern_of(name):
    """The name as a regular expression: `<word>` the same everywhere, `*` anything within a folder."""
    known, parts = {}, []
    for part in re.split(r"(<\w+>|\*)", name):
        if part == "*":
            parts.append(r"[^/]*")
        elif part.startswith("<") and part in known:
            parts.append(f"(?P={known[part]})")
        elif part.startswith("<"):
            known[part] = f"w{len(known)}"
            parts.append(f"(?P<{known[part]}>[^/.]+)")
        else:
            parts.append(re.escape(part))
    return "".join(parts)


class Checkout:
    def __init__(self):
        self.files = tracked()
        sources = [ROOT / name for name in self.files
                   if re.match(r"(src|tests|scripts)/.*\.(c|h|py|sh|js|mjs)$|Makefile$|\.ci/run$", name)]
        self.text = "\n".join(path.read_text(errors="replace") for path in sources
                              if path != ROOT / "scripts/check_documents.py")
        self.words = set(re.findall(r"\w+", self.text))
        self.targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.M))

    def has_path(self, name):
        pattern = pattern_of(name)
        if "/" not in name.rstrip("/"):
            return any(re.fullmatch(rf"(.*/)?{pattern}", file) for file in self.files)
        return any(re.fullmatch(re.escape(base) + pattern, file) for base in BASES for file in self.files)

    def has_identifier(self, name):
        if "<" not in name:
            return name in self.words
        return re.search(r"\b" + re.sub(r"<\w+>", r"\\w+", name) + r"\b", self.text) is not None


def fault_of(token, checkout):
    """What is wrong with a text between backquotes, or None; texts that name nothing of the checkout are passed."""
    if token.startswith(MADE):
        return None
    if re.fullmatch(r"\.?[\w<>*./-]+", token) and (token.endswith("/") or re.search(ENDINGS + "$", token)):
        return None if checkout.has_path(token) else "no such file or folder"
    if re.match(r"make( |$)", token):
        wanted = [word for word in token.split()[1:] if "=" not in word and not word.startswith("-")]
        missing = [word for word in wanted if not word.startswith("out/") and word not in checkout.targets]
        return f"no target {missing[0]}" if missing else None
    name = re.fullmatch(r"(?:const )?([A-Za-z_][\w<>]*)(?:\*|\(\)|=)?", token)
    if name and re.search(r"[a-z][A-Z]|_", name.group(1)):
        return None if checkout.has_identifier(name.group(1)) else "no such name in the sources"
    return None


def tokens_of(text):
    """Line number and text of everything between backquotes, and of names in indented blocks."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("    "):
            for word in re.findall(r"[\w<>./-]+", line):
                if re.search(ENDINGS + "$", word) or re.fullmatch(r"[a-z]+(_[a-z]+)+", word):
                    yield number, word
        else:
            for token in re.findall(r"`([^`]+)`", line):
                yield number, token


def document_faults(name, checkout):
    for number, token in tokens_of((ROOT / name).read_text()):
        fault = fault_of(token, checkout)
        if fault:
            yield f"{name}:{number}: `{token}`: {fault}"


def page_faults(name, checkout):
    """Of a page of docs/: paths from the top of the checkout."""
    tops = "|".join(sorted({file.split("/")[0] for file in checkout.files if "/" in file}))
    for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
        for token in re.findall(rf"`((?:{tops})/[\w<>*./-]+)`", line):
            if not checkout.has_path(token) and not checkout.has_path(token + "/") and not re.search(r"test_\w+$", token):
                yield f"{name}:{number}: `{token}`: no such file or folder"


def orders_of(text):
    return [[word.strip() for word in match.split("<")] for match in re.findall(r"\bbase(?: < [a-z]+)+", text)]


def order_faults(checkout):
    """The include orders and the table of folders."""
    guide, map_text = (ROOT / "CONTRIBUTING.md").read_text(), (ROOT / "src/README.md").read_text()
    orders = orders_of(guide) + orders_of(map_text)
    folders = {file.split("/")[1] for file in checkout.files if re.match(r"src/\w+/", file)}
    if len(orders) != 2 or orders[0] != orders[1]:
        yield "the include orders of CONTRIBUTING.md and src/README.md are not the same"
    if sorted(orders[0]) != sorted(folders):
        yield f"the include order does not name each folder of src/ once: {set(orders[0]) ^ folders}"
    rows = re.findall(r"^\| `(\w+)/` \| (.*?) \|", map_text, re.M)
    if [folder for folder, _ in rows] != orders[0][::-1]:
        yield "the table of src/README.md does not list the folders in the reverse of the include order"
    for folder, doors in rows:
        for door in re.findall(r"`([^`]+)`", doors):
            if f"src/{folder}/{door}" not in checkout.files:
                yield f"src/README.md: {folder}/ has no {door}"


def picture_faults(checkout):
    """Pictures of docs/ that no page shows or links to, and those that one does and that are not there."""
    pages = [name for name in checkout.files if name.endswith(".md")]
    shown = {}
    for page in pages:
        text = (ROOT / page).read_text()
        for link in re.findall(r"\]\(([^)\s]+)\)|<img [^>]*src=\"([^\"]+)\"", text):
            place = link[0] or link[1]
            if "://" not in place and re.search(PICTURES, place):
                shown.setdefault(os.path.normpath(os.path.join(os.path.dirname(page), place)), page)
    pictures = {name for name in checkout.files if re.match(rf"docs/.*{PICTURES}", name)}
    for name in sorted(pictures - shown.keys()):
        yield f"{name}: no page shows this picture or links to it"
    for name in sorted(shown.keys() - set(checkout.files)):
        yield f"{shown[name]}: no such picture: {name}"


STEP_CONTROL = [f"src/simulate/{name}.c" for name in ("newton", "line_search", "direction", "subsystems", "balance", "substep")] + [
    f"src/contact/{name}.c" for name in ("subsystem", "dense", "sleep", "terms")] + ["src/simulate/sim.h"]


def constant_faults():
    """Constants of step control that the table of src/simulate/README.md lacks, and rows of it that nothing defines."""
    defined = set()
    for name in STEP_CONTROL:
        text = (ROOT / name).read_text()
        defined |= set(re.findall(r"^#define ([A-Z_]+) [(\d]", text, re.M))
        for body in re.findall(r"^enum \{([^}]*)\}", text, re.M):
            defined |= set(re.findall(r"\b([A-Z][A-Z_]+) = \d", body))
    table = (ROOT / "src/simulate/README.md").read_text().split("## Constants")[1]
    listed = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`[A-Z].*?) \|", table, re.M))))
    for name in sorted(defined ^ listed):
        yield f"src/simulate/README.md: {name} is {'not listed' if name in defined else 'no constant of step control'}"


def main():
    checkout = Checkout()
    faults = list(order_faults(checkout))
    for name in ("CONTRIBUTING.md", "src/README.md", "src/simulate/README.md"):
        faults += document_faults(name, checkout)
    for name in checkout.files:
        if re.match(r"docs/.*\.md$", name):
            faults += page_faults(name, checkout)
    faults += picture_faults(checkout)
    faults += constant_faults()
    print("\n".join(faults) if faults else "check_documents: no fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
