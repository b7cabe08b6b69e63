"""One pass over a Python source: its items as they come, sample by sample, or collected into batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from avida import _core
from avida._values.batch import Batch
from avida._values.outputs import Form, Outputs
from avida._values.tensor import Tensor


class Items(Iterator[Outputs]):
    """One pass over the source: items as Tensors or Batches, each sample with its number.

    It does not know the ExternalSource: a background thread must not keep that alive. No exception loses an item,
    not even what a signal handler raises: attributes are stored last, without a call in between.
    """

    def __init__(self, polled: _core.Feed, form: Form, epoch: int, skip: int, size: int | None) -> None:
        self._polled = polled  # the items of the source
        self._form = form
        self._size = size or 1  # of the batches that are collected
        self._epoch = epoch
        self._samples = 0  # so far
        self._skip = skip  # samples that were given out before
        self._parts: list[Any] = []  # of the items so far, as they are to be given out
        self._given = 0  # how many of these are given out
        self._error: BaseException | None = None  # that the source raised behind these parts

    def is_grouped(self, group: type[Items], size: int | None) -> bool:
        return type(self) is group and self._size == (size or 1)

    def grouped_by(
        self, group: type[Items], size: int | None, made: list[Outputs], error: BaseException | None
    ) -> Items:
        """The same pass, grouped in another way from here on.

        ``made`` was made by this one and is not given out yet; ``error`` was raised behind it.
        """
        other = group(self._polled, self._form, self._epoch, self._skip, size)
        for outputs in [*made, *self._parts[self._given :]]:
            other._parts += other._parts_of(outputs)
        other._samples, other._error = self._samples, self._error if error is None else error
        return other

    def __next__(self) -> Outputs:
        while self._given == len(self._parts):
            self._poll()
        part = self._parts[self._given]
        self._given += 1
        return part

    def _poll(self) -> None:
        """Adds an item of the source to the parts. Raises StopIteration when there are no more."""
        if self._error is not None:
            error = self._error
            self._error = error if isinstance(error, StopIteration) else None
            raise error
        self._polled.take(self._outputs_and_parts, self._add)

    def _outputs_and_parts(self, item: Any) -> tuple[Outputs, list[Any]]:
        try:
            outputs, name = self._form.convert(item), self._form.name_of(item)
        except Exception as error:
            error.add_note(f"in what the source of an ExternalSource gave after {self._samples} samples")
            raise
        identified = _core.identify(list(outputs), "ExternalSource", self._samples, self._epoch, name)
        return identified, self._parts_of(identified)

    def _add(self, item: Any, made: tuple[Outputs, list[Any]] | None) -> None:
        if made is None:
            return
        outputs, new = made
        count = count_samples(outputs)
        samples, skip = self._samples + count, max(0, self._skip - count)
        # Neither a call nor a loop from here on: no exception comes in between.
        parts = self._parts[self._given :] if self._given else self._parts
        parts += new
        self._samples, self._skip, self._parts, self._given = samples, skip, parts, 0

    def _parts_of(self, outputs: Outputs) -> list[Any]:
        """Items are given out whole."""
        return [] if self._skip > 0 else [outputs]


class Separate(Items):
    """The samples of items, one by one."""

    def _parts_of(self, outputs: Outputs) -> list[Any]:
        return _samples(outputs)[self._skip :]


class Collected(Separate):
    """The samples of items as batches of one size; the last one may be smaller."""

    def __next__(self) -> Outputs:
        try:
            while len(self._parts) - self._given < self._size and not self._begins_with_batch():
                self._poll()
        except StopIteration:
            if self._given == len(self._parts):
                raise
        if self._begins_with_batch():
            return super().__next__()
        taken = self._parts[self._given : self._given + self._size]
        made = self._form.joined(taken)
        given = self._given + len(taken)
        self._given = given
        return made

    def _begins_with_batch(self) -> bool:
        return self._given < len(self._parts) and isinstance(self._parts[self._given][0], Batch)

    def _parts_of(self, outputs: Outputs) -> list[Any]:
        is_free = self._given == len(self._parts) and self._skip == 0
        if is_free and all([isinstance(output, Batch) and output.batch_size == self._size for output in outputs]):
            return [outputs]
        return super()._parts_of(outputs)


def count_samples(outputs: Outputs) -> int:
    return max([output.batch_size if isinstance(output, Batch) else 1 for output in outputs])


def _samples(outputs: Outputs) -> list[tuple[Tensor, ...]]:
    if not any([isinstance(output, Batch) for output in outputs]):
        return [outputs]  # pyright: ignore[reportReturnType]
    columns = [list(output) if isinstance(output, Batch) else [output] for output in outputs]
    if len({len(column) for column in columns}) > 1:
        raise ValueError(f"the outputs of an item differ in their number of samples: {[len(c) for c in columns]}")
    return list(zip(*columns, strict=True))
