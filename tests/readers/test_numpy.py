"""readers.Numpy: any array that NumPy saves, regions of it, and files that are not what they say."""

import io

import numpy as np
import pytest

import avida

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


def save(folder, arrays):
    """One file for each array, or for the bytes of one."""
    folder.mkdir(exist_ok=True)
    for i, array in enumerate(arrays):
        path = folder / f"{i:03}.npy"
        path.write_bytes(array) if isinstance(array, bytes) else np.save(path, array)
    return [str(folder / f"{i:03}.npy") for i in range(len(arrays))]


def read(files, **arguments):
    """All arrays, in one batch."""
    reader = avida.readers.Numpy(files=files, **arguments)
    ((arrays,),) = reader.next_epoch(batch_size=len(files))
    return [np.asarray(array) for array in arrays]


def numbers(shape, dtype="i4", seed=0):
    return np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("endian", ["<", ">"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_types_and_orders(tmp_path, dtype, endian, order):
    array = np.asarray(numbers((7, 5, 3), dtype), order=order)
    (found,) = read(save(tmp_path, [array.astype(np.dtype(dtype).newbyteorder(endian))]))
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (0, 3), (3, 0, 2), (100_000,), (300, 500), (2,) * 16])
@pytest.mark.parametrize("order", ["C", "F"])
def test_shapes(tmp_path, shape, order):
    array = np.asarray(numbers(shape), order=order)
    (found,) = read(save(tmp_path, [array]))
    assert found.shape == shape
    np.testing.assert_array_equal(found, array)


def test_ragged_batches_know_their_files(tmp_path):
    arrays = [numbers((i % 5, 3 + i), "f4") for i in range(20)]
    files = save(tmp_path, arrays)
    reader = avida.readers.Numpy(file_root=tmp_path, random_shuffle=True)
    ((found,),) = reader.next_epoch(batch_size=20)
    assert sorted(source.name for source in found.sources) == files
    for array, source in zip(found, found.sources, strict=True):
        np.testing.assert_array_equal(np.asarray(array), arrays[files.index(source.name)])


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions(tmp_path, version):
    file = io.BytesIO()
    array = numbers((3, 4))
    np.lib.format.write_array(file, array, version=version)
    np.testing.assert_array_equal(read(save(tmp_path, [file.getvalue()]))[0], array)


def npy(header, data=bytes(24), version=1):
    length = len(header).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data


GOOD = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }"


@pytest.mark.parametrize(
    "header",
    [
        GOOD,
        "{'shape':(2,3),'descr':\"i4\",'fortran_order':False}",
        "{ 'shape' : ( 2L , 3L , ) , 'fortran_order' : False , 'descr' : '=i4' }  \n",
        GOOD + " " * 5000 + "\n",
    ],
)
def test_unusual_headers(tmp_path, header):
    (found,) = read(save(tmp_path, [npy(header, np.arange(6, dtype="<i4").tobytes())]))
    np.testing.assert_array_equal(found, np.arange(6).reshape(2, 3))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "without its magic number"),
        (b"\x93NUMPY", "without its magic number"),
        (b"not an array at all", "without its magic number"),
        (b"\x93NUMPY\x04\x00" + bytes(100), "version 1.0, 2.0 or 3.0, got 4.0"),
        (b"\x93NUMPY\x02\x00" + b"\xff" * 100, "damaged"),
        (npy(GOOD)[:40], "damaged"),
        (npy(GOOD)[:-1], "only 23 bytes of data"),
        (npy(GOOD.replace("2, 3", "1000000000, 1000000000")), "only 24 bytes"),
        (npy(GOOD.replace("2, 3", "9223372036854775807, 3")), "only 24 bytes"),
        (npy(GOOD.replace("2, 3", "99999999999999999999")), "extent"),
        (npy(GOOD.replace("2, 3", "4611686018427387904, 4, 0")), "too large"),
        (npy(GOOD.replace("2, 3", "2, -3")), "extent"),
        (npy(GOOD.replace("2, 3", "1, " * 17)), "16 axes"),
        (npy(GOOD.replace("(2, 3)", "6")), "damaged"),
        (npy(GOOD.replace("False", "Maybe")), "True or False"),
        (npy(GOOD.replace("'<i4'", "'<c8'")), "'<c8'"),
        (npy(GOOD.replace("'<i4'", "'|O'")), "'|O'"),
        (npy(GOOD.replace("'<i4'", "[('a', '<i4')]")), "structures"),
        (npy(GOOD.replace("'descr'", "'other'")), "unknown key 'other'"),
        (npy("{'descr': '<i4"), "ends within a text"),
        (npy("{'shape': (2,)}"), "expected the keys"),
        (npy("{}"), "expected the keys"),
        (npy(""), "damaged"),
    ],
)
def test_bad_files(tmp_path, content, problem):
    good = numbers((2, 3))
    files = save(tmp_path, [good, content])
    with pytest.raises(RuntimeError, match=r"sample 1 \(.*001\.npy\): ") as error:
        read(files)
    assert problem in str(error.value)
    with pytest.raises(RuntimeError, match=r"001\.npy"):
        read(files[1:])


