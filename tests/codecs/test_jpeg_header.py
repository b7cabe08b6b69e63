"""The header of a JPEG file is parsed once in a call, whoever decodes the file."""

import pytest

import avida
from avida import _core

from .samples import encoded, jpeg, picture

FILES = {
    "baseline": jpeg(picture(60, 80), "420"),
    "restarts": jpeg(picture(60, 80), "420", restart=3),
    "progressive": jpeg(picture(60, 80), "420", progressive=True),
    "gray": jpeg(picture(60, 80)[..., 0], "444"),
    "small": jpeg(picture(60, 4), "420"),  # these two are left to libjpeg-turbo
    "inks": encoded(picture(60, 80), "JPEG", "CMYK"),
}
CALLS = {
    "image": avida.decoders.image,
    "reduced": lambda files: avida.decoders.image(files, reduce_to=20),
    "crop": lambda files: avida.decoders.image_crop(files, crop=[2, 2]),
    "random crop": avida.decoders.image_random_crop,
    "chain": lambda files: avida.crop(avida.decoders.image(files), crop=[2, 2]),
    "shape": avida.peek_image_shape,
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", FILES)
def test_a_header_is_parsed_once(kind, call):
    files = avida.batch([FILES[kind]] * 5)
    before = _core.testing.jpeg_headers_read()
    CALLS[call](files).evaluate()
    assert _core.testing.jpeg_headers_read() - before == 5
