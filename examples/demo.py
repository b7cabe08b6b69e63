"""A ragged batch goes through operators in every evaluation mode: the results are the same, the timing is not."""

import time

import numpy as np

import avida as ndd

REPEATS = 20


def prepare(images: ndd.Batch, mirror: ndd.Batch) -> ndd.Batch:
    """Mirrors some images, crops all to one size, and takes away each image's mean colour."""
    images = ndd.flip(images, horizontal=mirror)
    images = ndd.crop(images, crop=[224, 224])
    images = ndd.cast(images, dtype=ndd.float32) / 255
    return images - ndd.reductions.mean(images, axes=[0, 1])


def main() -> None:
    random = np.random.default_rng(0)
    shapes = [(256 + 32 * i, 480 - 24 * i, 3) for i in range(8)]
    images = ndd.batch([random.integers(0, 256, shape, np.uint8) for shape in shapes], layout="HWC")
    mirror = ndd.batch([i % 2 for i in range(8)])
    print(f"avida {ndd.__version__}, {ndd.get_num_threads()} threads, {images.batch_size} images of {images.dtype}:")
    print(f"  in   {images.layout} {images.shape[0]} ... {images.shape[-1]}")
    result = prepare(images, mirror).evaluate()
    print(f"  out  {result.layout} {result.dtype} {result.shape[0]} each")

    print(f"\n{'mode':<10} {'calls return':>13} {'results there':>14}   same bits")
    for mode in (ndd.EvalMode.deferred, ndd.EvalMode.eager, ndd.EvalMode.sync_cpu, ndd.EvalMode.sync_full):
        with mode:
            prepare(images, mirror).evaluate()
            start = time.perf_counter()
            outputs = [prepare(images, mirror) for _ in range(REPEATS)]
            returned = time.perf_counter()
            for output in outputs:
                output.evaluate()
            done = time.perf_counter()
        same = all(np.array_equal(a, b) for a, b in zip(outputs[-1], result, strict=True))
        each = 1000 / REPEATS
        print(f"{mode.name:<10} {(returned - start) * each:>10.3f} ms {(done - start) * each:>11.3f} ms   {same}")
        assert same, f"{mode.name} gave another result"

    print("\nAn error names the operator, the sample and the line that made the call:")
    try:
        ndd.crop(images, crop=[300, 224]).evaluate()
    except RuntimeError as error:
        print(f"  {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
