"""Image formats: the same pixels as the real library, and where avida does more or otherwise."""

from typing import Any

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import nvidia.dali.types as dali_types
import pytest

import avida

from ..codecs.files import all_files
from .compare import both

TYPES = ["RGB", "BGR", "GRAY", "ANY_DATA"]
# What the real library refuses or gets wrong: docs/differences.md tells why.
ALWAYS_DIFFERENT = {
    "gif": set(all_files()["gif"]),
    "bmp": {"555", "rle4_literal"},
    "jpeg": {"lossless"},
    "jpeg2000": {"gray4", "signed", "gray_alpha", "ycc"},
    "pnm": {"p1_tight", "p2", "p2_16", "p3", "p5_100", "p5_1000", "p7"},
    "tiff": {"float16", "float64", "bits", "bits_white", "gray2", "gray4", "planar_tiles", "lzma"}
    | {"int8", "int16", "int32", "uint32", "uint32_tiles", "uint32_white"},
    "webp": {"rotated"},
}
DIFFERENT = {
    ("png", "gray_alpha", "ANY_DATA"),
    ("png", "gray_alpha16", "ANY_DATA"),
    ("png", "animated", "GRAY"),
    ("jpeg", "cmyk", "ANY_DATA"),
    ("jpeg", "gray", "ANY_DATA"),  # crashes there
    ("bmp", "32", "ANY_DATA"),
    ("bmp", "alpha", "ANY_DATA"),
    ("tiff", "gray_alpha", "RGB"),
    ("tiff", "gray_alpha", "BGR"),
}
CASES = [
    (format_name, name, output_type)
    for format_name, files in all_files().items()
    for name in files
    for output_type in TYPES
    if name not in ALWAYS_DIFFERENT.get(format_name, set()) and (format_name, name, output_type) not in DIFFERENT
]


def image(library: Any, data: bytes, output_type: str, dtype: str) -> Any:
    encoded = np.frombuffer(data, np.uint8)
    types = dali_types if library is dali else avida.types
    return library.decoders.image(
        encoded, output_type=getattr(types.DALIImageType, output_type), dtype=getattr(library, dtype)
    )


# Gray weighed a little differently: one of 255 in some pixels.
NEARLY = {("jpeg", "cmyk"), ("bmp", "alpha"), ("tiff", "ycbcr")}


@pytest.mark.parametrize(("format_name", "name", "output_type"), CASES)
def test_same_pixels(format_name: str, name: str, output_type: str) -> None:
    data = all_files()[format_name][name]
    off = output_type == "GRAY" and (format_name, name) in NEARLY
    both(lambda library: image(library, data, output_type, "uint8"), atol=1 if off else 0)
    both(lambda library: image(library, data, output_type, "uint16"), atol=257 if off else 0)
    both(lambda library: image(library, data, output_type, "float32"), atol=4e-3 if off else 1e-6)
