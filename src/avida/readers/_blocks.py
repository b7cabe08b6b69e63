"""Shuffling by blocks, for ``random_shuffle``."""

from __future__ import annotations

import dataclasses

from avida._values.integers import integer_within


@dataclasses.dataclass(frozen=True)
class Blocks:
    """Shuffling by blocks, for ``random_shuffle``.

    The blocks of a shard are shuffled, and the samples within each window of them. A block is a part of the data that
    is best read as a whole: about 16 MiB of an archive. So what is read for a while lies in few places. The order
    follows from the seed and the epoch as any other, and states resume exactly, also with another number of shards.

    Args:
        window: How many blocks are mixed with one another. More of them make neighbours less alike.

    Example:
        >>> import io, tarfile, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with tarfile.open(f"{folder.name}/train.tar", "w") as archive:
        ...     for number in range(4):
        ...         member = tarfile.TarInfo(f"{number}.txt")
        ...         member.size = 1
        ...         archive.addfile(member, io.BytesIO(b"%d" % number))
        >>> blocks = avida.readers.Blocks(window=16)
        >>> reader = avida.readers.Webdataset(paths=f"{folder.name}/*.tar", ext="txt", random_shuffle=blocks)
        >>> sorted(bytes(text) for (text,) in reader.next_epoch())
        [b'0', b'1', b'2', b'3']
    """

    window: int = 16

    def __post_init__(self) -> None:
        object.__setattr__(self, "window", integer_within("window", self.window, 1))
