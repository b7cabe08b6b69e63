"""Readers and external sources of a pipeline: the statements that make them, and what the loop goes over."""

from __future__ import annotations

import ast

from avida._cli.migrate import table
from avida._cli.migrate.expressions import change_arguments
from avida._cli.migrate.inputs import Input, Inputs
from avida._cli.migrate.kinds import Function, Kinds, Pipeline, iterator_arguments
from avida._cli.migrate.policies import LastBatch
from avida._cli.migrate.source import Source


class InputWriter:
    """Edits the calls that make readers and sources, which stay where they are if they are statements."""

    def __init__(
        self, source: Source, kinds: Kinds, pipeline: Pipeline, inputs: Inputs, last: LastBatch, seed: str | None
    ) -> None:
        self._source = source
        self._kinds = kinds
        self._pipeline = pipeline
        self._inputs = inputs
        self._last = last
        self._seed = seed
        self.made: list[str] = []  # statements that make what was inside of expressions
        self.first: list[str] = []  # lines at the beginning of the loop

    def write(self) -> None:
        for each in self._inputs.found:
            if each.is_reader:
                self._write_reader(each)
            else:
                self._write_source(each)

    def header(self) -> str:
        """The line that begins the loop."""
        loops = self._inputs.loops
        if not loops:
            return "while True:"
        parts = [self._items(each) for each in loops]
        if self._pipeline.is_endless and len(loops) > 1:
            parts = [
                self._endless(part) if each.begins_again else part for each, part in zip(loops, parts, strict=True)
            ]
        if len(loops) == 1:
            return f"for {loops[0].header} in {parts[0]}:"
        targets = ", ".join(f"({each.header})" for each in loops)
        return f"for {targets} in zip({', '.join(parts)}, strict=False):"

    def _endless(self, items: str) -> str:
        """All epochs one after another."""
        itertools = self._kinds.names.need("itertools")
        return f"{itertools}.chain.from_iterable({items} for _ in {itertools}.count())"

    def _items(self, each: Input) -> str:
        if each.is_called:
            return self._called_items(each)
        if not each.has_batches:
            return f"{each.name}.next_epoch(batch_size={self._inputs.requested_batch_size()})"
        return f"{each.name}()" if self._is_generator_function(each.source) else each.name

    # Readers.

    def _write_reader(self, each: Input) -> None:
        reader = table.READERS[each.operator]
        known = table.parameters(reader)
        dropped = {k for k in each.call.keywords if k.arg in table.WITHOUT_MEANING and k.arg not in known}
        added = []
        last = self._last_batch(each)
        if last:
            dropped |= {k for k in each.call.keywords if k.arg == "pad_last_batch"}
            added.append(f"last_batch={last}")
        if self._seed and "random_shuffle" in each.keywords and "seed" not in each.keywords:
            added.append(f"seed={self._seed}")
        for keyword in sorted(set(each.keywords) - known - table.WITHOUT_MEANING):
            self._source.mark(each.call, f"{reader} has no argument {keyword}")
        self._source.edit(each.call.func, f"ndd.{reader}")
        change_arguments(self._source, each.call, dropped, added)
        self._replace(each, self._source.text(each.call))

    def _replace(self, each: Input, made: str) -> None:
        if each.target is not None:
            self._source.edit(self._source.parents[each.call], f"{each.name} = {made}")
        else:
            self.made.append(f"{each.name} = {made}")
            self._source.edit(each.call, each.batch_name)

    def _last_batch(self, each: Input) -> str | None:
        """What the reader has to do with the last batch, if it is not what it does anyway."""
        if not self._last.is_known:
            self._source.mark(each.call, "iterators over this reader compute their last_batch_policy: set last_batch=")
        if self._last.is_parameter:
            pad = each.keywords.get("pad_last_batch")
            is_constant = isinstance(pad, ast.Constant) and self._last.are_constants
            if pad is not None and ast.unparse(pad) != "False" and not is_constant:
                self._source.mark(each.call, 'pad_last_batch: LastBatchPolicy.FILL is last_batch="pad" with it')
            return "last_batch"
        return None if self._last.fixed in (None, "wrap") else f'"{self._last.fixed}"'

    # External sources.

    def _write_source(self, each: Input) -> None:
        if each.source is None or isinstance(each.source, ast.Constant):
            self._source.mark(each.call, f"external_source without a source: {table.METHOD_MARKS['feed_input']}")
            return
        self._check_source(each, each.source)
        text = self._source.text(each.source)
        if each.is_called and not each.has_batches:
            each.called = text if isinstance(each.source, ast.Name) else each.name
            self._make_sample_batches(each)
            self.first += self._conversions(each)
            if each.called == each.name:
                self._replace(each, text)
            elif each.target is not None:
                self._source.remove_statement(self._source.statement(each.call))
            else:
                self._source.edit(each.call, each.batch_name)
        elif each.has_batches or each.is_called:
            if each.takes_info:
                self._make_batch_info(each)
            self.first += self._conversions(each)
            if isinstance(each.source, ast.Name) and each.target is not None:
                each.name = each.called = text
                self._source.remove_statement(self._source.statement(each.call))
                return
            self._replace(each, text)
        else:
            names = [name for name in ("num_outputs", "layout", "dtype") if name in each.keywords]
            options = [f"{name}={self._source.text(each.keywords[name])}" for name in names]
            size = self._inputs.batch_size() or each.data_names[0]
            self.first.append(f"if {size} < {self._inputs.requested_batch_size()}:")
            self.first.append("    break  # pipelines leave out an incomplete batch of samples")
            self._replace(each, f"ndd.ExternalSource({', '.join([text, *options])})")

    def _called_items(self, each: Input) -> str:
        """What a function gives that is called for each batch, until it raises StopIteration."""
        if not each.has_batches:
            return f"{each.name}_batches()"
        itertools = self._kinds.names.need("itertools")
        called = each.called or each.name
        if each.takes_info:
            return f"map({called}, map(BatchInfo, {itertools}.count(), {itertools}.repeat(next({each.name}_epochs))))"
        return f"map({called if each.takes_number else f'lambda _: {called}()'}, {itertools}.count())"

    def _make_batch_info(self, each: Input) -> None:
        """What a function is called with that asks for the numbers of the batch and of the epoch."""
        itertools, collections = map(self._kinds.names.need, ("itertools", "collections"))
        if isinstance(each.source, ast.Name) and each.target is not None:
            each.name = self._source.text(each.source)
        made = [
            f'BatchInfo = {collections}.namedtuple("BatchInfo", "iteration epoch_idx")',
            f"{each.name}_epochs = {itertools}.count()",
        ]
        self.made += [line for line in made if line not in self.made]

    def _make_sample_batches(self, each: Input) -> None:
        """A generator over the batches of an epoch, for a function that gives the sample of a number."""
        itertools, collections = map(self._kinds.names.need, ("itertools", "collections"))
        size = self._inputs.requested_batch_size()
        samples = "[list(output) for output in zip(*samples, strict=True)]" if each.several else "samples"
        self.made += [
            f'SampleInfo = {collections}.namedtuple("SampleInfo", "idx_in_epoch idx_in_batch iteration epoch_idx")',
            f"{each.name}_epochs = {itertools}.count()",
            "",
            f"def {each.name}_batches():",
            f"    epoch_idx = next({each.name}_epochs)",
            f"    for iteration in {itertools}.count():",
            f"        infos = [SampleInfo(iteration * {size} + i, i, iteration, epoch_idx) for i in range({size})]",
            "        try:",
            f"            samples = [{each.called}(info) for info in infos]",
            "        except StopIteration:",
            "            return",
            f"        yield {samples}",
        ]

    def _conversions(self, each: Input) -> list[str]:
        """The lines that make Batches of what the source gives."""
        device = each.keywords.get("device")
        options = [f"device={self._source.text(device)}"] if device is not None else []
        if each.several and not isinstance(each.target, ast.Tuple | ast.List):
            return [self._conversion_of_all(each, options)]
        lines = []
        for i, name in enumerate(each.data_names):
            own = {option: self._of_output(each.keywords.get(option), i) for option in ("layout", "dtype")}
            given = [f"{option}={self._source.text(value)}" for option, value in own.items() if value is not None]
            if name != "_":
                lines.append(f"{name} = ndd.as_batch({', '.join([name, *options, *given])})")
        return lines

    def _conversion_of_all(self, each: Input, options: list[str]) -> str:
        """The line for outputs that are a list in the script, each with its own type and layout."""
        name = each.data_names[0]
        names, values = ["each"], [name]
        for option in [option for option in ("layout", "dtype") if option in each.keywords]:
            value = each.keywords[option]
            if isinstance(value, ast.List | ast.Tuple):
                names.append(option)
                values.append(self._source.text(value))
                options.append(f"{option}={option}")
            elif not (isinstance(value, ast.Constant) and not value.value):
                options.append(f"{option}={self._source.text(value)}")
        over = name if len(values) == 1 else f"zip({', '.join(values)}, strict=True)"
        return f"{name} = [ndd.as_batch({', '.join(['each', *options])}) for {', '.join(names)} in {over}]"

    def _of_output(self, option: ast.expr | None, index: int) -> ast.expr | None:
        """The option of one output: all have the same, or there is a list; empty ones do not count."""
        own = option.elts[index] if isinstance(option, ast.List | ast.Tuple) else option
        return None if isinstance(own, ast.Constant) and not own.value else own

    def _check_source(self, each: Input, given: ast.expr) -> None:
        if "repeat_last" in each.keywords:
            self._source.mark(each.call, "external_source: there is no repeat_last")
        if not isinstance(each.keywords.get("batch_info", ast.Constant(False)), ast.Constant):
            self._source.mark(each.call, "batch_info: say True or False")
        if each.begins_again and not self._pipeline.is_endless:
            self._source.mark(each.call, "the source began again by itself: limit the epoch, with islice for example")
        what = self._definition(given)
        if isinstance(what, ast.ClassDef):
            methods = {method.name for method in what.body if isinstance(method, Function)}
            if "__iter__" not in methods and "__getitem__" not in methods and "__call__" not in methods:
                self._source.mark(each.call, f"{what.name} must be iterable, from the beginning in each epoch")
            elif "__iter__" not in methods and "__call__" in methods:
                call = next(m for m in what.body if isinstance(m, Function) and m.name == "__call__")
                each.is_called, each.takes_number = True, len(call.args.args) > 1
        elif isinstance(what, Function | ast.Lambda) and not _has_yield(what):
            each.is_called, each.takes_number = True, len(what.args.args) > 0
        if each.is_called and any(_takes_defaults(method) for method in _called_methods(what)):
            self._source.mark(each.call, "this function has defaults: give it no argument, or the number of the batch")
        elif what is None:
            self._source.mark(each.call, f"{ast.unparse(given)} must be iterable, from the beginning in each epoch")

    def _is_generator_function(self, given: ast.expr | None) -> bool:
        what = given and self._definition(given)
        return isinstance(what, Function) and _has_yield(what)

    def _definition(self, given: ast.expr) -> ast.AST | None:
        """The class or function of the script that a source is made of, or the list that it is."""
        if isinstance(given, ast.List | ast.Tuple | ast.ListComp | ast.Lambda):
            return given
        functions = self._kinds.functions
        if isinstance(given, ast.Call):
            name = ast.unparse(given.func)
            if name in functions and _has_yield(functions[name]):
                return given  # a generator, which ends after one epoch
            classes = [node for node in ast.walk(self._source.tree) if isinstance(node, ast.ClassDef)]
            return next((node for node in classes if node.name == name), None)
        if ast.unparse(given) in functions:
            name = ast.unparse(given)
            return functions[name] if self._kinds.is_defined_once(name) else None
        values = self._values_of(given)
        found = [self._definition(value) for value in values if ast.unparse(value) != ast.unparse(given)]
        return found[0] if len(set(map(_form, found))) == 1 else None

    def _values_of(self, given: ast.expr) -> list[ast.expr]:
        """What is passed for a parameter of the pipeline, or assigned to a variable."""
        name, node = ast.unparse(given), self._pipeline.node
        if isinstance(node, Function) and name in (names := [argument.arg for argument in node.args.args]):
            passed = [value for call in self._pipeline.calls for value in iterator_arguments(call, names).items()]
            return [value for parameter, value in passed if parameter == name]
        scope = self._kinds.scope(node)
        if isinstance(scope, Function) and name in (names := [argument.arg for argument in scope.args.args]):
            calls = [iterator_arguments(call, names) for call in self._kinds.calls_of(scope)]
            return [call[name] for call in calls if name in call]
        assigned = [n for n in ast.walk(self._source.tree) if isinstance(n, ast.Assign)]
        return [n.value for n in assigned if name in map(ast.unparse, n.targets)]


def _has_yield(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))


def _called_methods(what: ast.AST | None) -> list[ast.AST]:
    """The function itself, or the method of a class that makes it one."""
    if not isinstance(what, ast.ClassDef):
        return [what] if what else []
    return [each for each in what.body if isinstance(each, Function) and each.name == "__call__"]


def _takes_defaults(function: ast.AST) -> bool:
    return isinstance(function, Function | ast.Lambda) and bool(function.args.defaults or function.args.vararg)


def _form(what: ast.AST | None) -> tuple[object, ...]:
    """What two sources have in common that one loop can go over."""
    is_function = isinstance(what, Function | ast.Lambda)
    name = what.name if isinstance(what, ast.ClassDef) else ""
    return type(what), name, what is not None and _has_yield(what), len(what.args.args) if is_function else 0  # type: ignore[union-attr]
