"""A Python object with ``__len__`` and ``__getitem__`` as a reader: what ExternalSource makes of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from avida import _core
from avida._running.ahead import raised_by_signal_handler, run_ahead
from avida._values.batch import Batch
from avida._values.outputs import Form, Outputs, batched
from avida._values.typing import DeviceArg
from avida.readers._reader import Reader

NAME = "ExternalSource"


@dataclasses.dataclass
class _Source:
    samples: Any
    form: Form

    @property
    def size(self) -> int:
        return len(self.samples)

    def read(self, index: int, epoch: int) -> Outputs:
        try:
            outputs = self.form.convert(self.samples[index])
        except StopIteration as error:  # would end the epoch
            raise RuntimeError(f"the source of an {NAME} raised StopIteration for sample {index}") from error
        except Exception as error:
            error.add_note(f"in sample {index} of the source of an {NAME}")
            raise
        return _core.identify(list(outputs), NAME, index, epoch)

    def read_batch(self, ids: Sequence[tuple[int, int]], batches: bool) -> Outputs:
        samples = [self.read(*id) for id in ids]
        return _batched(samples) if batches else samples[0]


class IndexedReader(Reader):
    """Shards, shuffling, state and access by index for a Python object, which one thread calls."""

    def __init__(self, samples: Any, form: Form, depth: int, device: DeviceArg | None, **options: Any) -> None:
        self._form = form
        self._items_ahead = depth
        make: Any = lambda: _Source(samples, form)  # noqa: E731
        super().__init__(make, None, None, device, None, **options)

    def _title(self) -> str:
        return NAME

    def _order_name(self) -> str:
        return f"{NAME}, {super()._order_name()}"

    def _item(self, outputs: tuple) -> Any:
        return self._form.result(outputs)

    def _placed(self, outputs: tuple) -> tuple:
        return super()._placed(tuple(outputs))

    def _read(self, source: _Source, indices: Sequence[int], epoch: int, batches: bool) -> Outputs:
        return source.read_batch([(index, epoch) for index in indices], batches)

    def _prefetch(
        self,
        source: _Source,
        plan: _core.ReaderPlan,
        at: _core.ReaderCursor,
        batch_size: int,
        batches: bool,
        depth: int,
        one_epoch: bool,
        skip_errors: bool,
        parts: int = 1,
    ) -> _Prefetcher:
        planned = _Planned(source, plan, at, batch_size, batches, skip_errors, parts)
        return _Prefetcher(run_ahead(planned.__next__, self._items_ahead), at)

    def _items_of(self, prefetcher: _Prefetcher | None, epoch: int) -> _core.Feed:
        return super()._items_of(None, epoch) if prefetcher is None else prefetcher.ahead.items


class _Prefetcher:
    """What a native reader's prefetcher is. It ends with the epoch: users may change their data between epochs."""

    one_epoch = True

    def __init__(self, ahead: _core.Ahead, at: _core.ReaderCursor) -> None:
        self.ahead = ahead
        self.cursor = at


@dataclasses.dataclass
class _Planned(Iterator[tuple[Any, list[tuple], _core.ReaderCursor]]):
    """The items of an epoch from a cursor on, or every ``parts``-th of them: outputs, skipped samples, cursor."""

    source: _Source
    plan: _core.ReaderPlan
    at: _core.ReaderCursor
    batch_size: int
    batches: bool
    skip_errors: bool
    parts: int

    def __post_init__(self) -> None:
        self._epoch = self.at.epoch

    def __next__(self) -> tuple[Any, list[tuple], _core.ReaderCursor]:
        if self.at.epoch != self._epoch:
            raise StopIteration
        item = *self._read(self.plan.batch(self.at, self.batch_size)), self.at
        self.at = self._after()
        return item

    def _after(self) -> _core.ReaderCursor:
        at = self.at
        for _ in range(self.parts):
            at = self.plan.after(at, self.batch_size)
            if at.epoch != self._epoch:
                break
        return at

    def _read(self, ids: list[tuple[int, int]]) -> tuple[Any, list[tuple]]:
        skipped: list[tuple] = []
        samples: list[Outputs] = []
        for id in ids:
            try:
                samples.append(self.source.read(*id))
            except Exception as error:
                if raised_by_signal_handler(error):
                    raise
                if not self.skip_errors:
                    return _Failed(error), []
                skipped.append((f"{NAME}[{id[0]}]", *id, f"{type(error).__name__}: {error}"))
        if not samples:
            return (), skipped
        if not self.batches:
            return samples[0], skipped
        try:
            return _batched(samples), skipped
        except Exception as error:
            if raised_by_signal_handler(error):
                raise
            return _Failed(error), skipped


class _Failed:
    """Stands for the outputs of an item that could not be made: raises the reason where they are looked at."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __iter__(self) -> NoReturn:
        raise self._error

    def __getitem__(self, _: int) -> NoReturn:
        raise self._error


def _batched(samples: Sequence[Outputs]) -> tuple[Batch, ...]:
    columns = list(zip(*samples, strict=True))
    if any(isinstance(output, Batch) for column in columns for output in column):
        raise TypeError(
            f"expected one sample for each index from the source of an {NAME}, got a Batch; pass iter(source) "
            "to read Batches"
        )
    return tuple(map(batched, columns))
