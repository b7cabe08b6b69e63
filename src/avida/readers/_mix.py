"""readers.Mix: several readers as one."""

from __future__ import annotations

import operator
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

from avida import _core
from avida._running.warn import warn
from avida._values.typing import DeviceArg
from avida.distributed import World
from avida.readers._python.external_source import ExternalSource
from avida.readers._python.indexed import IndexedReader
from avida.readers._reader import Reader
from avida.readers._state import ReaderState


class Mix(Reader):
    """Reads several data sets as one, by weights or in turn.

    An item is what the parts give, which must agree, and ``sources`` name the part of each sample: that is the ``name``
    of its reader, or else its number. Each part is read in its own order, that of its ``random_shuffle`` and ``seed``,
    pass after pass: one that is longer than its share of an epoch goes on in the next epoch where it was, and one that
    is shorter begins its next pass.

    Which part comes when follows from the weights, the seed and the position alone, and so does each sample. So states,
    shards, ``seek`` and ``last_batch`` are those of all readers, for all parts together; those of the parts have no
    effect. Of each 1,024 samples that follow one another, each part has its share, to a sample, in random order.

    Args:
        readers: The parts: readers, also a ``Mix``, and sources of Python objects that are read by index. They have no
            shards and no sampler.
        weights: How much of the samples each part gives; they need not sum up to one. Default: the parts take turns,
            sample by sample.
        stop: When an epoch ends. "first": before a part would begin again; "all": as soon as all samples of every part
            were read at least once; or a number of samples.
        max_batch_size: The largest ``batch_size`` that may be requested. Default for ``batch_size``.
        name: What ``sources`` call it as a part of another ``Mix``.
        device: Where the outputs are. Default: where those of the parts are.
        num_shards: The number of shards that each epoch is divided into. Default: ``1``.
        shard_id: The index of the shard to read. Default: ``0``.
        shards: In place of both: what ``avida.distributed.world()`` returns, or "auto", which also notices when that
            changes.
        seed: The seed of the order in which the parts come. Default: a fixed one.
        stick_to_shard: Read the same part of every epoch, instead of the next one each time. Default: ``False``.
        last_batch: What happens to the last batch of an epoch when it is not full: "wrap", "pad", "partial" or "drop",
            as for other readers. Default: "wrap".
        on_error: What happens to samples that cannot be read: "raise" makes their batch fail when it is used; "skip"
            leaves them out and records them in ``reader.errors``. Default: "raise".
        prefetch_queue_depth: The least number of batches to prefetch. Default: ``2``.
        lazy_init: Open the parts when the first sample is needed, instead of at once. Default: ``False``.

    Raises:
        TypeError: A part is not read by index, as a generator is.
        ValueError: The parts do not give the same outputs, or one has shards or a sampler.

    Example:
        >>> cats = avida.ExternalSource(["tabby", "tiger"], name=str)
        >>> dogs = avida.ExternalSource(["collie", "pug", "husky", "boxer"], name=str)
        >>> reader = avida.readers.Mix([cats, dogs], stop="all")
        >>> [text.source.name for (text,) in reader.next_epoch()]
        ['tabby', 'collie', 'tiger', 'pug', 'tabby', 'husky', 'tiger', 'boxer']
        >>> [text.source.part for (text,) in reader.next_epoch()][:3]
        ['0', '1', '0']
    """

    def __init__(
        self,
        readers: Sequence[Reader | ExternalSource],
        *,
        weights: Sequence[float] | None = None,
        stop: Literal["first", "all"] | SupportsIndex = "first",
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shards: World | Literal["auto"] | None = None,
        seed: int | None = None,
        stick_to_shard: bool | None = None,
        last_batch: Literal["wrap", "pad", "partial", "drop"] | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        prefetch_queue_depth: int | None = None,
        lazy_init: bool = False,
    ) -> None:
        self._parts_given = list(readers)
        self._mixed = [_part_of(reader, number) for number, reader in enumerate(self._parts_given)]
        if not self._mixed:
            raise ValueError("expected at least one reader, got none")
        self._names = [part._name or str(number) for number, part in enumerate(self._mixed)]
        self._weights = None if weights is None else [float(weight) for weight in weights]
        if self._weights is not None and len(self._weights) != len(self._mixed):
            raise ValueError(f"expected a weight for each of {len(self._mixed)} readers, got {len(self._weights)}")
        self._stop = _stop_of(stop)
        self._seeds = [part._position.next.seed for part in self._mixed]
        self._epochs_apart = any(part._epochs_apart for part in self._mixed)
        self._forms_agree = False
        super().__init__(
            self._open,
            max_batch_size,
            name,
            self._common_device() if device is None else device,
            None,
            num_shards=num_shards,
            shard_id=shard_id,
            shards=shards,
            seed=seed,
            stick_to_shard=stick_to_shard,
            last_batch=last_batch,
            on_error=on_error,
            prefetch_queue_depth=prefetch_queue_depth,
            lazy_init=lazy_init,
        )

    @property
    def parts(self) -> list[Reader | ExternalSource]:
        """The readers that it was made of."""
        return list(self._parts_given)

    def _common_device(self) -> Any:
        devices = [part._device for part in self._mixed]
        self._agree("expected parts that give outputs on one device, or device", devices, str)
        return devices[0]

    def _agree(self, expected: str, found: Sequence[Any], shown: Any) -> None:
        """Raises an error unless what was found of each part is the same; None is not known."""
        known = [(name, each) for name, each in zip(self._names, found, strict=True) if each is not None]
        for name, each in known[1:]:
            if each != known[0][1]:
                raise ValueError(
                    f"{expected}; the part {known[0][0]!r} gives {shown(known[0][1])}, the part {name!r} {shown(each)}"
                )

    def _open(self) -> _core.ReaderSource:
        parts = []
        for name, part, seed in zip(self._names, self._mixed, self._seeds, strict=True):
            _check_order(part, name)
            source = part._set_up()
            start = ReaderState(shards=1, seed=seed)
            schedule = _core.ReaderSchedule(start, source.size, shuffle=part._shuffle, blocks=part._block_order)
            parts.append((name, source, schedule))
        made = _core.mix_sources(parts, self._weights, self._stop, self._position.next.seed)
        if made.outputs is not None:
            self._compare_forms(made.outputs)
        return made

    def _compare_forms(self, outputs: int) -> None:
        forms = [part._item_form(outputs) for part in self._mixed]
        self._agree("expected parts that give items of one form", [f and repr(f) for f in forms], str)
        self._forms_agree = None not in forms

    def _item_form(self, outputs: int) -> Any:
        return next((form for part in self._mixed if (form := part._item_form(outputs)) is not None), None)

    def _item(self, outputs: tuple) -> Any:
        if not self._forms_agree:
            self._compare_forms(len(outputs))
        for part in self._mixed:
            if part._cache is not None:
                part._cache._tell_trouble()
        known = (part for part in self._mixed if part._item_form(len(outputs)) is not None)
        return next(known)._item(outputs)

    def _placed(self, outputs: tuple) -> tuple:
        if any(isinstance(part, IndexedReader) for part in self._mixed):
            outputs[0].evaluate()  # raises what the source has raised
        return super()._placed(outputs)

    def _items_prefetched(self, batch_size: int | None, ahead: int) -> int:
        """As many as the part that needs most."""
        own = super()._items_prefetched(batch_size, ahead)
        return max([own, *(part._items_prefetched(batch_size, ahead) for part in self._mixed)])

    def _order_name(self) -> str:
        order = super()._order_name().removeprefix("no shuffling, ")
        return f"{self._mixture_name()}, {order}"

    def _mixture_name(self) -> str:
        """What a state depends on, beside the position: the orders and sizes of the parts as a checksum."""
        self._set_up()
        orders = []
        for part, seed in zip(self._mixed, self._seeds, strict=True):
            order = part._mixture_name() if isinstance(part, Mix) else f"{part._shuffle}, {part._blocks}"
            orders.append(f"{order}, {len(part)}, {seed if part._shuffle != 'no shuffling' else ''}")
        shares = "in turn"
        if self._weights is not None:
            shares = f"by the weights {', '.join(map(repr, self._weights))} and the seed {self._position.next.seed}"
        checksum = zlib.crc32("; ".join(orders).encode())
        return f"a Mix of {len(orders)} readers {shares}, stop={self._stop!r}, their orders {checksum:08x}"

    @property
    def classes(self) -> Sequence[str] | Mapping[int, str] | None:
        """The names of the labels, where all parts have the same.

        ``None`` where they have none, or others.
        """
        self._set_up()
        found = [reader.classes for reader in self._parts_given]
        known: list[Any] = [each for each in found if each]
        labels = [_labels_of(each) for each in known]
        for theirs in labels[1:]:
            for name, label in theirs.items():
                if labels[0].get(name, label) != label:
                    warn(
                        f"{self._title()}: the class {name!r} has the label {labels[0][name]} in one part and {label} "
                        "in another: their labels must not be mixed. Where parts take classes, pass the same to all"
                    )
                    return None
        return known[0] if len(known) == len(found) and all(each == known[0] for each in known) else None

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: SupportsIndex) -> Any: ...
        @overload
        def __getitem__(self, index: slice | Sequence[SupportsIndex]) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...
        def next_epoch(self, batch_size: int | None = None, *args: Any, **kwargs: Any) -> Iterator[Any]: ...  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]


