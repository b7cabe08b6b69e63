"""Notebooks as code: the cells of an .ipynb file, with what is not Python in them."""

from __future__ import annotations

import ast
import json
import linecache
import pathlib
import re
import subprocess
import sys
import types
from typing import Any

HELPER = "__notebook__"  # what cells call it by

_LINE = re.compile(r"^(\s*)([%!])\s*(.*)$")
_WITHIN_PYTHON = ("capture", "prun", "time", "timeit")  # cell and line magics around code that runs as it is
_SHELLS = ("bash", "sh")


class Helper:
    """Does what a cell asks of the notebook in place of Python: commands of the shell."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def shell(self, command: str) -> None:
        """Runs a command; ``{name}`` and ``$name`` stand for variables of the notebook, where there are such."""
        command = re.sub(r"\{(\w+)\}|\$(\w+)", lambda m: str(self._names.get(m[1] or m[2], m[0])), command)
        sys.stdout.flush()
        subprocess.run(command, shell=True, check=False)

    def skip(self, place: str, magic: str) -> None:
        """Says that a magic command of IPython was left out."""
        print(f"avida run: {place}: {magic} was left out: it belongs to IPython", file=sys.stderr)


def load(path: str) -> list[types.CodeType]:
    """The compiled cells, in order. Tracebacks name the notebook, the cell and the line within it."""
    try:
        cells = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as error:
        raise SyntaxError(f"{path}: expected a notebook with cells (nbformat 4), found none: {error!r}") from None
    return [_compiled(source, f"{path}, cell {i + 1}") for i, source in enumerate(sources)]


def _compiled(source: str, place: str) -> types.CodeType:
    linecache.cache[place] = len(source), None, source.splitlines(keepends=True), place
    try:
        tree = ast.parse(source, place)
    except SyntaxError:
        tree = ast.parse(_without_magic(source, place), place)
    shows = not source.rstrip().endswith(";")
    if shows and tree.body and isinstance(last := tree.body[-1], ast.Expr):
        tree.body[-1] = ast.copy_location(_shown(last.value), last)
    return compile(ast.fix_missing_locations(tree), place, "exec")


def _shown(value: ast.expr) -> ast.Expr:
    """The value of a cell is shown: `sys.displayhook(value)`."""
    hook = ast.parse("__import__('sys').displayhook", mode="eval").body
    return ast.Expr(ast.Call(hook, [value], []))


def _without_magic(source: str, place: str) -> str:
    """Python in place of magic commands, line by line, so that the numbers of the lines stay."""
    lines = source.splitlines()
    if lines[0].startswith("%%"):
        magic, _, _ = lines[0][2:].partition(" ")
        if magic in _SHELLS:
            return _call("shell", "\n".join(lines[1:]))
        if magic not in _WITHIN_PYTHON:
            return _call("skip", place, f"%%{magic}")
        lines[0] = ""
    return "\n".join(map(_python, lines, [place] * len(lines)))


def _python(line: str, place: str) -> str:
    found = _LINE.match(line)
    if found is None:
        return line
    indent, mark, rest = found.groups()
    if mark == "!":
        return indent + _call("shell", rest)
    magic, _, code = rest.partition(" ")
    return indent + (code if magic in _WITHIN_PYTHON and code else _call("skip", place, f"%{magic}"))


def _call(method: str, *arguments: str) -> str:
    return f"{HELPER}.{method}({', '.join(map(repr, arguments))})"
