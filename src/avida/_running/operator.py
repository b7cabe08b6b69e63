"""Python functions as operators."""

from __future__ import annotations

import contextlib
import functools
import types
import weakref
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from avida import _core
from avida._values.batch import Batch, as_batch
from avida._values.dtype import float32
from avida._values.integers import integer_within
from avida._values.tensor import Tensor, as_tensor, tensor

_DECLARED_PURE: weakref.WeakSet[Callable] = weakref.WeakSet()


def operator(
    function: Callable | None = None,
    *,
    per: Literal["sample", "batch"] = "sample",
    framework: Literal["numpy", "torch"] = "numpy",
    outputs: int = 1,
    layout: str | None = None,
    pure: bool = False,
) -> Any:
    """Makes an operator from a Python function on NumPy arrays or PyTorch tensors.

    It runs in the background, in order with the other operators; its errors come with the function's own traceback.
    A function that reads a value which is computed from its own result gets a RuntimeError, and so do functions in
    several contexts that wait for one another. When the process ends, a function that runs has two seconds to finish.

    Args:
        function: Called with one array per input, to be read and not written, and with the keyword arguments as they
            are.
        per: ``"sample"`` calls it once for every sample, ``"batch"`` once with a list of the samples of each
            input, and it returns lists; a Tensor counts as a batch of one.
        framework: What the arrays are: ``"numpy"`` or ``"torch"``.
        outputs: How many results the function returns; with more than one it returns a tuple.
        layout: The layout of the results; by default that of the first input when it fits.
        pure: Whether the results depend on nothing but the inputs and keyword arguments, and a call has no other
            effect. Then a loop over a reader may call it ahead for its next batches, if its keyword arguments are
            numbers, strings, ``None`` or tuples of such, and a call whose result nobody uses may be skipped.

    Example:
        >>> @avida.operator
        ... def invert(image):
        ...     return 255 - image
        >>> invert(image).shape == image.shape
        True
    """
    if function is None:
        return functools.partial(operator, per=per, framework=framework, outputs=outputs, layout=layout, pure=pure)
    if per not in ("sample", "batch"):
        raise ValueError(f'per is "sample" or "batch", got {per!r}')
    if framework not in ("numpy", "torch"):
        raise ValueError(f'framework is "numpy" or "torch", got {framework!r}')
    integer_within("outputs", outputs, 1, 2**31 - 1)
    name = getattr(function, "__name__", type(function).__name__)

    @functools.wraps(function)
    def call(*inputs: Any, batch_size: int | None = None, **kwargs: Any) -> Any:
        values = [value if isinstance(value, Tensor | Batch) else tensor(value) for value in inputs]
        sizes = {value.batch_size for value in values if isinstance(value, Batch)}
        if len(sizes) > 1:
            raise ValueError(f"{name}: batch sizes differ: {sorted(sizes)}")
        if batch_size is not None:
            integer_within(f"{name}: batch_size", batch_size, 0, _core.MAX_BATCH_SIZE)
        n = sizes.pop() if sizes else batch_size

        def run(values: list[Any]) -> list[Any]:
            count = next((value.batch_size for value in values if isinstance(value, Batch)), batch_size)
            return _run(function, kwargs, values, count, per, framework, outputs, layout, name)

        read = [value for value in kwargs.values() if isinstance(value, Tensor | Batch)]
        fixed = tuple(kwargs.items())
        key = (call, batch_size, fixed) if pure and is_constant(fixed) else None
        results = _core.python_call(run, name, values, read, outputs, -1 if n is None else n, pure, key)
        return results[0] if outputs == 1 else tuple(results)

    if pure:
        _DECLARED_PURE.add(call)
    return call


def is_pure(function: Callable) -> bool:
    """Whether its results depend on its arguments alone: a function of avida, or one that is declared to be so."""
    return is_own(function) or (isinstance(function, types.FunctionType) and function in _DECLARED_PURE)


def is_own(function: Callable) -> bool:
    """Whether it is a function of avida."""
    if not isinstance(function, types.FunctionType):
        return False
    module = function.__globals__.get("__name__", "")  # functools.wraps changes __module__
    return module.startswith("avida.") and module != __name__


def is_constant(value: Any) -> bool:
    """Whether it is a plain number, string or the like, or a tuple of such, which never changes."""
    if type(value) is tuple:
        return all(map(is_constant, value))
    return value is None or type(value) in (bool, int, float, str, bytes)


def _run(
    function: Callable,
    kwargs: dict[str, Any],
    values: list[Any],
    n: int | None,
    per: str,
    framework: str,
    outputs: int,
    layout: str | None,
    name: str,
) -> list[Any]:
    """Calls the function on the samples and makes Tensors (n is None) or Batches of its results."""

    def array(sample: Tensor) -> Any:
        if framework == "torch":
            return tensor(sample).torch()  # a copy: torch has no read-only tensors, and others may read the same memory
        return np.asarray(_core.read_only(sample.cpu()))

    count = 1 if n is None else n
    columns = [[array(t) for t in v] if isinstance(v, Batch) else [array(v)] * count for v in values]
    # Results are copied as they come: the function may use the same memory again for the next one.
    if per == "batch":
        returned = _checked(function(*columns, **kwargs), outputs, name)
        if any(len(row) != count for row in returned):
            raise ValueError(f"{name}: expected {count} samples for each result, got {[len(row) for row in returned]}")
        rows = [[tensor(sample) for sample in row] for row in returned]
    else:
        rows = [[] for _ in range(outputs)]
        for i in range(count):
            try:
                returned = _checked(function(*(column[i] for column in columns), **kwargs), outputs, name)
                for row, result in zip(rows, returned, strict=True):
                    row.append(tensor(result))
            except Exception as error:
                if n is not None:
                    _add_note(error, f"sample {i}")
                raise
    inherited = values[0].layout if values else None
    empty = values[0].dtype if values else float32  # the element type of a batch without samples

    def labelled(row: list[Tensor]) -> str | None:
        ndim = row[0].ndim if row else None
        return layout or (inherited if inherited and len(inherited) == ndim else None)

    if n is None:
        return [as_tensor(row[0], layout=labelled(row)) for row in rows]
    return [as_batch(row, dtype=None if row else empty, layout=labelled(row)) for row in rows]


def _add_note(error: Exception, note: str) -> None:
    with contextlib.suppress(Exception):  # an exception that takes no notes goes without
        error.add_note(note)


def _checked(result: Any, outputs: int, name: str) -> tuple:
    if result is None:
        raise TypeError(f"{name}: expected an array as result, the function returned None")
    if outputs == 1:
        return (result,)
    if not isinstance(result, tuple | list) or len(result) != outputs:
        raise ValueError(f"{name}: expected {outputs} results, got {type(result).__name__}")
    return tuple(result)
