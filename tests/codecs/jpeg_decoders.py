"""Decoding of JPEG files by each decoder of this machine: libjpeg-turbo, and ours on every instruction set."""

import contextlib
from collections.abc import Callable, Iterator

import numpy as np

from avida import _core

from .decoding import decode

LIBRARY = "libjpeg-turbo"
OURS = [name for name in _core.testing.jpeg_decoders() if name != LIBRARY]


@contextlib.contextmanager
def decoder(name: str) -> Iterator[None]:
    _core.testing.use_jpeg_decoder(name)
    try:
        yield
    finally:
        _core.testing.use_jpeg_decoder(OURS[0])


def outcome(name: str, run: Callable[[], np.ndarray]) -> tuple[np.ndarray | str, bool]:
    """The image or the text of the error, and whether our own decoder made it."""
    with decoder(name):
        before = _core.testing.jpeg_decodes()
        try:
            found: np.ndarray | str = run()
        except RuntimeError as error:
            found = str(error).splitlines()[0]
        return found, _core.testing.jpeg_decodes() > before


def equal_outcomes(run: Callable[[], np.ndarray]) -> tuple[np.ndarray | str, bool]:
    """What all decoders make of a file, which is the same, and whether ours made it."""
    expected, by_us = outcome(LIBRARY, run)
    assert not by_us
    made = set()
    for name in OURS:
        found, by_us = outcome(name, run)
        made.add(by_us)
        if isinstance(expected, str):
            assert found == expected
        else:
            np.testing.assert_array_equal(found, expected, err_msg=name)
    assert len(made) == 1
    return expected, made.pop()


def ours(data: bytes, *args: object, **options: object) -> np.ndarray:
    """The image that all decoders make of a file; ours must have made it itself."""
    image, by_us = equal_outcomes(lambda: decode(data, *args, **options))
    assert by_us, "libjpeg-turbo decoded an ordinary file"
    assert isinstance(image, np.ndarray)
    return image


def theirs(data: bytes, **options: object) -> np.ndarray | str:
    """What comes of a file that is left to libjpeg-turbo."""
    found, by_us = equal_outcomes(lambda: decode(data, **options))
    assert not by_us
    return found
