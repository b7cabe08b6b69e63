"""Pipelines become generators with a loop: what does not depend on data goes above the loop, the rest into it."""

from __future__ import annotations

import ast

from avida._cli.migrate import table
from avida._cli.migrate.expressions import change_arguments
from avida._cli.migrate.inputs import Inputs
from avida._cli.migrate.kinds import Function, Kinds, Pipeline
from avida._cli.migrate.making import InputWriter
from avida._cli.migrate.policies import LastBatch
from avida._cli.migrate.source import Source

_STEP = "    "


class PipelineWriter:
    """Writes one pipeline as a loop.

    A pipeline that is only run becomes an endless generator: ``pipe.run()`` is ``next(pipe)``. One that an iterator
    goes over becomes a function that returns another, ``epoch``, each call of which is the next epoch.
    """

    def __init__(self, source: Source, kinds: Kinds, pipeline: Pipeline, inputs: Inputs) -> None:
        self._source = source
        self._kinds = kinds
        self._pipeline = pipeline
        self._inputs = inputs
        self._settings = self._find_settings()
        seed = "seed" if isinstance(pipeline.node, Function) else self._settings.get("seed")
        seed = seed if "seed" in self._settings else None
        pads = [getattr(each.keywords.get("pad_last_batch"), "value", False) for each in inputs.found if each.is_reader]
        self._last = LastBatch(source, kinds, pipeline, bool(pads) and all(pads))
        self._input_writer = InputWriter(source, kinds, pipeline, inputs, self._last, seed)

    def write_calls(self) -> None:
        """Leaves out what only concerned the pipeline, wherever it is made."""
        for call in self._pipeline.calls:
            self._change_call(call)
        for name, value in self._pipeline.arguments.items():
            self._is_left_out(name, value)
        for keyword in self._pipeline.loader.keywords if self._pipeline.loader else ():
            if keyword.arg not in table.ITERATORS[table.JAX][0]:
                self._source.mark(keyword.value, f"{keyword.arg}: put the arrays on devices by jax.device_put")
        loops = self._inputs.loops
        self._pipeline.has_length = len(loops) == 1 and loops[0].is_reader and not self._pipeline.is_endless

    def write(self) -> None:
        """Replaces the pipeline; its expressions must have been edited before."""
        node = self._pipeline.node
        lines = [node.lineno, *(line for each in node.body for line in (each.lineno, each.end_lineno or 0))]
        if any(above >= line for above, line in zip(lines[::2], lines[1::2], strict=False)):
            self._source.mark(node, "put every statement of this pipeline on a line of its own")
            return
        if not any(self._depends_on_data(statement) for statement in node.body):
            self._source.mark(node, "this pipeline returns nothing")
            return
        self._input_writer.write()
        self._write_outputs()
        setup, loop = self._split()
        self._check_loop(loop)
        if isinstance(node, ast.With):
            self._replace_block(node, setup, loop)
        else:
            self._replace_function(node, setup, loop)

    # Arguments of the pipeline.

    def _find_settings(self) -> dict[str, str]:
        """The arguments that become statements, with their defaults, which are empty for required ones."""
        found = {}
        for name in table.PIPELINE_SETTINGS:
            given = [
                k for call in self._pipeline.calls for k in call.keywords if k.arg == name and not _is_unset(k.value)
            ]
            default = self._pipeline.arguments.get(name)
            if default is not None and not _is_unset(default):
                found[name] = ast.unparse(default)
            elif given:
                found[name] = "" if len(given) == len(self._pipeline.calls) else "None"
        return found

    def _setting_lines(self) -> list[str]:
        lines = []
        for name, default in self._settings.items():
            value = name if isinstance(self._pipeline.node, Function) else default
            statement = table.PIPELINE_SETTINGS[name].format(value)
            lines += [f"if {name} is not None:", _STEP + statement] if default == "None" else [statement]
        return lines

    def _change_call(self, call: ast.Call) -> None:
        dropped = set()
        for keyword in call.keywords:
            if keyword.arg is None:
                self._source.mark(call, "leave num_threads, device_id and the like out of this dictionary")
            elif self._is_left_out(keyword.arg, keyword.value):
                dropped.add(keyword)
        last = self._last.argument(call)
        change_arguments(self._source, call, dropped, [f"last_batch={last}"] if last else [])

    def _is_left_out(self, name: str, value: ast.expr) -> bool:
        """Whether an argument of a pipeline has no place any more; marks it if something is to be done instead."""
        if name == "device_id":
            value = (self._kinds.value_of(value) if isinstance(value, ast.Name) else None) or value
            is_cpu = (self._kinds.names.path(value) or "").endswith(".CPU_ONLY_DEVICE_ID")
            if not is_cpu and not (isinstance(value, ast.Constant) and value.value in (0, None)):
                advice = f'with ndd.Device("gpu", {ast.unparse(value)}):'
                self._source.mark(value, f"device_id chose the GPU: run the loop {advice}")
            return True
        if name in table.PIPELINE_MARKS:
            self._source.mark(value, f"{name}: {table.PIPELINE_MARKS[name]}")
            return True
        return name in table.PIPELINE_TUNING or (name in table.PIPELINE_SETTINGS and _is_unset(value))

    # The statements above the loop and in it.

    def _split(self) -> tuple[list[ast.stmt], list[ast.stmt]]:
        setup: list[ast.stmt] = []
        loop: list[ast.stmt] = []
        changed = self._changed_objects()
        for statement in self._pipeline.node.body:
            is_plain = not self._depends_on_data(statement) and not _names(statement, (ast.Store,)) & changed
            (setup if is_plain and (not loop or self._can_go_above(statement, loop)) else loop).append(statement)
        for statement in loop:
            if not self._depends_on_data(statement) and any(isinstance(node, ast.Call) for node in ast.walk(statement)):
                self._source.mark(statement, "this ran once, and runs for every batch here: put it above the loop")
        for statement in self._inputs.hoisted:
            if not any(statement in ast.walk(each) for each in setup):
                self._source.mark(statement, "make this reader above the loop")
        return setup, loop

    def _depends_on_data(self, node: ast.AST) -> bool:
        if node in self._inputs.hoisted:
            return False
        if isinstance(node, ast.Return) or _is_set_outputs(node):
            return True
        is_read = isinstance(node, ast.Call) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
        if is_read and (self._kinds.is_data(node) or self._kinds.operator(node)):
            return True
        return any(self._depends_on_data(child) for child in ast.iter_child_nodes(node))

    def _changed_objects(self) -> set[str]:
        """Variables whose objects the pipeline changes, such as lists: each batch needs new ones."""
        found = set()
        for node in ast.walk(self._pipeline.node):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in table.CHANGING:
                    found.add(name)
                case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()) | ast.AugAssign(target=ast.Name(id=name)):
                    found.add(name)
        return found

    def _can_go_above(self, statement: ast.stmt, loop: list[ast.stmt]) -> bool:
        """Whether nothing that was moved into the loop before has to do with what a statement assigns or reads."""
        later = self._pipeline.node.body[self._pipeline.node.body.index(statement) + 1 :]
        above = set().union(*(_names(each, (ast.Load, ast.Store)) for each in loop))
        below = set().union(*(_names(each, (ast.Store,)) for each in later))
        stored = set() if statement in self._inputs.hoisted else _names(statement, (ast.Store,))
        stored_above = set().union(*(_names(each, (ast.Store,)) for each in loop))
        return not stored & (above | below) and not _names(statement, (ast.Load,)) & stored_above

    def _check_loop(self, loop: list[ast.stmt]) -> None:
        """Marks variables that the loop changes although their first value comes from above it."""
        readers = [each for each in self._inputs.loops if each.begins_again]
        if len(self._inputs.loops) > 1 and readers and not self._pipeline.is_endless:
            self._source.mark(self._pipeline.node, "an epoch ends with the shortest of these readers")
        given = {name for each in self._inputs.loops for name in each.data_names}
        nodes = [node for statement in loop for node in ast.walk(statement)]
        local = set().union(
            *(_names(node.target, (ast.Store,)) for node in nodes if isinstance(node, ast.comprehension))
        )
        names = [node for node in nodes if isinstance(node, ast.Name) and node.id not in local | given]
        changed = self._changed_objects()
        for node in names:
            stored = [each for each in names if each.id == node.id and isinstance(each.ctx, ast.Store)]
            ends = [self._stored_at(each) for each in stored]
            is_read = isinstance(node.ctx, ast.Load) or isinstance(self._source.parents[node], ast.AugAssign)
            if is_read and (self._source.start(node) < min(ends) if ends else node.id in changed):
                self._source.mark(node, f"{node.id} changes with every batch here: compute it above the loop")

    def _stored_at(self, name: ast.Name) -> int:
        """Where a variable has its new value: after an assignment, or within the block of a ``for`` or ``with``."""
        statement = self._source.statement(name)
        return self._source.end(name if isinstance(statement, ast.For | ast.With) else statement)

    def _write_outputs(self) -> None:
        for node in ast.walk(self._pipeline.node):
            if isinstance(node, ast.Return) and self._kinds.scope(node) is self._pipeline.node:
                self._source.edit(node, f"{self._yield(node)}{self._after(node)}")
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _is_set_outputs(node):
                values = [self._source.text(value) for value in node.value.args]
                self._source.edit(node, f"yield {', '.join(values)}" if len(values) > 1 else f"yield ({values[0]},)")

    def _yield(self, node: ast.Return) -> str:
        if node.value is None or isinstance(node.value, ast.Tuple) or self._kinds.of(node.value) is not None:
            return f"yield {self._outputs(node)}"
        name = self._source.fresh("outputs", self._pipeline.node)  # one or several: the script does not say
        made = f"{name} = {self._source.text(node.value)}\n{self._source.indent_of(node)}"
        return f"{made}yield tuple({name}) if isinstance({name}, tuple | list) else ({name},)"

    def _outputs(self, node: ast.Return) -> str:
        if node.value is None:
            return "()"
        text = self._source.text(node.value)
        if isinstance(node.value, ast.Tuple):
            return text
        kind = self._kinds.of(node.value)
        return f"tuple({text})" if kind and kind.what == "sequence" else f"({text},)"

    def _after(self, node: ast.AST) -> str:
        """What has to follow a yield that stands for an early return."""
        indent, above = self._source.indent_of(node), self._source.parents[node]
        while isinstance(above, ast.If) and any(body and body[-1] is node for body in (above.body, above.orelse)):
            node, above = above, self._source.parents[above]
        if above is self._pipeline.node and self._pipeline.node.body[-1] is node:
            return ""
        while above is not self._pipeline.node:
            if isinstance(above, ast.For | ast.While):
                self._source.mark(node, "leave the inner loop after this, and go on with the next batch")
            above = self._source.parents[above]
        return f"\n{indent}continue"

    # The text.

    def _loop_text(self, loop: list[ast.stmt], indent: str) -> str:
        lines = []
        loops = self._inputs.loops
        if self._pipeline.is_endless and len(loops) == 1 and loops[0].begins_again:
            lines.append(f"{indent}while True:\n")
            indent += _STEP
        lines.append(f"{indent}{self._input_writer.header()}\n")
        indent += _STEP
        lines += [f"{indent}{line}\n" for line in self._input_writer.first]
        lines += [self._lines_of(statement, indent) for statement in loop]
        return "".join(lines)

    def _setup_text(self, setup: list[ast.stmt], indent: str) -> str:
        lines = [self._lines_of(statement, indent) for statement in setup]
        settings = "".join(f"{indent}{line}\n" for line in self._setting_lines())
        node = self._pipeline.node
        has_docstring = isinstance(node, Function) and ast.get_docstring(node) is not None
        lines.insert(1 if has_docstring else 0, settings)
        lines += [f"{indent}{line}\n" if line else "\n" for line in (*self._input_writer.made, *self._inputs.made)]
        return "".join(lines)

    def _lines_of(self, statement: ast.stmt, indent: str) -> str:
        """A statement with the comments above it."""
        body = self._pipeline.node.body
        index = body.index(statement)
        above = (body[index - 1].end_lineno or 0) if index else self._source.header_line(statement)
        return self._source.block([statement], above, indent)

    def _replace_function(self, node: Function, setup: list[ast.stmt], loop: list[ast.stmt]) -> None:
        source, indent = self._source, self._source.indent_of(node)
        self._add_parameters(node)
        paths = {each: self._kinds.names.path(getattr(each, "func", each)) for each in node.decorator_list}
        others = [each for each, path in paths.items() if path not in table.PIPELINE_DEF | table.DATA_ITERATORS]
        text = "".join(f"{indent}@{source.text(each)}\n" for each in others)
        text += source.render(source.line_start(node.lineno), source.line_start(source.header_line(node.body[0]) + 1))
        inner = indent + _STEP
        text += self._setup_text(setup, inner)
        if self._pipeline.is_endless:
            text += self._loop_text(loop, inner)
        else:
            name = source.fresh("epoch", node)
            text += f"\n{inner}def {name}():\n{self._loop_text(loop, inner + _STEP)}\n"
            text += f"{self._length_text(name, inner)}{inner}return {name}\n"
        source.replace(source.line_start(source.first_line(node)), source.line_start((node.end_lineno or 0) + 1), text)
        if not self._pipeline.calls:
            source.mark(
                node, f"for its callers: {node.name}(...) returns a function, and each call of that is an epoch"
            )

    def _replace_block(self, node: ast.With, setup: list[ast.stmt], loop: list[ast.stmt]) -> None:
        source, indent = self._source, self._source.indent_of(node)
        name = source.fresh(self._pipeline.variable.rpartition(".")[2] + "_epoch", self._kinds.scope(node))
        text = self._setup_text(setup, indent)
        text += f"\n{indent}def {name}():\n{self._loop_text(loop, indent + _STEP)}\n"
        text += self._length_text(name, indent)
        text += f"{indent}{self._pipeline.variable} = {name}{'()' if self._pipeline.is_endless else ''}\n"
        source.replace(source.line_start(node.lineno), source.line_start((node.end_lineno or 0) + 1), text)

    def _length_text(self, name: str, indent: str) -> str:
        """What tells the number of batches, in scripts that ask a loader for it."""
        if not self._pipeline.has_length or not any(map(self._kinds.is_length, ast.walk(self._source.tree))):
            return ""
        items = f"{self._inputs.loops[0].name}.next_epoch(batch_size={self._inputs.requested_batch_size()})"
        return f"{indent}{name}.length = lambda: len({items})\n"

    def _add_parameters(self, node: Function) -> None:
        """Adds the arguments that were those of every pipeline."""
        given = node.args
        own = {argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
        size = self._pipeline.arguments.get("batch_size")
        wanted = {"batch_size": ast.unparse(size) if size is not None else ""} | self._settings
        wanted |= {"last_batch": self._last.default()} if self._last.is_parameter else {}
        added = [f"{name}={default}" if default else name for name, default in wanted.items() if name not in own]
        star = [] if given.vararg or given.kwonlyargs else ["*"]
        text = ", ".join([*star, *added])
        before: list[ast.AST | None] = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg]
        ends = [self._source.end(each) for each in [*before, *given.defaults, *given.kw_defaults] if each]
        if added and ends:
            last = max((each for each in before if each), key=self._source.end)
            self._source.insert(max(ends), self._source.comma_after(last) + text)
        elif added:
            at = self._source.find("(", self._source.start(node)) + 1
            self._source.insert(at, text + (", " if given.kwarg else ""))


def _is_unset(value: ast.expr) -> bool:
    return ast.unparse(value) in ("None", "-1")


def _names(node: ast.AST, contexts: tuple[type[ast.expr_context], ...]) -> set[str]:
    found = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    return {each.id for each in found if isinstance(each.ctx, contexts)}


def _is_set_outputs(node: ast.AST) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "set_outputs"
