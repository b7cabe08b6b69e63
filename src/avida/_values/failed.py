"""Going on without samples that could not be decoded."""

from __future__ import annotations

from typing import overload

from avida._values.batch import Batch


@overload
def drop_failed(batch: Batch, /) -> Batch: ...
@overload
def drop_failed(batch: Batch, second: Batch, /, *batches: Batch) -> tuple[Batch, ...]: ...
def drop_failed(*batches: Batch) -> Batch | tuple[Batch, ...]:
    """Removes the samples that failed in any of the batches from all of them.

    A sample fails where an operator was called with ``on_error="placeholder"``; ``batch.errors`` tells why.

    Args:
        batches: Batches of one size: images, labels, and whatever belongs to them.

    Returns:
        The batches without those samples, in the same order; one batch in, one batch out.

    Example:
        >>> files = [np.frombuffer(b, np.uint8) for b in (b"P5 2 1 255 ab", b"not an image")]
        >>> images = avida.decoders.image(avida.as_batch(files), on_error="placeholder")
        >>> [error.sample for error in images.errors]
        [1]
        >>> images, labels = avida.drop_failed(images, avida.batch([10, 11]))
        >>> images.shape, labels.tensors[0].item()
        ([(1, 2, 3)], 10)
    """
    if not batches:
        raise TypeError("expected at least one batch, got none")
    for batch in batches:
        if not isinstance(batch, Batch):
            raise TypeError(f"expected batches, got {type(batch).__name__}")
    sizes = {batch.batch_size for batch in batches}
    if len(sizes) > 1:
        raise ValueError(f"expected batches of one size, got {sorted(sizes)}")
    failed = {error.sample for batch in batches for error in batch.errors}
    kept = [i for i in range(sizes.pop()) if i not in failed]
    # A batch without failures stays as it is, in one piece.
    results = tuple(batch.select(kept) for batch in batches) if failed else batches
    return results[0] if len(results) == 1 else results