def test_every_cut_is_noticed(tmp_path):
    whole = npy(GOOD)
    for length in range(len(whole)):
        with pytest.raises(RuntimeError, match=r"000\.npy"):
            read(save(tmp_path, [whole[:length]]))


def test_a_bad_first_file_does_not_spoil_the_others(tmp_path):
    arrays = [numbers((2, 3), seed=i) for i in range(3)]
    files = save(tmp_path, [b"bad", *arrays])
    reader = avida.readers.Numpy(files=files)
    batches = [batch for (batch,) in reader.next_epoch(batch_size=2)]
    with pytest.raises(RuntimeError, match=r"000\.npy"):
        batches[0].evaluate()
    np.testing.assert_array_equal(np.asarray(batches[1].tensors[1]), arrays[2])


@pytest.mark.parametrize("other", [numbers((2, 3), "f4"), numbers(6)])
def test_files_that_differ_in_type_or_rank(tmp_path, other):
    with pytest.raises(RuntimeError, match=r"sample 1 \(.*001\.npy\): expected int32 with 2 axes as in .*000\.npy"):
        read(save(tmp_path, [numbers((2, 3)), other]))


REGIONS = [
    ({"roi_start": [1, 2, 1]}, np.s_[1:, 2:, 1:]),
    ({"roi_end": [3, 4, 5]}, np.s_[:3, :4, :5]),
    ({"roi_shape": [3, 4, 5]}, np.s_[:3, :4, :5]),
    ({"roi_start": [1, 2, 3], "roi_shape": [2, 2, 2]}, np.s_[1:3, 2:4, 3:5]),
    ({"roi_start": 1, "roi_end": 3}, np.s_[1:3, 1:3, 1:3]),
    ({"roi_start": [2], "roi_shape": [3], "roi_axes": [1]}, np.s_[:, 2:5]),
    ({"roi_start": [3, 1], "roi_shape": [2, 4], "roi_axes": [-1, 0]}, np.s_[1:5, :, 3:5]),
    ({"rel_roi_start": [0.5, 0, 0.25], "rel_roi_end": [1, 0.5, 0.75]}, np.s_[3:, :4, 3:8]),
    ({"rel_roi_start": [0.5], "roi_shape": [2], "roi_axes": [0]}, np.s_[3:5]),
    ({"roi_start": np.array([1, 2, 3])}, np.s_[1:, 2:, 3:]),
    ({"roi_start": [6, 0, 0]}, np.s_[6:]),
    ({"roi_axes": [0]}, np.s_[:]),
]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("region", "index"), REGIONS)
def test_regions(tmp_path, region, index, order):
    array = np.asarray(numbers((6, 8, 10)), order=order)
    (found,) = read(save(tmp_path, [array]), **region)
    np.testing.assert_array_equal(found, array[index])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(20, 3000, 7), (5, 50, 4000), (64, 64, 64), (3, 200_000)])
def test_regions_of_large_arrays(tmp_path, shape, order):
    """Rows far apart are read one by one, others with the gaps between them."""
    random = np.random.default_rng(0)
    array = np.asarray(random.integers(0, 2**31, shape, np.int32), order=order)
    (file,) = save(tmp_path, [array])
    for _ in range(8):
        start = [int(random.integers(0, extent)) for extent in shape]
        end = [int(random.integers(a, extent + 1)) for a, extent in zip(start, shape, strict=True)]
        (found,) = read([file], roi_start=start, roi_end=end)
        np.testing.assert_array_equal(found, array[tuple(map(slice, start, end))])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("dtype", "fill", "filled"),
    [("u1", 300.7, 255), ("i1", -1.5, -2), ("i4", 7.5, 8), ("f4", 0.25, 0.25), ("?", 3, True), (">i2", 5, 5)],
)
def test_padding(tmp_path, dtype, fill, filled, order):
    array = np.asarray(numbers((3, 4), dtype), order=order)
    region = {"roi_start": [-1, 2], "roi_shape": [5, 4], "fill_value": fill}
    (found,) = read(save(tmp_path, [array]), out_of_bounds_policy="pad", **region)
    expected = np.pad(array[:, 2:], [(1, 1), (0, 2)], constant_values=np.asarray(filled, dtype))
    np.testing.assert_array_equal(found, expected)


