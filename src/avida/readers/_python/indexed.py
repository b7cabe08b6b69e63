"""A Python object with ``__len__`` and ``__getitem__`` as a reader: what ExternalSource makes of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from avida import _core
from avida._values.batch import Batch
from avida._values.outputs import Form, Outputs
from avida._values.typing import DeviceArg
from avida.readers._reader import Reader

NAME = "ExternalSource"


@dataclasses.dataclass
class _Samples:
    """What the core asks for samples."""

    samples: Any
    form: Form

    def __len__(self) -> int:
        return len(self.samples)

    def read(self, index: int, epoch: int) -> Outputs:
        return self._read(index, epoch, lambda i: self.samples[i], index)

    def read_many(self, indices: list[int], epochs: list[int]) -> list[Outputs]:
        """Several samples of a source that gives them together."""
        try:
            items = iter(list(self.samples.__getitems__(indices)))
        except StopIteration as error:  # would end the epoch
            raise RuntimeError(f"the source of an {NAME} raised StopIteration for several samples") from error
        return [self._read(index, epoch, next, items) for index, epoch in zip(indices, epochs, strict=True)]

    def _read(self, index: int, epoch: int, get: Callable[[Any], Any], key: Any) -> Outputs:
        try:
            item = get(key)
            outputs, name = self.form.convert(item), self.form.name_of(item)
        except StopIteration as error:  # would end the epoch
            raise RuntimeError(f"the source of an {NAME} raised StopIteration for sample {index}") from error
        except Exception as error:
            error.add_note(f"in sample {index} of the source of an {NAME}")
            raise
        return _core.identify(list(outputs), NAME, index, epoch, name)

    def join(self, samples: Sequence[Outputs]) -> Outputs:
        if any(isinstance(output, Batch) for sample in samples for output in sample):
            raise TypeError(
                f"expected one sample for each index from the source of an {NAME}, got a Batch; pass iter(source) "
                "to read Batches"
            )
        return self.form.joined(samples)

    @staticmethod
    def text_of(error: BaseException) -> str:
        return f"{type(error).__name__}: {error}".encode(errors="replace").decode()


class IndexedReader(Reader):
    """Shards, shuffling, state and access by index for a Python object."""

    _epochs_apart = True  # users may change their data between epochs

    def __init__(
        self, samples: Any, form: Form, depth: int, threads: int, device: DeviceArg | None, **options: Any
    ) -> None:
        self._form = form
        self._prefetched = depth
        make: Any = lambda: _core.PythonSource(_Samples(samples, form), threads, hasattr(samples, "__getitems__"))  # noqa: E731
        super().__init__(make, None, None, device, None, **options)

    def _title(self) -> str:
        return NAME

    def _order_name(self) -> str:
        return f"{NAME}, {super()._order_name()}"

    def _item(self, outputs: tuple) -> Any:
        return self._form.result(outputs)

    def _item_form(self, outputs: int) -> Any:
        return self._item(tuple(range(outputs))) if self._form.is_known else None

    def _placed(self, outputs: tuple) -> tuple:
        outputs[0].evaluate()  # raises what the source has raised
        return super()._placed(outputs)

    def _items_prefetched(self, batch_size: int | None, ahead: int) -> int:
        return self._prefetched
