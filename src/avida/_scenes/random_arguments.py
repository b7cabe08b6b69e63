"""Arguments that are drawn for each sample when an operator is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from avida._values.batch import Batch
from avida._values.tensor import Tensor
from avida._values.typing import KeyedBy
from avida.random._rng import RNG


class Random:
    """A number, or a list of numbers, that each sample draws for itself.

    :func:`avida.augment.between` and its relatives make them. Every operator takes one where it takes a value for each
    sample.
    """

    __slots__ = ("_arguments", "_draw", "_keyed_by", "_name", "_rng", "_whole")

    def __init__(
        self,
        name: str,
        arguments: tuple[Any, ...],
        draw: Callable[..., Any],
        rng: RNG | None,
        keyed_by: KeyedBy | None,
        whole: Callable[..., Any] | None = None,
    ) -> None:
        self._name, self._arguments, self._draw, self._whole = name, arguments, draw, whole or draw
        self._rng, self._keyed_by = rng, keyed_by

    @property
    def key(self) -> tuple[Any, ...] | None:
        """By which the argument of one iteration of a loop is recognised in the next; None if it cannot be."""
        return (self._name, self._arguments, self._rng) if self._keyed_by is None else None

    @property
    def formula(self) -> tuple[str, tuple[Any, ...]] | None:
        """The function that makes such an argument, and what it gets; None with a generator or a key of its own."""
        return (self._name, self._arguments) if self._rng is None and self._keyed_by is None else None

    def draw(
        self, like: Batch | Tensor | None, size: int | None, rng: RNG | None, keyed_by: KeyedBy | None, whole: bool
    ) -> Tensor | Batch:
        """Numbers for the samples of ``like``, or for ``size`` samples, or one where there is neither.

        ``whole`` tells that the operator takes integers. Generator and key are those of the operator's call, unless
        this argument has its own.
        """
        sized = {"like": like} if isinstance(like, Batch) else {"batch_size": size}
        return (self._whole if whole else self._draw)(
            **sized, rng=self._rng or rng, keyed_by=keyed_by if self._keyed_by is None else self._keyed_by
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            f"{self!r} is drawn by the operator that gets it as an argument, for each sample; it has no value before"
        )

    def __repr__(self) -> str:
        return f"{self._name}({', '.join(map(repr, self._arguments))})"


def draw_arguments(name: str, first: Any, arguments: dict[str, Any], whole: list[str]) -> dict[str, Any]:
    """The arguments of a call with numbers in place of those that are random."""
    drawn = {}
    for argument, value in arguments.items():
        if not isinstance(value, Random):
            drawn[argument] = value
            continue
        keyed_by = arguments.get("keyed_by")
        if isinstance(keyed_by, tuple):  # arguments of one name would draw the same
            keyed_by = (keyed_by[0], f"{keyed_by[1]}.{argument}")
        like = arguments.get("like", first)
        try:
            drawn[argument] = value.draw(
                like, arguments.get("batch_size"), arguments.get("rng"), keyed_by, argument in whole
            )
        except (TypeError, ValueError) as error:
            error.args = (f'{name}: argument "{argument}", {value!r}: {error}',)
            raise
    return drawn
