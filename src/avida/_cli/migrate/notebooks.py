"""Notebooks: the code of all cells is migrated as one script, and everything else in them stays as it is."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any

_CELL, _MAGIC = "# avida migrate cell {}", "pass  # avida migrate magic {}"
_CELL_LINE = re.compile(r"^# avida migrate cell (\d+)\n", re.MULTILINE)
_MAGIC_LINE = re.compile(r"^(\s*)pass  # avida migrate magic (\d+)$", re.MULTILINE)


class Notebook:
    """A notebook, its cells of Python as one text, and that text in cells again."""

    def __init__(self, text: str) -> None:
        try:
            self._content = json.loads(text)
            cells = [cell for cell in self._content["cells"] if cell["cell_type"] == "code"]
            sources = ["".join(cell["source"]) for cell in cells]
        except (ValueError, KeyError, TypeError) as error:
            raise SyntaxError(f"expected a notebook with cells (nbformat 4), found none: {error!r}") from None
        self._magic: list[str] = []
        self._cells: dict[int, Any] = {}  # by their numbers among all cells of code, from 1
        self._parts = []
        for number, (cell, source) in enumerate(zip(cells, sources, strict=True), start=1):
            if not source.startswith("%%") or source.startswith(("%%time", "%%capture")):
                self._cells[number] = cell
                self._parts.append(f"{_CELL.format(number)}\n{self._without_magic(source)}\n")

    def migrate(self, migrate: Callable[[str], str]) -> dict[int, str]:
        """Migrates all cells; returns their new text by number."""
        old = "".join(self._parts)
        new = migrate(old)
        if new == old:
            return {}
        above, *parts = _CELL_LINE.split(new)
        texts = {int(number): text for number, text in zip(parts[::2], parts[1::2], strict=True)}
        if list(texts) != list(self._cells):
            raise RuntimeError("the cells have come apart: please report this, with the notebook")
        first = next(iter(texts))
        texts[first] = above + texts[first]
        for number, text in texts.items():
            texts[number] = _MAGIC_LINE.sub(lambda found: self._magic[int(found[2])], text.removesuffix("\n"))
            cell = self._cells[number]
            is_list = isinstance(cell["source"], list)
            cell["source"] = texts[number].splitlines(keepends=True) if is_list else texts[number]
        return texts

    def text(self) -> str:
        return json.dumps(self._content, indent=1, ensure_ascii=False) + "\n"

    def _without_magic(self, source: str) -> str:
        """Python in place of the commands of IPython."""
        try:
            ast.parse(source)
        except SyntaxError:
            lines = [self._python(line) for line in source.split("\n")]
            return "\n".join(lines)
        return source

    def _python(self, line: str) -> str:
        if not line.lstrip().startswith(("%", "!")):
            return line
        self._magic.append(line)
        indent = line[: len(line) - len(line.lstrip())]
        return indent + _MAGIC.format(len(self._magic) - 1)
