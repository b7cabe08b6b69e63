"""Where a reader stands: a few integers, whatever the size of the data set."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

_VERSION = 1

Phase = tuple[int, int, int, int, int, int]
"""A part of a run with a number of shards of its own: shards, base, taken, epoch, done, batch size."""


@dataclasses.dataclass(frozen=True)
class ReaderState:
    """The place of a reader in its data. ``str(state)`` is its text; what it says is the reader's own business."""

    epoch: int = 0
    done: int = 0  # samples that each shard has taken in this epoch
    base: int = 0  # the pass with which counting began
    taken: int = 0  # samples that each shard has taken since
    shards: int = 0
    batch_size: int = 1
    history: tuple[Phase, ...] = ()  # earlier parts of the run, whose gaps are still to be filled
    samples: int = 0  # of the data set; 0 when it was not opened yet
    seed: int = 0
    order: str = ""
    own_order: int = 0  # a checksum of the user's own order of this epoch, if it has begun

    def as_phase(self) -> Phase:
        """What a run with another number of shards has to know."""
        return (self.shards, self.base, self.taken, self.epoch, self.done, self.batch_size)

    def to_dict(self) -> dict[str, Any]:
        """As a dictionary of numbers, lists of numbers and a text."""
        values = dataclasses.asdict(self)
        return {"version": _VERSION} | values | {"history": [list(phase) for phase in self.history]}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> ReaderState:
        """The reverse of :meth:`to_dict`."""
        if not isinstance(values, dict):
            raise TypeError(f"expected the state of a reader as a dictionary, got {type(values).__name__}")
        values = dict(values)
        version = values.pop("version", None)
        if version != _VERSION:
            raise ValueError(f"expected the state of a reader of version {_VERSION}, got version {version!r}")
        fields = {field.name for field in dataclasses.fields(cls)}
        if set(values) != fields:
            raise ValueError(f"expected {sorted(fields)} in the state of a reader, got {sorted(values)}")
        order, history = values.pop("order"), values.pop("history")
        numbers = [*values.values(), *(number for phase in history for number in phase)]
        if not isinstance(order, str) or any(type(n) is not int or n < 0 for n in numbers):
            raise ValueError("expected numbers from 0 in the state of a reader")
        if not 1 <= values["shards"] < 2**31 or values["batch_size"] < 1:
            raise ValueError(f"expected shards and batches from 1, got {values['shards']} and {values['batch_size']}")
        if any(len(phase) != 6 or not 1 <= phase[0] < 2**31 for phase in history):
            raise ValueError("expected six numbers for each earlier part of the run in the state of a reader")
        return cls(**values, order=order, history=tuple(tuple(phase) for phase in history))

    @classmethod
    def parse(cls, text: str) -> ReaderState:
        """The reverse of ``str(state)``."""
        try:
            values = json.loads(text)
        except ValueError:
            raise ValueError(f"{text[:80]!r} is not the state of a reader") from None
        return cls.from_dict(values)

    @classmethod
    def of(cls, state: ReaderState | str | dict[str, Any]) -> ReaderState:
        """From a state, its text or its dictionary."""
        if isinstance(state, str):
            return cls.parse(state)
        if isinstance(state, dict):
            return cls.from_dict(state)
        if not isinstance(state, ReaderState):
            raise TypeError(f"expected a state or its text, got {type(state).__name__}")
        return state

    def __str__(self) -> str:
        return json.dumps(self.to_dict(), separators=(",", ":"))
