"""Functions that each sample of a batch chooses for itself: maybe, one of several, some of them, in random order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from avida._running.operator import is_constant, is_own, is_pure
from avida._scenes.parts import rebuilt
from avida._scenes.random_arguments import Random, draw_arguments
from avida._scenes.scene import Scene
from avida._values.batch import Batch
from avida._values.tensor import Tensor
from avida._values.typing import KeyedBy
from avida.augment._checks import shown
from avida.augment._draw import draw
from avida.augment._groups import (
    batch_in,
    check_value,
    checked_parts,
    group_rng,
    groups_of,
    in_background,
    merged,
    seeds_from,
    selected,
)
from avida.augment._orders import Order, maybe_order, one_of_order, shuffled_order, some_of_order
from avida.augment._policy.record import lines_of, recording
from avida.random._ops import uniform
from avida.random._rng import RNG, GroupRNG, drawing_from

Images = TypeVar("Images", Batch, Tensor, Scene)
Function = Callable[..., Any]


def maybe(
    x: Images,
    function: Function,
    *,
    p: float = 0.5,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
    **arguments: Any,
) -> Images:
    """Applies a function to each sample with a probability.

    The function gets the samples that it is for as one batch. What it draws is drawn for each of them from what the
    choice has drawn, so that it depends on no other sample. A Batch among ``arguments`` has a value for each sample of
    ``x``.

    Args:
        x: A Batch, a Tensor or a Scene.
        function: Called with samples and ``arguments``. It returns as many, of the same type and rank.
        p: The probability.
        rng: Where all random numbers come from; by default this thread's generator.
        keyed_by: Samples that a reader has read: each gets the same in any batch. See `avida.random`.
        arguments: For the function. They may be random, such as `between(1, 2)`.

    Example:
        >>> from avida.augment import between, maybe
        >>> images = maybe(batch, avida.gaussian_blur, p=0.8, sigma=between(0.1, 2))
        >>> images.batch_size
        2
    """
    order = maybe_order(p=p)
    return _run("maybe", x, [_child("maybe", function, arguments)], order, rng, keyed_by)


def one_of(
    x: Images,
    functions: Iterable[Function],
    *,
    p: float = 1.0,
    weights: Sequence[float] | None = None,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """Applies one of several functions to each sample, with a probability.

    Args:
        x: A Batch, a Tensor or a Scene.
        functions: Each is called with the samples that have chosen it, as for :func:`maybe`. ``functools.partial``
            gives a function its arguments.
        p: The probability that any of them is applied.
        weights: How often each is chosen, in proportion to the others; by default all are equally so.
        rng: Where all random numbers come from; by default this thread's generator.
        keyed_by: Samples that a reader has read: each gets the same in any batch. See `avida.random`.

    Example:
        >>> from avida.augment import one_of
        >>> images = one_of(batch, [avida.flip, avida.equalize], p=0.9)
        >>> images.shape == batch.shape
        True
    """
    children = _children("one_of", functions)
    return _run("one_of", x, children, one_of_order(len(children), p=p, weights=weights), rng, keyed_by)


def some_of(
    x: Images,
    n: int | tuple[int, int],
    functions: Iterable[Function],
    *,
    p: float = 1.0,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """Applies some of several functions to each sample, in their order.

    Args:
        x: A Batch, a Tensor or a Scene.
        n: How many: a number, or the least and the greatest one, between which each sample draws.
        functions: Each is called with the samples that have chosen it, as for :func:`maybe`.
        p: The probability that any of them are applied.
        rng: Where all random numbers come from; by default this thread's generator.
        keyed_by: Samples that a reader has read: each gets the same in any batch. See `avida.random`.

    Example:
        >>> from avida.augment import some_of
        >>> images = some_of(batch, 2, [avida.flip, avida.copy, avida.equalize])
        >>> images.shape == batch.shape
        True
    """
    children = _children("some_of", functions)
    return _run("some_of", x, children, some_of_order(len(children), n=n, p=p), rng, keyed_by)


def shuffled(
    x: Images,
    functions: Iterable[Function],
    *,
    p: float = 1.0,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """Applies several functions to each sample, in an order that it draws.

    Args:
        x: A Batch, a Tensor or a Scene.
        functions: Each is called with the samples whose turn it is, as for :func:`maybe`.
        p: The probability that they are applied.
        rng: Where all random numbers come from; by default this thread's generator.
        keyed_by: Samples that a reader has read: each gets the same in any batch. See `avida.random`.

    Example:
        >>> from avida.augment import shuffled
        >>> images = shuffled(batch, [avida.flip, avida.equalize])
        >>> images.shape == batch.shape
        True
    """
    children = _children("shuffled", functions)
    return _run("shuffled", x, children, shuffled_order(len(children), p=p), rng, keyed_by)


class _Child(NamedTuple):
    """A function with its arguments; those that are Batches have a value for each sample."""

    function: Function
    first: tuple[Any, ...]
    """What a functools.partial puts before the samples."""
    arguments: dict[str, Any]
    batches: dict[str, Batch]

    @property
    def key(self) -> tuple[Any, ...] | None:
        """By which a call is recognised in the next iteration of a loop; None if it cannot be."""
        if not is_pure(self.function):
            return None
        if not (self.first or self.arguments or self.batches):
            return (self.function,)
        parts = [_key(self.first), _key(self.arguments)]
        return None if None in parts else (self.function, *parts, tuple(self.batches))

    def selected(self, members: list[int]) -> _Child:
        """The child for some of the samples."""
        if not self.batches:
            return self
        return self._replace(batches={n: batch._select(members) for n, batch in self.batches.items()})

    def __call__(self, x: Any) -> Any:
        return self.function(*self.first, x, **self.arguments, **self.batches)


def _child(name: str, function: Function, arguments: dict[str, Any]) -> _Child:
    if not callable(function):
        raise TypeError(f"{name}: expected a function, got {shown(function)}")
    first: tuple[Any, ...] = ()
    if isinstance(function, functools.partial):  # made anew in each iteration, mostly
        function, first, arguments = function.func, function.args, {**function.keywords, **arguments}
    if any(isinstance(value, Batch) for value in first):
        raise TypeError(f"{name}: expected a Batch in functools.partial under the name of its argument, got it unnamed")
    batches = {argument: value for argument, value in arguments.items() if isinstance(value, Batch)}
    return _Child(function, first, {n: value for n, value in arguments.items() if n not in batches}, batches)


def _children(name: str, functions: Iterable[Function]) -> list[_Child]:
    if not isinstance(functions, Iterable):
        raise TypeError(f"{name}: expected a list of functions, got {shown(functions)}")
    children = [_child(name, function, {}) for function in functions]
    if not children:
        raise ValueError(f"{name}: expected at least one function, got none")
    return children


def _key(value: Any) -> Any:
    if isinstance(value, dict):
        parts = [(name, _key(each)) for name, each in value.items()]
        return None if any(part[1] is None for part in parts) else tuple(parts)
    if isinstance(value, list | tuple):
        parts = [_key(each) for each in value]
        return None if None in parts else tuple(parts)
    if isinstance(value, Random):
        return value.key
    return ("constant", value) if is_constant(value) else None


def _run(
    name: str,
    x: Any,
    children: list[_Child],
    order: Order,
    rng: RNG | None,
    keyed_by: KeyedBy | None,
) -> Any:
    """Draws at the call; all else happens in the background, in order with the other operators."""
    check_value(name, x)
    like = batch_in(x)
    _check_sizes(name, children, 1 if like is None else like.batch_size)
    numbers = draw(name, uniform, like, rng, keyed_by, range=[0.0, 1.0], shape=[order.draws + 1], dtype="float64")
    per_sample = [batch for child in children for batch in child.batches.values()]

    record = recording()
    if record is not None and not all(map(_is_recordable, children)):
        record = None

    def run(parts: list[Any], rows: np.ndarray, batches: list[Any]) -> list[Any]:
        notes: list[list[Any]] | None = None if record is None else [[] for _ in rows]
        made = _apply(name, x, parts, [_refilled(child, batches) for child in children], rows, order, notes)
        return made if notes is None else [*made, lines_of(notes)]

    own = all(is_own(child.function) for child in children)
    pure = own or all(is_pure(child.function) for child in children)
    keys = [child.key for child in children]
    key = None if None in keys else (order.key, tuple(keys), record is not None)
    more = int(record is not None)
    made, lines = in_background(name, x, run, numbers, per_sample, key=key, pure=pure, more=more, anywhere=own)
    if record is not None:
        record.add(lines[0])
    return made


def _check_sizes(name: str, children: list[_Child], size: int) -> None:
    for argument, batch in (each for child in children for each in child.batches.items()):
        if batch.batch_size != size:
            raise ValueError(
                f'{name}: expected {size} samples in the argument "{argument}", as x has, got {batch.batch_size}'
            )


def _refilled(child: _Child, batches: list[Any]) -> _Child:
    """The child with computed values for its Batches, which are taken from the front of the list."""
    return child._replace(batches={name: batches.pop(0) for name in child.batches}) if child.batches else child


def _is_recordable(child: _Child) -> bool:
    """Whether a policy can repeat what a function does."""
    from avida.augment._automatic.plans import PLANS
    from avida.augment._policy.names import check_arguments, names
    from avida.augment._policy.written import to_written

    named = names().get(child.function)
    if named is None or child.first or named.removeprefix("augment.") in PLANS:
        return False
    try:
        check_arguments(child.function, {**child.arguments, **child.batches})
        for value in child.arguments.values():
            to_written(value)
    except (TypeError, ValueError):
        return False
    return True


def _noted(child: _Child, group: Any, rng: GroupRNG, notes: list[list[Any]]) -> _Child:
    """The child with numbers in place of random arguments, which are noted for each sample."""
    from avida.augment._policy.names import names, whole_numbers
    from avida.augment._policy.steps import Operator

    function = child.function
    given = {**child.arguments, **child.batches}
    drawn = draw_arguments(names()[function], batch_in(group), given, whole_numbers(function))
    Operator(names()[function], function, {}, position=rng._position).note(drawn, rng.seeds, notes)
    return child._replace(arguments=drawn, batches={})


def _apply(
    name: str,
    x: Any,
    parts: list[Any],
    children: list[_Child],
    rows: np.ndarray,
    order: Order,
    notes: list[list[Any]] | None,
) -> list[Any]:
    """Runs each sample through the functions that it has chosen: those that chose the same in a turn are a batch."""
    drawn = seeds_from(rows[:, -1])
    for turn in order.functions(rows[:, :-1]).T:
        groups = []
        for child, members in groups_of(turn):
            whole = len(members) == len(rows)
            group = rebuilt(x, parts if whole else selected(parts, members))
            chosen = children[child] if whole else children[child].selected(members)
            rng = group_rng(drawn, turn, members)
            with drawing_from(rng):
                if notes is not None:
                    chosen = _noted(chosen, group, rng, [notes[i] for i in members])
                result = chosen(group)
            groups.append((members, checked_parts(name, x, chosen.function, result, len(members))))
        parts = merged(parts, groups)
    return parts
