"""Positions of expressions in f-strings, which Python gives from version 3.12 on; before, they are found here."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize

_PREFIX = re.compile(r"(?i)(f|rf|fr)('''|\"\"\"|'|\")")


def place_expressions(tree: ast.AST, lines: list[str]) -> set[ast.AST]:
    """Corrects the positions of what f-strings contain; returns those whose expressions could not be placed."""
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    return set() if sys.version_info >= (3, 12) else {node for node in strings if not _place(node, lines)}


def _place(string: ast.JoinedStr, lines: list[str]) -> bool:
    values = [value for value in string.values if isinstance(value, ast.FormattedValue)]
    specs = [each for value in values if value.format_spec for each in ast.walk(value.format_spec)]
    if string.lineno != string.end_lineno or any(isinstance(each, ast.FormattedValue) for each in specs):
        return not values
    line = lines[string.lineno - 1].encode()
    text = line[string.col_offset : string.end_col_offset].decode()
    found = [part for start, token in _tokens(text) for part in _expressions(token, start)]
    if len(found) != len(values):
        return False
    return all(_move(value.value, string, text, *part) for value, part in zip(values, found, strict=True))


def _tokens(text: str) -> list[tuple[int, str]]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(token.start[1], token.string) for token in tokens if _PREFIX.match(token.string)]


def _expressions(token: str, start: int) -> list[tuple[int, str]]:
    """The expressions of an f-string, with where they begin."""
    found, at = [], 0
    while (at := token.find("{", at)) >= 0:
        if token.startswith("{{", at):
            at += 2
            continue
        end = next((end for end in range(at + 2, len(token)) if _ends(token, at + 1, end)), len(token))
        found.append((start + at + 1, token[at + 1 : end]))
        at = token.find("}", end) + 1
    return found


def _ends(token: str, begin: int, end: int) -> bool:
    """Whether an expression may end here, which is whole."""
    if token[end] not in "}:!" or token.startswith("!=", end):
        return False
    try:
        ast.parse(f"({token[begin:end]})", mode="eval")
    except SyntaxError:
        return False
    return True


def _move(value: ast.expr, string: ast.JoinedStr, text: str, start: int, expression: str) -> bool:
    """Gives the nodes of an expression the positions of the same ones, parsed alone."""
    alone = ast.parse(f"({expression})", mode="eval").body
    if ast.dump(alone) != ast.dump(value):
        return False
    offset = string.col_offset + len(text[:start].encode()) - 1  # the parenthesis
    for node, same in zip(ast.walk(value), ast.walk(alone), strict=True):
        if isinstance(node, ast.expr | ast.keyword | ast.arg) and isinstance(same, ast.expr | ast.keyword | ast.arg):
            node.lineno = node.end_lineno = string.lineno
            node.col_offset, node.end_col_offset = same.col_offset + offset, (same.end_col_offset or 0) + offset
    return True
