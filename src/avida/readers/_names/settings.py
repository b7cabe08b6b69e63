"""YOLO's file of settings (YAML): where images are, what classes are called, and which keypoints are left and right."""

from __future__ import annotations

import dataclasses
import os
import posixpath
import re
from typing import Any

from avida import _core, storage

_ENDINGS = (".yaml", ".yml")
_KEY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'\[{#,][^:,]*?)\s*:(?=\s|$)""")
_PLAIN_END = re.compile(r"\s#|$")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_MOST_NAMES = 1_000_000


@dataclasses.dataclass(frozen=True)
class Settings:
    """What the file says, as far as readers need it."""

    path: str
    root: str
    """The folder of the data set."""
    splits: dict[str, list[str]]
    names: list[str]
    keypoint_shape: list[int]
    swap: list[tuple[int, int]]

    def folders(self, split: str) -> list[str]:
        """Where the images of a part are: folders, and lists of files (.txt)."""
        if split not in self.splits:
            known = ", ".join(f'"{name}"' for name in self.splits)
            raise ValueError(f'{self.path}: expected a split among {known}, got "{split}"')
        return [self._found(each) for each in self.splits[split]]

    def _found(self, name: str) -> str:
        """A name of the file, which may be relative to the folder or, as many files have it, to one in it."""
        found = _joined(self.root, name)
        if name.startswith("../") and not _is_there(found):
            return _joined(self.root, name[3:])
        return found


def find_settings(place: str) -> Settings | None:
    """The settings of a data set, which may be named themselves."""
    if place.lower().endswith(_ENDINGS):
        return read_settings(place)
    try:
        files = [name for name in storage.ls(place) if name.lower().endswith(_ENDINGS)]
    except (RuntimeError, OSError):
        return None  # the reader says what is wrong with the folder
    files = [name for name in files if posixpath.basename(name) in ("data.yaml", "dataset.yaml", "data.yml")] or files
    if not files:
        return None
    if len(files) > 1:
        raise RuntimeError(f"expected one file of settings in {place}, got {', '.join(files)}: pass one as file_root")
    return read_settings(_joined(place, posixpath.basename(files[0])))


def read_settings(path: str) -> Settings:
    """Reads the file. What it has beside is not looked at."""
    try:
        text = storage.read(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RuntimeError(f"{path}: expected a text in UTF-8") from None
    values = parse_yaml(text, path)
    folder = posixpath.dirname(path) or "."
    root = values.get("path")
    if root is not None and not isinstance(root, str):
        raise RuntimeError(f"{path}: expected the name of a folder as path")
    root = folder if not root else _joined(folder, root)
    if root != folder and not _is_there(root):
        root = folder  # that of the machine on which it was written
    splits = {name: _paths(path, name, values[name]) for name in ("train", "val", "test") if values.get(name)}
    shape = _integers(path, "kpt_shape", values.get("kpt_shape") or [])
    order = _integers(path, "flip_idx", values.get("flip_idx") or [])
    swap = [(i, other) for i, other in enumerate(order) if i < other]
    return Settings(path, root, splits, _names(path, values.get("names")), shape, swap)


def _is_there(name: str) -> bool:
    path = _core.local_path(name)
    return os.path.exists(path) if path is not None else bool(storage.exists(name) or storage.ls(name))


def _joined(folder: str, name: str) -> str:
    if "://" in name or name.startswith("/"):
        return name
    scheme, separator, rest = folder.rpartition("://")
    return scheme + separator + posixpath.normpath(posixpath.join(rest, name))


def _paths(path: str, name: str, value: Any) -> list[str]:
    found = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str) for each in found):
        raise RuntimeError(f"{path}: expected the name of a folder, or a list of names, as {name}")
    return found


def _integers(path: str, name: str, value: Any) -> list[int]:
    try:
        return [int(each) for each in value]
    except (TypeError, ValueError):
        raise RuntimeError(f"{path}: expected a list of integers as {name}, got {value!r:.60}") from None


