"""A data set of files that hold their own number, for tests of what all readers share."""

import numpy as np

import avida


def make_files(folder, count):
    for i in range(count):
        (folder / f"{i:05d}.jpg").write_bytes(str(i).encode())
    return [str(folder / f"{i:05d}.jpg") for i in range(count)]


def reader_of(files, **options):
    return avida.readers.File(files=files, **options)


def numbers(files):
    """The numbers in a batch of files, or in one."""
    samples = [files] if isinstance(files, avida.Tensor) else files
    return [int(bytes(np.asarray(sample))) for sample in samples]


def epoch(reader, batch_size, **options):
    return [numbers(files) for files, _ in reader.next_epoch(batch_size, **options)]


def flat(lists):
    return [item for items in lists for item in items]
