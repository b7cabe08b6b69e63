"""Readers as nodes of ``torchdata.nodes``, with their state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import torch
from torchdata.nodes import BaseNode

from avida._running.eval import Stream
from avida._values.batch import Batch
from avida._values.tensor import Tensor
from avida.readers._epoch import Epoch
from avida.readers._reader import Reader as AnyReader

__all__ = ["DictMapper", "Reader", "ToTorch"]

T = TypeVar("T")
_OUTPUT_NAMES = {1: ("data",), 2: ("data", "label")}


class Reader(BaseNode[dict[str, Any]]):
    """The items of a reader as dictionaries of Tensors or Batches.

    ``reset()`` begins the next epoch.

    Args:
        reader_type: The class of the reader, for example ``avida.readers.File``; or a reader.
        batch_size: The number of samples in a Batch; ``None`` for Tensors.
        output_names: The keys, one for each output. Default: those of a reader that makes dictionaries, ``data`` for
            one output, ``data`` and ``label`` for two.
        kwargs: Arguments for the class.

    Example:
        >>> import pathlib, tempfile, torchdata.nodes
        >>> folder = tempfile.TemporaryDirectory()
        >>> for name in "abc":
        ...     _ = pathlib.Path(folder.name, name).write_bytes(name.encode())
        >>> files = [folder.name + "/" + name for name in "abc"]
        >>> node = avida.pytorch.nodes.Reader(avida.readers.File, batch_size=3, files=files)
        >>> loader = torchdata.nodes.Loader(avida.pytorch.nodes.ToTorch(node))
        >>> for data, label in loader:
        ...     print(data.flatten().tolist(), label.flatten().tolist())
        [97, 98, 99] [0, 1, 2]
    """

    def __init__(
        self,
        reader_type: type[AnyReader] | AnyReader,
        *,
        batch_size: int | None,
        output_names: Iterable[str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if isinstance(reader_type, AnyReader):
            if kwargs:
                raise TypeError(f"a reader has its arguments already, got {', '.join(kwargs)}")
            self._reader = reader_type
        elif isinstance(reader_type, type) and issubclass(reader_type, AnyReader):
            self._reader = reader_type(max_batch_size=batch_size, **kwargs)  # pyright: ignore[reportCallIssue]
        else:
            raise TypeError(f"expected a reader or its class, got {reader_type!r:.100}")
        self._batch_size = batch_size
        self._names = None if output_names is None else tuple(output_names)
        self._epoch_number = self._reader.epoch
        self._epoch: Epoch | None = None  # None: the epoch is over

    def reset(self, initial_state: dict[str, Any] | None = None) -> None:
        """Begins the next epoch, or resumes at a state."""
        super().reset(initial_state)
        if initial_state is None:
            self._epoch_number = self._reader.epoch
        else:
            self._reader.load_state_dict(initial_state["reader"])
            self._epoch_number = initial_state["epoch"]
        is_over = self._reader.epoch > self._epoch_number
        self._epoch = None if is_over else self._reader.next_epoch(self._batch_size)

    def next(self) -> dict[str, Any]:
        """Returns the outputs of the next item by name."""
        if self._epoch is None:
            raise StopIteration
        outputs: Any = next(self._epoch)
        names = self._names
        if isinstance(outputs, dict):
            names = names or tuple(outputs)
            outputs = tuple(outputs.values())
        names = names or _OUTPUT_NAMES.get(len(outputs))
        if names is None:
            raise ValueError(f"expected output_names for {len(outputs)} outputs")
        if len(names) != len(outputs):
            raise ValueError(f"expected {len(outputs)} output_names, got {', '.join(names)}")
        return dict(zip(names, outputs, strict=True))

    def get_state(self) -> dict[str, Any]:
        """Returns the state of the reader and the number of the epoch."""
        return {"epoch": self._epoch_number, "reader": self._reader.state_dict()}

    def get_metadata(self) -> dict[str, int]:
        """What the reader tells of its data set."""
        return self._reader.get_metadata()


class _OverSource(BaseNode[T]):
    """A node without state of its own."""

    def __init__(self, source: BaseNode[dict[str, Any]]) -> None:
        super().__init__()
        self.source = source

    def reset(self, initial_state: dict[str, Any] | None = None) -> None:
        super().reset(initial_state)
        self.source.reset(None if initial_state is None else initial_state["source"])

    def get_state(self) -> dict[str, Any]:
        return {"source": self.source.state_dict()}


class DictMapper(_OverSource[dict[str, Any]]):
    """Replaces one value of each dictionary by a function of it.

    Args:
        source: A node that yields dictionaries.
        map_fn: The function.
        key: The value's key.
    """

    def __init__(self, source: BaseNode[dict[str, Any]], map_fn: Callable[[Any], Any], key: str = "data") -> None:
        super().__init__(source)
        self.map_fn = map_fn
        self.key = key

    def next(self) -> dict[str, Any]:
        """Returns the next dictionary with the value replaced."""
        item = next(self.source)
        return item | {self.key: self.map_fn(item[self.key])}


class ToTorch(_OverSource[tuple[torch.Tensor, ...]]):
    """Makes tuples of ``torch.Tensor`` of dictionaries of Tensors or Batches.

    Args:
        source: A node that yields dictionaries.
        output_stream: The CUDA stream in which the tensors will be used; by default PyTorch's current one.
    """

    def __init__(self, source: BaseNode[dict[str, Any]], output_stream: Any = None) -> None:
        super().__init__(source)
        self._stream = None if output_stream is None else Stream(stream=output_stream)

    def next(self) -> tuple[torch.Tensor, ...]:
        """Returns the values of the next dictionary as PyTorch tensors."""
        values = next(self.source).values()
        if self._stream is None:
            return tuple(value.torch() if isinstance(value, Tensor | Batch) else value for value in values)
        with torch.cuda.stream(torch.cuda.ExternalStream(self._stream.handle, device=self._stream.device_id)):
            return tuple(value.torch() if isinstance(value, Tensor | Batch) else value for value in values)