def test_trimming(tmp_path):
    array = numbers((3, 4))
    files = save(tmp_path, [array])
    (found,) = read(files, out_of_bounds_policy="trim_to_shape", roi_start=[-1, 2], roi_shape=[5, 4])
    np.testing.assert_array_equal(found, array[:, 2:])
    assert read(files, out_of_bounds_policy="trim_to_shape", roi_start=9, roi_shape=2)[0].shape == (0, 0)
    (found,) = read(files, out_of_bounds_policy="pad", roi_start=9, roi_shape=2, fill_value=6)
    np.testing.assert_array_equal(found, np.full((2, 2), 6))


def test_a_region_beyond_the_array(tmp_path):
    with pytest.raises(RuntimeError, match=r"000\.npy\): .*beyond"):
        read(save(tmp_path, [numbers((3, 4))]), roi_start=[1, 1], roi_shape=[3, 1])


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"roi_start": [1], "rel_roi_start": [0.5]}, RuntimeError),
        ({"roi_end": [1], "roi_shape": [1]}, RuntimeError),
        ({"rel_roi_end": [1], "roi_end": [1]}, RuntimeError),
        ({"roi_start": [1], "out_of_bounds_policy": "edge"}, RuntimeError),
        ({"roi_start": [1, 1, 1]}, RuntimeError),
        ({"roi_start": [1], "roi_axes": [2]}, RuntimeError),
        ({"roi_start": [1, 1], "roi_axes": [1, -1]}, RuntimeError),
        ({"roi_start": [3, 0], "roi_end": [2, 4]}, RuntimeError),
        ({"roi_shape": [-1, 2]}, RuntimeError),
        ({"roi_start": avida.batch([[1, 2]])}, ValueError),
    ],
)
def test_bad_regions(tmp_path, arguments, kind):
    with pytest.raises(kind):
        read(save(tmp_path, [numbers((3, 4))]), **arguments)


def test_files_are_found(tmp_path):
    names = "b.npy a.npy c.NPY .hidden.npy x.txt sub/2.npy sub/1.npy sub/deep/3.npy"
    for name in names.split():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with open(tmp_path / name, "wb") as file:
            np.save(file, np.zeros(2))

    def found(**arguments):
        reader = avida.readers.Numpy(**arguments)
        return [item.source.name.removeprefix(f"{tmp_path}/") for (item,) in reader.next_epoch()]

    assert found(file_root=tmp_path) == [".hidden.npy", "a.npy", "b.npy", "sub/1.npy", "sub/2.npy"]
    assert found(file_root=tmp_path, file_filter="?.NPY") == ["c.NPY"]
    assert found(file_root=tmp_path, files=["sub/2.npy", "a.npy"]) == ["sub/2.npy", "a.npy"]
    (tmp_path / "list.txt").write_text("b.npy\n\nsub/1.npy\r\n")
    assert found(file_list=tmp_path / "list.txt") == ["b.npy", "sub/1.npy"]
    with pytest.raises(RuntimeError, match=r"no files found.*\*\.none"):
        found(file_root=tmp_path, file_filter="*.none")
    with pytest.raises(RuntimeError, match="file_root, file_list or files"):
        found()


def test_many_files_in_a_batch(tmp_path):
    """More than are held open at a time."""
    arrays = [numbers((40, 60), seed=i) for i in range(600)]
    for found, array in zip(read(save(tmp_path, arrays)), arrays, strict=True):
        np.testing.assert_array_equal(found, array)


def test_a_file_that_shrinks(tmp_path):
    files = save(tmp_path, [numbers((100, 100), seed=i) for i in range(4)])
    reader = avida.readers.Numpy(files=files)
    (tmp_path / "002.npy").write_bytes(b"")
    (tmp_path / "003.npy").unlink()
    batches = [batch for (batch,) in reader.next_epoch(batch_size=1)]
    for batch, name in zip(batches[2:], ["002.npy", "003.npy"], strict=True):
        with pytest.raises(RuntimeError, match=name):
            batch.evaluate()


def test_names_that_lead_outside(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(2))
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "list").write_text("../a.npy\n")
    options = {"file_list": tmp_path / "root" / "list"}
    assert len(avida.readers.Numpy(**options)) == 1
    with pytest.raises(RuntimeError, match=r"Numpy: .*list: expected the names of files within .*root/, got .*a\.npy"):
        avida.readers.Numpy(**options, confine=True)
