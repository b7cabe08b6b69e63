"""Policy: steps of augmentation as data."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from avida._scenes.parts import parts_of, rebuilt
from avida._scenes.scene import Scene
from avida._values.batch import Batch
from avida._values.tensor import Tensor
from avida._values.typing import KeyedBy
from avida.augment._automatic.plans import PLANS
from avida.augment._draw import draw
from avida.augment._groups import batch_in, check_value, in_background, seeds_from
from avida.augment._orders import maybe_order, one_of_order, shuffled_order, some_of_order
from avida.augment._policy.names import check_arguments, draws_itself, function_named, names
from avida.augment._policy.record import lines_of, recording
from avida.augment._policy.steps import Automatic, Combined, InTurn, Operator, naming
from avida.augment._policy.written import from_written, parsed, to_written
from avida.random._ops import uniform
from avida.random._rng import RNG

Images = TypeVar("Images", Batch, Tensor, Scene)
Entry = Any
"""A name, or a list of a name, arguments and children; what is empty may be left out."""

_ORDERS = {"maybe": maybe_order, "one_of": one_of_order, "some_of": some_of_order, "shuffled": shuffled_order}
_MOST_STEPS, _MOST_NESTED = 10_000, 32


class Policy:
    """Augmentation as data: steps, each a name, arguments and children.

    Names are those of avida's operators, such as ``"rotate"``, ``"augment.affine"`` and ``"noise.gaussian"``, or the
    functions themselves; further ``"maybe"``, ``"one_of"``, ``"some_of"`` and ``"shuffled"``, which choose among their
    children, and ``"in_turn"``, of which the children follow one another. Arguments are numbers, strings, lists of
    such, and random arguments.

    Called with a Batch, a Tensor or a Scene, it draws one number for each sample, from which all else follows: the same
    number gives the same result, in any batch.

    Args:
        steps: Tuples or lists of a name, arguments, and children, which are steps too; what is empty may be left out.

    Example:
        >>> from avida.augment import Policy, between
        >>> policy = Policy([
        ...     ("rotate", {"angle": between(-10, 10), "fill_value": 0}),
        ...     ("one_of", {"p": 0.5}, ["flip", ("gaussian_blur", {"sigma": 1.5})]),
        ... ])
        >>> policy(batch).batch_size
        2
        >>> Policy.from_json(policy.to_json()) == policy
        True
    """

    __slots__ = ("_steps", "_text")

    def __init__(self, steps: Iterable[Entry]) -> None:
        if isinstance(steps, str | bytes | Mapping) or not isinstance(steps, Iterable):
            raise TypeError(f"Policy: expected a list of steps, got {type(steps).__name__}")
        self._steps = InTurn(_Builder().steps(list(steps), 0))
        self._text = json.dumps([step.entry for step in self._steps.children], allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Policy:
        """A policy from JSON: a list of ``["name", {arguments}, [children]]``.

        Only avida's operators can be named.

        Args:
            text: The JSON.

        Example:
            >>> text = '[["rotate", {"angle": {"between": [-10, 10]}, "fill_value": 0}], ["flip"]]'
            >>> avida.augment.Policy.from_json(text)(batch).batch_size
            2
        """
        with _naming_policy():
            steps = parsed(text)
            if not isinstance(steps, list):
                raise TypeError(f"expected a list of steps, got {type(steps).__name__}")
        return cls(steps)

    @classmethod
    def from_albumentations(cls, config: str | bytes | Mapping[str, Any]) -> Policy:
        """A policy from what ``albumentations.to_dict`` writes.

        What has no counterpart is an error that lists all of it.

        Args:
            config: The dictionary, or its JSON.

        Example:
            >>> flip = {"__class_fullname__": "HorizontalFlip", "p": 0.5}
            >>> config = {"transform": {"__class_fullname__": "Compose", "p": 1.0, "transforms": [flip]}}
            >>> print(avida.augment.Policy.from_albumentations(config).to_json())
            [
            ["flip", {"horizontal": {"chance": 0.5}, "vertical": 0}]
            ]
        """
        from avida.augment._policy.albumentations import steps_of

        with _naming_policy("Policy.from_albumentations"):
            steps = steps_of(parsed(config) if isinstance(config, str | bytes) else config)
        return cls(steps)

    @classmethod
    def from_timm(cls, text: str) -> Policy:
        """A policy from a string of timm's ``auto_augment``.

        Args:
            text: Such as ``"rand-m9-mstd0.5-inc1"``, ``"augmix-m5-w4-d2"``, ``"original-mstd0.5"``, ``"v0"`` or
                ``"3a"``.

        Example:
            >>> avida.augment.Policy.from_timm("rand-m9-mstd0.5-inc1")(batch).batch_size
            2
        """
        from avida.augment._policy.timm import steps_of

        with _naming_policy("Policy.from_timm"):
            steps = steps_of(text)
        return cls(steps)

    def to_json(self) -> str:
        """The policy as JSON, one line for each step."""
        lines = [json.dumps(step.entry, allow_nan=False) for step in self._steps.children]
        return "[\n" + ",\n".join(lines) + "\n]"

    def __call__(self, x: Images, *, rng: RNG | None = None, keyed_by: KeyedBy | None = None) -> Images:
        """Applies the steps to samples."""
        check_value("Policy", x)
        numbers = draw("Policy", uniform, batch_in(x), rng, keyed_by, range=[0.0, 1.0], shape=[1], dtype="float64")
        record = recording()

        def run(parts: list[Any], rows: np.ndarray, _: list[Any]) -> list[Any]:
            seeds = seeds_from(rows[:, 0])
            notes: list[list[Any]] | None = None if record is None else [[] for _ in seeds]
            made = self._run(x, parts, seeds, notes)
            return made if notes is None else [*made, lines_of(notes)]

        key, more = (self._text, record is not None), int(record is not None)
        made, lines = in_background("Policy", x, run, numbers, key=key, pure=True, more=more, anywhere=True)
        if record is not None:
            record.add(lines[0])
        return made

    def _run(self, x: Any, parts: list[Any], seeds: np.ndarray, notes: list[list[Any]] | None) -> list[Any]:
        try:
            made = parts_of(self._steps.run(rebuilt(x, parts), seeds, notes, careful=False))
            for part in made if parts[0]._gpu < 0 else ():
                part.evaluate()
        except (TypeError, ValueError, RuntimeError):
            for note in notes or ():
                note.clear()
            with _naming_policy():
                return parts_of(self._steps.run(rebuilt(x, parts), seeds, notes, careful=True))
        return made

    def __len__(self) -> int:
        return len(self._steps.children)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        return Policy.from_json, (self._text,)

    def __repr__(self) -> str:
        return f"Policy({', '.join(step.name for step in self._steps.children)})"


class _Builder:
    """Makes steps from what is written, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def steps(self, entries: list[Entry], nested: int) -> list[Any]:
        if nested > _MOST_NESTED:
            raise ValueError(f"Policy: expected steps within steps up to {_MOST_NESTED} times")
        with _naming_policy() if not nested else _nothing():
            return [self.named_step(k, entry, nested) for k, entry in enumerate(entries)]

    def named_step(self, k: int, entry: Entry, nested: int) -> Any:
        self.count += 1
        if self.count > _MOST_STEPS:
            raise ValueError(f"expected at most {_MOST_STEPS} steps")
        parts = list(entry) if isinstance(entry, list | tuple) else [entry]
        name = _name(parts[0]) if parts else None
        if len(parts) == 2 and isinstance(parts[1], list | tuple):
            parts.insert(1, {})
        with naming(k, str(name)[:60]):
            if callable(name):
                raise TypeError(
                    "functions of your own have no name in a policy; avida.augment.maybe, one_of and their relatives "
                    "take them"
                )
            if not isinstance(name, str) or len(parts) > 3:
                raise TypeError('expected a list of a name, arguments and children: ["flip", {"vertical": 1}, []]')
            arguments, children = (parts + [{}, []][len(parts) - 1 :])[1:]
            if not isinstance(arguments, Mapping) or not all(isinstance(key, str) for key in arguments):
                raise TypeError(f"expected arguments by their names, got {type(arguments).__name__}")
            if not isinstance(children, list | tuple):
                raise TypeError(f"expected a list of children, got {type(children).__name__}")
            return self.step(name, {key: _argument(key, value) for key, value in arguments.items()}, children, nested)

    def step(self, name: str, arguments: dict[str, Any], children: Any, nested: int) -> Any:
        if name in _ORDERS or name == "in_turn":
            made = self.steps(list(children), nested + 1)
            if name == "in_turn":
                if arguments:
                    raise ValueError(f"expected no arguments, got {', '.join(arguments)}")
                return InTurn(made)
            return Combined(name, _ORDERS[name](len(made), **arguments), arguments, made)
        if children:
            raise ValueError(f"expected no children, got {len(children)}")
        if name.removeprefix("augment.") in PLANS:
            return Automatic(name, PLANS[name.removeprefix("augment.")](**arguments), arguments)
        function = function_named(name)
        seed = _seed(arguments.pop("seed", None), function)
        check_arguments(function, arguments)
        return Operator(name, function, arguments, *seed)


