"""What operators return, found by calling them as their examples do, with inputs of several element types."""

from typing import Any

import numpy as np

from avida import _core, types
from avida._values import batch, device, dtype, inputs, tensor

_core.set_converters(tensor.tensor, inputs.operator_input, device.device)
_core.set_random_source(lambda rng: (0, 0), lambda rng: 0)
_VALUES = vars(dtype) | {name: getattr(tensor, name) for name in ("Tensor", "tensor", "as_tensor")}
_VALUES |= {name: getattr(batch, name) for name in ("Batch", "batch", "as_batch")} | {"types": types}
_TRIED = [dtype.uint8, dtype.int16, dtype.float32, dtype.float64]
SAME = "that of the input"


class _Package:
    """Stands for avida in an example: operators by their names in the registry. Remembers the calls of one."""

    def __init__(self, operator: str, calls: list, path: str = "") -> None:
        self._operator, self._calls, self._path = operator, calls, path

    def __getattr__(self, name: str) -> Any:
        path = self._path + name
        if not self._path and name in _VALUES:
            return _VALUES[name]
        try:
            function = _core.op(path)
        except KeyError:
            return _Package(self._operator, self._calls, path + ".")

        def call(*given: Any, **arguments: Any) -> Any:
            if path == self._operator:
                self._calls.append((given, arguments))
            return function(*given, **arguments)

        return call


def result_type(op: dict) -> str:
    """A sentence on element type and layout of an operator's result; empty where calls do not tell."""
    image = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    values = {"image": tensor.as_tensor(image, layout="HWC"), "batch": batch.as_batch([image, image[:3]], layout="HWC")}
    calls: list = []
    code = "\n".join(line.removeprefix(">>> ").removeprefix("... ") for line in op["example"].splitlines())
    try:
        exec(code, values | {"np": np, "avida": _Package(op["name"], calls)})
        given, arguments = calls[-1]
    except Exception:  # the example needs more than operators; tests run it
        return ""
    found = _results(_core.op(op["name"]), given, arguments)
    if not found:
        return ""
    kind = _common_type([types for types, _ in found])
    if len(given) > 1 and (kind != SAME or not _first_decides(_core.op(op["name"]), given, arguments)):
        kind = ""
    if any(arg["name"] == "dtype" for arg in op["args"]):
        kind = f"`dtype`, by default {kind}" if kind and "dtype" not in arguments else "`dtype`"
    layout = _common_layout([layouts for _, layouts in found])
    return " ".join([f"Element type: {kind}."] * bool(kind) + [f"Layout: {layout}."] * bool(layout))


def _results(function: Any, given: tuple, arguments: dict) -> list[tuple]:
    """Element types and layouts: (of the result, of the first input), for each element type that is accepted."""
    tried = []
    for wanted in _TRIED if given else [None]:
        try:
            values = [value if isinstance(value, batch.Batch) else tensor.as_tensor(value) for value in given]
            cast = [_core.op("cast")(v, dtype=wanted) if v.dtype == values[0].dtype else v for v in values]
            result = function(*cast, **arguments).evaluate()
        except Exception:  # not a type for this operator
            continue
        of_input = (cast[0].dtype, cast[0].layout) if cast else (None, None)
        tried.append(((result.dtype, of_input[0]), (result.layout, of_input[1])))
    return tried


def _common_type(pairs: list[tuple]) -> str:
    """The element type of all results, or how it follows from that of the input."""
    if len(pairs) > 1 and all(result == of_input for result, of_input in pairs):
        return SAME
    results = {result for result, _ in pairs}
    if len(results) == 1:
        return dtype._long_names[results.pop()._id]
    return f"{SAME}, float32 for integers" if all(_as_float(of_input) == r for r, of_input in pairs) else ""


def _common_layout(pairs: list[tuple]) -> str:
    """Where the input has a layout, the arguments of the example may be why the result has another."""
    results = {result for result, _ in pairs}
    if results == {None} or len(results) != 1 or any(of_input and of_input != result for result, of_input in pairs):
        return ""
    result = results.pop()
    return SAME if pairs[0][1] else result.strip("*")


def _first_decides(function: Any, given: tuple, arguments: dict) -> bool:
    """Whether the result has the first input's type also where another input has a wider one."""
    first, second = (_core.op("cast")(given[i], dtype=kind) for i, kind in enumerate([dtype.uint8, dtype.float32]))
    try:
        return function(first, second, *given[2:], **arguments).evaluate().dtype == dtype.uint8
    except Exception:  # the types must be the same
        return True


def _as_float(kind: dtype.DType) -> dtype.DType:
    return kind if kind.kind is dtype.DType.Kind.float else dtype.float32