def _part_of(reader: Any, number: int) -> Reader:
    if isinstance(reader, ExternalSource):
        return reader._numbered(f"part {number} of a Mix")
    if not isinstance(reader, Reader):
        raise TypeError(
            f"expected readers as parts of a Mix, got {type(reader).__name__} as part {number}; "
            "avida.ExternalSource makes a reader of an object with __len__ and __getitem__"
        )
    return reader


def _check_order(part: Reader, name: str) -> None:
    if part._shards > 1:
        raise ValueError(
            f"the part {name!r} has {part._shards} shards: give shards to the Mix, which divides all parts together"
        )
    if part.sampler is not None:
        raise ValueError(
            f"the part {name!r} has a sampler, which a Mix cannot follow; choose its order by its arguments"
        )


def _stop_of(stop: Any) -> str | int:
    if isinstance(stop, str):
        if stop not in ("first", "all"):
            raise ValueError(f'expected "first", "all" or a number of samples as stop, got {stop!r}')
        return stop
    number = operator.index(stop)
    if number < 1:
        raise ValueError(f"expected at least one sample as stop, got {number}")
    return number


def _labels_of(classes: Any) -> dict[str, int]:
    items = classes.items() if isinstance(classes, Mapping) else enumerate(classes)
    return {name: label for label, name in items}
