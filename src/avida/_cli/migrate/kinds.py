"""What each expression of a script is: a pipeline, a loader, a batch of one, or data inside a pipeline."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from avida._cli.migrate import table
from avida._cli.migrate.names import Names
from avida._cli.migrate.source import Source

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.AST  # a function or the module


class Kind(NamedTuple):
    """``what`` it is, and the pipelines, the names of outputs or the kinds of parts that belong to it.

    definition: a function that makes a pipeline; pipeline, loader; batches: an iterator over items of a loader; item: a
    list of one row; row: outputs by name; outputs: the tuple of pipe.run(); output: one of them; tensor: a sample of
    that; data: a value inside a pipeline; sequence: several of those; many: several values of one kind; parts: a tuple
    of values of several kinds.
    """

    what: str
    of: Any = None


class JaxNames(tuple[str, ...]):
    """The names of the outputs of an iterator for JAX, whose items are rows."""

    __slots__ = ()


class Pipeline:
    """A pipeline of the script: a decorated function, or a ``with`` block."""

    def __init__(self, node: Function | ast.With, arguments: dict[str, ast.expr], variable: str = "") -> None:
        self.node = node
        self.arguments = arguments  # of the decorator, or of Pipeline(...)
        self.variable = variable  # of a with block
        self.calls: list[ast.Call] = []
        self.iterators: list[ast.Call] = []
        self.loader: ast.Call | None = None  # the decorator that makes iterators of it
        self.is_run = False
        self.has_length = False  # whether what is written can tell the number of batches

    @property
    def is_endless(self) -> bool:
        """Whether it is run batch by batch, and no iterator divides it into epochs."""
        return self.is_run and not self.iterators


class Kinds:
    """Follows values through assignments, loops, and functions of the script, in the order of its text."""

    def __init__(self, source: Source, names: Names) -> None:
        self._source = source
        self.names = names
        self._bindings: dict[tuple[Scope, str], list[tuple[int, Kind | None]]] = {}
        self._parameters: dict[tuple[Scope, str], Kind | None] = {}
        self._returns: dict[Scope, Kind | None] = {}
        found = [node for node in ast.walk(source.tree) if isinstance(node, Function)]
        self._globals = {
            self.scope(node): set(node.names) for node in ast.walk(source.tree) if isinstance(node, ast.Global)
        }
        plain = [node for node in found if not isinstance(source.parents[node], ast.ClassDef)]
        self.functions = {node.name: node for node in plain}
        self._definitions = {name: [node for node in plain if node.name == name] for name in self.functions}
        self._methods = {
            (above, node.name): node for node in found if isinstance(above := source.parents[node], ast.ClassDef)
        }
        self._classes = {node.name: node for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)}
        self._pipelines = {node: pipeline for node in found if (pipeline := self._decorated(node))}
        self.blocks = dict(self._with_blocks())
        all_names = [node for node in ast.walk(source.tree) if isinstance(node, ast.Name)]
        arguments = [node.arg for node in ast.walk(source.tree) if isinstance(node, ast.arg)]
        self._variables = {*arguments, *(node.id for node in all_names if isinstance(node.ctx, ast.Store))}
        read = [node for node in all_names if isinstance(node.ctx, ast.Load)]
        values: list[Function | ast.Lambda | None] = [
            self._definition(node) for node in read if not self._is_called(node)
        ]
        values += [node for node in ast.walk(source.tree) if isinstance(node, ast.Lambda)]
        found_values = dict.fromkeys(each for each in values if each and each not in self._pipelines)
        self._values = [each for each in found_values if any(map(self.operator, ast.walk(each)))]
        for _ in range(5):  # values pass through a few functions at most
            self._bindings = {}
            self._visit(source.tree)
        for call in (node for node in ast.walk(source.tree) if isinstance(node, ast.Call)):
            self._note_use(call)

    def is_length(self, node: ast.AST) -> bool:
        """Whether this asks for the number of batches of a loader."""
        return (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == "len"
            and len(node.args) == 1
            and self._what(node.args[0]) == "loader"
        )

    def all_pipelines(self) -> list[Pipeline]:
        return [*self._pipelines.values(), *self.blocks.values()]

    def scope(self, node: ast.AST) -> Scope:
        while node in self._source.parents:
            node = self._source.parents[node]
            if isinstance(node, Function | ast.Lambda):
                return node
        return node

    def pipeline_around(self, node: ast.AST) -> Pipeline | None:
        """The pipeline inside of which a node is, if any."""
        found = {id(pipeline.node): pipeline for pipeline in self.all_pipelines()}
        while node in self._source.parents and id(node) not in found:
            node = self._source.parents[node]
        return found.get(id(node))

    def given_to_unknown_callers(self, function: Function) -> str | None:
        """What a function returns that has another form now, if nothing in the script calls it."""
        kind = self._returns.get(function)
        if kind is None or kind.what not in ("pipeline", "loader", "outputs", "output", "item", "row"):
            return None
        return None if self.calls_of(function) else kind.what

    def value_of(self, name: ast.Name) -> ast.expr | None:
        """What a variable always stands for: what its one assignment says, or all that is passed for a parameter."""
        scope = self.scope(name)
        while scope is not self._source.tree and name.id not in _parameters(scope):
            scope = self.scope(scope)
        nodes = list(ast.walk(scope))
        stored = [n for n in nodes if isinstance(n, ast.Name) and n.id == name.id and not isinstance(n.ctx, ast.Load)]
        if not isinstance(scope, Function):
            assigned = [n.value for n in nodes if isinstance(n, ast.Assign) and n.targets == stored]
            return assigned[0] if len(assigned) == 1 else None
        passed = [dict(self._arguments(scope, call)) for call in self.calls_of(scope)]
        values = [each.get(name.id) or _default(scope, name.id) for each in passed or [{}]]
        same = {isinstance(value, ast.Constant) and (value.value or 0) for value in values}
        is_constant = len(same) == 1 and all(isinstance(value, ast.Constant) for value in values)
        return values[0] if is_constant and not stored and not self._is_passed_blindly(scope) else None

    def _is_passed_blindly(self, function: Function) -> bool:
        """Whether a function gets arguments that are not written out, or is called by somebody else."""
        stars = [call for call in self.calls_of(function) if any(k.arg is None for k in call.keywords)]
        return bool(stars) or function in self._values

    def calls_of(self, function: Function) -> list[ast.Call]:
        calls = [node for node in ast.walk(self._source.tree) if isinstance(node, ast.Call)]
        return [call for call in calls if self.function(call) is function]

    def is_known_above(self, value: ast.expr, pipeline: Pipeline) -> bool:
        """Whether a value needs nothing that the statements of a pipeline compute."""
        stored = {n.id for n in ast.walk(pipeline.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return not any(isinstance(node, ast.Name) and node.id in stored for node in ast.walk(value))

    def is_in_iterator(self, node: ast.AST) -> bool:
        """Whether a node is part of the arguments of an iterator."""
        while node in self._source.parents and not isinstance(node, ast.stmt):
            node = self._source.parents[node]
            if isinstance(node, ast.Call) and self.names.path(node.func) in table.ITERATORS:
                return True
        return False

    def of(self, node: ast.AST) -> Kind | None:
        """The kind of an expression; None for what has nothing to do with pipelines."""
        match node:
            case ast.Name() | ast.Attribute() if self.names.path(node) is None:
                kind = self._look_up(node)
                if kind is None and isinstance(node, ast.Attribute) and self._what(node.value) == "data":
                    return Kind("data")
                function = self._definition(node) if kind is None and isinstance(node, ast.Name) else None
                return (
                    Kind("definition", frozenset({self._pipelines[function]})) if function in self._pipelines else kind
                )
            case ast.Call():
                return self._of_call(node)
            case ast.Name() | ast.Attribute() if operator := table.plain_operator(self.names.path(node)):
                return Kind("operator", frozenset({operator}))
            case ast.Subscript():
                return self._of_subscript(node)
            case ast.List() | ast.Tuple() | ast.Set() if any(self.is_data(each) for each in node.elts):
                return Kind("sequence")
            case ast.Dict() if any(self.is_data(each) for each in node.values):
                return Kind("sequence")
            case ast.ListComp() | ast.GeneratorExp() if self.is_data(node.elt):
                return Kind("sequence")
            case ast.BinOp() if any(self.is_data(each) for each in (node.left, node.right)):
                both = {self._what(node.left), self._what(node.right)}
                return Kind("sequence" if "sequence" in both and isinstance(node.op, ast.Add) else "data")
            case ast.UnaryOp() if self.is_data(node.operand):
                return Kind("data")
            case ast.Compare(ops=[ast.Is() | ast.IsNot() | ast.In() | ast.NotIn()]):
                return None
            case ast.Compare() if any(self.is_data(each) for each in (node.left, *node.comparators)):
                return Kind("data")
            case ast.BoolOp() if any(self.is_data(each) for each in node.values):
                return Kind("data")
            case ast.IfExp():
                return self.of(node.body) or self.of(node.orelse)
            case ast.List() | ast.Tuple() | ast.Dict():
                values = node.values if isinstance(node, ast.Dict) else node.elts
                return _many([self.of(value) for value in values])
            case ast.ListComp() | ast.GeneratorExp():
                return _many([self.of(node.elt)])
            case ast.Await() | ast.Starred():
                return self.of(node.value)
        return None

    def is_data(self, node: ast.AST) -> bool:
        return self._what(node) in ("data", "sequence")

    def operator(self, call: ast.AST) -> str | None:
        """``decoders.image`` for a call of an operator of pipeline mode."""
        path = self.names.path(call.func) if isinstance(call, ast.Call) else None
        return path and table.operator_path(path)

    def is_set_of_inputs(self, node: ast.AST) -> bool:
        """Whether an argument of an operator is a list of inputs, to each of which it is applied."""
        return not isinstance(node, ast.Starred) and self._what(node) == "sequence"

    def _is_called(self, node: ast.AST) -> bool:
        above = self._source.parents[node]
        return isinstance(above, ast.Call) and above.func is node

    def _what(self, node: ast.AST) -> str | None:
        kind = self.of(node)
        return kind and kind.what

    def _decorated(self, node: Function) -> Pipeline | None:
        for decorator in node.decorator_list:
            call = isinstance(decorator, ast.Call)
            if self.names.path(decorator.func if call else decorator) in table.PIPELINE_DEF:
                return Pipeline(node, {k.arg: k.value for k in decorator.keywords if k.arg} if call else {})
            if isinstance(decorator, ast.Call) and self.names.path(decorator.func) in table.DATA_ITERATORS:
                made = Pipeline(node, {})
                made.loader = decorator
                made.iterators.append(decorator)
                return made
        return None

    def _with_blocks(self) -> Iterator[tuple[ast.AST, Pipeline]]:
        made: dict[str, list[ast.Assign]] = {}
        for node in ast.walk(self._source.tree):
            if isinstance(node, ast.Assign) and self._is_pipeline_call(node.value):
                made.setdefault(ast.unparse(node.targets[0]), []).append(node)
        for node in (n for n in ast.walk(self._source.tree) if isinstance(n, ast.With) and len(n.items) == 1):
            expression, variable = node.items[0].context_expr, node.items[0].optional_vars
            if self._is_pipeline_call(expression) and variable is not None:
                yield node, Pipeline(node, _pipeline_arguments(expression), ast.unparse(variable))
            elif assigned := self._assigned_before(made.get(text := ast.unparse(expression), []), node):
                yield node, Pipeline(node, _pipeline_arguments(assigned.value), text)

    def _assigned_before(self, assigned: list[ast.Assign], block: ast.With) -> ast.Assign | None:
        """The pipeline that a variable has where a block begins: several may have one name, one after another."""
        inner = [each for each in assigned if self.scope(each) is self.scope(block)]
        above = [each for each in inner if self._source.start(each) < self._source.start(block)]
        return max(above, key=self._source.start) if above else assigned[-1] if assigned else None

    def is_defined_once(self, function: str) -> bool:
        return len(self._definitions[function]) == 1

    def is_ambiguous(self, name: ast.Name) -> bool:
        """Whether a name stands for one of several functions, and it cannot be told which."""
        found = self._definitions.get(name.id, [])
        scopes = {self.scope(node) for node in found}
        return len(found) > 1 and self.scope(name) not in scopes and any(each in self._pipelines for each in found)

    def _definition(self, name: ast.Name) -> Function | None:
        """The function of the script that a name stands for: the last one above it of this name."""
        found = self._definitions.get(name.id, [])
        inner = [node for node in found if self.scope(node) is self.scope(name)]
        above = [node for node in inner if self._source.start(node) < self._source.start(name)]
        return above[-1] if above else inner[0] if inner else found[-1] if found else None

    def _is_pipeline_call(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self.names.path(node.func) in table.PIPELINE

    # Bindings, in the order of the text.

    def _visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Return):  # whose value needs what is bound inside it
            for inner in (each for each in ast.walk(node) if isinstance(each, ast.comprehension)):
                self._bind(inner.target, _element(self.of(inner.iter)), self._source.start(inner.target))
        match node:
            case ast.Assign():
                for target in node.targets:
                    self._bind(target, self.of(node.value), self._source.end(node), node.value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                self._bind(target, self.of(value), self._source.end(node), value)
            case ast.For() | ast.comprehension():
                at = self._source.end(node.iter) if isinstance(node, ast.For) else self._source.start(node.target)
                self._bind(node.target, _element(self.of(node.iter)), at)
            case ast.With():
                for item in node.items:
                    if node in self.blocks and item.optional_vars is not None:
                        kind = Kind("pipeline", frozenset({self.blocks[node]}))
                        self._bind(item.optional_vars, kind, self._source.start(node))
            case ast.Return(value=ast.expr() as value):
                scope = self.scope(node)
                self._returns[scope] = self.of(value) or self._returns.get(scope)
            case ast.AugAssign() if self.is_data(node.value):
                several = self._what(node.value) == "sequence"
                self._bind(node.target, Kind("sequence" if several else "data"), self._source.end(node))
            case ast.Call() if (function := self.function(node)) and function not in self._pipelines:
                self._pass_arguments(function, node)
            case ast.Call() if functions := self.called_values(node):
                for function in functions:
                    self._pass_arguments(function, node)
            case ast.Call(func=ast.Attribute(value=ast.Name() as target, attr="append" | "extend" | "insert")):
                if any(self.is_data(argument) for argument in node.args):
                    self._bind(target, Kind("sequence"), self._source.end(node))
                elif many := _many([self.of(argument) for argument in node.args[-1:]]):
                    self._bind(target, many, self._source.end(node))
        for child in ast.iter_child_nodes(node):
            self._visit(child)

    def _bind(self, target: ast.AST, kind: Kind | None, at: int, value: ast.AST | None = None) -> None:
        match target:
            case ast.Name() | ast.Attribute():
                if not (isinstance(value, ast.Constant) and value.value is None):  # which says that there is none yet
                    self._bindings.setdefault(self._key(target), []).append((at, kind))
            case ast.Tuple() | ast.List():
                values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
                for i, part in enumerate(target.elts):
                    if len(values) == len(target.elts):
                        self._bind(part, self.of(values[i]), at, values[i])
                    elif isinstance(part, ast.Starred):
                        self._bind(part.value, kind, at)
                    else:
                        self._bind(part, _part(kind, i), at)

    def _key(self, target: ast.Name | ast.Attribute) -> tuple[Scope, str]:
        scope = self.scope(target)
        if not isinstance(target, ast.Name) or target.id in self._globals.get(scope, ()):
            scope = self._source.tree
        return scope, ast.unparse(target)

    def _look_up(self, node: ast.Name | ast.Attribute) -> Kind | None:
        scope, name = self._key(node)
        inner = True
        while True:
            if found := self._bindings.get((scope, name)):
                before = [kind for at, kind in found if at <= self._source.start(node)]
                return (before[-1] if before else found[0][1]) if inner else found[-1][1]
            if (scope, name) in self._parameters:
                return self._parameters[scope, name]
            if scope is self._source.tree:
                return None
            scope, inner = self.scope(scope), False

    def is_data_before(self, name: str, node: ast.AST) -> bool:
        """Whether a variable has data before a statement."""
        found = self._bindings.get((self.scope(node), name), [])
        before = [kind for at, kind in found if at <= self._source.start(node)]
        kind = before[-1] if before else self._parameters.get((self.scope(node), name))
        return kind is not None and kind.what in ("data", "sequence")

    def function(self, call: ast.Call) -> Function | None:
        """The function, method or constructor of the script that a call calls."""
        match call.func:
            case ast.Name(id=name) if name in self._classes:
                return self._methods.get((self._classes[name], "__init__"))
            case ast.Name():
                return self._definition(call.func)
            case ast.Attribute(attr=name) if self.names.path(call.func) is None:
                found = [method for (_, method_name), method in self._methods.items() if method_name == name]
                return found[0] if len(found) == 1 else None
        return None

    def called_values(self, call: ast.Call) -> list[Function | ast.Lambda]:
        """The functions that a variable may stand for, if data is passed to it: those of operators that are values."""
        name = call.func.value if isinstance(call.func, ast.Subscript) else call.func
        if not isinstance(name, ast.Name) or self.names.path(name) or self.function(call):
            return []
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        return self._values if name.id in self._variables and any(map(self.is_data, values)) else []

    def is_something_else_too(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether a variable that is a pipeline or a loader also gets values of another kind."""
        found = {kind and kind.what for _, kind in self._bindings.get(self._key(node), [])}
        followed = {"definition", "pipeline", "loader"}
        return isinstance(node.ctx, ast.Load) and len(found) > 1 and bool(found & followed)

    def parameters(self, function: Function, call: ast.Call) -> Iterator[tuple[ast.expr, Kind | None]]:
        """The arguments of a call, with the kind that the parameter has."""
        for name, value in self._arguments(function, call):
            yield value, self._parameters.get((function, name))

    def _arguments(self, function: Function | ast.Lambda, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        is_method = isinstance(self._source.parents[function], ast.ClassDef)
        through_class = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) in self._classes
        yield from zip(names[is_method and not through_class :], call.args, strict=False)
        yield from ((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg)

    def _pass_arguments(self, function: Function | ast.Lambda, call: ast.Call) -> None:
        for name, value in self._arguments(function, call):
            if kind := self.of(value):
                old = self._parameters.get((function, name))
                self._parameters[function, name] = _merged(old, kind)

    # Kinds of expressions.

    def _of_call(self, call: ast.Call) -> Kind | None:
        path, operator = self.names.path(call.func), self.operator(call)
        if operator is not None:
            is_several = self.has_several_outputs(call, operator) or any(map(self.is_set_of_inputs, call.args))
            return Kind("sequence" if is_several else "data")
        if path in table.DATA_ITERATORS:
            return None  # the decorator
        if path in table.ITERATORS:
            return Kind("loader", self.output_names(call))
        if path == f"{table.DALI}.types.Constant":
            return Kind("data")
        if self._is_pipeline_call(call):
            found = [p for p in self.blocks.values() if p.arguments and p.arguments == _pipeline_arguments(call)]
            return Kind("pipeline", frozenset(found[:1]))
        if (function := self.function(call)) is not None:
            pipeline = self._pipelines.get(function)
            if pipeline and pipeline.loader:
                return Kind("loader", self.output_names(pipeline.loader))
            return Kind("pipeline", frozenset({pipeline})) if pipeline else self._returns.get(function)
        kind = self.of(call.func) if isinstance(call.func, ast.Name | ast.Subscript) else None
        if kind and kind.what == "definition":
            return Kind("pipeline", kind.of)
        if kind and kind.what == "operator":
            return Kind("sequence" if any(map(table.SEVERAL_OUTPUTS.__contains__, kind.of)) else "data")
        if self.called_values(call):
            functions = self.called_values(call)
            kinds = [self.of(f.body) if isinstance(f, ast.Lambda) else self._returns.get(f) for f in functions]
            return next((kind for kind in kinds if kind), None)
        match call.func:
            case ast.Name(id="sum") if call.args and self._what(call.args[0]) == "sequence":
                return Kind("data")
            case ast.Name(id="list" | "tuple") if len(call.args) == 1 and self._what(call.args[0]) == "sequence":
                return Kind("sequence")
            case ast.Name(id="list" | "tuple" | "reversed" | "sorted") if len(call.args) == 1:
                kind = self.of(call.args[0])
                return kind if kind and kind.what in ("outputs", "many", "batches") else _many([_element(kind)])
            case ast.Name(id="enumerate") if call.args and (element := _element(self.of(call.args[0]))):
                return Kind("many", Kind("parts", (None, element)))
            case ast.Name(id="zip") if any(elements := [_element(self.of(argument)) for argument in call.args]):
                return Kind("many", Kind("parts", tuple(elements)))
            case ast.Name(id="next") if call.args and self._what(call.args[0]) in ("batches", "loader"):
                return _element(self.of(call.args[0]))
            case ast.Name(id="iter" | "tqdm" | "islice") | ast.Attribute(attr="tqdm" | "islice") if call.args:
                kind = self.of(call.args[0])
                return Kind("batches", kind.of) if kind and kind.what in ("loader", "batches") else kind
            case ast.Attribute(value=value, attr=method):
                return self._of_method(self.of(value), method)
        return None

    def _of_method(self, kind: Kind | None, method: str) -> Kind | None:
        match kind and kind.what, method:
            case "many", "values" | "copy":
                return kind
            case "many", "items":
                return Kind("many", Kind("parts", (None, _element(kind))))
            case "many", "pop" | "get":
                return _element(kind)
            case "output", "as_tensor":
                return Kind("tensor")
            case "tensor", "as_cpu":
                return kind
            case "pipeline", "run":
                return Kind("outputs")
            case "output", "as_cpu":
                return kind
            case "data", _:
                return kind
            case "sequence", "values" | "items" | "get" | "pop":
                return Kind("data" if method in ("get", "pop") else "sequence")
        return None

    def _of_subscript(self, node: ast.Subscript) -> Kind | None:
        kind = self.of(node.value)
        match kind and kind.what:
            case "outputs" | "many" if isinstance(node.slice, ast.Slice):
                return kind
            case "outputs":
                return Kind("output")
            case "output" if not isinstance(node.slice, ast.Slice):
                return Kind("tensor")
            case "many":
                return kind.of  # type: ignore[union-attr]
            case "parts" if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
                return _part(kind, node.slice.value)
            case "item" if isinstance(node.slice, ast.Constant) and node.slice.value == 0:
                return Kind("row", kind.of)  # type: ignore[union-attr]
            case "data" | "sequence":
                return Kind("data")
        return None

    def has_several_outputs(self, call: ast.Call, operator: str) -> bool:
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        if operator == "external_source":
            return "num_outputs" in keywords
        if operator in ("readers.numpy", "experimental.readers.fits"):
            return False
        if operator == "readers.webdataset":
            return len(getattr(keywords.get("ext"), "elts", [])) != 1 and not isinstance(
                getattr(keywords.get("ext"), "value", None), str
            )
        if operator == "readers.nemo_asr":
            return any(name and name.startswith("read_") for name in keywords)
        if operator in ("readers.video", "readers.video_resize", "experimental.readers.video"):
            return any(name in table.VIDEO_OUTPUTS or (name or "").startswith("enable_") for name in keywords)
        return operator.startswith("readers.") or operator in table.SEVERAL_OUTPUTS

    def output_names(self, call: ast.Call) -> tuple[str, ...] | None:
        """The names that an iterator gives to the outputs; None where they are not written out."""
        order, fixed = table.ITERATORS[self.names.path(call.func) or ""]
        if fixed:
            return fixed
        names = iterator_arguments(call, order).get("output_map")
        names = self.value_of(names) if isinstance(names, ast.Name) else names
        if not isinstance(names, ast.List | ast.Tuple):
            return None
        made = JaxNames if self.names.path(call.func) in {table.JAX, *table.DATA_ITERATORS} else tuple
        return made(getattr(name, "value", "") for name in names.elts)

    def _note_use(self, call: ast.Call) -> None:
        """Notes where pipelines are made, iterated over and run."""
        kind = self.of(call)
        path = self.names.path(call.func)
        if path in table.ITERATORS:
            given = self.of(one_pipeline(iterator_arguments(call, table.ITERATORS[path][0])) or call)
            for each in given.of if given and given.what == "pipeline" else ():
                each.iterators.append(call)
        elif (pipeline := self._pipelines.get(self.function(call))) and pipeline.loader:  # type: ignore[arg-type]
            pipeline.calls.append(call)
        elif kind and kind.what == "pipeline" and not self._is_pipeline_call(call):
            made = self.function(call) or (isinstance(call.func, ast.Name) and self.of(call.func))
            for each in kind.of:
                if made is each.node or isinstance(made, Kind):
                    each.calls.append(call)
        elif kind and kind.what == "outputs" and isinstance(call.func, ast.Attribute):
            of = self.of(call.func.value)
            for each in of.of if of and of.what == "pipeline" else ():
                each.is_run = True


def iterator_arguments(call: ast.Call, order: list[str]) -> dict[str, ast.expr]:
    return dict(zip(order, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}


def one_pipeline(arguments: dict[str, ast.expr]) -> ast.expr | None:
    """The pipeline of an iterator: its first argument, or the one element of that list."""
    given = arguments.get("pipelines")
    if isinstance(given, ast.List | ast.Tuple):
        return given.elts[0] if len(given.elts) == 1 else None
    return given


def _pipeline_arguments(call: ast.AST) -> dict[str, ast.expr]:
    assert isinstance(call, ast.Call)
    return iterator_arguments(call, table.PIPELINE_PARAMETERS)


def _parameters(function: ast.AST) -> list[str]:
    assert isinstance(function, Function | ast.Lambda)
    given = function.args
    return [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _default(function: Function, name: str) -> ast.expr | None:
    """The default of a parameter, if it has one."""
    given = function.args
    plain = [argument.arg for argument in (*given.posonlyargs, *given.args)]
    defaults = dict(zip(reversed(plain), reversed(given.defaults), strict=False))
    keyword_only = zip((argument.arg for argument in given.kwonlyargs), given.kw_defaults, strict=True)
    return (defaults | {key: value for key, value in keyword_only if value}).get(name)


def _element(kind: Kind | None) -> Kind | None:
    """What iterating yields."""
    match kind and kind.what:
        case "loader" | "batches":
            return Kind("row" if isinstance(kind.of, JaxNames) else "item", kind.of)  # type: ignore[union-attr]
        case "many":
            return kind.of  # type: ignore[union-attr]
        case "outputs":
            return Kind("output")
        case "output":
            return Kind("tensor")
        case "sequence":
            return Kind("data")
    return None


def _part(kind: Kind | None, index: int) -> Kind | None:
    """What unpacking assigns to each name."""
    match kind and kind.what:
        case "sequence" | "data":
            return Kind("data")
        case "parts":
            return kind.of[index] if index < len(kind.of) else None  # type: ignore[union-attr]
    return _element(kind)


def _many(kinds: list[Kind | None]) -> Kind | None:
    """Several values of one kind, if it is one."""
    first = kinds[0] if kinds else None
    if first is None or any(kind is None or kind.what != first.what for kind in kinds):
        return None
    merged: Kind | None = None
    for kind in kinds:
        merged = _merged(merged, kind)  # type: ignore[arg-type]
    return Kind("many", merged)


def _merged(old: Kind | None, kind: Kind) -> Kind:
    """The kind of a variable that has values of two kinds, of which the last one counts."""
    if old is None or old.what != kind.what or old == kind:
        return kind
    return Kind(kind.what, old.of | kind.of if kind.what in ("pipeline", "definition", "operator") else None)
