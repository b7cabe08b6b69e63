"""What iterators do with the last batch: here the reader does it, so the policy moves from one to the other."""

from __future__ import annotations

import ast

from avida._cli.migrate import table
from avida._cli.migrate.kinds import Function, Kinds, Pipeline, iterator_arguments, one_pipeline
from avida._cli.migrate.source import Source


class LastBatch:
    """The policy of a pipeline: one for all iterators, or an argument of each call of the pipeline function."""

    def __init__(self, source: Source, kinds: Kinds, pipeline: Pipeline, pads: bool) -> None:
        self._fill = '"pad"' if pads else '"wrap"'  # what FILL is, which takes up what the reader does
        self._source = source
        self._kinds = kinds
        self._pipeline = pipeline
        self._arguments = [self._arguments_of(call) for call in pipeline.iterators]
        found = {self._constant(arguments) for arguments in self._arguments}
        self.fixed = found.pop() if len(found) == 1 else None if found else "wrap"
        self._by_call = {} if self.fixed else self._assign_to_calls()

    @property
    def is_parameter(self) -> bool:
        return bool(self._by_call)

    @property
    def is_known(self) -> bool:
        return self.fixed is not None or self.is_parameter

    def argument(self, call: ast.Call) -> str | None:
        """What a call of the pipeline function has to pass."""
        if call not in self._by_call:
            return None
        policy = self._by_call[call].get("last_batch_policy")
        constant = self._constant(self._by_call[call])
        if constant == "wrap":
            return self._fill
        return f'"{constant}"' if constant or policy is None else self._source.text(policy)

    @property
    def are_constants(self) -> bool:
        return all(map(self._constant, self._arguments))

    def default(self) -> str:
        return "" if set(self._pipeline.calls) <= set(self._by_call) else self._fill

    def _arguments_of(self, iterator: ast.Call) -> dict[str, ast.expr]:
        return iterator_arguments(iterator, table.ITERATORS[self._kinds.names.path(iterator.func) or ""][0])

    def _constant(self, arguments: dict[str, ast.expr]) -> str | None:
        policy, fill = arguments.get("last_batch_policy"), arguments.get("fill_last_batch")
        if policy is None:
            return "partial" if isinstance(fill, ast.Constant) and fill.value is False else "wrap"
        path = self._kinds.names.path(policy) or ""
        return table.POLICIES.get(path.rpartition(".")[2])

    def _assign_to_calls(self) -> dict[ast.Call, dict[str, ast.expr]]:
        """The arguments of the iterator over each call; empty if they cannot be told."""
        found: dict[ast.Call, dict[str, ast.expr]] = {}
        for iterator, arguments in zip(self._pipeline.iterators, self._arguments, strict=True):
            call = self._call_of(iterator, one_pipeline(arguments))
            if call is None or call in found or not self._can_be_passed(arguments, call, iterator):
                return {}
            found[call] = arguments
        return found if isinstance(self._pipeline.node, Function) else {}

    def _call_of(self, iterator: ast.Call, given: ast.expr | None) -> ast.Call | None:
        """The call of the pipeline function whose pipeline an iterator goes over."""
        if given in self._pipeline.calls:
            return given  # type: ignore[return-value]
        made = []
        for call in self._pipeline.calls:
            above = self._source.parents[call]
            if (
                isinstance(above, ast.Assign)
                and given is not None
                and ast.unparse(given) == ast.unparse(above.targets[0])
            ):
                made.append(call)
        same = [call for call in made if self._kinds.scope(call) is self._kinds.scope(iterator)]
        return same[0] if len(made) == len(same) == 1 else None

    def _can_be_passed(self, arguments: dict[str, ast.expr], call: ast.Call, iterator: ast.Call) -> bool:
        """Whether the policy can be computed where the pipeline is made: nothing it needs is assigned in between."""
        policy = arguments.get("last_batch_policy")
        needed = {node.id for node in ast.walk(policy) if isinstance(node, ast.Name)} if policy is not None else set()
        begin, end = self._source.start(call), self._source.start(iterator)
        scope = self._kinds.scope(call)
        stored = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        return not any(begin < self._source.start(node) < end and node.id in needed for node in stored)
