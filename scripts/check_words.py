#!/usr/bin/env python3
"""Check that documents, comments and messages use the field's words, each for one thing.

  scripts/check_words.py [PATH ...]     only these files and folders, those on the lists TO_DO included

WORDS has the words that are not used, each with the terms that replace them. Words that also have an ordinary sense (place, way,
turn, held) are not looked for: no script can tell the senses apart. Code, links and what stands between backquotes are passed.
A sentence of a document has at most 30 words; it ends at a full stop, a question mark, a colon or a semicolon. Tables are passed.
A comment does not begin with "What", "Of" or "That which".
Prints one line per fault and what was looked at; exits 1 when there is one.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST = 30

# Folders whose comments and messages are checked.
CLEAN_FOLDERS = tuple(sorted(str(folder.relative_to(ROOT)) for folder in (ROOT / "src").iterdir() if folder.is_dir()))

# Documents that are not clean yet; the list only shrinks.
TO_DO_DOCUMENTS = (
    "benchmarks/results/",
    "CHANGELOG.md",
)

WORDS = [(re.compile(rf"\b(?:{pattern})\b", re.I), instead) for pattern, instead in (
    (r"blows?", "impact, collision"),
    (r"rubs?|rubbed|rubbing", "friction acts, slips"),
    (r"told(?! apart)", "reported"),
    (r"cords?", "tendon, cable"),
    (r"foretells?|foretold", "predicts, extrapolated"),
    (r"afar|far field", "long range"),
    (r"strangers?|stranger's", "user scene, third-party model"),
    (r"falls? short|fell short", "known limitation, fails"),
    (r"gaps? at rest", "equilibrium gap"),
    (r"spots", "contact points"),
    (r"crowds?|crowded", "cluster, dense island"),
    (r"touchy|blind (?!to|readers)", "the condition, in words"),
    (r"headings? held|gaits? held", "heading control"),
    (r"gives? up|gave up|given up", "terminates, stops, aborts"),
    (r"lent", "borrowed from"),
    (r"rounds of (?:Newton|all)|round of Newton|rounds a step|(?:two|three|few|several|more|many) rounds", "iterations"),
    (r"press(?:es|ed|ing)?(?!\"| of| a (?:key|button))", "in contact, contact force"),
    (r"(?:solved|taken|resolved|step|steps) in parts|parts? of (?:a|the|each|that) step", "substep"),
    (r"spread over the (?:vertices|volume)", "lumped at the vertices, uniform density"),
    (r"measured elsewhere", "cross-validation in MuJoCo"),
    (r"pass(?:es|ed|ing)? through (?:each other|one another|anything)", "penetrate, tunnel through"),
    (r"(?:is|are|was) struck|strikes?", "collides with"),
    (r"throws? (?:\w+ )?back|thrown back", "rebounds, returns"),
    (r"looks? back", "depends on previous steps"),
    (r"torn? open|tears? open", "infeasible loop"),
    (r"as ever|to chance", "as elsewhere, random error"),
    (r"what touches|touches what", "bodies in contact"),
    (r"tellings?|is the door", "report, interface"),
)]


def documents():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True,
                            check=True).stdout.split()
    return [name for name in listed if (ROOT / name).exists()]


def prose(text):
    """A document without code, quoted words, formulas and targets of links; its lines keep their numbers."""
    text = re.sub(r"(?ms)^ *```.*?^ *```$", lambda m: "\n" * m[0].count("\n"), text)
    text = re.sub(r"(?m)^(?:    |\t).*$", "", text)
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]*\$|`[^`]*`", lambda m: "x" + "\n" * m[0].count("\n"), text, flags=re.S)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"<!--.*?-->", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)


def long_sentences(text):
    """Line and number of words of each sentence above the limit."""
    text = re.sub(r"(?m)^[ \t]*(?:\||#).*$", "", text)
    for paragraph in re.finditer(r"(?:.+\n?)+?(?=\n|\Z|\s*[-*] |\s*\d+\. )", text):
        at = paragraph.start()
        for sentence in re.split(r"((?<=[.:;?!])[\s)]+)", paragraph[0]):
            words = len(re.findall(r"[A-Za-z][\w'-]*", sentence))
            if words > LONGEST:
                lead = len(sentence) - len(sentence.lstrip())
                yield text.count("\n", 0, at + lead) + 1, words
            at += len(sentence)


def word_faults(name, text):
    for word, instead in WORDS:
        for match in word.finditer(text):
            yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: \"{match[0]}\": {instead}"


def document_faults(name):
    text = prose((ROOT / name).read_text())
    yield from word_faults(name, text)
    for line, words in long_sentences(text):
        yield f"{name}:{line}: a sentence of {words} words: at most {LONGEST}"


PIECES = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)


def source_faults(name):
    """Faults of the comments and of the texts between quotes."""
    text = (ROOT / name).read_text()
    spoken = list(" " if c != "\n" else c for c in text)
    for piece in PIECES.finditer(text):
        if piece[0][0] == "'" or text.rfind("#include", text.rfind("\n", 0, piece.start()) + 1, piece.start()) >= 0:
            continue
        if piece[0][0] == "/" and re.match(r"/[*/][*<!]*\s*(?:What|Of|That which)\b", piece[0]):
            yield f"{name}:{text.count(chr(10), 0, piece.start()) + 1}: a comment that begins with \"What\", \"Of\" or \"That which\""
        said = piece[0] if piece[0][0] == '"' else re.sub(r"`[^`\n]*`", lambda m: " " * len(m[0]), piece[0])
        spoken[piece.start():piece.end()] = said
    yield from word_faults(name, "".join(spoken))


def chosen():
    if len(sys.argv) > 1:
        for path in sys.argv[1:]:
            file = ROOT / path
            if file.is_dir():
                yield from (str(each.relative_to(ROOT)) for ending in ("md", "c", "h") for each in sorted(file.rglob(f"*.{ending}")))
            else:
                yield path
        return
    yield from (name for name in documents() if not name.startswith(TO_DO_DOCUMENTS))
    for folder in CLEAN_FOLDERS:
        yield from (str(file.relative_to(ROOT)) for file in sorted((ROOT / folder).rglob("*.[ch]")))


def main():
    files = list(chosen())
    faults = [fault for name in files for fault in (document_faults if name.endswith(".md") else source_faults)(name)]
    print("\n".join(faults), end="\n" if faults else "")
    print(f"{len(files)} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
