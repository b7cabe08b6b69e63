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
        if not self._kinds.is_data(node.test) or self._is_elif(node):
            return
        if not self._can_be_flattened(node):
            self._source.mark(node, _ADVICE)
            return
        source = self._source
        text = self._flat(node, source.indent_of(node))
        source.replace(source.line_start(node.lineno), source.line_start((node.end_lineno or 0) + 1), text)

    def _is_elif(self, node: ast.stmt) -> bool:
        above = self._source.parents[node]
        is_other = isinstance(node, ast.If) and isinstance(above, ast.If) and above.orelse == [node]
        return is_other and self._source.text(node).startswith("elif")

    def _can_be_flattened(self, node: ast.If) -> bool:
        """Whether branches only assign data, to names that have data before or after both branches."""
        names = self._assigned([node])
        statements = [*node.body, *node.orelse]
        allowed = all(isinstance(each, ast.Assign | ast.AugAssign | ast.If) for each in statements)
        on_lines = all(each.lineno > node.test.lineno for each in statements)
        assigned = [each for each in statements if isinstance(each, ast.Assign | ast.AugAssign)]
        data = all(_is_number(each.value) or self._kinds.is_data(each.value) for each in assigned)
        both = [set(self._assigned(branch)) for branch in (node.body, node.orelse)]
        bound = all(self._kinds.is_data_before(name, node) or (name in both[0] and name in both[1]) for name in names)
        inner = [each for each in statements if self._is_elif(each)]
        can_inner = all(self._kinds.is_data(each.test) and self._can_be_flattened(each) for each in inner)  # type: ignore[attr-defined,arg-type]
        return bool(names) and allowed and on_lines and data and bound and can_inner

    def _assigned(self, statements: list[ast.stmt]) -> list[str]:
        found = []
        for statement in statements:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    found.append(node.id)
        return list(dict.fromkeys(found))

    def _flat(self, node: ast.If, indent: str) -> str:
        source, scope, names = self._source, self._kinds.scope(node), self._assigned([node])
        kept = [name for name in names if self._kinds.is_data_before(name, node)]
        condition = source.fresh("condition", scope)
        before = {name: source.fresh(f"{name}_before", scope) for name in kept}
        for each in (*node.body, *node.orelse):
            if isinstance(each, ast.Assign) and _is_number(each.value):  # the same for all samples
                number = source.text(each.value)
                source.edit(each.value, f"ndd.Batch.broadcast({number}, {condition}.batch_size)")
        chosen = {name: source.fresh(f"{name}_chosen", scope) for name in names}
        lines = [f"{indent}{condition} = {source.text(node.test)}  # for every sample\n"]
        lines += [f"{indent}{before[name]} = {name}\n" for name in kept]
        lines.append(source.block(node.body, source.header_line(node.body[0]), indent))
        lines += [f"{indent}{chosen[name]} = {name}\n" for name in names]
        lines += [f"{indent}{name} = {before[name]}\n" for name in kept]
        if node.orelse and self._is_elif(node.orelse[0]):
            lines.append(self._flat(node.orelse[0], indent))  # type: ignore[arg-type]
        elif node.orelse:
            lines.append(source.block(node.orelse, source.header_line(node.orelse[0]), indent))
        for name in names:
            samples = f"zip({condition}, {chosen[name]}, {name}, strict=True)"
            lines.append(f"{indent}{name} = ndd.batch([a if yes else b for yes, a, b in {samples}])\n")
        return "".join(lines)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)
