"""Functions that each sample of a batch chooses for itself: maybe, one of several, some of them, in random order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from avida import _core
from avida._running.operator import is_constant, is_pure
from avida._scenes.parts import form_of, parts_of, rebuilt
from avida._scenes.random_arguments import Random
from avida._scenes.scene import Scene
from avida._values.batch import Batch
from avida._values.tensor import Tensor
from avida._values.typing import KeyedBy
from avida.augment._checks import number, shown
from avida.augment._draw import draw
from avida.random._ops import uniform
from avida.random._rng import RNG, GroupRNG, drawing_from

Images = TypeVar("Images", Batch, Tensor, Scene)
Function = Callable[..., Any]
Order = Callable[[np.ndarray], np.ndarray]
"""From the numbers that samples have drawn, a row each, to rows of the functions that they run through. -1: none."""

_RESHAPE = _core.op("reshape")
_SEEDS = 2.0**53  # how many a number from 0 to 1 can tell apart


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
    p = number("maybe", "p", p, low=0, high=1)
    child = _child("maybe", function, arguments)

    def order(drawn: np.ndarray) -> np.ndarray:
        return np.where(drawn < p, 0, -1)

    return _run("maybe", x, [child], 1, order, (p,), rng, keyed_by)


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
    p = number("one_of", "p", p, low=0, high=1)
    shares = [1.0] * len(children) if weights is None else [number("one_of", "weights", w, low=0) for w in weights]
    if len(shares) != len(children) or not sum(shares) > 0:
        raise ValueError(f"one_of: expected {len(children)} weights, not all of them 0, got {weights}")
    ends = np.cumsum(shares) / sum(shares)

    def order(drawn: np.ndarray) -> np.ndarray:
        return np.where(drawn[:, :1] < p, np.searchsorted(ends, drawn[:, 1:], side="right"), -1)

    return _run("one_of", x, children, 2, order, (p, *shares), rng, keyed_by)


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
    p = number("some_of", "p", p, low=0, high=1)
    least, most = (n, n) if isinstance(n, int) else n
    if not 0 <= least <= most <= len(children):
        raise ValueError(f"some_of: expected from 0 to {len(children)} as n, least first, got {n!r}")

    def order(drawn: np.ndarray) -> np.ndarray:
        counts = least + np.floor(drawn[:, 1:2] * (most - least + 1))
        ranks = np.argsort(np.argsort(drawn[:, 2:], axis=1, kind="stable"), axis=1)
        chosen = (ranks < counts) & (drawn[:, :1] < p)
        return np.where(chosen, np.arange(len(children)), -1)

    return _run("some_of", x, children, 2 + len(children), order, (p, least, most), rng, keyed_by)


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
    p = number("shuffled", "p", p, low=0, high=1)

    def order(drawn: np.ndarray) -> np.ndarray:
        return np.where(drawn[:, :1] < p, np.argsort(drawn[:, 1:], axis=1, kind="stable"), -1)

    return _run("shuffled", x, children, 1 + len(children), order, (p,), rng, keyed_by)


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
        parts = [_key(self.first), _key(self.arguments)]
        return None if None in parts or not is_pure(self.function) else (self.function, *parts, tuple(self.batches))

    def __call__(self, x: Any, members: list[int] | None) -> Any:
        batches = {n: b if members is None else b._select(members) for n, b in self.batches.items()}
        return self.function(*self.first, x, **self.arguments, **batches)


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
    draws: int,
    order: Order,
    constants: tuple[Any, ...],
    rng: RNG | None,
    keyed_by: KeyedBy | None,
) -> Any:
    """Draws at the call; all else happens in the background, in order with the other operators."""
    if not isinstance(x, Batch | Tensor | Scene):
        raise TypeError(f"{name}: expected a Batch, a Tensor or a Scene, got {type(x).__name__}; see avida.as_batch")
    image = x.image if isinstance(x, Scene) else x
    like = image if isinstance(image, Batch) else None
    _check_sizes(name, children, 1 if like is None else like.batch_size)
    numbers = draw(name, uniform, like, rng, keyed_by, range=[0.0, 1.0], shape=[draws + 1], dtype="float64")
    parts = parts_of(x)
    per_sample = [batch for child in children for batch in child.batches.values()]

    def run(values: list[Any]) -> list[Any]:
        given, drawn, batches = values[: len(parts)], values[len(parts)], values[len(parts) + 1 :]
        rows = np.asarray(_core.read_only(drawn.cpu())) if like is None else _joined(drawn)
        mine = [_refilled(child, batches) for child in children]
        if like is None:
            alone = [_core.batch_from_tensors([value], value._dtype_id, "") for value in given]
            return [value._sample(0) for value in _apply(name, x, alone, mine, rows.reshape(1, -1), order)]
        return _apply(name, x, given, mine, rows, order)

    keys = [child.key for child in children]
    key = None if None in keys else (name, constants, tuple(keys), form_of(x))
    size = -1 if like is None else like.batch_size
    pure = all(is_pure(child.function) for child in children)
    made = _core.python_call(run, name, [*parts, numbers, *per_sample], [], len(parts), size, pure, key)
    return rebuilt(x, made, to_cpu=True)


def _check_sizes(name: str, children: list[_Child], size: int) -> None:
    for argument, batch in (each for child in children for each in child.batches.items()):
        if batch.batch_size != size:
            raise ValueError(
                f'{name}: expected {size} samples in the argument "{argument}", as x has, got {batch.batch_size}'
            )


def _joined(drawn: Batch) -> np.ndarray:
    return np.asarray(_core.read_only(drawn.cpu()._join(None, "", -1))) if drawn.batch_size else np.zeros((0, 1))


def _refilled(child: _Child, batches: list[Any]) -> _Child:
    """The child with computed values for its Batches, which are taken from the front of the list."""
    return child._replace(batches={name: batches.pop(0) for name in child.batches}) if child.batches else child


def _apply(name: str, x: Any, parts: list[Any], children: list[_Child], rows: np.ndarray, order: Order) -> list[Any]:
    """Runs each sample through the functions that it has chosen: those that chose the same in a turn are a batch."""
    drawn = (rows[:, -1] * _SEEDS).astype(np.uint64)
    for turn in order(rows[:, :-1]).T:
        chosen: dict[int, list[int]] = {}
        for i, child in enumerate(turn.tolist()):
            if child >= 0:
                chosen.setdefault(child, []).append(i)
        seeds = _seeds(drawn, turn)
        groups = []
        for child, members in chosen.items():
            whole = len(members) == len(rows)
            group = parts if whole else [part._select(members) for part in parts]
            with drawing_from(GroupRNG([seeds[i] for i in members])):
                result = children[child](rebuilt(x, group), None if whole else members)
            groups.append((members, _checked(name, x, children[child].function, result, len(members))))
        parts = _merged(parts, groups)
    return parts


def _seeds(drawn: np.ndarray, functions: np.ndarray) -> list[int]:
    """Of the numbers that functions draw for samples: as splitmix64 makes them."""
    mixed = drawn + (functions + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))).tolist()


def _checked(name: str, x: Any, function: Function, result: Any, size: int) -> list[Any]:
    called = getattr(function, "__name__", type(function).__name__)
    kind = Scene if isinstance(x, Scene) else Batch
    if not isinstance(result, kind) or result.batch_size != size:
        found = f"{result.batch_size} samples" if isinstance(result, kind) else type(result).__name__
        raise TypeError(f"{name}: expected {called} to return a {kind.__name__} of {size} samples, got {found}")
    if isinstance(result, Scene) and list(result._fields) != list(x._fields):
        raise TypeError(f"{name}: expected {called} to keep the fields {list(x._fields)}, got {list(result._fields)}")
    return [result] if not isinstance(result, Scene) else parts_of(result)


def _merged(parts: list[Any], groups: list[tuple[list[int], list[Any]]]) -> list[Any]:
    """The samples of the groups in their places, those that no function has changed between them."""
    if len(groups) == 1 and len(groups[0][0]) == parts[0].batch_size:
        return groups[0][1]
    columns = (_of_one_layout([part, *(made[k] for _, made in groups)]) for k, part in enumerate(parts))
    return [
        _core.merge(part, [(members, value) for (members, _), value in zip(groups, made, strict=True)])
        for part, *made in columns
    ]


def _of_one_layout(values: list[Batch]) -> list[Batch]:
    """Samples without a layout get that of the others: functions name the axes of images that have no names."""
    layout = next((value.layout for value in values if value.layout), None)
    if layout is None:
        return values
    return [
        value
        if value.layout or value.ndim != len(layout)
        else _RESHAPE(value, src_dims=[*range(value.ndim)], layout=layout)
        for value in values
    ]
