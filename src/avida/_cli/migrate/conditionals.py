"""``if`` on data in a pipeline: both branches are computed, and every sample is taken from its own."""

from __future__ import annotations

import ast

from avida._cli.migrate.kinds import Kinds
from avida._cli.migrate.source import Source

_ADVICE = "this chooses for every sample: compute both branches and choose with a mask (docs/migration.md)"


class Conditionals(ast.NodeVisitor):
    """Flattens the statements, the inner ones first."""

    def __init__(self, source: Source, kinds: Kinds) -> None:
        self._source = source
        self._kinds = kinds

    def visit_If(self, node: ast.If) -> None:
        self.generic_visit(node)
        if not self._kinds.is_data(node.test):
            return
        names = list(dict.fromkeys([*self._assigned(node.body), *self._assigned(node.orelse)]))
        is_elif = isinstance(self._source.parents[node], ast.If) and self._source.text(node).startswith("elif")
        if not names or is_elif or not self._can_be_flattened(node, names):
            self._source.mark(node, _ADVICE)
            return
        self._flatten(node, names)

    def _can_be_flattened(self, node: ast.If, names: list[str]) -> bool:
        """Whether branches only assign data, to names that have data before or after both branches."""
        statements = [*node.body, *node.orelse]
        allowed = all(isinstance(each, ast.Assign | ast.If) for each in statements)
        on_lines = all(each.lineno > node.test.lineno for each in statements)
        data = all(self._kinds.is_data(each.value) for each in statements if isinstance(each, ast.Assign))
        both = [set(self._assigned(branch)) for branch in (node.body, node.orelse)]
        bound = all(self._kinds.is_data_before(name, node) or (name in both[0] and name in both[1]) for name in names)
        has_elif = any(isinstance(each, ast.If) and self._source.text(each).startswith("elif") for each in node.orelse)
        return allowed and on_lines and data and bound and not has_elif

    def _assigned(self, statements: list[ast.stmt]) -> list[str]:
        found = []
        for statement in statements:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    found.append(node.id)
        return list(dict.fromkeys(found))

    def _flatten(self, node: ast.If, names: list[str]) -> None:
        source, indent, scope = self._source, self._source.indent_of(node), self._kinds.scope(node)
        kept = [name for name in names if self._kinds.is_data_before(name, node)]
        condition = source.fresh("condition", scope)
        before = {name: source.fresh(f"{name}_before", scope) for name in kept}
        chosen = {name: source.fresh(f"{name}_chosen", scope) for name in names}
        lines = [f"{indent}{condition} = {source.text(node.test)}  # for every sample\n"]
        lines += [f"{indent}{before[name]} = {name}\n" for name in kept]
        lines.append(source.block(node.body, source.header_line(node.body[0]), indent))
        lines += [f"{indent}{chosen[name]} = {name}\n" for name in names]
        lines += [f"{indent}{name} = {before[name]}\n" for name in kept]
        if node.orelse:
            lines.append(source.block(node.orelse, source.header_line(node.orelse[0]), indent))
        for name in names:
            samples = f"zip({condition}, {chosen[name]}, {name}, strict=True)"
            lines.append(f"{indent}{name} = ndd.batch([a if yes else b for yes, a, b in {samples}])\n")
        source.replace(source.line_start(node.lineno), source.line_start((node.end_lineno or 0) + 1), "".join(lines))
