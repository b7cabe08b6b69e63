"""The text of a script, the edits to it and the marks in it: all that is not edited stays as it was, byte for byte."""

from __future__ import annotations

import ast
import io
import tokenize

from avida._cli.migrate.fstrings import place_expressions

MARK = "# avida migrate: "


class Source:
    """A script as text and as a tree. Positions are offsets in its UTF-8 bytes, as the tree gives them."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self._bytes = text.encode()
        self._lines = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._misplaced = place_expressions(self.tree, self._bytes.decode().splitlines())
        self._edits: dict[tuple[int, int], str] = {}
        self._marks: dict[int, list[str]] = {}
        self._removed: set[ast.stmt] = set()
        self._given_names: set[tuple[ast.AST, str]] = set()
        self.parents: dict[ast.AST, ast.AST] = {}
        for parent in ast.walk(self.tree):
            for child in ast.iter_child_nodes(parent):
                self.parents[child] = parent

    def start(self, node: ast.AST) -> int:
        return self._lines[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        return self._lines[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def line_start(self, line: int) -> int:
        """Where a line begins, counted from 1; the end of the text for the line after the last."""
        return self._lines[min(line - 1, len(self._lines) - 1)]

    def find(self, text: str, start: int) -> int:
        return self._bytes.index(text.encode(), start)

    def after_line(self, start: int, end: int) -> int:
        """Where the text of the line after ``start`` begins, or ``end`` if that comes first."""
        rest = self._bytes[start:end].partition(b"\n")[2]
        return end - len(rest.lstrip()) if rest else end

    def replace(self, start: int, end: int, text: str) -> None:
        """Replaces a part of the text, with the edits that were made inside it."""
        for inner in [span for span in self._edits if start <= span[0] and span[1] <= end and span != (start, start)]:
            del self._edits[inner]
        self._edits[start, end] = text

    def insert(self, at: int, text: str) -> None:
        self._edits[at, at] = self._edits.get((at, at), "") + text

    def insert_after(self, node: ast.AST, text: str) -> None:
        """Adds to the text of an expression."""
        if self.in_fstring(node):
            self.mark(node, f"write {ast.unparse(node)}{text} in this f-string")
        else:
            self.insert(self.end(node), text)

    def comma_after(self, node: ast.AST) -> str:
        """What separates a new argument from the last one: a new line, if that begins a line."""
        line = self.line_start(node.lineno)  # type: ignore[attr-defined]
        before = self._bytes[line : self.start(node)]
        return ", " if before.strip() else f",\n{before.decode()}"

    def fresh(self, name: str, within: ast.AST) -> str:
        """A name that a function, or the module, does not use: this one, or with a number."""
        used = {node.id for node in ast.walk(within) if isinstance(node, ast.Name)}
        used |= {node.arg for node in ast.walk(within) if isinstance(node, ast.arg)}
        used |= {given for scope, given in self._given_names if scope is within}
        found, number = name, 1
        while found in used:
            number += 1
            found = f"{name}_{number}"
        self._given_names.add((within, found))
        return found

    def edit(self, node: ast.AST, text: str) -> None:
        """Replaces the text of an expression."""
        if self.in_fstring(node):
            self.mark(node, f"write {text} in this f-string")
        else:
            self.replace(self.start(node), self.end(node), text)

    def text(self, node: ast.AST) -> str:
        """The text of a node, edited."""
        return self.render(self.start(node), self.end(node))

    def render(self, start: int, end: int) -> str:
        """A part of the text with the edits and marks inside it."""
        edits = [(*span, text) for span, text in self._edits.items() if start <= span[0] and span[1] <= end]
        for at, messages in self._marks.items():
            if start <= at < end and not any(begin < at < stop for begin, stop, _ in edits):
                edits.append((at, at, "".join(f"{self._indent(at)}{MARK}{message}\n" for message in messages)))
        edits.sort(key=lambda edit: edit[:2])
        parts, position = [], start
        for begin, stop, text in edits:
            if begin < position:
                continue  # inside an edit that was made around it
            parts += [self._bytes[position:begin].decode(), text]
            position = stop
        return "".join(parts) + self._bytes[position:end].decode()

    def result(self) -> str:
        return self.render(0, len(self._bytes))

    def mark(self, node: ast.AST, message: str) -> None:
        """Puts a comment above the statement that a node is in."""
        at = self.line_start(self.first_line(self.statement(node)))
        if message not in self._marks.setdefault(at, []):
            self._marks[at].append(message)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around a node that begins a line."""
        while not isinstance(node, ast.stmt) or self._bytes[self.line_start(node.lineno) : self.start(node)].strip():
            node = self.parents[node]
        return node

    def first_line(self, statement: ast.stmt) -> int:
        decorators = getattr(statement, "decorator_list", [])
        return min([statement.lineno, *(decorator.lineno for decorator in decorators)])

    def block(self, statements: list[ast.stmt], after: int, indent: str) -> str:
        """Whole lines of consecutive statements, from the line after ``after``, at another indentation."""
        if not statements:
            return ""
        start = self.line_start(after + 1)
        end = self.line_start((statements[-1].end_lineno or 0) + 1)
        text = self.render(start, end)
        return reindent(text, self._indent(self.line_start(statements[0].lineno)), indent)

    def header_line(self, first: ast.stmt) -> int:
        """The last line of what stands above the first statement of a block; comments between them do not count."""
        line = self.first_line(first) - 1
        while self._bytes[self.line_start(line) : self.line_start(line + 1)].strip()[:1] in (b"", b"#"):
            line -= 1
        return line

    def indent_of(self, node: ast.AST) -> str:
        return self._indent(self.line_start(self.statement(node).lineno))

    def remove_statement(self, statement: ast.stmt) -> None:
        """Removes the lines of a statement; it becomes ``pass`` where its block has no other, or its lines do."""
        parent = self.parents[statement]
        blocks = [getattr(parent, field, []) for field in ("body", "orelse", "finalbody")]
        block = next(block for block in blocks if isinstance(block, list) and statement in block)
        self._removed.add(statement)
        if self._removed.issuperset(block) or not self._has_lines_of_its_own(statement):
            self.edit(statement, "pass")
        else:
            end = self.line_start((statement.end_lineno or 0) + 1)
            self.replace(self.line_start(statement.lineno), end, "")

    def _has_lines_of_its_own(self, statement: ast.stmt) -> bool:
        before = self._bytes[self.line_start(statement.lineno) : self.start(statement)]
        after = self._bytes[self.end(statement) : self.line_start((statement.end_lineno or 0) + 1)]
        return not before.strip() and after.strip()[:1] in (b"", b"#")

    def _indent(self, at: int) -> str:
        line = self._bytes[at:].split(b"\n", 1)[0]
        return line[: len(line) - len(line.lstrip())].decode()

    def in_fstring(self, node: ast.AST) -> bool:
        """Whether a node is inside an f-string whose expressions could not be placed."""
        while node in self.parents and not isinstance(node, ast.stmt):
            node = self.parents[node]
            if node in self._misplaced:
                return True
        return False


def reindent(text: str, old: str, new: str) -> str:
    """Replaces the indentation of all lines that do not begin inside a string."""
    kept = _lines_in_strings(text)
    lines = text.splitlines(keepends=True)
    for i, line in enumerate(lines):
        if i not in kept and line.strip():
            lines[i] = new + line.removeprefix(old) if line.startswith(old) else new + line.lstrip()
    return "".join(lines)


def _lines_in_strings(text: str) -> set[int]:
    inside, begun = set(), 0
    prefix = "if 1:\n"  # an indented block needs something above it
    for token in tokenize.generate_tokens(io.StringIO(prefix + text).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "STRING":
            inside.update(range(token.start[0] - 1, token.end[0] - 1))
        elif kind == "FSTRING_START":
            begun = token.start[0]
        elif kind == "FSTRING_END":
            inside.update(range(begun - 1, token.end[0] - 1))
    return inside
