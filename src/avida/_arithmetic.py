"""Python's operators on Tensors and Batches."""

from __future__ import annotations

from typing import Any, Self

from avida import _core


def _op(name: str) -> int:
    return _core.find_op(f"_arithmetic.{name}")


_ADD, _SUB, _MUL, _DIV, _FLOORDIV, _MOD, _POW = map(_op, ("add", "sub", "mul", "div", "floordiv", "mod", "pow"))
_AND, _OR, _XOR, _SHL, _SHR = map(_op, ("bit_and", "bit_or", "bit_xor", "shl", "shr"))
_EQ, _NE, _LT, _LE, _GT, _GE = map(_op, ("eq", "ne", "lt", "le", "gt", "ge"))
_NEG, _POS, _NOT = map(_op, ("minus", "plus", "bit_not"))
_ABS = _core.find_op("math.abs")


class Arithmetic:
    """Element by element, with NumPy's broadcasting within each sample; a Tensor stands for every sample of a Batch."""

    __slots__ = ()
    __array_priority__ = 100  # array + tensor is ours, not NumPy's

    def __add__(self, other: Any) -> Self:
        return _core.call(_ADD, (self, other), None, None, ())

    def __radd__(self, other: Any) -> Self:
        return _core.call(_ADD, (other, self), None, None, ())

    def __sub__(self, other: Any) -> Self:
        return _core.call(_SUB, (self, other), None, None, ())

    def __rsub__(self, other: Any) -> Self:
        return _core.call(_SUB, (other, self), None, None, ())

    def __mul__(self, other: Any) -> Self:
        return _core.call(_MUL, (self, other), None, None, ())

    def __rmul__(self, other: Any) -> Self:
        return _core.call(_MUL, (other, self), None, None, ())

    def __truediv__(self, other: Any) -> Self:
        return _core.call(_DIV, (self, other), None, None, ())

    def __rtruediv__(self, other: Any) -> Self:
        return _core.call(_DIV, (other, self), None, None, ())

    def __floordiv__(self, other: Any) -> Self:
        return _core.call(_FLOORDIV, (self, other), None, None, ())

    def __rfloordiv__(self, other: Any) -> Self:
        return _core.call(_FLOORDIV, (other, self), None, None, ())

    def __mod__(self, other: Any) -> Self:
        return _core.call(_MOD, (self, other), None, None, ())

    def __rmod__(self, other: Any) -> Self:
        return _core.call(_MOD, (other, self), None, None, ())

    def __pow__(self, other: Any) -> Self:
        return _core.call(_POW, (self, other), None, None, ())

    def __rpow__(self, other: Any) -> Self:
        return _core.call(_POW, (other, self), None, None, ())

    def __and__(self, other: Any) -> Self:
        return _core.call(_AND, (self, other), None, None, ())

    def __rand__(self, other: Any) -> Self:
        return _core.call(_AND, (other, self), None, None, ())

    def __or__(self, other: Any) -> Self:
        return _core.call(_OR, (self, other), None, None, ())

    def __ror__(self, other: Any) -> Self:
        return _core.call(_OR, (other, self), None, None, ())

    def __xor__(self, other: Any) -> Self:
        return _core.call(_XOR, (self, other), None, None, ())

    def __rxor__(self, other: Any) -> Self:
        return _core.call(_XOR, (other, self), None, None, ())

    def __lshift__(self, other: Any) -> Self:
        return _core.call(_SHL, (self, other), None, None, ())

    def __rlshift__(self, other: Any) -> Self:
        return _core.call(_SHL, (other, self), None, None, ())

    def __rshift__(self, other: Any) -> Self:
        return _core.call(_SHR, (self, other), None, None, ())

    def __rrshift__(self, other: Any) -> Self:
        return _core.call(_SHR, (other, self), None, None, ())

    def __eq__(self, other: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _core.call(_EQ, (self, other), None, None, ())

    def __ne__(self, other: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _core.call(_NE, (self, other), None, None, ())

    def __lt__(self, other: Any) -> Self:
        return _core.call(_LT, (self, other), None, None, ())

    def __le__(self, other: Any) -> Self:
        return _core.call(_LE, (self, other), None, None, ())

    def __gt__(self, other: Any) -> Self:
        return _core.call(_GT, (self, other), None, None, ())

    def __ge__(self, other: Any) -> Self:
        return _core.call(_GE, (self, other), None, None, ())

    def __neg__(self) -> Self:
        return _core.call(_NEG, (self,), None, None, ())

    def __pos__(self) -> Self:
        return _core.call(_POS, (self,), None, None, ())

    def __invert__(self) -> Self:
        return _core.call(_NOT, (self,), None, None, ())

    def __abs__(self) -> Self:
        return _core.call(_ABS, (self,), None, None, ())

    __hash__ = None  # pyright: ignore[reportAssignmentType]
