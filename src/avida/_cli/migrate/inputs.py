"""Where the data of a pipeline comes from: its readers and external sources, found before anything is edited."""

from __future__ import annotations

import ast

from avida._cli.migrate.kinds import Function, Kinds, Pipeline
from avida._cli.migrate.source import Source
from avida._cli.migrate.table import READERS


class Input:
    """One reader or external source: the call that makes it and the names of what it gives for each batch."""

    def __init__(
        self, call: ast.Call, operator: str, several: bool, target: ast.expr | None, fresh: str, batch_name: str
    ) -> None:
        self.call = call
        self.operator = operator
        self.several = several
        self.target = target  # of the assignment; None where the call is inside an expression
        self.name = fresh  # of the reader or source
        self.batch_name = batch_name  # of what an inner call gives for a batch
        self.is_called = False  # a source that is a function, for each batch or sample
        self.takes_number = False  # of the batch
        self.called = ""
        self.keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}

    @property
    def is_reader(self) -> bool:
        return self.operator in READERS

    @property
    def has_batches(self) -> bool:
        """Whether items of an external source are batches, which is the default."""
        batch = self.keywords.get("batch")
        return not self.is_reader and not (isinstance(batch, ast.Constant) and batch.value is False)

    @property
    def takes_info(self) -> bool:
        """Whether a function for batches gets a ``BatchInfo`` in place of a number."""
        asked = self.keywords.get("batch_info")
        return self.has_batches and self.takes_number and isinstance(asked, ast.Constant) and asked.value is True

    @property
    def source(self) -> ast.expr | None:
        """What an external source takes its data from."""
        return self.call.args[0] if self.call.args else self.keywords.get("source")

    @property
    def begins_again(self) -> bool:
        """Whether there is always a next batch: readers go on with the next epoch."""
        return self.is_reader or getattr(self.keywords.get("cycle"), "value", None) in (True, "quiet")

    @property
    def data_names(self) -> list[str]:
        """The variables for one batch, as far as they are single values."""
        match self.target:
            case ast.Name(id=name):
                return [name]
            case ast.Tuple() | ast.List():
                return [part.id for part in self.target.elts if isinstance(part, ast.Name)]
        return [self.batch_name]

    @property
    def header(self) -> str:
        """The target of the loop."""
        names = ", ".join(self.data_names)
        if isinstance(self.target, ast.Tuple | ast.List):
            return ast.unparse(self.target).strip("()[]") if len(self.target.elts) > 1 else f"({names},)"
        return names if self.several or self.has_batches or self.is_called else f"({names},)"


class Inputs:
    """The readers and sources of a pipeline."""

    def __init__(self, pipeline: Pipeline, kinds: Kinds, source: Source) -> None:
        self._kinds = kinds
        self._pipeline = pipeline
        self.scope = pipeline.node if isinstance(pipeline.node, Function) else kinds.scope(pipeline.node)
        self.made: list[str] = []  # statements above the loop that make what operators need
        self.found: list[Input] = []
        self.hoisted: set[ast.stmt] = set()  # assignments that only make a reader
        for node in ast.walk(pipeline.node):
            operator = kinds.operator(node)
            if isinstance(node, ast.Call) and (operator in READERS or operator == "external_source"):
                self._add(node, operator or "", source)

    def _add(self, call: ast.Call, operator: str, source: Source) -> None:
        parent = source.parents[call]
        target, twins = None, []
        if isinstance(parent, ast.Assign) and parent.value is call and len(parent.targets) == 1:
            target = parent.targets[0]
            self.hoisted.add(parent)
            twins = [each for each in self.found if each.target and ast.dump(each.target) == ast.dump(target)]
        base = "reader" if operator in READERS else "source"
        fresh = twins[0].name if twins else source.fresh(base, self.scope)
        several = self._kinds.has_several_outputs(call, operator)
        batch_name = "" if target is not None else source.fresh(f"{fresh}_batch", self.scope)
        self.found.append(Input(call, operator, several, target, fresh, batch_name))

    @property
    def loops(self) -> list[Input]:
        """One for each name: readers in the branches of an ``if`` that give the same variables are one."""
        return list({each.name: each for each in self.found}.values())

    def of(self, call: ast.AST) -> Input | None:
        return next((each for each in self.found if each.call is call), None)

    def batch_size(self) -> str | None:
        """An expression for the number of samples of the current batch."""
        if not self.loops:
            return self.requested_batch_size()
        first = self.loops[0]
        names = [name for name in first.data_names if name != "_"]
        if not names:
            return None
        if isinstance(first.target, ast.Tuple | ast.List) or not first.several:
            return f"{names[0]}.batch_size"
        for node in ast.walk(self._pipeline.node):  # a dictionary or a list of outputs
            match node:
                case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)) if name == names[0]:
                    return f"{name}[{key!r}].batch_size".replace("'", '"')
        return None

    def requested_batch_size(self) -> str:
        if isinstance(self._pipeline.node, Function):
            return "batch_size"
        return ast.unparse(self._pipeline.arguments.get("batch_size") or ast.Name("batch_size"))
