"""How a test file says what an operator computes, so that the generic suite can try it in every form.

    @op_case("flip", layout="HWC", horizontal=[0, 1], vertical=[0, 1])
    def reference(x, horizontal, vertical):
        return np.flip(x, [axis for axis, on in ((0, vertical), (1, horizontal)) if on])

The reference works on one sample: NumPy arrays for the inputs, then the arguments by name. Every argument lists the
values to try; those that may differ between samples are also tried as a Batch.
"""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import avida as ndd

INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "float32", "float64"]
ALL = [*INTEGERS, *FLOATS, "bool"]

OPS = {op["name"]: op for op in map(ndd._core.describe_op, range(ndd._core.op_count())) if not op["hidden"]}


@dataclasses.dataclass
class Case:
    op: str
    reference: Callable
    layout: str | None
    shapes: list[list[tuple[int, ...]]]  # for each sample, a shape for each input
    dtypes: list[str]
    arguments: dict[str, list[Any]]
    low: float
    high: float
    rtol: float
    alone: bool  # the samples of a batch are not treated one by one
    source: str
    inputs: list[list[np.ndarray]] | None = None  # for each sample, instead of random numbers of those shapes
    atol: int = 0  # how far integers may be off

    @property
    def function(self) -> Callable:
        target: Any = ndd
        for part in self.op.split("."):
            target = getattr(target, part)
        return target

    @property
    def per_sample(self) -> list[str]:
        """The arguments that may differ between samples."""
        return [arg["name"] for arg in OPS[self.op]["args"] if arg["per_sample"] and arg["name"] in self.arguments]

    def arrays(self, sample: int, dtype: str) -> list[np.ndarray]:
        """The inputs of one sample, always the same for the same sample and type."""
        if self.inputs is not None:
            return self.inputs[sample]
        rng = np.random.default_rng([sample, *map(ord, dtype)])
        made = []
        for shape in self.shapes[sample]:
            if dtype == "bool":
                made.append(rng.random(shape) < 0.5)
            elif dtype.startswith("float"):
                made.append(rng.uniform(self.low, self.high, shape).astype(dtype))
            else:
                info = np.iinfo(dtype)
                made.append(rng.integers(max(int(self.low), info.min), min(int(self.high), info.max), shape, dtype))
        return made

    def expected(self, arrays: list[np.ndarray], arguments: dict[str, Any]) -> tuple[np.ndarray, ...]:
        result = self.reference(*arrays, **arguments)
        return result if isinstance(result, tuple) else (result,)


CASES: list[Case] = []
# What random operators are called with, where that is not nothing: a Batch for each input.
RANDOM_INPUTS: dict[str, Callable[[], list[Any]]] = {}
# And by name, where something is required.
RANDOM_ARGUMENTS: dict[str, dict[str, Any]] = {}


def op_case(
    op: str,
    *,
    layout: str | None = None,
    shapes: list[Any] | None = None,
    dtypes: list[str] | None = None,
    low: float = 0,
    high: float = 120,
    rtol: float = 1e-6,
    atol: int = 0,
    alone: bool = False,
    inputs: list[list[np.ndarray]] | None = None,
    **arguments: list[Any],
) -> Callable:
    """Registers a reference for an operator.

    `shapes` lists one entry per sample: a shape, or one shape for each input. `low` and `high` bound the inputs. `rtol`
    is for floats, `atol` for integers that are rounded results.
    `alone` is for operators that mix samples: the reference then holds for a Tensor only. `inputs` gives each sample's
    inputs where random numbers would make no sense, as for encoded images.
    """
    if inputs is not None:
        shapes = [[array.shape for array in sample] for sample in inputs]
        dtypes = [str(inputs[0][0].dtype)]
    if shapes is None:
        shapes = {"HWC": [(5, 7, 3), (1, 4, 3), (6, 2, 3)], "HW": [(3, 4), (5, 2), (1, 1)]}[layout or "HW"]

    def register(reference: Callable) -> Callable:
        names = [p for p in inspect.signature(reference).parameters if p not in arguments]
        per_input = [list(s) if isinstance(s, list) else [s] * len(names) for s in shapes]
        source = f"{reference.__module__}.{reference.__name__}"
        tried = dtypes or ALL
        case = Case(op, reference, layout, per_input, tried, arguments, low, high, rtol, alone, source, inputs, atol)
        CASES.append(case)
        return reference

    return register
