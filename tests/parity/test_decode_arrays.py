"""decoders.numpy, dump_image and tensors of enum values: both libraries on the same data."""

import io
import pathlib

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import nvidia.dali.types as their_types
import pytest

import avida
from tests.parity.compare import ALL_DTYPES, both, cases


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return np.frombuffer(file.getvalue(), np.uint8)


# The real library keeps the type, unless one is given, and the rank of the first array that it has ever decoded.
@pytest.mark.parametrize("dtype", ALL_DTYPES)
@pytest.mark.parametrize("wanted", ["uint8", "int32", "float32"])
def test_numpy(dtype, wanted):
    files = [npy((np.arange(6).reshape(2, 3) * 60.7 - 40).astype(dtype)), npy(np.ones((1, 2), dtype))]
    both(lambda library: library.decoders.numpy(library.batch(files), dtype=getattr(library, wanted)))


@pytest.mark.parametrize(
    ("file", "error"),
    cases(
        [npy(np.zeros((0, 3)))],
        [
            npy(np.arange(9))[:-1],
            np.zeros(99, np.uint8),
            np.append(npy(np.arange(9)), np.uint8(0)),
            npy(np.zeros(2, "U3")),
        ],
    ),
)
def test_files(file, error):
    both(lambda library: library.decoders.numpy(file, dtype=library.float32), fails=error)


IMAGE = (np.arange(60) * 4).astype(np.uint8).reshape(4, 5, 3)


@pytest.mark.parametrize(
    ("image", "error"), cases([IMAGE, IMAGE[:, :, :1].copy()], [IMAGE[:, :, :2].copy(), IMAGE[0], IMAGE / 2])
)
def test_dump_image(tmp_path, monkeypatch, image, error):
    written = []

    def run(library):
        folder = tmp_path / library.__name__
        folder.mkdir()
        monkeypatch.chdir(folder)
        batch = library.batch([image, image[:1]] if not error else [image])
        made = library.dump_image(batch, suffix="x").evaluate()
        written.append({path.name: path.read_text() for path in pathlib.Path().iterdir()})
        return made

    both(run, fails=error)
    if not error:
        assert written[0] == written[1]
        assert len(written[0]) == 2


ENUMS = ["INTERP_LANCZOS3", "BGR", "INT16"]


def value(library, name):
    return getattr(avida.types if library is avida else their_types, name)


@pytest.mark.parametrize("name", ENUMS)
def test_enum_values(name):
    facts = []
    for library in (avida, dali):
        one, many = library.tensor(value(library, name)), library.tensor([[value(library, name)] * 2])
        batch = library.batch([value(library, name)] * 3)
        kept = [library.copy(many), library.reshape(many, shape=[2]), many[0], library.random.choice(many[0])]
        facts.append(
            [(x.dtype.name, int(x.dtype.type_id), x.shape, x.ndim) for x in (one, many, batch, *kept)]
            + [(one.size, one.itemsize, many.nbytes, batch.batch_size, library.dtype(one.dtype.type_id).name)]
        )
    assert facts[0] == facts[1]
    both(lambda library: library.cast(library.tensor([value(library, name)] * 2), dtype=library.int32))
    both(lambda library: library.reinterpret(library.tensor(value(library, name)), dtype=library.int32))
    both(lambda library: library.tensor([value(library, name)], dtype=library.float32))


@pytest.mark.parametrize("name", ENUMS)
@pytest.mark.parametrize(
    "compute",
    [
        lambda library, x: x + 1,
        lambda library, x: x == x,
        lambda library, x: -x,
        lambda library, x: library.reductions.sum(x),
        lambda library, x: library.zeros_like(x),
    ],
)
def test_no_arithmetic_with_enum_values(name, compute):
    both(lambda library: compute(library, library.tensor([value(library, name)])), fails=RuntimeError)


def test_enum_values_as_arguments():
    images = [np.random.default_rng(i).integers(0, 256, (9, 7, 3), np.uint8) for i in range(2)]
    both(
        lambda library: library.resize(
            library.batch(images, layout="HWC"),
            size=[5, 11],
            interp_type=library.batch([value(library, "INTERP_NN"), value(library, "INTERP_CUBIC")]),
        ),
        atol=1,
    )
