"""Decoding of arrays: .npy files and LZ4 blocks, and bytes that are neither."""

import io
import random

import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


def npy(array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return np.frombuffer(file.getvalue(), np.uint8)


def length_bytes(n):
    """What follows a token of 15 for a length of 15 + n."""
    return bytes([255] * (n // 255) + [n % 255])


def sequence(literals, offset=0, match=0):
    """A part of an LZ4 block: bytes as they are, and a repetition of what lies `offset` bytes back."""
    code = min(len(literals), 15) << 4 | (min(match - 4, 15) if match else 0)
    out = bytes([code]) + (length_bytes(len(literals) - 15) if len(literals) >= 15 else b"") + literals
    if match:
        out += offset.to_bytes(2, "little") + (length_bytes(match - 19) if match >= 19 else b"")
    return out


def lz4(data):
    """A block that begins with a repetition if the data allows."""
    run = len(data) - len(data.lstrip(data[:1]))
    if run < 5 or run + 12 > len(data):
        return np.frombuffer(sequence(data), np.uint8)
    return np.frombuffer(sequence(data[:1], 1, run - 1) + sequence(data[run:]), np.uint8)


FILES = [
    np.arange(6, dtype=np.int16).reshape(2, 3),
    np.arange(4, dtype=np.int16).reshape(4, 1),
    np.zeros((0, 2), np.int16),
]


@op_case("decoders.numpy", inputs=[[npy(array)] for array in FILES], dtype=[None, ndd.float32, ndd.uint8])
def numpy(file, dtype):
    array = np.load(io.BytesIO(file.tobytes()))
    return array if dtype is None else array.astype({"f32": np.float32, "u8": np.uint8}[dtype.name])


PIXELS = [bytes([7] * 40 + list(range(24))), bytes(range(64)), bytes([9] * 64)]


@op_case(
    "decoders.inflate", inputs=[[lz4(data)] for data in PIXELS], shape=[[4, 16], [2, 32], [64, 1]], dtype=[ndd.uint8]
)
def inflate(block, shape, dtype):
    data = next(data for data in PIXELS if lz4(data).tobytes() == block.tobytes())
    return np.frombuffer(data, np.uint8).reshape(shape)


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "<u2", "<i4", "<i8", "<f2", "<f4", "<f8", ">i4", ">f8", ">u2"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_files_of_numpy(dtype, order, version):
    array = np.asarray(np.arange(24).reshape(2, 3, 4), dtype=dtype, order=order)
    made = ndd.decoders.numpy(npy(array, version))
    np.testing.assert_array_equal(made, array)
    assert np.asarray(made).dtype == array.dtype.newbyteorder("=")


def test_arrays_without_axes_and_empty_batches():
    assert ndd.decoders.numpy(npy(np.float32(3))).item() == 3
    empty = ndd.decoders.numpy(ndd.batch([], dtype=ndd.uint8, layout="X"))
    assert empty.batch_size == 0


def test_element_types_of_a_batch():
    files = ndd.batch([npy(np.arange(3)), npy(np.arange(3.0) + 0.5)])
    with pytest.raises(RuntimeError, match="sample 1: expected an array of int64 as in the first sample, got float64"):
        ndd.decoders.numpy(files).evaluate()
    made = ndd.decoders.numpy(files, dtype=ndd.int16)
    assert [np.asarray(sample).tolist() for sample in made] == [[0, 1, 2], [1, 2, 3]]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (npy(np.arange(6))[:-1], "has only 47 bytes"),
        (np.append(npy(np.arange(6)), np.uint8(0)), "expected a .npy file of"),
        (np.zeros(200, np.uint8), "magic number"),
        (np.zeros(0, np.uint8), "magic number"),
        (npy(np.zeros(3, "c8")), "got the type '<c8'"),
        (npy(np.zeros((1, 1)))[None], "one axis"),
    ],
)
def test_files_that_are_not_arrays(file, message):
    with pytest.raises(RuntimeError, match=message):
        ndd.decoders.numpy(file).evaluate()


def test_lz4_chunks():
    frames = [bytes([i] * 20 + list(range(28))) for i in range(3)]
    blocks = [lz4(frame) for frame in frames]
    sizes = [len(block) for block in blocks]
    offsets = [0, sizes[0], sizes[0] + sizes[1]]
    whole = np.concatenate(blocks)
    expected = np.frombuffer(b"".join(frames), np.uint8).reshape(3, 4, 4, 3)
    for chunks in (
        {"chunk_sizes": sizes},
        {"chunk_offsets": offsets},
        {"chunk_sizes": sizes, "chunk_offsets": offsets},
    ):
        made = ndd.decoders.inflate(whole, shape=[4, 4, 3], layout="HWC", **chunks)
        np.testing.assert_array_equal(made, expected)
        assert made.layout == "FHWC"
    backwards = ndd.decoders.inflate(whole, shape=[48], chunk_sizes=sizes[::-1], chunk_offsets=offsets[::-1])
    np.testing.assert_array_equal(backwards, expected.reshape(3, 48)[::-1])
    assert backwards.layout is None
    named = ndd.decoders.inflate(whole, shape=[48], chunk_sizes=sizes, layout="X", sequence_axis_name="Z")
    assert named.layout == "ZX"


def test_lz4_per_sample():
    blocks = ndd.batch([lz4(PIXELS[0]), lz4(PIXELS[1])])
    made = ndd.decoders.inflate(blocks, shape=ndd.batch([[32, 1], [4, 8]]), dtype=ndd.uint16)
    assert made.shape == [(32, 1), (4, 8)]
    for sample, data in zip(made, PIXELS, strict=False):
        np.testing.assert_array_equal(np.asarray(sample).ravel(), np.frombuffer(data, np.uint16))
    pairs = [np.concatenate([lz4(a), lz4(b)]) for a, b in ((PIXELS[0], PIXELS[1]), (PIXELS[2], PIXELS[0]))]
    sizes = ndd.batch([[len(lz4(PIXELS[0]))], [len(lz4(PIXELS[2]))]])
    first = ndd.decoders.inflate(ndd.batch(pairs), shape=[64], chunk_sizes=sizes)
    assert [np.asarray(sample).tobytes() for sample in first] == [PIXELS[0], PIXELS[2]]
    assert first.shape == [(1, 64), (1, 64)]


BLOCK = lz4(PIXELS[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": [63]}, "more than the 63 bytes"),
        ({"shape": [65]}, "to have 65 bytes as its shape, got 64"),
        ({"shape": [1 << 30]}, "bytes"),
        ({"shape": [64], "algorithm": "zip"}, '"algorithm" must be "LZ4", got "zip"'),
        ({"shape": [64], "layout": "HW"}, "expected a layout of 1 axes"),
        ({"shape": [64], "chunk_sizes": [len(BLOCK) + 1]}, "expected chunk 0 within the sample"),
        ({"shape": [64], "chunk_sizes": [-1]}, "expected chunk 0 within the sample"),
        ({"shape": [64], "chunk_offsets": [len(BLOCK) + 1]}, "expected chunk 0 within the sample"),
        ({"shape": [64], "chunk_offsets": [5, 0]}, "expected chunk 0 within the sample"),
        ({"shape": [64], "chunk_offsets": [0], "chunk_sizes": [1, 2]}, "as many chunk_sizes as chunk_offsets"),
        ({"shape": [64], "chunk_sizes": [5], "layout": "X", "sequence_axis_name": "AB"}, "expected one letter"),
    ],
)
def test_lz4_that_does_not_fit(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        ndd.decoders.inflate(BLOCK, **arguments).evaluate()


@pytest.mark.parametrize("shape", [[-1], [1 << 62, 4], [1 << 60]])
def test_impossible_shapes(shape):
    with pytest.raises((RuntimeError, ValueError), match="shape"):
        ndd.decoders.inflate(BLOCK, shape=shape, dtype=ndd.float64).evaluate()


def test_limits():
    before = ndd.decode_limits()
    ndd.set_decode_limits(memory=1000)
    try:
        with pytest.raises(RuntimeError, match="set_decode_limits"):
            ndd.decoders.numpy(npy(np.zeros(900, np.uint8)), dtype=ndd.float32).evaluate()
        with pytest.raises(RuntimeError, match="set_decode_limits"):
            ndd.decoders.inflate(np.zeros(100, np.uint8), shape=[1001]).evaluate()
    finally:
        ndd.set_decode_limits(memory=before.memory)


def test_damaged_bytes():
    """Bytes that are changed at random are decoded or refused."""
    rng = random.Random(3)
    outcomes = set()
    for _ in range(2000):
        for good, decode in (
            (npy(np.asfortranarray(FILES[0])), ndd.decoders.numpy),
            (BLOCK, lambda file: ndd.decoders.inflate(file, shape=[64])),
        ):
            file = good.copy()
            for _ in range(rng.randint(1, 3)):
                file[rng.randrange(len(file))] = rng.randrange(256)
            try:
                decode(file[: rng.choice([len(file), rng.randrange(len(file))])]).evaluate()
                outcomes.add("decoded")
            except RuntimeError:
                outcomes.add("refused")
    assert outcomes == {"decoded", "refused"}
