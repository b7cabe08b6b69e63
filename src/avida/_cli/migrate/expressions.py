"""Calls of operators and the values in pipelines: each becomes what avida has for it."""

from __future__ import annotations

import ast
import itertools

from avida._cli.migrate import table
from avida._cli.migrate.inputs import Inputs
from avida._cli.migrate.kinds import Kinds, Pipeline
from avida._cli.migrate.source import Source


class Expressions(ast.NodeVisitor):
    """Edits expressions in place, the inner ones first."""

    def __init__(self, source: Source, kinds: Kinds, inputs: dict[Pipeline, Inputs]) -> None:
        self._source = source
        self._kinds = kinds
        self._inputs = inputs

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        operator = self._kinds.operator(node)
        kind = self._kinds.of(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if operator == "python_function":
            self._python_function(node)
        elif operator == "constant":
            self._constants(node)
        elif operator in table.AUTO_AUGMENT:
            self._auto_augment(node, operator)
        elif operator == "shapes":
            self._shape(node, node.args[0])
        elif operator in table.READERS or operator == "external_source":
            if not self._kinds.pipeline_around(node):
                self._source.mark(node, "make this reader above the loop of the pipeline, and pass on its batches")
        elif operator is not None:
            self._operator(node, operator)
        elif self._kinds.names.path(node.func) == f"{table.DALI}.types.Constant":
            self._constant(node)
        elif kind and kind.what == "data" and isinstance(node.func, ast.Attribute):
            self._data_method(node, node.func)
        elif any(map(self._kinds.is_data, [*node.args, *(keyword.value for keyword in node.keywords)])):
            self._check_call(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self._kinds.names.path(node)
        if path is None:
            self.generic_visit(node)
        elif table.module_of(path):
            self._name_of_module(node, path)
        elif table.is_dynamic(path):
            self._name_of_dynamic_mode(node, path)
        elif "LastBatchPolicy." in path and node.attr in table.POLICIES:
            self._source.edit(node, f'"{table.POLICIES[node.attr]}"')
        elif self._is_value(node, path):
            self._source.edit(node, f"ndd.{table.plain_operator(path)}")
        elif not self._is_known(node, path):
            self._source.mark(node, table.why_missing(path))

    def visit_While(self, node: ast.While) -> None:
        self._check_truth(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        self._check_truth(node)

    def _check_truth(self, node: ast.While | ast.Assert) -> None:
        self.generic_visit(node)
        if self._kinds.is_data(node.test):
            self._source.mark(node, "this is data of a batch, and neither true nor false")

    def visit_Name(self, node: ast.Name) -> None:
        path = self._kinds.names.path(node)
        above = self._source.parents[node]
        if path is None or isinstance(above, ast.Attribute):
            return
        if path in table.INFOS and isinstance(above, ast.arg):
            self._source.edit(node, f'"{table.INFOS[path]}"')
            return
        if module := table.module_of(path):
            name = table.MODULES[module] + path.removeprefix(module)
            if table.find(name) is None and name != "types.Constant":
                self._source.mark(node, table.why_missing(path))
        elif table.is_dynamic(path):
            self._name_of_dynamic_mode(node, path)
        elif self._is_value(node, path):
            self._source.edit(node, f"ndd.{table.plain_operator(path)}")
        elif not self._is_known(node, path):
            self._source.mark(node, table.why_missing(path))

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)
        kind = self._kinds.of(node.value)
        if kind and kind.what == "data":  # a subscript of every sample
            self._source.insert_after(node.value, ".slice")

    def visit_Constant(self, node: ast.Constant) -> None:
        if node.value == "mixed" and self._is_device(node):
            self._source.edit(node, '"gpu"')

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.generic_visit(node)
        if not any(self._kinds.is_data(value) for value in node.values):
            return
        if not all(self._kinds.is_data(value) for value in node.values):
            self._source.mark(node, "and, or: write (a != 0) & (b != 0), (a != 0) | (b != 0), for every sample")
            return
        sign = " & " if isinstance(node.op, ast.And) else " | "
        parts = (f"(({self._source.text(value)}) != 0)" for value in node.values)
        self._source.edit(node, f"({sign.join(parts)})")

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and self._kinds.is_data(node.operand):
            text, is_name = self._source.text(node.operand), isinstance(node.operand, ast.Name | ast.Subscript)
            self._source.edit(node, f"({text} == 0)" if is_name else f"(({text}) == 0)")

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.generic_visit(node)
        if not self._kinds.is_data(node.test):
            return
        if not (self._kinds.is_data(node.body) and self._kinds.is_data(node.orelse)):
            advice = "ndd.batch([a if chosen else b for chosen, a, b in zip(...)])"
            self._source.mark(node, f"this chooses for every sample: write {advice}")
            return
        values = ", ".join(self._source.text(each) for each in (node.test, node.body, node.orelse))
        self._source.edit(node, f"ndd.batch([a if yes else b for yes, a, b in zip({values}, strict=True)])")

    def _is_value(self, node: ast.AST, path: str) -> bool:
        """Whether an operator is passed on where its calls are found."""
        above = self._source.parents[node]
        is_called = isinstance(above, ast.Call) and above.func is node
        passed_on = (ast.Assign, ast.List, ast.Tuple, ast.Dict, ast.For, ast.IfExp)
        return not is_called and isinstance(above, passed_on) and table.plain_operator(path) is not None

    def _is_known(self, node: ast.AST, path: str) -> bool:
        """Whether a name of nvidia.dali is part of something that another stage rewrites."""
        above = self._source.parents[node]
        if isinstance(above, ast.Call) and above.func is node:
            operator = table.operator_path(path)
            special = {"external_source", "python_function", "constant", "shapes", *table.READERS, *table.AUTO_AUGMENT}
            known = operator is not None and (operator in special or table.find(operator) is not None)
            return known or path in table.ITERATORS | table.MODULES or path in table.PIPELINE | table.PIPELINE_DEF
        return path in table.PIPELINE_DEF

    def _name_of_module(self, node: ast.Attribute, path: str) -> None:
        module = table.module_of(path) or ""
        name = table.MODULES[module] + path.removeprefix(module)
        above = self._source.parents[node]
        if path in table.INFOS and isinstance(above, ast.arg):
            self._source.edit(node, f'"{table.INFOS[path]}"')
        elif table.find(name) is None and name != "types.Constant":
            self._source.mark(node, table.why_missing(path))
        elif not self._kinds.names.stays(node):
            self._source.edit(node, f"ndd.{name}")

    def _name_of_dynamic_mode(self, node: ast.Attribute | ast.Name, path: str) -> None:
        name = path.removeprefix(table.DYNAMIC).removeprefix(".")
        if name and table.find(name) is None:
            self._source.mark(node, table.why_missing(path))
        elif isinstance(node, ast.Attribute) and not self._kinds.names.stays(node):
            self._source.edit(node, f"ndd.{name}" if name else "ndd")

    def _is_device(self, node: ast.Constant) -> bool:
        """Whether a constant is in a pipeline, in a call of one, or given as ``device``."""
        if self._kinds.pipeline_around(node):
            return True
        above: ast.AST = node
        while above in self._source.parents and not isinstance(above, ast.stmt):
            above = self._source.parents[above]
            kind = self._kinds.of(above)
            if (isinstance(above, ast.keyword) and "device" in (above.arg or "")) or (kind and kind.what == "pipeline"):
                return True
        return isinstance(above, ast.Assign) and "device" in ast.unparse(above.targets[0])

    def _operator(self, node: ast.Call, operator: str) -> None:
        if table.find(operator) is None:
            return  # marked where its name is visited
        sets = [each for each in node.args if self._kinds.is_set_of_inputs(each)]
        self._source.edit(node.func, f"ndd.{operator}")
        known = table.parameters(operator)
        dropped, added = set(), []
        for keyword in node.keywords:
            if keyword.arg in table.WITHOUT_MEANING and keyword.arg not in known:
                dropped.add(keyword)
            elif keyword.arg == "seed" and "seed" not in known:
                dropped.add(keyword)
                if "rng" in known:
                    added += self._generator(node, keyword.value)
            elif keyword.arg and keyword.arg not in known:
                self._source.mark(node, f"{operator} has no argument {keyword.arg}")
        has_input = any(not _is_literal(argument) for argument in node.args)
        if "batch_size" in known and not has_input:
            size = self._batch_size(node)
            if size:
                added.append(f"batch_size={size}")
            else:
                self._source.mark(node, f"{operator} gives one value for the whole batch without batch_size=")
        change_arguments(self._source, node, dropped, added)
        if sets:
            self._for_each_input(node, sets)

    def _generator(self, node: ast.Call, seed: ast.expr) -> list[str]:
        """The argument for a generator with a seed, which is made above the loop."""
        pipeline = self._kinds.pipeline_around(node)
        is_above = pipeline is not None and self._kinds.is_known_above(seed, pipeline)
        if pipeline is None or not is_above or self._kinds.scope(node) is not self._inputs[pipeline].scope:
            made = f"rng = ndd.random.RNG(seed={ast.unparse(seed)})"
            self._source.mark(node, f"seed: make {made} above the loop, and pass rng=rng")
            return []
        name = self._source.fresh("rng", self._kinds.scope(node))
        self._inputs[pipeline].made.append(f"{name} = ndd.random.RNG(seed={self._source.text(seed)})")
        return [f"rng={name}"]

    def _for_each_input(self, node: ast.Call, sets: list[ast.expr]) -> None:
        """An operator with lists of inputs is applied to their elements, one by one."""
        others = [each for each in (*node.args, *(k.value for k in node.keywords)) if each not in sets]
        if any(self._kinds.operator(inner) for each in others for inner in ast.walk(each)):
            self._source.mark(node, "compute what is common to these inputs above, and give it a name")
        values = [self._source.text(each) for each in sets]
        names = [self._source.fresh("each", self._kinds.scope(node)) for _ in sets]
        for each, name in zip(sets, names, strict=True):
            self._source.edit(each, name)
        over = values[0] if len(sets) == 1 else f"zip({', '.join(values)}, strict=True)"
        self._source.edit(node, f"[{self._source.text(node)} for {', '.join(names)} in {over}]")

    def _check_call(self, node: ast.Call) -> None:
        """What a function does with data can be told if it is in the script, or one of Python's."""
        name = ast.unparse(node.func)
        known = (
            name in table.BUILTINS
            or name.endswith("set_outputs")
            or self._kinds.function(node)
            or self._kinds.called_values(node)
        )
        if isinstance(node.func, ast.Attribute):
            known = known or (node.func.attr in table.CHANGING and self._kinds.names.path(node.func) is None)
        kind = self._kinds.of(node.func)
        if not known and not (kind and kind.what == "operator") and self._kinds.names.path(node.func) is None:
            self._source.mark(node, f"{name} is not in this script: migrate it too, and see what it does with a Batch")

    def _batch_size(self, node: ast.AST) -> str | None:
        """The number of samples of the batch, where no input tells it."""
        pipeline = self._kinds.pipeline_around(node)
        if pipeline:
            return self._inputs[pipeline].batch_size()
        arguments = getattr(self._kinds.scope(node), "args", None)
        for argument in arguments.args if arguments else []:
            if self._kinds.is_data_before(argument.arg, node):
                return f"{argument.arg}.batch_size"
        return None

    def _data_method(self, node: ast.Call, function: ast.Attribute) -> None:
        form = table.DATA_METHODS.get(function.attr)
        if function.attr in table.CASTS and not node.args:
            self._source.edit(node, f"ndd.cast({self._source.text(function.value)}, dtype=ndd.{function.attr})")
        elif form is None:
            self._source.mark(node, f"a Batch has no {function.attr}()")
        elif function.attr == "shape":
            self._shape(node, function.value)

    def _shape(self, node: ast.Call, value: ast.expr) -> None:
        if node.keywords:
            self._source.mark(node, "set the type: ndd.batch(images.shape, dtype=...)")
        else:
            self._source.edit(node, table.DATA_METHODS["shape"].format(self._source.text(value)))

    def _constant(self, node: ast.Call) -> None:
        """One value for all samples is a Batch in pipelines, and so in what they return."""
        size = self._batch_size(node)
        is_plain = len(node.args) == 1 and {k.arg for k in node.keywords} <= {"dtype"}
        if size is None or not is_plain:
            self._source.mark(node, "types.Constant: write ndd.Batch.broadcast(value, batch_size, dtype=...)")
            return
        self._source.edit(node.func, "ndd.Batch.broadcast")
        self._source.insert_after(node.args[0], f", {size}")

    def _constants(self, node: ast.Call) -> None:
        """``fn.constant``: numbers in a shape, or one number that fills it."""
        given, size = {k.arg: k.value for k in node.keywords}, self._batch_size(node)
        data = given.get("fdata") or given.get("idata")
        is_list = isinstance(data, ast.List | ast.Tuple)
        is_known = is_list or (data is not None and _is_literal(data))
        if size is None or data is None or not is_known or node.args or not set(given) <= table.OF_CONSTANTS:
            self._source.mark(node, "fn.constant: write ndd.Batch.broadcast(array, batch_size)")
            return
        dtype = self._source.text(given["dtype"]) if "dtype" in given else None
        dtype = dtype or ("ndd.float32" if "fdata" in given else "ndd.int32")
        numbers, shape = self._source.text(data), given.get("shape")
        is_one = not is_list or len(data.elts) == 1  # type: ignore[attr-defined]
        if is_one and shape is not None:
            number = self._source.text(data.elts[0]) if is_list else numbers  # type: ignore[attr-defined]
            made = f"ndd.full({number}, shape={self._source.text(shape)}, batch_size={size})"
            self._source.edit(node, f"ndd.cast({made}, dtype={dtype})")
            return
        made = f"ndd.Batch.broadcast({numbers if is_list else f'[{numbers}]'}, {size}, dtype={dtype})"
        if shape is not None:
            made = f"ndd.reshape({made}, shape={self._source.text(shape)})"
        self._source.edit(node, made)

    def _auto_augment(self, node: ast.Call, operator: str) -> None:
        ours, order, pixels, share = table.AUTO_AUGMENT[operator]
        given = dict(zip(order, node.args, strict=False)) | {k.arg: k.value for k in node.keywords if k.arg}
        known, parts = table.parameters(ours), []
        policy = given.pop("policy_name", None)
        if policy is not None:
            name = table.POLICY_NAMES.get(getattr(policy, "value", ""))
            parts.append(f'policy="{name}"')
            if name is None:
                self._source.mark(node, f"{ours}: name the policy, or make ndd.augment.SubPolicies")
        has_shape = given.pop("shape", None) is not None
        limit, unused = ("max_translate_rel", "max_translate_abs")[:: 1 if has_shape else -1]
        given.pop(unused, None)  # which counts only with a shape, or without one
        if limit not in given:
            parts.append(f"{limit}={share if has_shape else pixels}")
        if ast.unparse(given.get("monotonic_mag", ast.Constant(False))) == "True":
            del given["monotonic_mag"]  # which is what ours does
        seed = given.pop("seed", None)
        parts += self._generator(node, seed) if seed is not None else []
        for name, value in given.items():
            if name != "data" and name not in known:
                self._source.mark(node, f"{ours} has no argument {name}={ast.unparse(value)}")
        kept = {n: v for n, v in given.items() if n != "data" and ast.unparse(v) != "None"}
        parts = [f"{n}={self._source.text(v)}" for n, v in kept.items()] + parts
        self._source.edit(node, f"ndd.{ours}({', '.join([self._source.text(given['data']), *parts])})")

    def _python_function(self, node: ast.Call) -> None:
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        function, count = keywords.get("function"), keywords.get("num_outputs")
        if function is None or not set(keywords) <= {"function", "num_outputs", "device", "name", "batch_processing"}:
            self._source.mark(node, "python_function: decorate the function with @ndd.operator and call it")
            return
        options = [f"outputs={self._source.text(count)}"] if count is not None else []
        batch = keywords.get("batch_processing")
        if batch is not None:
            whole = isinstance(batch, ast.Constant) and batch.value is True
            options += ['per="batch"'] if whole else []
        made = ", ".join([self._source.text(function), *options])
        self._source.edit(node, f"ndd.operator({made})({', '.join(self._source.text(each) for each in node.args)})")


def change_arguments(source: Source, call: ast.Call, dropped: set[ast.keyword], added: list[str]) -> None:
    """Leaves out some arguments of a call and adds others at its end; the rest stays as it is written."""
    if source.in_fstring(call):
        source.mark(call, "rewrite the call in this f-string")
        return
    arguments = sorted([*call.args, *call.keywords], key=source.start)
    kept = [argument for argument in arguments if argument not in dropped]
    for argument, following in itertools.pairwise(arguments):
        if argument in dropped:
            end = source.after_line(source.end(argument), source.start(following))
            source.replace(source.start(argument), end, "")
    text = ", ".join(added)
    if not arguments:
        source.insert(source.find("(", source.end(call.func)) + 1, text)
    elif not kept:
        source.replace(source.start(arguments[0]), source.end(arguments[-1]), text)
    elif arguments[-1] in dropped:
        source.replace(
            source.end(kept[-1]), source.end(arguments[-1]), source.comma_after(kept[-1]) + text if text else ""
        )
    elif text:
        source.insert(source.end(kept[-1]), source.comma_after(kept[-1]) + text)


def _is_literal(node: ast.expr) -> bool:
    """Whether an expression is a number, or a list of them."""
    return all(
        isinstance(each, ast.Constant | ast.List | ast.Tuple | ast.UnaryOp | ast.USub | ast.Load)
        for each in ast.walk(node)
    )
