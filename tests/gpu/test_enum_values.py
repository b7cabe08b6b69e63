"""Enum values on a GPU, and the operators on encoded arrays, which decode on the CPU."""

import io

import numpy as np

import avida as ndd
from avida import types


def test_enum_values():
    x = ndd.tensor([types.RGB, types.GRAY]).gpu()
    for moved in (ndd.copy(x), ndd.reshape(x, shape=[2, 1]), ndd.stack(x, x)[0], x[::-1][::-1]):
        assert moved.device == ndd.Device("gpu:0")
        assert moved.dtype == ndd.ImageType
        assert np.asarray(moved.cpu()).ravel().tolist() == [0, 2]
    assert x[1].cpu().item() is types.GRAY
    assert np.asarray(ndd.cast(x, dtype=ndd.int64).cpu()).tolist() == [0, 2]


def test_encoded_arrays():
    file = io.BytesIO()
    np.save(file, np.arange(6).reshape(2, 3))
    array = ndd.decoders.numpy(file.getvalue(), device="gpu")
    text = ndd.decoders.inflate(ndd.tensor(b"\x50hello").gpu(), shape=[5])
    assert array.device == text.device == ndd.Device("gpu:0")
    assert np.asarray(array.cpu()).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert bytes(text) == b"hello"


def test_dump_image(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    image = ndd.tensor(np.zeros((2, 2, 3), np.uint8)).gpu()
    assert ndd.dump_image(image).evaluate().device == image.device
    assert [path.name for path in tmp_path.iterdir()] == ["0--0.ppm"]
