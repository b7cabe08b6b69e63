"""A Python object with ``__len__`` and ``__getitem__`` as a reader: what ExternalSource makes of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from avida import _core
from avida._values.batch import Batch
from avida._values.outputs import Form, Outputs, batched
from avida._values.typing import DeviceArg
from avida.readers._reader import Reader

NAME = "ExternalSource"


@dataclasses.dataclass
class _Samples:
    """What the core asks for samples, one thread at a time."""

    samples: Any
    form: Form

    def __len__(self) -> int:
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

    def join(self, samples: Sequence[Outputs]) -> Outputs:
        columns = list(zip(*samples, strict=True))
        if any(isinstance(output, Batch) for column in columns for output in column):
            raise TypeError(
                f"expected one sample for each index from the source of an {NAME}, got a Batch; pass iter(source) "
                "to read Batches"
            )
        return tuple(map(batched, columns))

    @staticmethod
    def text_of(error: BaseException) -> str:
        return f"{type(error).__name__}: {error}".encode(errors="replace").decode()


class IndexedReader(Reader):
    """Shards, shuffling, state and access by index for a Python object."""

    _epochs_apart = True  # users may change their data between epochs

    def __init__(self, samples: Any, form: Form, depth: int, device: DeviceArg | None, **options: Any) -> None:
        self._form = form
        self._most_ahead = depth
        make: Any = lambda: _core.PythonSource(_Samples(samples, form))  # noqa: E731
        super().__init__(make, None, None, device, None, **options)

    def _title(self) -> str:
        return NAME

    def _order_name(self) -> str:
        return f"{NAME}, {super()._order_name()}"

    def _item(self, outputs: tuple) -> Any:
        return self._form.result(outputs)

    def _placed(self, outputs: tuple) -> tuple:
        outputs[0].evaluate()  # raises what the source has raised
        return super()._placed(outputs)

    def _items_ahead(self, batch_size: int | None, ahead: int) -> int:
        return self._most_ahead
