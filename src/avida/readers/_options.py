"""The arguments that all readers share: their types and texts, in one place."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any, Literal, TypedDict


class ReaderOptions(TypedDict, total=False):
    """What every reader takes beside the arguments of its format."""

    dont_use_mmap: bool | None
    initial_fill: int | None
    lazy_init: bool | None
    num_shards: int | None
    pad_last_batch: bool | None
    prefetch_queue_depth: int | None
    random_shuffle: bool | None
    read_ahead: bool | None
    seed: int | None
    shard_id: int | None
    shuffle_after_epoch: bool | None
    shuffle_after_epoch_seed: int | None
    skip_cached_images: bool | None
    stick_to_shard: bool | None
    tensor_init_bytes: int | None
    enable_checkpointing: bool
    last_batch: Literal["wrap", "pad", "partial", "drop"] | None
    on_error: Literal["raise", "skip"]


_FIRST = {
    "max_batch_size": "The largest ``batch_size`` that may be asked for, and the one that is used when none is.",
    "name": "A name of your choice.",
    "device": "Where the outputs are to be. Decoders want files on the CPU.",
    "num_inputs": "Readers have none.",
}
_TEXTS = {
    "dont_use_mmap": "Accepted for old code, without effect: files are never mapped.",
    "initial_fill": "Accepted for old code, without effect: the whole shard is shuffled, not a window of it.",
    "lazy_init": "Look for the data when the first sample is needed, and not at once. Default: ``False``.",
    "num_shards": "Into how many parts the samples are divided. Default: ``1``.",
    "pad_last_batch": "Fill up the last batch with its last sample, and give all shards equally many samples that way. "
    "Every epoch then begins with the first sample of its shard. Default: ``False``.",
    "prefetch_queue_depth": "How many batches are read ahead, at the same time where storage is slow. Default: ``2``.",
    "random_shuffle": "Deal the samples to the shards at random (alike in all shards, always) and shuffle the whole "
    "shard anew for each epoch. Default: ``False``.",
    "read_ahead": "Ask the system for all data of a batch before reading the first sample. Default: ``False``.",
    "seed": "What the order of ``random_shuffle`` follows from. Default: always the same order.",
    "shard_id": "Which part to read. Default: ``0``.",
    "shuffle_after_epoch": "Shuffle all samples anew for each epoch, before they are divided; each reader sticks to "
    "its shard. Default: ``False``.",
    "shuffle_after_epoch_seed": "What that order follows from; must be the same in all shards. Default: always the "
    "same order.",
    "skip_cached_images": "Accepted for old code, without effect: decoders keep no images.",
    "stick_to_shard": "Read the same part in every epoch, and not the next one each time. Default: ``False``.",
    "tensor_init_bytes": "Accepted for old code, without effect: memory is reused anyway.",
    "enable_checkpointing": "Accepted for old code, without effect: the state of a reader can always be taken.",
    "last_batch": 'What becomes of an epoch\'s last batch when it is not full: "wrap" fills it up with the first '
    'samples of the next epoch, which then begins behind them; "pad" is ``pad_last_batch``; "partial" leaves it small, '
    'so that every sample is read exactly once; "drop" leaves it out. Default: "wrap".',
    "on_error": 'What a sample that cannot be read does: "raise" makes its batch fail when that is used; "skip" leaves '
    "the sample out and notes it in ``reader.errors``: its batch is smaller, and left out when nothing remains of it. "
    'Default: "raise".',
}
_DEFAULTS = {"enable_checkpointing": False, "on_error": "raise"}


def complete(reader: type) -> None:
    """Writes out the shared arguments in the signature and the documentation of a reader that names them."""
    init: Any = vars(reader).get("__init__")
    signature = inspect.signature(init or reader)
    if init is None or all(p.annotation != "Unpack[ReaderOptions]" for p in signature.parameters.values()):
        return  # a class of a user's own, over a reader
    own = {name: p for name, p in signature.parameters.items() if p.kind != p.VAR_KEYWORD}
    types = {name: reference.__forward_arg__ for name, reference in ReaderOptions.__annotations__.items()}
    shared = {
        name: inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name), annotation=types[name]
        )
        for name in _TEXTS
    }
    last = ["enable_checkpointing", "last_batch", "on_error"]
    positional = [p for p in own.values() if p.kind != p.KEYWORD_ONLY]
    named = {p.name: p for p in own.values() if p.kind == p.KEYWORD_ONLY} | {
        name: p for name, p in shared.items() if name not in last
    }
    parameters = positional + [named[name] for name in sorted(named)] + [shared[name] for name in last]
    init.__signature__ = signature.replace(parameters=parameters)

    doc = inspect.cleandoc(reader.__doc__ or "")
    before, _, rest = doc.partition("Args:\n")
    texts, _, example = rest.partition("\n\n")
    entries = {m[1]: m[0].rstrip() for m in re.finditer(r"    (\w+): .*\n?(?:        .*\n?)*", texts)}
    for name, text in (_FIRST | _TEXTS).items():
        entries.setdefault(
            name, textwrap.fill(f"{name}: {text}", 116, initial_indent=" " * 4, subsequent_indent=" " * 8)
        )
    order = [p.name for p in parameters if p.name != "self"]
    reader.__doc__ = f"{before}Args:\n" + "\n".join(entries[name] for name in order) + f"\n\n{example}"
