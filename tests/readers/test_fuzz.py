"""Broken data sets: an error or samples, never a crash, and neither the memory nor the time of a large data set.

AVIDA_FUZZ_FILES says how many of each format; `make fuzz` asks for thousands, with a limit and with the sanitizers.
"""

import functools
import itertools
import pathlib
import tempfile

import numpy as np
import pytest

import avida
from tests.fuzz import harness
from tests.readers.broken import FORMATS, Format

ERRORS = (RuntimeError, ValueError, IndexError, OverflowError)
MOST_BATCHES = 20


@functools.cache
def data_set(name: str) -> tuple[Format, tempfile.TemporaryDirectory]:
    format, folder = FORMATS[name](), tempfile.TemporaryDirectory()
    for other, content in format.others.items():
        pathlib.Path(folder.name, other).write_bytes(content)
    return format, folder


def examine(name: str, number: int) -> str:
    """Reads what can be read of a data set."""
    format, folder = data_set(name)
    path = pathlib.Path(folder.name)
    (path / format.file).write_bytes(format.broken(number))
    try:
        items = list(itertools.islice(format.reader(path).next_epoch(batch_size=2), MOST_BATCHES))
    except ERRORS as error:
        harness.check_not_for_memory(error)
        return "refused"
    outputs = [output for item in items for output in outputs_of(item)]
    return "read" if all([is_readable(output) for output in outputs]) else "damaged"


def outputs_of(item):
    if isinstance(item, avida.Scene):
        return [item.image, *item.fields.values()]
    return item.values() if isinstance(item, dict) else item


def is_readable(output) -> bool:
    try:
        for sample in output:
            np.asarray(sample)
    except ERRORS as error:
        harness.check_not_for_memory(error)
        return False
    return True


@pytest.mark.parametrize("numbers", harness.blocks(), ids=lambda numbers: numbers.start)
@pytest.mark.parametrize("name", FORMATS)
def test_broken_data_sets(name: str, numbers: range, record_property) -> None:
    harness.check(__name__, name, numbers, record_property)
