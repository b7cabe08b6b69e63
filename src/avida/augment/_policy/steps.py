"""The steps of a policy: operators, automatic augmentation, and choices among other steps."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from avida import _core
from avida._scenes.parts import parts_of, rebuilt
from avida._scenes.random_arguments import draw_arguments
from avida._values.batch import Batch
from avida.augment._automatic.chosen import Choice, Plan, apply_choices
from avida.augment._groups import batch_in, checked_parts, groups_of, merged, mixed, numbers_from, selected
from avida.augment._orders import Order
from avida.augment._policy.names import draws_itself, names, whole_numbers
from avida.augment._policy.written import to_written
from avida.random._rng import GroupRNG, drawing_from

Notes = Sequence[list[Any]] | None
"""For each sample what it went through, if that is to be known."""
_ARGUMENTS, _OWN, _CHILDREN = range(3)  # what seeds of a step are for


class Operator(NamedTuple):
    """A function of avida with its arguments."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    seed: int | None = None
    """Of what the function draws itself; by default it follows from the sample's."""
    position: int = 0
    """Where the function begins to draw, if something was drawn from the same seed before."""

    @property
    def entry(self) -> list[Any]:
        written = {name: to_written(value) for name, value in self.arguments.items()}
        if self.seed is not None:
            written["seed"] = f"{self.seed:016x}" + (f"+{self.position}" if self.position else "")
        return [self.name, written] if written else [self.name]

    def run(self, x: Any, seeds: np.ndarray, notes: Notes, careful: bool) -> Any:
        with drawing_from(GroupRNG(lambda: mixed(seeds, _ARGUMENTS).tolist())):
            drawn = draw_arguments(self.name, batch_in(x), self.arguments, whole_numbers(self.function))
        own = mixed(seeds, _OWN) if self.seed is None else np.full(len(seeds), self.seed, np.uint64)
        if notes is not None:
            self.note(drawn, own.tolist(), notes)
        rng = GroupRNG(own.tolist)
        rng.advance(self.position)
        with drawing_from(rng):
            made = self.function(x, **drawn)
        return made.evaluate() if careful else made

    def note(self, drawn: dict[str, Any], own: list[int], notes: Sequence[list[Any]]) -> None:
        """Adds what the step does to each sample, with the arguments and the seeds that it has drawn."""
        rows = {n: list(_core.read_only(v.cpu())) if isinstance(v, Batch) else None for n, v in drawn.items()}
        for i, note in enumerate(notes):
            fixed = {n: drawn[n] if mine is None else np.asarray(mine[i]).tolist() for n, mine in rows.items()}
            seed = own[i] if draws_itself(self.function) else None
            note.append(self._replace(arguments=fixed, seed=seed).entry)


class Automatic(NamedTuple):
    """RandAugment and its relatives, with what they choose."""

    name: str
    plan: Plan
    arguments: dict[str, Any]

    @property
    def entry(self) -> list[Any]:
        written = {name: to_written(value) for name, value in self.arguments.items()}
        return [self.name, written] if written else [self.name]

    def run(self, x: Any, seeds: np.ndarray, notes: Notes, careful: bool) -> Any:
        rows = numbers_from(mixed(seeds, _OWN), max(self.plan.draws, 1)).astype(np.float32)
        done = None if notes is None else functools.partial(_note_choice, notes)
        choices = [self.plan.choose(row) for row in rows]
        made = rebuilt(x, apply_choices(self.plan, x, parts_of(x), choices, done))
        return made.evaluate() if careful else made


def _note_choice(notes: Sequence[list[Any]], i: int, choice: Choice, options: Any) -> None:
    """What an augmentation does to a sample, as a step of its own."""
    function = choice.augmentation.function
    assert function is not None
    strength, named = choice.augmentation.arguments(choice.magnitude, options)
    if isinstance(function, functools.partial):
        function, named = function.func, {**function.keywords, **named}
    step = Operator(names()[function], function, named)
    parameter = next(iter(_parameters(function)))
    if strength:
        step = step._replace(arguments={parameter: float(strength[0]), **named})
    notes[i].append(step.entry)


def _parameters(function: Callable[..., Any]) -> list[str]:
    from avida.augment._policy.names import arguments_of

    return [*arguments_of(function), ""]


class Combined(NamedTuple):
    """A choice among other steps."""

    name: str
    order: Order
    arguments: dict[str, Any]
    children: Sequence[Any]

    @property
    def entry(self) -> list[Any]:
        return [self.name, to_plain(self.arguments), [child.entry for child in self.children]]

    def run(self, x: Any, seeds: np.ndarray, notes: Notes, careful: bool) -> Any:
        parts = parts_of(x)
        for turn in self.order.functions(numbers_from(mixed(seeds, _OWN), self.order.draws)).T:
            own = mixed(mixed(seeds, _CHILDREN), turn)
            groups = []
            for child, members in groups_of(turn):
                step = self.children[child]
                group = rebuilt(x, parts if len(members) == len(seeds) else selected(parts, members))
                theirs = None if notes is None else [notes[i] for i in members]
                with naming(child, step.name):
                    made = step.run(group, own[members], theirs, careful)
                groups.append((members, checked_parts(self.name, x, step.name, made, len(members))))
            parts = merged(parts, groups)
        made = rebuilt(x, parts)
        return made.evaluate() if careful else made


class InTurn(NamedTuple):
    """Steps that follow one another."""

    children: Sequence[Any]
    name: str = "in_turn"

    @property
    def entry(self) -> list[Any]:
        return [self.name, {}, [child.entry for child in self.children]]

    def run(self, x: Any, seeds: np.ndarray, notes: Notes, careful: bool) -> Any:
        for k, step in enumerate(self.children):
            size = x.batch_size
            with naming(k, step.name):
                made = step.run(x, mixed(seeds, k), notes, careful)
                if not hasattr(made, "batch_size") or made.batch_size != size:
                    raise TypeError(f"expected one result for each of {size} samples")
            x = made
        return x


def to_plain(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a choice as JSON has them."""
    return {name: to_written(value) for name, value in arguments.items()}


@contextlib.contextmanager
def naming(k: int, name: str) -> Iterator[None]:
    """Errors tell in which step they happened."""
    try:
        yield
    except (TypeError, ValueError, RuntimeError) as error:
        place = f"step {k + 1} ({name})"
        text = str(error)
        error.args = (f"{place}, {text}" if text.startswith("step ") else f"{place}: {text}",)
        raise
