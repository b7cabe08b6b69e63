"""Random calls of operators, valid and invalid, described by plain data that both libraries can be given."""

import dataclasses
import importlib
import operator
import pathlib
from typing import Any

import numpy as np

from tests.op_case import CASES, OPS, RANDOM_ARGUMENTS, RANDOM_INPUTS, Case

for path in sorted((pathlib.Path(__file__).parent.parent / "ops").glob("test_*.py")):
    importlib.import_module(f"tests.ops.{path.stem}")

ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "and_", "or_", "xor", "eq", "ne", "lt", "le", "gt", "ge"]
UNARY = ["neg", "pos"]
DTYPES = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
LAYOUTS = ["HWC", "CHW", "FHWC", "HW", "DHWC", "FCHW", "W", "ABC"]
# What may stand in an argument that is a text; of other texts the values of the operator's cases are taken.
TEXTS = {
    "axis_name": ["H", "W", "C", "F", "N"],
    "border": ["reflect_101", "reflect_1001", "wrap", "clamp", "constant", "nonsense"],
    "mode": ["default", "stretch", "not_larger", "not_smaller", "same", "valid", "expand", "fixed", "nonsense"],
    "out_of_bounds_policy": ["error", "pad", "trim_to_shape", "nonsense"],
    "rounding": ["round", "truncate", "nonsense"],
    "size_rounding": ["round", "truncate", "ceil", "floor", "nonsense"],
    "threshold_type": ["iou", "overlap", "nonsense"],
}
OURS = ("frames", "inside_only", "on_error", "page", "reduce_to", "swap")
# Results of these are drawn: their forms are compared.
DRAWN = {name for name, op in OPS.items() if op["random"]}


@dataclasses.dataclass
class Value:
    """A Tensor, or a Batch of several arrays, with or without a layout."""

    arrays: list[Any]
    layout: str | None = None
    is_batch: bool = False

    def __repr__(self) -> str:
        items = [
            f"{a.dtype}{list(a.shape)}" if isinstance(a, np.ndarray) and a.size > 6 else repr(a) for a in self.arrays
        ]
        return f"{'batch' if self.is_batch else 'tensor'}({', '.join(items)}{f' {self.layout}' if self.layout else ''})"


@dataclasses.dataclass
class Call:
    """One call: the name of an operator, its inputs and arguments."""

    number: int
    op: str
    inputs: list[Value]
    arguments: dict[str, Any]

    def __repr__(self) -> str:
        given = [*map(repr, self.inputs), *(f"{name}={value!r}" for name, value in self.arguments.items())]
        return f"{self.number}: {self.op}({', '.join(given)})"


def value_in(library: Any, value: Any) -> Any:
    """What a Value is in one of the libraries; anything else as it is."""
    if isinstance(value, np.dtype):
        return getattr(library, value.name)
    if not isinstance(value, Value):
        return value
    if value.is_batch:
        return library.batch(value.arrays, layout=value.layout)
    return library.tensor(value.arrays[0], layout=value.layout)


def made(library: Any, call: Call) -> list[Any]:
    """The results of a call, evaluated."""
    inputs = [value_in(library, value) for value in call.inputs]
    function: Any = operator if call.op in ARITHMETIC + UNARY else library
    for part in call.op.split("."):
        function = getattr(function, part)
    results = function(*inputs, **{name: value_in(library, value) for name, value in call.arguments.items()})
    results = list(results) if isinstance(results, tuple | list) else [results]
    for result in results:
        result.evaluate()
    return results


class Maker:
    """Makes the call of a number: for an operator always the same ones, whichever others there are."""

    def __init__(self, seed: int, number: int, names: list[str]) -> None:
        self.number = number
        self.op = names[number % len(names)]
        self.rng = np.random.default_rng([seed, number // len(names), *map(ord, self.op)])
        self.is_wild = bool(self.rng.random() < 0.4)  # most arguments are others than in the tests of the operator

    def call(self) -> Call:
        if self.op in ARITHMETIC + UNARY:
            return Call(self.number, self.op, self.operands(1 if self.op in UNARY else 2), {})
        cases = [case for case in CASES if case.op == self.op]
        self.samples = int(self.rng.integers(1, 4))
        self.is_batch = self.samples > 1 or self.happens(0.3)
        if not cases:
            return Call(
                self.number, self.op, self.drawn_inputs(), self.arguments(RANDOM_ARGUMENTS.get(self.op, {}), {})
            )
        case = self.one_of(cases)
        inputs = self.inputs(case)
        usual = {name: self.one_of(values) for name, values in case.arguments.items() if self.happens(0.8)}
        usual = {name: value for name, value in usual.items() if name not in OURS}
        return Call(self.number, self.op, inputs, self.arguments(usual, case.arguments))

    def happens(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def one_of(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def array(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        numbers = self.rng.integers(0, 120, shape)
        return (numbers / 120 if dtype.startswith("float") and self.happens(0.7) else numbers).astype(dtype)

    def operands(self, count: int) -> list[Value]:
        batches = self.happens(0.3)
        shape = tuple(int(n) for n in self.rng.integers(1, 5, int(self.rng.integers(0, 4))))
        made = []
        for _ in range(count):
            own = tuple(1 if self.happens(0.2) else n for n in shape)[int(self.rng.integers(0, 2)) :]
            dtype = self.one_of([*DTYPES, "bool"])
            is_batch = batches and self.happens(0.7)
            made.append(Value([self.array(own, dtype) for _ in range(2 if is_batch else 1)], None, is_batch))
        return made

    def drawn_inputs(self) -> list[Value]:
        if self.op not in RANDOM_INPUTS:
            return []
        batches = RANDOM_INPUTS[self.op]()
        return [
            Value(
                [np.asarray(batch.tensors[i % batch.batch_size]) for i in range(self.samples)],
                batch.layout,
                self.is_batch,
            )
            for batch in batches
        ]

    def inputs(self, case: Case) -> list[Value]:
        dtype = self.one_of(case.dtypes) if self.happens(0.5) else "uint8" if self.happens(0.5) else self.one_of(DTYPES)
        if case.inputs is not None:
            columns = zip(*(case.inputs[i % len(case.inputs)] for i in range(self.samples)), strict=True)
            return [Value(list(column), None, self.is_batch) for column in columns]
        first = int(self.rng.integers(len(case.shapes)))
        if dtype not in case.dtypes and case.high <= max(case.low, 0):  # integers of the case might be none at all
            dtype = case.dtypes[0]
        rows = [case.arrays((first + i) % len(case.shapes), dtype) for i in range(self.samples)]
        if self.happens(0.3) and rows[0]:
            rows = [[self.array(self.other_shape(a.shape), dtype) for a in row] for row in rows]
        layouts = [*[case.layout] * 3, None] if self.happens(0.8) else [*LAYOUTS, None]
        layout = self.one_of(layouts)
        return [
            Value(list(column), layout if layout and len(layout) == column[0].ndim else None, self.is_batch)
            for column in zip(*rows, strict=True)
        ]

    def other_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if self.happens(0.1):
            shape = shape[1:] if self.happens(0.5) else (*shape, 2)
        return tuple(n if self.happens(0.5) else int(self.rng.integers(1, 9)) for n in shape)

    def arguments(self, usual: dict[str, Any], tried: dict[str, list[Any]]) -> dict[str, Any]:
        """Those of a case, some of them with other values, and now and then others of the operator's."""
        chosen = {name: value for name, value in usual.items() if value is not None}
        specs = [arg for arg in OPS[self.op]["args"] if not arg["deprecated"] and arg["name"] not in OURS]
        for arg in specs:
            name = arg["name"]
            if self.happens((0.1 if name in chosen else 0.4 / len(specs)) * (3 if self.is_wild else 1)):
                chosen[name] = self.value(arg, tried.get(name, []))
            if name in chosen and arg["per_sample"] and self.happens(0.2) and not isinstance(chosen[name], str):
                chosen[name] = self.per_sample(arg, chosen[name], tried.get(name, []))
        for name in chosen:
            if name in ("dtype", "output_dtype") and not isinstance(chosen[name], np.dtype):
                chosen[name] = np.dtype(getattr(chosen[name], "name", None) and _long_name(chosen[name].name))
        return chosen

    def per_sample(self, arg: dict[str, Any], value: Any, tried: list[Any]) -> Any:
        values = [value]
        for _ in range(self.samples - 1):
            other = self.one_of(tried) if tried else value
            values.append(other if np.shape(other) == np.shape(value) and other is not None else value)
        if any(isinstance(v, Value | str | np.dtype) for v in values):
            return value
        dtype = np.int32 if arg["type"] in ("int", "ints", "bool", "enumeration") else np.float32
        arrays = [np.asarray(v, dtype) for v in values]
        return Value(arrays, None, True) if self.is_batch else Value(arrays[:1])

    def value(self, arg: dict[str, Any], tried: list[Any]) -> Any:
        """A value of the argument's type, which may be none that the operator takes."""
        kind, name = arg["type"], arg["name"]
        count = int(self.rng.integers(1, 4))
        if kind == "bool":
            return self.happens(0.5)
        if kind == "dtype":
            return np.dtype(self.one_of(DTYPES))
        if kind == "layout":
            return self.one_of(["H", "W", "C", "HW", "WH", "HWC", "CHW", "F", "Z"])
        if kind in ("str", "choice"):
            return self.one_of(TEXTS.get(name) or [v for v in tried if v is not None] or ["nonsense"])
        integers, reals = [-2, -1, 0, 1, 2, 3, 5], [-1.5, 0.0, 0.3, 0.5, 1.0, 1.7, 4.0]
        if kind in ("int", "enumeration"):
            return self.one_of(integers)
        if kind == "float":
            return self.one_of(reals)
        return [self.one_of(integers if kind == "ints" else reals) for _ in range(count)]


def _long_name(name: str) -> str:
    return {"f": "float", "i": "int", "u": "uint"}[name[0]] + name[1:] if name != "bool" else name
