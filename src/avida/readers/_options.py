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
    "max_batch_size": "The largest ``batch_size`` that may be requested. Default for ``batch_size``.",
    "name": "A name of your choice.",
    "device": 'Where the outputs are. Decoders take files on the CPU. Default: ``"cpu"``.',
}
_TEXTS = {
    "num_shards": "The number of parts into which the samples are divided. Default: ``1``.",
    "shard_id": "The index of the part to read. Default: ``0``.",
    "random_shuffle": "Assign the samples to the shards at random (in the same way in all shards) and shuffle the "
    "whole shard in each epoch. Default: ``False``.",
    "seed": "The seed of ``random_shuffle``. Default: a fixed one.",
    "shuffle_after_epoch": "Shuffle all samples in each epoch, before they are divided; each reader stays with its "
    "shard. Default: ``False``.",
    "shuffle_after_epoch_seed": "The seed of ``shuffle_after_epoch``; the same in all shards. Default: a fixed one.",
    "stick_to_shard": "Read the same shard in every epoch, instead of the next one each time. Default: ``False``.",
    "last_batch": 'What happens to the last batch of an epoch when it is not full: "wrap" fills it with the first '
    'samples of the next epoch, which then begins after them; "pad" is ``pad_last_batch``; "partial" keeps it small, '
    'so that every sample is read exactly once; "drop" drops it. Default: ``"wrap"``.',
    "pad_last_batch": "Fill the last batch with copies of its last sample, so that all shards have equally many "
    "samples. Every epoch then begins with the first sample of its shard. Default: ``False``.",
    "on_error": 'What happens to a sample that cannot be read: "raise" makes its batch fail when it is used; "skip" '
    "leaves the sample out and records it in ``reader.errors``, a list of the newest 1,000. Its batch is smaller, and "
    'left out when it is empty. Default: ``"raise"``.',
    "prefetch_queue_depth": "The number of batches to prefetch, several at the same time where storage is slow; at "
    "most 65,536. Default: ``2``.",
    "read_ahead": "Request all data of a batch from the system before reading the first sample. Default: ``False``.",
    "lazy_init": "Open the data when the first sample is needed, instead of at once. Default: ``False``.",
}
_IGNORED = ("dont_use_mmap", "enable_checkpointing", "initial_fill", "skip_cached_images", "tensor_init_bytes")
_RAISES = """Raises:
    RuntimeError: The data is not there or not in this format, or has fewer samples than there are shards. With
        ``lazy_init`` when the first sample is needed."""
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
        for name in sorted([*_TEXTS, *_IGNORED])
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
        entries.setdefault(name, _entry(name, text))
    ignored = [name for name, text in entries.items() if text.strip() == f"{name}: Ignored."]
    ignored += ["num_inputs", *_IGNORED]
    listed = [text for name, text in entries.items() if name not in ignored]
    listed.append(_entry("Ignored, accepted for compatibility", ", ".join(ignored) + "."))
    reader.__doc__ = f"{before}Args:\n" + "\n".join(listed) + f"\n\n{_RAISES}\n\n{example}"


def _entry(name: str, text: str) -> str:
    return textwrap.fill(f"{name}: {text}", 116, initial_indent=" " * 4, subsequent_indent=" " * 8)
