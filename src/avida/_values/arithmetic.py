"""Python's operators on Tensors and Batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, overload

from avida import _core

if TYPE_CHECKING:
    from avida._values.batch import Batch
    from avida._values.typing import TensorLike

    Own = TypeVar("Own", covariant=True)

    class Operator(Protocol[Own]):
        """With a Batch on either side the result is a Batch."""

        @overload
        def __call__(self, other: Batch, /) -> Batch: ...  # pyright: ignore[reportOverlappingOverload]
        @overload
        def __call__(self, other: TensorLike, /) -> Own: ...


def _op(name: str) -> Callable[..., Any]:
    return _core.op(f"_arithmetic.{name}")


def _method(name: str) -> Any:
    """An operator of the core as a method, which costs no call of a Python function."""
    return _core.as_method(_op(name))


def _methods(name: str) -> tuple[Any, Any]:
    """For self + other, and for other + self."""
    call = _op(name)
    return _method(name), lambda self, other: call(other, self)


class Arithmetic:
    """Arithmetic element by element.

    NumPy's broadcasting applies within each sample; a Tensor stands for every sample of a Batch.
    """

    __slots__ = ()
    __array_priority__ = 100  # array + tensor is ours, not NumPy's

    if TYPE_CHECKING:
        __add__: Operator[Self]
        __radd__: Operator[Self]
        __sub__: Operator[Self]
        __rsub__: Operator[Self]
        __mul__: Operator[Self]
        __rmul__: Operator[Self]
        __truediv__: Operator[Self]
        __rtruediv__: Operator[Self]
        __floordiv__: Operator[Self]
        __rfloordiv__: Operator[Self]
        __mod__: Operator[Self]
        __rmod__: Operator[Self]
        __pow__: Operator[Self]
        __rpow__: Operator[Self]
        __and__: Operator[Self]
        __rand__: Operator[Self]
        __or__: Operator[Self]
        __ror__: Operator[Self]
        __xor__: Operator[Self]
        __rxor__: Operator[Self]
        __lshift__: Operator[Self]
        __rlshift__: Operator[Self]
        __rshift__: Operator[Self]
        __rrshift__: Operator[Self]
        __lt__: Operator[Self]
        __le__: Operator[Self]
        __gt__: Operator[Self]
        __ge__: Operator[Self]

        def __eq__(self, other: Any) -> Self: ...  # pyright: ignore[reportIncompatibleMethodOverride]
        def __ne__(self, other: Any) -> Self: ...  # pyright: ignore[reportIncompatibleMethodOverride]
        def __neg__(self) -> Self: ...
        def __pos__(self) -> Self: ...
        def __invert__(self) -> Self: ...
        def __abs__(self) -> Self: ...
    else:
        __add__, __radd__ = _methods("add")
        __sub__, __rsub__ = _methods("sub")
        __mul__, __rmul__ = _methods("mul")
        __truediv__, __rtruediv__ = _methods("div")
        __floordiv__, __rfloordiv__ = _methods("floordiv")
        __mod__, __rmod__ = _methods("mod")
        __pow__, __rpow__ = _methods("pow")
        __and__, __rand__ = _methods("bit_and")
        __or__, __ror__ = _methods("bit_or")
        __xor__, __rxor__ = _methods("bit_xor")
        __lshift__, __rlshift__ = _methods("shl")
        __rshift__, __rrshift__ = _methods("shr")
        __eq__, __ne__ = _method("eq"), _method("ne")
        __lt__, __le__, __gt__, __ge__ = _method("lt"), _method("le"), _method("gt"), _method("ge")
        __neg__, __pos__, __invert__ = _method("minus"), _method("plus"), _method("bit_not")
        __abs__ = _core.as_method(_core.op("math.abs"))

    __hash__ = None  # pyright: ignore[reportAssignmentType]