def _names(path: str, value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list):
        return [str(each) for each in value]
    try:
        numbered = {int(number): str(name) for number, name in value.items()}
    except (AttributeError, ValueError):
        raise RuntimeError(f"{path}: expected names as a list, or by their numbers, got {value!r:.60}") from None
    last = max(numbered, default=-1)
    if min(numbered, default=0) < 0 or last >= _MOST_NAMES:
        raise RuntimeError(f"{path}: expected numbers of classes from 0 on, got {min(numbered)} to {last}")
    return [numbered.get(number, str(number)) for number in range(last + 1)]


def parse_yaml(text: str, path: str) -> dict[str, Any]:
    """The part of YAML that such files are written in: names with texts, lists and mappings one level deep.

    Values are texts, lists or dictionaries. What is written otherwise, such as a text of several lines, is no value.
    """
    values: dict[str, Any] = {}
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        number, line = at + 1, lines[at]
        at += 1
        if not _content(line) or line.startswith(("---", "...", "%")):
            continue
        match = _KEY.match(line)
        if line[0].isspace() or not match:
            raise RuntimeError(f'{path}:{number}: expected "name: value", got "{line.strip()[:60]}"')
        block = []
        while at < len(lines) and (not _content(lines[at]) or lines[at][0].isspace() or lines[at].startswith("- ")):
            block.append((at + 1, lines[at]))
            at += 1
        values[_scalar(match[1])] = _value(line[match.end() :].strip(), block, path, number)
    return values


def _value(first: str, block: list[tuple[int, str]], path: str, number: int) -> Any:
    if first.startswith(("[", "{")):
        joined = " ".join([first, *(_content(line) for _, line in block)])
        return _flow(joined, f"{path}:{number}")
    first = _scalar(first)
    if first[:1] in ("|", ">", "&", "*", "!"):
        return None
    rows = [(line_number, content) for line_number, line in block if (content := _content(line))]
    if first or not rows:
        return first or None
    if all(content.startswith("- ") for _, content in rows):
        return [_scalar(content[2:].strip()) for _, content in rows]
    made = {}
    for line_number, content in rows:
        match = _KEY.match(content)
        if not match:
            raise RuntimeError(f'{path}:{line_number}: expected "name: value" or "- value", got "{content[:60]}"')
        made[_scalar(match[1])] = _scalar(content[match.end() :].strip())
    return made


def _flow(text: str, where: str) -> list[str] | dict[str, str]:
    """A list or a mapping in brackets."""
    closing = {"[": "]", "{": "}"}[text[0]]
    items, begin, quote, end = [], 1, "", None
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote and (quote == "'" or text[i - 1] != "\\") else quote
        elif c in "\"'" and not text[begin:i].strip().rpartition(":")[2].strip():
            quote = c
        elif c in ("," + closing) and i:
            items.append(text[begin:i].strip())
            begin = i + 1
            if c == closing:
                end = i
                break
        elif c in "[{" and i:
            raise RuntimeError(f"{where}: expected values without brackets in brackets")
    if end is None or _content(text[end + 1 :]):
        raise RuntimeError(f'{where}: expected "{closing}" at the end')
    items = [item for item in items if item]
    if closing == "]":
        return [_scalar(item) for item in items]
    made = {}
    for item in items:
        match = _KEY.match(item)
        if not match:
            raise RuntimeError(f'{where}: expected "name: value" in braces, got "{item[:60]}"')
        made[_scalar(match[1])] = _scalar(item[match.end() :].strip())
    return made


def _content(line: str) -> str:
    """The line without blanks and comments. A # in quotes remains."""
    quote = ""
    for i, c in enumerate(line):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'" and (i == 0 or line[i - 1] in " [{,:"):
            quote = c
        elif c == "#" and (i == 0 or line[i - 1].isspace()):
            return line[:i].strip()
    return line.strip()


def _scalar(text: str) -> str:
    """A text without its quotes, or up to a comment."""
    if text[:1] == '"':
        end = re.match(r'"((?:[^"\\]|\\.)*)"', text)
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), end[1]) if end else text
    if text[:1] == "'":
        end = re.match(r"'((?:[^']|'')*)'", text)
        return end[1].replace("''", "'") if end else text
    return _PLAIN_END.split(text, maxsplit=1)[0].strip() if text[:1] != "#" else ""
