"""Where a reader stands: a few integers, whatever the size of the data set."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from avida._values.integers import LARGEST, integer_within

_VERSION = 2  # version 1 had no stretches

Phase = tuple[int, ...]
"""A part of a run with one number of shards: shards, base, taken, epoch, done, batch size, and its stretches."""


@dataclasses.dataclass(frozen=True)
class ReaderState:
    """The position of a reader in its data.

    ``str(state)`` is its text; its fields are an implementation detail.
    """

    epoch: int = 0
    done: int = 0  # samples that each shard has taken in this epoch
    base: int = 0  # the pass with which the run began
    taken: int = 0  # samples that each shard took since, before the first stretch
    shards: int = 0
    batch_size: int = 1
    history: tuple[Phase, ...] = ()  # earlier parts of the run, whose gaps are still to be filled
    samples: int = 0  # of the data set; 0 when it was not opened yet
    seed: int = 0
    order: str = ""
    own_order: int = 0  # a checksum of the user's own order of this epoch, if it has begun
    stretches: tuple[int, ...] = ()  # epoch and samples done from which on a batch size was used, and that size

    def as_phase(self) -> Phase:
        """What a run with another number of shards has to know."""
        return (self.shards, self.base, self.taken, self.epoch, self.done, self.batch_size, *self.stretches)

    def moved_to(self, epoch: int, done: int, batch_size: int, wraps: bool) -> ReaderState:
        """The state at a later position, up to which batches have this size."""
        state = dataclasses.replace(self, epoch=epoch, done=done, batch_size=batch_size, own_order=0)
        if not wraps:  # an epoch has nothing to do with those before it
            history = tuple(phase for phase in self.history if phase[3] == epoch)
            return dataclasses.replace(state, base=epoch, taken=done, stretches=(), history=history)
        if self.stretches[-1:] == (batch_size,):
            return state
        return dataclasses.replace(state, stretches=(*self.stretches, self.epoch, self.done, batch_size))

    def to_dict(self) -> dict[str, Any]:
        """As a dictionary of numbers, lists of numbers and a text."""
        values = dataclasses.asdict(self)
        lists = {"history": [list(phase) for phase in self.history], "stretches": list(self.stretches)}
        return {"version": _VERSION} | values | lists

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> ReaderState:
        """The reverse of :meth:`to_dict`."""
        if not isinstance(values, dict):
            raise TypeError(f"expected the state of a reader as a dictionary, got {type(values).__name__}")
        values = dict(values)
        version = values.pop("version", None)
        if version == 1:
            values.setdefault("stretches", [])
        elif version != _VERSION:
            raise ValueError(f"expected the state of a reader of version 1 or {_VERSION}, got version {version!r}")
        fields = {field.name for field in dataclasses.fields(cls)}
        if set(values) != fields:
            raise ValueError(f"expected {sorted(fields)} in the state of a reader, got {sorted(values)}")
        order, history, stretches = values.pop("order"), values.pop("history"), values.pop("stretches")
        if not isinstance(stretches, list) or not isinstance(history, list) or len(stretches) % 3:
            raise ValueError("expected lists of earlier parts and stretches of the run in the state of a reader")
        if any(not isinstance(phase, list) or len(phase) < 6 or len(phase) % 3 for phase in history):
            raise ValueError("expected six or more numbers for each earlier part of the run in the state of a reader")
        parts = [*stretches, *(number for phase in history for number in phase)]
        if not isinstance(order, str) or any(type(n) is not int for n in [*values.values(), *parts]):
            raise ValueError("expected integers in the state of a reader")
        for name, number in values.items():
            most = 2**64 - 1 if name in ("seed", "own_order") else LARGEST
            integer_within(f"{name} in the state of a reader", number, 0, most)
        for number in parts:
            integer_within("a number in the history of a reader", number, 0)
        if not 1 <= values["shards"] < 2**31 or values["batch_size"] < 1:
            raise ValueError(f"expected shards and batches from 1, got {values['shards']} and {values['batch_size']}")
        if any(not 1 <= phase[0] < 2**31 for phase in history):
            raise ValueError("expected at least one shard in each earlier part of the run in the state of a reader")
        phases = tuple(tuple(phase) for phase in history)
        return cls(**values, order=order, history=phases, stretches=tuple(stretches))

    @classmethod
    def parse(cls, text: str) -> ReaderState:
        """The reverse of ``str(state)``."""
        try:
            values = json.loads(text)
        except ValueError:
            raise ValueError(f"{text[:80]!r} is not the state of a reader") from None
        return cls.from_dict(values)

    @classmethod
    def of(cls, state: ReaderState | str | bytes | dict[str, Any]) -> ReaderState:
        """From a state, its text, the bytes of its text or its dictionary."""
        if isinstance(state, bytes):
            state = state.decode(errors="replace")
        if isinstance(state, str):
            return cls.parse(state)
        if isinstance(state, dict):
            return cls.from_dict(state)
        if not isinstance(state, ReaderState):
            raise TypeError(f"expected a state or its text, got {type(state).__name__}")
        return state

    def __str__(self) -> str:
        return json.dumps(self.to_dict(), separators=(",", ":"))
