"""tools/license_wheel.py adds licences to a wheel, and refuses libraries that must not be in it."""

import hashlib
import pathlib
import sys

import pytest

from avida import _core
from tests.test_documents import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import license_wheel


@pytest.fixture
def libraries(tmp_path):
    """As tools/build_libraries.sh makes them."""
    folder = tmp_path / "libraries"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "libavutil.so.57").write_bytes(b"built here")
    (folder / "licenses" / "ffmpeg").mkdir(parents=True)
    (folder / "licenses" / "ffmpeg" / "COPYING").write_text("LGPL")
    return folder


@pytest.fixture
def wheel(tmp_path):
    """Unpacked, without libraries."""
    folder = tmp_path / "wheel"
    (folder / "avida.libs").mkdir(parents=True)
    (folder / "a.dist-info" / "licenses").mkdir(parents=True)
    (folder / "a.dist-info" / "METADATA").write_text(
        "Name: avida\nLicense-Expression: Apache-2.0\nLicense-File: LICENSE\n"
    )
    return folder


def put_library(wheel, stem, suffix, copied_from):
    checksum = hashlib.sha256(copied_from).hexdigest()[:8]
    (wheel / "avida.libs" / f"{stem}-{checksum}{suffix}").write_bytes(b"changed by patchelf")


def test_licenses_are_added(wheel, libraries):
    put_library(wheel, "libavutil", ".so.57", b"built here")
    license_wheel.add_licenses(wheel, libraries)
    assert (wheel / "a.dist-info" / "licenses" / "ffmpeg" / "COPYING").read_text() == "LGPL"
    assert (wheel / "a.dist-info" / "METADATA").read_text().splitlines() == [
        "Name: avida",
        "License-Expression: Apache-2.0 AND LGPL-2.1-or-later",
        "License-File: LICENSE",
        "License-File: ffmpeg/COPYING",
    ]


@pytest.mark.parametrize("suffix", [".so.57", ".so.57.28.100"])
def test_another_build_of_a_library_is_refused(wheel, libraries, suffix):
    put_library(wheel, "libavutil", suffix, b"the system's, under the GPL")
    with pytest.raises(SystemExit, match=rf"expected libavutil{suffix} of .* found another"):
        license_wheel.add_licenses(wheel, libraries)


def test_an_unknown_library_is_refused(wheel, libraries):
    put_library(wheel, "libx264", ".so.164", b"x264")
    with pytest.raises(SystemExit, match=r"libx264.so.164 would be in the wheel: look at its licence"):
        license_wheel.add_licenses(wheel, libraries)


def test_paths_of_the_build_are_refused(wheel, tmp_path):
    put_library(wheel, "libavutil", ".so.57", b"built here")
    license_wheel.refuse_paths(wheel, tmp_path / "source")
    (wheel / "_core.so").write_bytes(b"\0--prefix=" + bytes(tmp_path / "source" / "build") + b"\0")
    with pytest.raises(SystemExit, match=r"_core.so would be in the wheel with .*source, the path of this folder"):
        license_wheel.refuse_paths(wheel, tmp_path / "source")


def test_the_module_does_not_name_its_folder():
    """Assertions of libraries may have names of files in them."""
    assert bytes(ROOT) + b"/native" not in pathlib.Path(_core.__file__).read_bytes()
