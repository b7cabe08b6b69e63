"""Values taken apart into groups of samples and put together again, and what samples of a group draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from avida import _core
from avida._scenes.parts import form_of, parts_of, rebuilt
from avida._scenes.scene import Scene
from avida._values.batch import Batch
from avida._values.tensor import Tensor
from avida.random._rng import GroupRNG

_RESHAPE = _core.op("reshape")
_SEEDS = 2.0**53
"""How many a number from 0 to 1 can tell apart."""


def check_value(name: str, x: Any) -> None:
    """Whether functions of samples can be applied to it."""
    if not isinstance(x, Batch | Tensor | Scene):  # an array of four axes could be images, or a video
        raise TypeError(f"{name}: expected a Batch, a Tensor or a Scene, got {type(x).__name__}; see avida.as_batch")


def batch_in(x: Any) -> Batch | None:
    """The images, if they are a Batch."""
    image = x.image if isinstance(x, Scene) else x
    return image if isinstance(image, Batch) else None


def in_background(
    name: str,
    x: Any,
    run: Callable[[list[Any], np.ndarray, list[Any]], list[Any]],
    numbers: Any,
    others: Sequence[Any] = (),
    *,
    key: tuple[Any, ...] | None,
    pure: bool,
    more: int = 0,
    anywhere: bool = False,
) -> tuple[Any, list[Any]]:
    """What ``run(parts, rows, others)`` makes of a value and numbers that were drawn for each sample, in rows.

    It is called in order with the other operators, and gets and returns Batches, of which a single sample is one too.
    ``more`` is how many values it returns beside the parts. With a key, by which the call of the next iteration of a
    loop is recognised, it may be called ahead; ``anywhere`` if it calls functions of avida alone.
    """
    parts, like = parts_of(x), batch_in(x)

    def call(values: list[Any]) -> list[Any]:
        given, drawn, rest = values[: len(parts)], values[len(parts)], values[len(parts) + 1 :]
        if like is not None:
            return run(given, rows_of(drawn), rest)
        alone = [_core.batch_from_tensors([value], value._dtype_id, value.layout or "") for value in given]
        return [value._sample(0) for value in run(alone, rows_of(drawn), rest)]

    size = -1 if like is None else like.batch_size
    key = None if key is None else (name, *key, form_of(x))
    inputs = [*parts, numbers, *others]
    made = _core.python_call(call, name, inputs, [], len(parts) + more, size, pure, key, anywhere)
    return rebuilt(x, made[: len(parts)], to_cpu=True), made[len(parts) :]


def rows_of(drawn: Any) -> np.ndarray:
    """Numbers that were drawn: a row for each sample."""
    if not isinstance(drawn, Batch):
        return np.asarray(_core.read_only(drawn.cpu())).reshape(1, -1)
    return np.asarray(_core.read_only(drawn.cpu()._join(None, "", -1))) if drawn.batch_size else np.zeros((0, 1))


def selected(parts: list[Any], members: list[int]) -> list[Any]:
    """The parts of some samples."""
    return [part._select(members) for part in parts]


def checked_parts(name: str, x: Any, called: Any, result: Any, size: int) -> list[Any]:
    """The parts of what a function has made of a group of samples."""
    called = called if isinstance(called, str) else getattr(called, "__name__", type(called).__name__)
    kind = Scene if isinstance(x, Scene) else Batch
    if not isinstance(result, kind) or result.batch_size != size:
        found = f"{result.batch_size} samples" if isinstance(result, kind) else type(result).__name__
        raise TypeError(f"{name}: expected {called} to return a {kind.__name__} of {size} samples, got {found}")
    if isinstance(result, Scene) and list(result._fields) != list(x._fields):
        raise TypeError(f"{name}: expected {called} to keep the fields {list(x._fields)}, got {list(result._fields)}")
    return [result] if not isinstance(result, Scene) else parts_of(result)


def merged(parts: list[Any], groups: list[tuple[list[int], list[Any]]]) -> list[Any]:
    """The samples of the groups in their places, those that no function has changed between them."""
    if not groups:
        return parts
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


def groups_of(chosen: np.ndarray) -> list[tuple[int, list[int]]]:
    """For each function that samples have chosen, those samples. -1: none."""
    members: dict[int, list[int]] = {}
    for i, function in enumerate(chosen.tolist()):
        if function >= 0:
            members.setdefault(function, []).append(i)
    return list(members.items())


def seeds_from(drawn: np.ndarray) -> np.ndarray:
    """Seeds from numbers from 0 to 1."""
    return (drawn * _SEEDS).astype(np.uint64)


def mixed(seeds: np.ndarray, which: Any) -> np.ndarray:
    """Other seeds, which follow from these and from the number of what they are for: as splitmix64 makes them."""
    mixed = seeds + (np.atleast_1d(which) + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def group_rng(drawn: np.ndarray, functions: np.ndarray, members: list[int]) -> GroupRNG:
    """What a group of samples draws from: it follows from their seeds and from the function that is theirs."""
    return GroupRNG(lambda: mixed(drawn, functions)[members].tolist())


def numbers_from(seeds: np.ndarray, count: int) -> np.ndarray:
    """Numbers from 0 to below 1, a row for each seed."""
    return (mixed(seeds[:, None], np.arange(count)) >> np.uint64(11)) * (1 / _SEEDS)