def _name(given: Any) -> Any:
    """The name of a step, of which the function may be given; functions of others have none."""
    if not callable(given):
        return given
    named = names().get(given, getattr(given, "__name__", None))
    return named if str(given.__module__).startswith("avida.") else given


def _argument(name: str, value: Any) -> Any:
    try:
        made = from_written(value)
        to_written(made)
        return made
    except (TypeError, ValueError) as error:
        error.args = (f"argument {name!r}: {error}",)
        raise


def _seed(given: Any, function: Callable[..., Any]) -> tuple[int | None, int]:
    """A seed, and where the function begins to draw."""
    if given is None:
        return None, 0
    if not draws_itself(function):
        raise ValueError("this operator draws nothing: expected no seed")
    if not isinstance(given, str) or not re.fullmatch(r"[0-9a-f]{1,16}(\+[0-9]{1,9})?", given):
        raise ValueError(f"expected a seed of up to 16 hexadecimal digits, got {str(given)[:40]!r}")
    digits, _, position = given.partition("+")
    return int(digits, 16), int(position or 0)


class _naming_policy:  # noqa: N801
    """Errors begin with what was called."""

    def __init__(self, name: str = "Policy") -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, TypeError | ValueError | RuntimeError):
            error.args = (f"{self.name}: {error}",)


class _nothing:  # noqa: N801
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass
