"""Uses of pipelines: iterators, loops over them, ``pipe.run()`` and what it returns."""

from __future__ import annotations

import ast

from avida._cli.migrate import table
from avida._cli.migrate.kinds import Function, JaxNames, Kind, Kinds, iterator_arguments, one_pipeline
from avida._cli.migrate.source import Source

# What may be done with a pipeline or a loader without a change: it is passed on, and found again there.
_PASSED_ON = (ast.Assign, ast.AnnAssign, ast.Return, ast.Compare, ast.If, ast.IfExp, ast.withitem, ast.NamedExpr)


class Uses(ast.NodeVisitor):
    """Edits every expression that is a pipeline, a loader, or a result of one; marks those that it does not know."""

    def __init__(self, source: Source, kinds: Kinds) -> None:
        self._source = source
        self._kinds = kinds

    def visit(self, node: ast.AST) -> None:
        self.generic_visit(node)  # the inner ones first
        if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
            kind = self._kinds.of(node)
            is_read = not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
            if kind and is_read and (use := getattr(self, f"_use_{kind.what}", None)):
                use(node, kind)
            self._method(node)
        if isinstance(node, ast.FunctionDef) and (what := self._kinds.given_to_unknown_callers(node)):
            self._source.mark(node, f"for its callers in other files: {node.name} gives a {what} in the new form")
        if isinstance(node, ast.Call) and (function := self._kinds.function(node)):
            self._check_arguments(function, node)
        if isinstance(node, ast.Name) and self._kinds.is_ambiguous(node):
            self._source.mark(node, f"{node.id} is the name of several functions: give each its own")
        if isinstance(node, ast.Name | ast.Attribute) and self._kinds.is_something_else_too(node):
            self._source.mark(node, f"{ast.unparse(node)} is a pipeline or its loader in one place only")

    def _check_arguments(self, function: Function, call: ast.Call) -> None:
        for value, kind in self._kinds.parameters(function, call):
            if kind and kind.what in ("pipeline", "loader", "item", "row") and self._kinds.of(value) is None:
                self._source.mark(value, f"{ast.unparse(value)} is no {kind.what} of a pipeline, as in other calls")

    def _use_pipeline(self, node: ast.expr, kind: Kind) -> None:
        above = self._source.parents[node]
        if isinstance(node, ast.Call) and self._kinds.names.path(node.func) in table.PIPELINE:
            self._pipeline_call(node)
        elif not isinstance(above, ast.Attribute) and not self._is_passed_on(node, above):
            self._source.mark(node, "this is a generator, or a function that returns one, and no pipeline")

    def _pipeline_call(self, node: ast.Call) -> None:
        """``pipe = Pipeline(...)`` above its ``with`` block, which has all that it needs."""
        above = self._source.parents[node]
        if isinstance(above, ast.withitem):
            return
        if isinstance(above, ast.Assign) and self._kinds.of(node) != Kind("pipeline", frozenset()):
            self._source.remove_statement(above)
        else:
            self._source.mark(node, table.why_missing(table.DALI + ".Pipeline"))

    def _use_definition(self, node: ast.expr, kind: Kind) -> None:
        above = self._source.parents[node]
        is_called = isinstance(above, ast.Call) and above.func is node
        if not is_called and not self._is_passed_on(node, above):
            self._source.mark(node, "this is a function that makes a generator, and no pipeline")

    def _use_many(self, node: ast.expr, kind: Kind) -> None:
        """Several pipelines or loaders: in a variable, iterated over, or one of them by its index."""
        above = self._source.parents[node]
        inner = kind
        while inner.what == "many" and inner.of:
            inner = inner.of
        if inner.what not in ("pipeline", "definition", "loader"):
            return
        is_part = isinstance(above, ast.Subscript) and above.value is node
        is_method = isinstance(above, ast.Attribute) and above.attr in (
            "append",
            "extend",
            "values",
            "items",
            "pop",
            "get",
        )
        is_iterated = isinstance(above, ast.For | ast.comprehension) and above.iter is node
        if isinstance(above, ast.Call) and not is_iterated:
            is_iterated = ast.unparse(above.func) in ("len", "zip", "enumerate", "list", "tuple", "reversed")
        if not (is_part or is_method or is_iterated or self._is_passed_on(node, above)):
            self._source.mark(node, f"these are generators, or functions that return some, and no {inner.what}s")

    def _use_loader(self, node: ast.expr, kind: Kind) -> None:
        above = self._source.parents[node]
        if isinstance(node, ast.Call) and self._kinds.names.path(node.func) in table.ITERATORS:
            self._iterator_call(node)
        if self._is_iterated(node, above):
            self._source.insert_after(node, "()")
            if isinstance(outer := self._source.parents[above], ast.Call) and ast.unparse(outer.func) == "next":
                self._source.mark(node, table.METHOD_MARKS["next"])
        elif isinstance(above, ast.Call) and ast.unparse(above.func) == "len":
            if all(pipeline.has_length for pipeline in self._kinds.all_pipelines() if pipeline.iterators):
                self._source.edit(above, f"{self._source.text(node)}.length()")
            else:
                self._source.mark(node, "the number of batches is len(reader.next_epoch(batch_size=...))")
        elif not isinstance(above, ast.Attribute) and not self._is_passed_on(node, above):
            self._source.mark(node, "this is a function: each call gives a generator over the next epoch")

    def _iterator_call(self, node: ast.Call) -> None:
        arguments = iterator_arguments(node, table.ITERATORS[self._kinds.names.path(node.func) or ""][0])
        pipeline = one_pipeline(arguments)
        kind = pipeline and self._kinds.of(pipeline)
        if pipeline is None or not kind or kind.what != "pipeline":
            self._source.mark(node, "one loop reads one pipeline: give each GPU a process of its own (num_shards)")
            return
        size = arguments.get("size")
        if size is not None and ast.unparse(size) != "-1" and "epoch_size" not in ast.unparse(size):
            self._source.mark(node, f"size={ast.unparse(size)}: an epoch is as long as the shard of its reader")
        self._source.edit(node, self._source.text(pipeline))

    def _is_iterated(self, node: ast.expr, above: ast.AST) -> bool:
        if isinstance(above, ast.For | ast.comprehension):
            return above.iter is node
        return isinstance(above, ast.Call) and ast.unparse(above.func).rpartition(".")[2] in table.ITERATING - {"next"}

    def _is_passed_on(self, node: ast.expr, above: ast.AST) -> bool:
        """Whether another stage finds the value again: in a variable, or as a parameter of a function of the script."""
        while isinstance(above, ast.keyword | ast.List | ast.Tuple | ast.ListComp | ast.Dict):
            if isinstance(above, ast.List | ast.Tuple | ast.ListComp | ast.Dict) and self._kinds.of(above) is None:
                return isinstance(above, ast.Tuple) and isinstance(self._source.parents[above], ast.Assign)
            above = self._source.parents[above]
        if isinstance(above, ast.For | ast.comprehension):
            return above is not self._source.parents[node]  # a list of it, as many, is iterated over
        if isinstance(above, ast.withitem):
            return self._source.parents[above] in self._kinds.blocks
        if isinstance(above, ast.Call):
            path = self._kinds.names.path(above.func)
            if isinstance(above.func, ast.Attribute) and above.func.attr == "append":
                return True
            return path in table.ITERATORS or self._kinds.function(above) is not None
        return isinstance(above, (*_PASSED_ON, ast.Expr))

    def _use_item(self, node: ast.expr, kind: Kind) -> None:
        above = self._source.parents[node]
        is_row = isinstance(above, ast.Subscript) and self._kinds.of(above) == Kind("row", kind.of)
        if not is_row and not self._is_passed_on(node, above):
            self._source.mark(node, _now_batches(kind))

    def _use_row(self, node: ast.expr, kind: Kind) -> None:
        above = self._source.parents[node]
        is_jax = isinstance(kind.of, JaxNames)
        item = node.value if isinstance(node, ast.Subscript) and not is_jax else node
        if (
            isinstance(above, ast.Subscript)
            and above.value is node
            and kind.of
            and not is_jax
            and _is_name(above.slice)
        ):
            number = f"{list(kind.of)}.index({self._source.text(above.slice)})".replace("'", '"')
            self._source.edit(above, f"{self._source.text(item)}[{number}].torch()")
        elif isinstance(above, ast.Subscript) and above.value is node and isinstance(above.slice, ast.Constant):
            name = above.slice.value
            if kind.of is None or name not in kind.of:
                self._source.mark(node, f"outputs have numbers and no names: write {ast.unparse(item)}[...].torch()")
                return
            output = f"{self._source.text(item)}[{kind.of.index(name)}]"
            if is_jax:
                self._source.edit(above, f"{self._kinds.names.need('jax.numpy')}.asarray({output}.numpy())")
            else:
                self._source.edit(above, f"{output}.torch()")
        elif self._is_passed_on(node, above):
            self._source.edit(node, self._source.text(item))
        else:
            self._source.mark(node, _now_batches(kind))

    def _use_output(self, node: ast.expr, kind: Kind) -> None:
        above = self._source.parents[node]
        if isinstance(above, ast.Subscript) and above.value is node:
            self._source.insert_after(node, ".tensors")
        elif isinstance(above, ast.Attribute) and not self._is_call(above) and not self._is_shown_type(above):
            self._source.mark(node, f"a Batch has no {above.attr}: see numpy(), torch(), tensors and slice")

    def _use_tensor(self, node: ast.expr, kind: Kind) -> None:
        above = self._source.parents[node]
        if isinstance(above, ast.Attribute) and not self._is_call(above) and not self._is_shown_type(above):
            self._source.mark(node, f"a Tensor has no {above.attr}: see numpy() and torch()")

    def _is_shown_type(self, node: ast.Attribute) -> bool:
        """Types are the same where they are shown, but those of values do not equal those of ``types``."""
        return node.attr == "dtype" and not isinstance(self._source.parents[node], ast.Compare)

    def _is_call(self, node: ast.AST) -> bool:
        above = self._source.parents[node]
        return isinstance(above, ast.Call) and above.func is node

    def _method(self, node: ast.AST) -> None:
        """A method call, or an attribute, of a pipeline, a loader or an output."""
        if not isinstance(node, ast.Attribute):
            return
        kind = self._kinds.of(node.value)
        above = self._source.parents[node]
        is_call = isinstance(above, ast.Call) and above.func is node
        if kind and kind.what in ("output", "tensor") and is_call:
            self._output_method(above, node, kind.what)  # type: ignore[arg-type]
        elif kind and kind.what in ("pipeline", "loader"):
            self._pipeline_method(above if is_call else None, node, kind)
        elif self._kinds.names.path(node) is not None:
            pass  # of a module
        elif kind is None and node.attr in table.OUTPUT_METHODS and is_call:
            form = table.OUTPUT_METHODS[node.attr].format(ast.unparse(node.value), "...")
            self._source.mark(node, f"if this is an output of a pipeline, write {form}")

    def _output_method(self, call: ast.Call, function: ast.Attribute, what: str) -> None:
        forms = table.OUTPUT_METHODS if what == "output" else table.TENSOR_METHODS
        form = forms.get(function.attr)
        if form is None:
            name = "Batch" if what == "output" else "Tensor"
            self._source.mark(call, f"a {name} has no {function.attr}(): see numpy(), torch(), tensors and slice")
            return
        arguments = [self._source.text(argument) for argument in call.args]
        self._source.edit(call, form.format(self._source.text(function.value), *arguments))

    def _pipeline_method(self, call: ast.AST | None, function: ast.Attribute, kind: Kind) -> None:
        statement = self._source.parents[call] if call else None
        if (kind.what, function.attr) in table.REMOVED_METHODS and isinstance(statement, ast.Expr):
            self._source.remove_statement(statement)
        elif function.attr == "set_outputs" or self._kinds.is_in_iterator(function):
            pass  # the end of a with block; an argument such as size, which is left out
        elif function.attr == "run" and call and kind.what == "pipeline" and _are_endless(kind):
            self._source.edit(call, f"next({self._source.text(function.value)})")
        else:
            advice = table.METHOD_MARKS.get(function.attr, "this has no counterpart")
            self._source.mark(function, f"{function.attr}: {advice}")


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


def _are_endless(kind: Kind) -> bool:
    return bool(kind.of) and all(pipeline.is_endless for pipeline in kind.of)


def _now_batches(kind: Kind) -> str:
    names = ", ".join(kind.of or ()) or "the outputs"
    return f"this is a tuple of Batches now ({names}), and no list of dictionaries: [0].torch() is the first"
