"""readers.Numpy, Caffe and Caffe2 of both libraries over the same data: arrays, regions, records, errors.

The other library's reader of FITS files needs a GPU's driver even on the CPU: that one is compared with astropy.
"""

import inspect

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.parity.compare import assert_same
from tests.readers.lmdb_records import BYTE, FLOAT, INT32, STRING, datum, record, tensor, write


def both(reader, batch_size, **arguments):
    """The first batches are the same, or the exceptions are of one type."""

    def first(library):
        outputs = next(getattr(library.readers, reader)(**arguments).next_epoch(batch_size=batch_size))
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        for output in outputs:
            output.evaluate()
        return outputs

    try:
        theirs = first(dali)
    except Exception as error:
        with pytest.raises(type(error)):
            first(avida)
        return
    assert_same(first(avida), theirs)


def save(folder, arrays):
    for i, array in enumerate(arrays):
        np.save(folder / f"{i}.npy", array)
    return [str(folder / f"{i}.npy") for i in range(len(arrays))]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "S3"])
def test_arrays(tmp_path, dtype, order):
    random = np.random.default_rng(0)
    arrays = [np.asarray(random.integers(0, 100, (i + 1, 5, 3)).astype(dtype), order=order) for i in range(4)]
    both("Numpy", 4, files=save(tmp_path, arrays))


@pytest.mark.parametrize("shape", [(), (0,), (5,), (0, 3), (3, 0, 2), (1, 1, 1), (40, 50, 3)])
def test_shapes(tmp_path, shape):
    both("Numpy", 1, files=save(tmp_path, [np.ones(shape, order="F")]))


def test_arrays_that_differ(tmp_path):
    both("Numpy", 2, files=save(tmp_path, [np.zeros((2, 3)), np.zeros((2, 3), "f4")]))
    both("Numpy", 2, files=save(tmp_path, [np.zeros((2, 3)), np.zeros(3)]))


REGIONS = [
    {"roi_start": [1, 2]},
    {"roi_end": [2, 3]},
    {"roi_shape": [2, 3]},
    {"roi_start": [1, 2], "roi_end": [3, 4]},
    {"roi_start": [1], "roi_shape": [2], "roi_axes": [1]},
    {"roi_start": 1, "roi_shape": 2},
    {"roi_start": [1, 1], "roi_shape": [2, 3], "roi_axes": [1, 0]},
    {"roi_start": [1], "roi_axes": [-1]},
    {"roi_axes": [1]},
    {"roi_start": [4, 6]},
    {"roi_start": [5, 6]},
    {"roi_start": [3, 3], "roi_end": [2, 2]},
    {"roi_start": [1, 1], "roi_shape": [5, 9]},
    {"roi_shape": [-1, 2]},
    {"roi_start": [1, 1, 1]},
    {"roi_start": [1], "roi_axes": [2]},
    {"roi_start": [1, 1], "roi_axes": [1, 1]},
    {"roi_end": [2, 2], "roi_shape": [1, 1]},
    {"roi_end": [2, 2], "rel_roi_end": [1, 1]},
    {"roi_start": [2, 2], "rel_roi_start": [1, 1]},
    {"rel_roi_start": [0.3, 0.3]},
    {"rel_roi_end": [0.6, 0.6]},
    {"rel_roi_shape": [0.5, 0.45]},
    {"rel_roi_start": [0.3, 0.3], "rel_roi_shape": [0.5, 0.45]},
    {"rel_roi_start": [0.3, 0.3], "roi_shape": [2, 2]},
    {"roi_start": [1, 1], "rel_roi_shape": [0.5, 0.5]},
    {"roi_start": [1, 1], "rel_roi_end": [0.5, 0.9]},
    {"roi_start": [1.5, 2]},
    {"roi_start": np.array([1, 2])},
    {"roi_start": [-1, 1], "roi_shape": [5, 9], "out_of_bounds_policy": "pad", "fill_value": 7.5},
    {"roi_start": [9, 9], "roi_shape": [2, 2], "out_of_bounds_policy": "pad", "fill_value": -300},
    {"roi_start": [-1, 1], "roi_shape": [5, 9], "out_of_bounds_policy": "trim_to_shape"},
    {"roi_start": [9, 9], "roi_shape": [2, 2], "out_of_bounds_policy": "trim_to_shape"},
    {"roi_start": [1, 1], "out_of_bounds_policy": "edge"},
]


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_regions(tmp_path, region, order):
    arrays = [np.asarray(np.arange(24, dtype=dtype).reshape(4, 6), order=order) for dtype in ("u1", "f4")]
    for file in save(tmp_path, arrays):
        both("Numpy", 1, files=[file], **region)


def test_roundings_of_relative_regions(tmp_path):
    (file,) = save(tmp_path, [np.arange(200)])
    for start in (0.1025, 0.1075, 0.0025, 0.12345):
        for extent in (0.1025, 0.1075, 0.0025, 0.3333):
            both("Numpy", 1, files=[file], rel_roi_start=[start], rel_roi_shape=[extent])
            both("Numpy", 1, files=[file], roi_start=[1], rel_roi_shape=[extent])
            both("Numpy", 1, files=[file], rel_roi_start=[start], rel_roi_end=[start + extent])


