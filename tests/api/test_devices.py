"""Devices and streams on a machine that may have no GPU."""

import pytest

from avida._values.device import _library_for


@pytest.mark.parametrize(
    ("driver", "installed", "chosen"),
    [
        (13, ["cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.12"], "cu13/lib/libnvrtc.so.13"),
        (12, ["cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.12"], "cuda_nvrtc/lib/libnvrtc.so.12"),
        (12, ["cu13/lib/libnvrtc.so.13", "cu14/lib/libnvrtc.so.14"], "cu13/lib/libnvrtc.so.13"),
        (13, ["cu13/lib/libnvrtc.so.alt", "cu13/lib/libnvrtc-builtins.so.13.4"], None),
        (13, [], None),
    ],
)
def test_libraries_fit_the_driver(tmp_path, driver, installed, chosen):
    for name in installed:
        file = tmp_path / "nvidia" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    folders = [tmp_path / "empty", *(tmp_path / "nvidia").glob("*/lib")]
    found = _library_for(driver, "libnvrtc.so", folders)
    assert found == (None if chosen is None else tmp_path / "nvidia" / chosen)
