"""Broken files by the hundred: an error or an image, never a crash, and parts that equal crops.

AVIDA_FUZZ_FILES says how many of each format; `make fuzz` asks for thousands, with the sanitizers.
"""

import os
import random

import numpy as np
import pytest

import avida

from .decoding import as_input, decode, decode_part
from .files import all_files
from .mutate import mutated

BLOCK = 50
BLOCKS = max(1, int(os.environ.get("AVIDA_FUZZ_FILES", "100")) // BLOCK)
TYPES = ["RGB", "GRAY", "ANY_DATA", "BGR"]


@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize("format_name", all_files())
def test_broken_files(format_name: str, block: int) -> None:
    seeds = list(all_files()[format_name].values())
    files = [mutated(seeds, number) for number in range(block * BLOCK, (block + 1) * BLOCK)]
    rng = random.Random(block)
    output_type = rng.choice(TYPES)
    batch = avida.as_batch([as_input(data) for data in files if data])
    images = avida.decoders.image(batch, output_type=avida.types.DALIImageType[output_type], on_error="placeholder")
    shapes = [np.asarray(image).shape for image in images.tensors]
    assert len(shapes) == batch.batch_size
    for data, (height, width, _) in zip([data for data in files if data], shapes, strict=True):
        if height == 0 or width == 0:
            continue
        y, x = rng.randrange(height), rng.randrange(width)
        part = (y, x, rng.randrange(height - y) + 1, rng.randrange(width - x) + 1)
        try:
            cropped = decode_part(data, part, output_type)
        except RuntimeError:  # a broken image may fail in one way and not in another
            continue
        whole = decode(data, output_type)
        np.testing.assert_array_equal(cropped, whole[y : y + part[2], x : x + part[3]])
