"""Builds the site into build/site/html from the guides, the READMEs and the declarations, and checks its pages.

python tools/site/build.py
"""

from __future__ import annotations

import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys

import reference

ROOT = reference.ROOT
BUILD = ROOT / "build" / "site"
SOURCE, HTML = BUILD / "source", BUILD / "html"
HERE = pathlib.Path(__file__).parent
PROJECT = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md"]


def tracked(*patterns: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=ROOT, capture_output=True)
    return [name for name in listed.stdout.decode().splitlines() if (ROOT / name).exists()]


def copy_pages() -> None:
    """Pages keep their places, so that links between them stay right; what they link to comes along."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    names = tracked("*.md", "docs", "examples", "benchmarks/*.png")
    linked = {
        (pathlib.Path(name).parent / target).as_posix()
        for name in names
        if name.endswith(".md")
        for target in re.findall(r"\]\(([\w./-]+(?:\.(?:h|cpp|py|toml|json|sh)|Makefile))\)", (ROOT / name).read_text())
    }
    for name in {*names, *(os.path.normpath(name) for name in linked)}:
        to = SOURCE / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, to)
    for name in ("conf.py", "site.css"):
        shutil.copyfile(HERE / name, SOURCE / name)


def write_pages() -> None:
    (SOURCE / "reference").mkdir()
    for name, text in reference.pages().items():
        (SOURCE / "reference" / name).write_text(text)
    (SOURCE / "README.md").rename(SOURCE / "index.md")
    entries = [("index", pages, caption) for caption, pages in sections().items()]
    entries += [(page, pages, "") for page, pages in below().items()]
    for page, pages, caption in entries:
        with (SOURCE / f"{page}.md").open("a") as file:
            file.write("\n" + reference.toctree(pages, caption, hidden=True))


def sections() -> dict[str, list[str]]:
    """Captions of the navigation and their pages: those of docs/README.md by its headings, and the rest."""
    found: dict[str, list[str]] = {}
    caption = "Guides"
    for line in (ROOT / "docs" / "README.md").read_text().splitlines():
        if line.startswith("## "):
            caption = line.removeprefix("## ")
        elif row := re.match(r"\| \[[^]]+\]\(([\w./-]+)\.md\)", line):
            found.setdefault(caption, []).append(os.path.normpath(f"docs/{row[1]}"))
    found["Reference"] = ["reference/index"]
    found["The project"] = ["docs/README", *(name.removesuffix(".md") for name in PROJECT)]
    return found


def below() -> dict[str, list[str]]:
    """Pages that are reached from another one, by that page."""
    named = {page for pages in sections().values() for page in pages}
    others = [name.removesuffix(".md") for name in sorted(tracked("*.md")) if name != "README.md"]
    found = {}
    for folder in ("docs/coming-from", "docs/recipes"):
        inside = [page for page in others if page.startswith(f"{folder}/") and page not in named]
        found[f"{folder}/README"] = [page.removeprefix(f"{folder}/") for page in inside]
        named.update(inside)
    return found | {"ARCHITECTURE": [page for page in others if page not in named]}


class Page(html.parser.HTMLParser):
    """What is checked of a page: headings and pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.headings: list[int] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "img" and not given.get("alt"):
            self.faults.append(f"picture {given.get('src')} has no alternative text")
        if re.fullmatch("h[1-6]", tag):
            level = int(tag[1])
            if self.headings and level > self.headings[-1] + 1:
                self.faults.append(f"a heading of level {level} follows one of level {self.headings[-1]}")
            self.headings.append(level)
        for name in ("src", "href"):
            outside = (given.get(name) or "").startswith(("http://", "https://", "//"))
            if outside and tag in ("script", "link", "img"):
                self.faults.append(f"{given[name]} is fetched from elsewhere")


def check() -> list[str]:
    faults = []
    for file in sorted(HTML.rglob("*.html")):
        page = Page()
        page.feed(file.read_text())
        faults += [f"{file.relative_to(HTML)}: {fault}" for fault in page.faults]
        if page.headings.count(1) != 1 and file.stem not in ("genindex", "py-modindex", "search"):
            faults.append(f"{file.relative_to(HTML)}: expected one heading of level 1, found {page.headings.count(1)}")
    return faults


def write_texts() -> None:
    """llms.txt, a list of the guides, and llms-full.txt, all of them: for programs that read documentation."""
    pages = [ROOT / f"{page}.md" for group in sections().values() for page in group if (ROOT / f"{page}.md").exists()]
    guides = [page for page in pages if page.name != "gallery.md"]
    lines = [f"- [{page.stem}]({page.relative_to(ROOT)}): {_beginning(page)}" for page in guides]
    readme = (ROOT / "README.md").read_text()
    (HTML / "llms.txt").write_text("\n".join(["# avida", "", f"> {_beginning(ROOT / 'README.md')}", "", *lines, ""]))
    (HTML / "llms-full.txt").write_text("\n\n".join([readme, *(page.read_text() for page in guides)]))


def _beginning(page: pathlib.Path) -> str:
    """The first sentence behind the title."""
    paragraphs = re.sub(r"\A---.*?^---$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE).split("\n\n")
    text = next((each for each in paragraphs if each.strip() and not each.lstrip().startswith(("#", "|", "`"))), "")
    return re.split(r"(?<=[.:])\s", " ".join(text.split()), maxsplit=1)[0]


def main() -> None:
    copy_pages()
    write_pages()
    run = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-b", "html", str(SOURCE), str(HTML)]
    failed = subprocess.run(run).returncode
    write_texts()
    faults = check()
    print("\n".join(faults))
    if failed or faults:
        sys.exit(f"the site has {len(faults)} faults" if faults else "Sphinx had warnings")
    print(f"{len(list(HTML.rglob('*.html')))} pages: {(HTML / 'index.html').relative_to(ROOT)}")


if __name__ == "__main__":
    main()
