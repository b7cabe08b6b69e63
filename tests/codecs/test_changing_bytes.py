"""The bytes of a file may change while it is decoded: an error or an image, and nothing outside of the image's memory.

A large image is decoded first, so that the change comes between the reading of the small header and its decoding.
Any other moment gives a permitted result, too.
"""

import itertools
import time

import imagecodecs
import numpy as np
import pytest

import avida

from .files import GRAY, GRAY16, RGB, RGBA, pillow

LARGE = np.frombuffer(pillow(np.zeros((3000, 3000, 3), np.uint8), "JPEG"), np.uint8)
TALL = np.ascontiguousarray(RGB[:, :5].repeat(9, axis=0))
FORMATS = {
    "BMP": [RGB, TALL, GRAY],
    "JPEG": [RGB, TALL, GRAY],
    "JPEG2000": [RGB, TALL, GRAY],
    "PNG": [RGB, TALL, GRAY, RGBA],
    "PPM": [RGB, TALL, GRAY],
    "TIFF": [RGB, TALL, GRAY, RGBA],
    "WEBP": [RGB, TALL, RGBA],
}


def files_of(format_name: str) -> list[np.ndarray]:
    """Files of different extents and channels, all with as many bytes."""
    if format_name == "lossless":
        files = [bytes(imagecodecs.ljpeg_encode(image)) for image in (GRAY16, TALL[..., 0].astype(np.uint16), GRAY)]
    else:
        files = [pillow(image, format_name) for image in FORMATS[format_name]]
    most = max(map(len, files))
    return [np.frombuffer(data.ljust(most, b"\0"), np.uint8) for data in files]


@pytest.mark.parametrize("format_name", [*FORMATS, "lossless"])
def test_files_that_change_while_they_are_decoded(format_name):
    files = files_of(format_name)
    shapes = [np.asarray(avida.decoders.image(data, output_type=avida.types.ANY_DATA)).shape for data in files]
    for before, after in itertools.permutations(range(len(files)), 2):
        data = files[before].copy()
        with avida.EvalContext(num_threads=1):
            batch = avida.as_batch([LARGE, data])
            images = avida.decoders.image(batch, output_type=avida.types.ANY_DATA)
            time.sleep(0.005)  # the headers are likely read by now; where they are not, the test holds as well
            data[:] = files[after]
            try:
                shape = np.asarray(images.tensors[1]).shape
            except RuntimeError as error:
                assert "sample 1" in str(error)
            else:
                assert shape in (shapes[before], shapes[after])
