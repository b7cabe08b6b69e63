"""Writes the tables of files in the READMEs of folders from what the files say of themselves.

That is the documentation of the operator that a file declares, or the first sentence of the file: of the comment that a
C++ file or a script begins with, or of a Python module's docstring. A folder is described by the title of its README,
or as a module. With --check, stale tables are reported instead.
"""

import ast
import pathlib
import re
import sys
from collections.abc import Iterator

from check_layers import MOST_WITHOUT_README, ROOT, SOURCE_SUFFIXES, source_folders

NOTE = "<!-- `make tables` writes this table from the first sentence of each file. -->"
TABLE = re.compile(rf"(?:{re.escape(NOTE)}\n)?^\| file \|.*\n(?:\|.*\n)*", re.MULTILINE)
OPERATOR = re.compile(r"^AVIDA_OP(_IN|_NAMED)?\((.*), \w+\)", re.MULTILINE)
DOC = re.compile(r'\.doc\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)')
CASE = re.compile(r'^@op_case\(\s*"([\w.]+)"', re.MULTILINE)
SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z`(]|usage:)")


def first_sentence(text: str) -> str:
    """Of the first paragraph, with a full stop."""
    paragraph = " ".join(re.split(r"\n\s*\n", text.strip())[0].replace("``", "`").split())
    sentence = SENTENCE_END.split(paragraph)[0].rstrip(":.")
    return sentence if not sentence or sentence.endswith("?") else f"{sentence}."


def beginning(path: pathlib.Path, text: str) -> str:
    """The first sentence of a file; empty where it begins with code."""
    if path.suffix == ".py" and (docstring := ast.get_docstring(ast.parse(text))):
        return first_sentence(docstring)
    mark = "//" if path.suffix in (".h", ".cpp") else "#"
    comment = re.match(rf"(?:#!.*\n)?((?:{mark}.*\n)*)", text)
    return first_sentence(re.sub(rf"^{mark}", "", comment[1], flags=re.MULTILINE)) if comment else ""


def declared_operators(text: str) -> list[str]:
    return [
        words.split('"')[1] if kind == "_NAMED" else words.replace(", ", ".") for kind, words in OPERATOR.findall(text)
    ]


def description(paths: list[pathlib.Path]) -> str:
    """What a file, or a header and its .cpp, say of themselves."""
    texts = {path: path.read_text() for path in sorted(paths, reverse=True)}  # the header first
    operators = [name for text in texts.values() for name in declared_operators(text)]
    docs = [found[1] for text in texts.values() if (found := DOC.search(text))]
    if len(operators) == 1 and docs:
        doc = first_sentence("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', docs[0])).replace(r"\"", '"'))
        return doc if operators[0] == paths[0].stem else f"`{operators[0]}`: {doc}"
    for path, text in texts.items():
        if said := beginning(path, text):
            return said
    names = operators or dict.fromkeys(name for text in texts.values() for name in CASE.findall(text))
    return f"{', '.join(f'`{name}`' for name in names)}." if names else ""


def rows(folder: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Name and description of each file, a header and its .cpp being one, and of each folder."""
    groups: dict[str, list[pathlib.Path]] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix in SOURCE_SUFFIXES | {".sh"} and path.name != "__init__.py":
            groups.setdefault(path.stem if path.suffix in (".h", ".cpp") else path.name, []).append(path)
    for stem, paths in groups.items():
        yield stem if len(paths) > 1 else paths[0].name, description(paths)
    for inner in sorted(folder.iterdir()):
        if (inner / "README.md").exists():
            title = (inner / "README.md").read_text().splitlines()[0].partition(": ")[2]
            yield f"{inner.name}/", first_sentence(title[:1].upper() + title[1:])
        elif (inner / "__init__.py").exists():
            yield f"{inner.name}/", description([inner / "__init__.py"])


def with_table(readme: pathlib.Path) -> str:
    """A README with the table of today, in the place of the old one or before the first section."""
    text = readme.read_text()
    lines = [f"| `{name}` | {what.replace('|', chr(92) + '|')} |\n" for name, what in rows(readme.parent)]
    table = f"{NOTE}\n| file | what |\n|---|---|\n{''.join(lines)}"
    if found := TABLE.search(text):
        return text[: found.start()] + table + TABLE.sub("", text[found.end() :])
    head, section, rest = text.partition("\n## ")
    return f"{head.rstrip()}\n\n{table}{section}{rest}"


def main() -> int:
    problems = []
    for folder in source_folders():
        readme = folder / "README.md"
        many = sum(path.suffix in SOURCE_SUFFIXES for path in folder.iterdir()) > MOST_WITHOUT_README
        if not readme.exists() or not (many or TABLE.search(readme.read_text())):
            continue
        name = folder.relative_to(ROOT)
        problems += [f"{name}/{file}: no sentence on it at its beginning" for file, what in rows(folder) if not what]
        text = with_table(readme)
        if "--check" not in sys.argv[1:]:
            readme.write_text(text)
        elif readme.read_text() != text:
            problems.append(f"{name}/README.md: the table of files is stale; run `make tables`")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
