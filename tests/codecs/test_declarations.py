"""What the declarations of the image formats say is true, and what follows from them agrees."""

import re
import sys

import numpy as np
import pytest

import avida
from avida import _core
from avida._cli.images import SUFFIXES
from tests.test_documents import ROOT

from .decoding import as_input, decode
from .files import all_files

sys.path.insert(0, str(ROOT / "tools"))
import license_wheel

FORMATS = {
    name: (endings, library, license, set(can)) for name, endings, library, license, can in _core.image_formats()
}
KEYS = {name: name.lower().replace(" ", "") for name in FORMATS if name != "lossless JPEG"}


def files(name: str) -> list[bytes]:
    return [data for variant, data in all_files()[KEYS[name]].items() if variant != "lossless" or name != "JPEG"]


def test_every_format_has_files() -> None:
    assert set(KEYS.values()) == set(all_files())


def gives_indices(data: bytes) -> bool:
    try:
        avida.decoders.image(as_input(data), output_type=avida.types.INDICES, dtype=avida.uint16).evaluate()
    except RuntimeError as error:
        assert "INDICES" in str(error)
        return False
    return True


@pytest.mark.parametrize("name", KEYS)
def test_abilities(name: str) -> None:
    can = FORMATS[name][3]
    assert any(map(gives_indices, files(name))) == ("indices" in can)
    assert any(decode(data).shape[2] in (2, 4) for data in files(name)) == ("alpha" in can) or name == "JPEG"  # inks
    wide = [decode(data, "ANY_DATA", "uint16") for data in files(name)]
    assert any((image % 257).any() for image in wide) == ("16 bits" in can)
    reduced = [np.asarray(avida.decoders.image(as_input(data), reduce_to=1)).shape for data in files(name)]
    assert any(a[0] < b.shape[0] for a, b in zip(reduced, wide, strict=True)) == ("reduced sizes" in can)


def test_endings() -> None:
    assert {ending for endings, *_ in FORMATS.values() for ending in endings} == SUFFIXES == set(_core.image_endings())
    assert all(re.fullmatch(r"\.[a-z0-9]+", ending) for ending in SUFFIXES)
    assert {".bmp", ".jp2", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"} <= SUFFIXES


def test_wheels_take_licenses_from_the_declarations() -> None:
    """Every format over a library has one, and the wheel's check finds it."""
    for name, (_, library, license, _) in FORMATS.items():
        assert bool(license) == (library != "avida"), name
        assert not license or license in license_wheel.OF_FORMATS.values()
    assert license_wheel.FROM_DEBIAN.items() >= license_wheel.OF_FORMATS.items()
    assert license_wheel.OF_FORMATS["libpng16"] == FORMATS["PNG"][2]
