#!/usr/bin/env python3
"""The documentation as static pages with a search, by mkdocs.

    scripts/make_site.py [SITE]      SITE: out/site

README.md, CHANGELOG.md, CONTRIBUTING.md, src/README.md and docs/ stand in it as they stand in the checkout, so links between them hold;
files that they link to (scenes, headers, examples) become pages that show them, folders pages that list them. A link that leads
nowhere ends it with an error. Serve it, for the search is fetched: python3 -m http.server -d out/site
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "src/README.md"]
AS_THEY_ARE = {".png", ".svg", ".jpg", ".gif"}
LINK = re.compile(r"(?<=\]\()([^)#\s]+)")


def shown(path):
    """A page that shows a file, or lists a folder's."""
    name = path.relative_to(ROOT)
    if path.is_dir():
        listed = subprocess.run(["git", "ls-files", "."], cwd=path, capture_output=True, text=True, check=True).stdout.split()
        return f"# {name}\n\n" + "".join(f"* [{file}]({path.name}/{file})\n" for file in listed if (path / file).exists())
    fence = "`" * 6
    return f"# {name}\n\n{fence}\n{path.read_text(errors='replace').rstrip()}\n{fence}\n"


class Site:
    def __init__(self, stage):
        self.stage, self.done = stage, set()

    def put(self, name, text):
        place = self.stage / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def page(self, name, text):
        """A page with its links turned to the pages of what they lead to, which are made too."""
        folder = (ROOT / name).parent

        def turned(match):
            target = match[1]
            path = pathlib.Path(os.path.normpath(folder / target))
            if ":" in target or not path.is_relative_to(ROOT) or not path.exists():
                return target  # another site's, or one that mkdocs will name
            return target.rstrip("/") + self.bring(path)

        self.put(name, LINK.sub(turned, text))

    def bring(self, path):
        """Makes sure that a file or folder is there; what its page's name has more."""
        name = path.relative_to(ROOT).as_posix()
        bare = path.suffix == ".md" or path.suffix in AS_THEY_ARE
        if name not in self.done:
            self.done.add(name)
            if path.suffix == ".md":
                self.page(name, path.read_text())
            elif bare:
                (self.stage / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, self.stage / name)
            else:
                self.page(f"{name}.md", shown(path)) if path.is_dir() else self.put(f"{name}.md", shown(path))
        return "" if bare else ".md"


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "out/site").resolve()
    with tempfile.TemporaryDirectory() as folder:
        site = Site(pathlib.Path(folder) / "pages")
        for page in [*PAGES, *sorted(path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md"))]:
            site.bring(ROOT / page)
        settings = (ROOT / "mkdocs.yml").read_text()
        config = pathlib.Path(folder) / "mkdocs.yml"
        config.write_text(f"{settings}docs_dir: {site.stage}\nsite_dir: {out}\n")
        subprocess.run(["mkdocs", "build", "--quiet", "--clean", "--strict", "--config-file", config], check=True)
    print(f"{out}: {sum(1 for _ in out.rglob('*.html'))} pages")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