def test_files(tmp_path):
    names = "a.npy B.npy c.NPY sub/x.npy sub/deep/y.npy d.txt .hid.npy 10.npy 9.npy .hs/z.npy"
    for i, name in enumerate(names.split()):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        with open(tmp_path / name, "wb") as file:
            np.save(file, np.array([i]))
    (tmp_path / "link.npy").symlink_to(tmp_path / "a.npy")
    (tmp_path / "folder.npy").mkdir()
    root, text = str(tmp_path), str(tmp_path / "list.lst")
    both("Numpy", 12)
    for found in [{}, *({"file_filter": pattern} for pattern in ("*.NPY", "*.txt", "?.npy", "[ab].npy", "", "*.none"))]:
        both("Numpy", 12, file_root=root, **found)
    for files in (["a.npy", "sub/x.npy"], [f"{root}/a.npy", "9.npy"], "a.npy", [], ["nothing.npy"]):
        both("Numpy", 3, file_root=root, files=files)
    for lines in ("a.npy\nsub/x.npy\n", "a.npy\n\nB.npy", "", "a.npy 3\n"):
        (tmp_path / "list.lst").write_text(lines)
        both("Numpy", 3, file_list=text)
        both("Numpy", 3, file_list=text, file_root=root + "/sub")
        both("Numpy", 3, file_list=text, files=["a.npy"])


@pytest.mark.parametrize(
    "content",
    [
        datum(b"abc", 7, encoded=1),
        datum(b"abc", -7, (3, 4, 5), encoded=1),
        datum(b"abc", 2**40),
        datum(b"abcdef", 7, (2, 1, 3), encoded=0),
        datum(b"abcdef", 7, (2, 1, 3)),
        datum(b"abc"),
        datum(None, 3),
        datum(b"", 3, encoded=1),
        b"\xff\xff\xff",
    ],
)
def test_caffe(tmp_path, content):
    path = write(tmp_path / "db", [content, content])
    both("Caffe", 3, path=path)
    both("Caffe", 2, path=[path, path], image_available=False)
    both("Caffe", 2, path=path, label_available=False)


def test_databases(tmp_path):
    records = [datum(b"%d" % i * i, i, encoded=1) for i in range(100)]
    paths = [write(tmp_path / "a", records), write(tmp_path / "b", records[:3], keys=[b"10", b"9", b"1"])]
    both("Caffe", 110, path=paths)
    for path in (str(tmp_path), str(tmp_path / "nothing"), []):
        both("Caffe", 1, path=path)


JPEG = tensor(STRING, dims=[1], data=b"JPEG")
LABEL, NUMBERS = tensor(INT32, values=[5]), tensor(FLOAT, values=[7, 8.5])
BOX = tensor(INT32, dims=[4], values=[1, 2, 3, 4])


@pytest.mark.parametrize(
    ("tensors", "arguments"),
    [
        ([JPEG, LABEL], {}),
        ([JPEG, tensor(FLOAT, values=[2.5])], {}),
        ([tensor(BYTE, dims=[1, 3, 2], data=b"abcdef"), LABEL], {}),
        ([tensor(BYTE, dims=[3, 2], data=b"abcdef"), LABEL], {}),
        ([tensor(BYTE, dims=[1, 3, 3], data=b"abcdef"), LABEL], {}),
        ([JPEG], {}),
        ([JPEG], {"label_type": 4}),
        ([JPEG, BOX], {}),
        ([JPEG, BOX], {"label_type": 2}),
        ([JPEG, NUMBERS], {"label_type": 2, "num_labels": 2}),
        ([JPEG, LABEL], {"label_type": 1}),
        ([JPEG, LABEL], {"label_type": 5}),
        ([LABEL], {"image_available": False}),
        ([JPEG, LABEL, BOX], {"bbox": True}),
        ([JPEG, LABEL, NUMBERS], {"bbox": True}),
        ([JPEG, LABEL, NUMBERS], {"additional_inputs": 1}),
        ([JPEG, LABEL, NUMBERS, LABEL, BOX], {"additional_inputs": 2, "bbox": True}),
        ([JPEG, NUMBERS, BOX], {"label_type": 4, "additional_inputs": 1, "bbox": True}),
        ([LABEL, NUMBERS], {"image_available": False, "additional_inputs": 1}),
        ([JPEG, LABEL, JPEG], {"additional_inputs": 1}),
    ],
)
def test_caffe2(tmp_path, tensors, arguments):
    both("Caffe2", 2, path=write(tmp_path / "db", [record(*tensors)]), **arguments)


@pytest.mark.parametrize("name", ["readers.Numpy", "readers.Caffe", "readers.Caffe2", "experimental.readers.Fits"])
def test_signatures(name):
    def parameters(library):
        for part in name.split("."):
            library = getattr(library, part)
        return list(inspect.signature(library).parameters)

    ours, theirs = parameters(avida), parameters(dali)
    assert [p for p in ours if p in theirs] == [p for p in theirs if p in ours]
    assert set(theirs) - set(ours) <= {"_backend"}
