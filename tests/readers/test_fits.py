"""experimental.readers.Fits: images that astropy writes, and files that are damaged."""

import gzip

import numpy as np
import pytest
from astropy.io import fits

import avida

TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]
IMAGE = np.arange(60).reshape(3, 4, 5)


def write(path, *images):
    """A primary unit without data, and an extension for each image."""
    units = [
        image if isinstance(image, fits.ImageHDU | fits.CompImageHDU) else fits.ImageHDU(image) for image in images
    ]
    fits.HDUList([fits.PrimaryHDU(), *units]).writeto(path)
    return str(path)


def read(*files, **arguments):
    """For each output the arrays of all files."""
    reader = avida.experimental.readers.Fits(files=files, **arguments)
    (outputs,) = reader.next_epoch(batch_size=len(files))
    return [[np.asarray(array) for array in output] for output in outputs]


@pytest.mark.parametrize("dtype", TYPES)
def test_types(tmp_path, dtype):
    info = np.iinfo(dtype) if dtype[0] != "f" else np.finfo(dtype)
    image = np.array([[info.min, 1, 2], [3, 4, info.max]], dtype)
    ((found,),) = read(write(tmp_path / "a.fits", image))
    assert found.dtype == image.dtype
    np.testing.assert_array_equal(found, image)


@pytest.mark.parametrize("shape", [(1,), (7,), (2, 3), (3, 4, 5), (2, 3, 4, 5), (1000, 700)])
def test_shapes(tmp_path, shape):
    image = np.random.default_rng(0).integers(0, 1000, shape).astype("i2")
    ((found,),) = read(write(tmp_path / "a.fits", image))
    np.testing.assert_array_equal(found, image)


def test_several_units(tmp_path):
    files = [
        write(tmp_path / f"{i}.fits", IMAGE[:, :, 0].astype("i2") + i, IMAGE[0].astype("f4") * i) for i in range(5)
    ]
    for order in [[2, 3], [3, 2], [3], [2, 2]]:
        outputs = read(*files, hdu_indices=order)
        assert len(outputs) == len(order)
        for output, unit in zip(outputs, order, strict=True):
            for found, file in zip(output, files, strict=True):
                np.testing.assert_array_equal(found, fits.getdata(file, unit - 1))


def test_primary_image(tmp_path):
    fits.PrimaryHDU(IMAGE.astype("u1")).writeto(tmp_path / "a.fits")
    ((found,),) = read(tmp_path / "a.fits", hdu_indices=1)
    np.testing.assert_array_equal(found, IMAGE)


def test_ragged_batches(tmp_path):
    images = [np.full((2 + i % 3, 3 + i), i, "i4") for i in range(100)]
    files = [write(tmp_path / f"{i:03}.fits", image) for i, image in enumerate(images)]
    (output,) = read(*files)
    for found, image in zip(output, images, strict=True):
        np.testing.assert_array_equal(found, image)
    reader = avida.experimental.readers.Fits(file_root=tmp_path, pad_last_batch=True)
    *_, (last,) = reader.next_epoch(batch_size=64)
    assert [source.name for source in last.sources] == files[64:] + files[-1:] * 28


def test_scaled_numbers(tmp_path):
    unit = fits.ImageHDU(np.array([[0.0, 0.5], [1.0, 99.5]]))
    unit.scale("int16", bscale=0.5, bzero=10)
    file = write(tmp_path / "a.fits", unit)
    for arguments in [{}, {"dtypes": avida.float32}, {"dtypes": [avida.float64]}]:
        ((found,),) = read(file, **arguments)
        np.testing.assert_array_equal(found, [[0, 0.5], [1, 99.5]])


def test_asked_types(tmp_path):
    file = write(tmp_path / "a.fits", np.array([1, 2, 300], "i4"))
    for dtype in TYPES[2:]:
        ((found,),) = read(file, dtypes=avida.dtype(np.dtype(dtype)))
        assert found.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(found, [1, 2, 300])
    with pytest.raises(RuntimeError, match=r"a\.fits\): HDU 2 has numbers outside of the range of uint8"):
        read(file, dtypes=[avida.uint8])
    with pytest.raises(RuntimeError, match="float16"):
        read(file, dtypes=[avida.float16])


METHODS = ["RICE_1", "GZIP_1", "GZIP_2", "NOCOMPRESS"]
TILES = [None, (1, 90), (16, 16), (70, 90), (13, 7), (1, 1)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "u4", "i4"])
def test_compressed_tiles(tmp_path, method, dtype):
    info = np.iinfo(dtype)
    random = np.random.default_rng(0)
    image = random.integers(0, 200, (70, 90)).astype(dtype)
    image[20:30] = 7
    image[40:50] = random.integers(info.min, info.max, (10, 90), dtype, endpoint=True)
    for i, tile in enumerate(TILES):
        unit = fits.CompImageHDU(image, compression_type=method, tile_shape=tile)
        ((found,),) = read(write(tmp_path / f"{i}.fits", unit))
        assert found.dtype == image.dtype
        np.testing.assert_array_equal(found, image)


@pytest.mark.parametrize("tile", [(3, 4, 5), (1, 4, 5), (2, 3, 5), (2, 2, 2), (1, 1, 3)])
def test_compressed_tiles_with_three_axes(tmp_path, tile):
    unit = fits.CompImageHDU(IMAGE.astype("i2"), compression_type="GZIP_1", tile_shape=tile)
    ((found,),) = read(write(tmp_path / "a.fits", unit))
    np.testing.assert_array_equal(found, IMAGE)


@pytest.mark.parametrize("method", ["PLIO_1", "HCOMPRESS_1"])
def test_compressions_that_are_not_supported(tmp_path, method):
    unit = fits.CompImageHDU(np.ones((64, 64), "i2"), compression_type=method)
    with pytest.raises(RuntimeError, match=rf"a\.fits: the compression {method} is not supported"):
        read(write(tmp_path / "a.fits", unit))


@pytest.mark.parametrize("method", METHODS[:3])
@pytest.mark.parametrize("dither", [-1, 1, 2])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_compressed_floats_are_those_of_astropy(tmp_path, method, dither, dtype):
    image = np.random.default_rng(0).normal(size=(150, 150)).astype(dtype)
    image[3:5, :40] = 0
    image[7, 9] = np.nan
    image[60] = 1.5  # a row that cannot be quantized: packed as it is
    for i, tile in enumerate([(1, 150), (150, 150), (40, 30)]):
        unit = fits.CompImageHDU(
            image, compression_type=method, tile_shape=tile, quantize_method=dither, dither_seed=9990 + i
        )
        file = write(tmp_path / f"{i}.fits", unit)
        ((found,),) = read(file)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, fits.getdata(file, 1))


@pytest.mark.parametrize("method", ["GZIP_1", "GZIP_2"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_floats_without_loss(tmp_path, method, dtype):
    image = np.random.default_rng(0).normal(size=(64, 64)).astype(dtype)
    unit = fits.CompImageHDU(image, compression_type=method, quantize_level=0)
    ((found,),) = read(write(tmp_path / "a.fits", unit))
    np.testing.assert_array_equal(found, image)


def test_zipped_files(tmp_path):
    file = write(tmp_path / "a.fits", np.zeros((500, 500), "i2"))
    (tmp_path / "b.fits").write_bytes(gzip.compress((tmp_path / "a.fits").read_bytes()))
    ((found,),) = read(tmp_path / "b.fits")
    np.testing.assert_array_equal(found, fits.getdata(file, 1))


def test_zipped_files_that_are_damaged(tmp_path):
    random = np.random.default_rng(0).integers(0, 1000, (300, 300)).astype("i2")
    with open(write(tmp_path / "a.fits", random, random), "rb") as file:
        packed = gzip.compress(file.read())
    for content in [packed[:100], packed[:9000], packed[:9000] + bytes(100) + packed[9100:]]:
        (tmp_path / "b.fits").write_bytes(content)
        with pytest.raises(RuntimeError, match=r"b\.fits.*: "):
            read(tmp_path / "b.fits", hdu_indices=[2, 3])


def test_names_are_only_names(tmp_path):
    """Some software takes what is in brackets for a selection."""
    write(tmp_path / "a.fits[1]", IMAGE.astype("i2"))
    ((found,),) = read(tmp_path / "a.fits[1]")
    np.testing.assert_array_equal(found, IMAGE)


def test_tables_are_refused(tmp_path):
    table = fits.BinTableHDU.from_columns([fits.Column("x", "J", array=np.arange(3))])
    fits.HDUList([fits.PrimaryHDU(), table]).writeto(tmp_path / "a.fits")
    with pytest.raises(RuntimeError, match=r"a\.fits: expected an image in HDU 2, got a table"):
        read(tmp_path / "a.fits")


@pytest.mark.parametrize(
    ("stored", "scale", "zero", "expected"),
    [
        ("u1", 1, -128, "i1"),
        ("u1", 1, 100, "i2"),
        ("u1", 2, 40000, "u2"),
        ("i2", -1, 0, "i4"),
        ("i2", 0.5, 0, "f4"),
        ("i4", 1, 2**31, "u4"),
        ("i4", 2, 0, "f8"),
        ("i4", 0.5, 0, "f8"),
        ("i8", 0.5, 0, "f8"),
        ("f4", 2, 1, "f4"),
    ],
)
def test_the_type_has_all_scaled_numbers(tmp_path, stored, scale, zero, expected):
    numbers = np.array([1, 2, 100], stored)
    file = write(tmp_path / "a.fits", numbers)
    with fits.open(file, mode="update", do_not_scale_image_data=True) as units:
        units[1].header["BSCALE"], units[1].header["BZERO"] = scale, zero  # pyright: ignore[reportAttributeAccessIssue]
    ((found,),) = read(file)
    assert found.dtype == expected
    np.testing.assert_array_equal(found, numbers.astype("f8") * scale + zero)


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"hdu_indices": [1]}, RuntimeError),
        ({"hdu_indices": [0]}, RuntimeError),
        ({"hdu_indices": [3]}, RuntimeError),
        ({"hdu_indices": []}, IndexError),
        ({"hdu_indices": [2, 2], "dtypes": [avida.float32]}, RuntimeError),
    ],
)
def test_bad_arguments(tmp_path, arguments, kind):
    with pytest.raises(kind):
        read(write(tmp_path / "a.fits", IMAGE.astype("i2")), **arguments)


@pytest.mark.parametrize("other", [IMAGE.astype("i4"), IMAGE[0].astype("i2")])
def test_files_that_differ(tmp_path, other):
    files = write(tmp_path / "a.fits", IMAGE.astype("i2")), write(tmp_path / "b.fits", other)
    with pytest.raises(RuntimeError, match=r"b\.fits\): expected int16 with 3 axes as in .*a\.fits"):
        read(*files)


def damaged(good):
    """(name, bytes) of files that are not what they say."""
    yield "empty", b""
    yield "garbage", b"no image " * 1000
    yield "no extension", good[:3000]
    yield "no data", good[:5760]
    yield "half the data", good[:7000]
    yield "huge", good.replace(b"NAXIS1  =                  700", b"NAXIS1  =         700000000000")
    yield "larger", good.replace(b"NAXIS1  =                  700", b"NAXIS1  =              7000000")
    yield "negative", good.replace(b"NAXIS1  =                  700", b"NAXIS1  =                 -700")


@pytest.mark.parametrize("case", range(8))
def test_damaged_files(tmp_path, case):
    good = write(tmp_path / "good.fits", np.ones((10, 700), "i2"))
    with open(good, "rb") as file:
        _, content = list(damaged(file.read()))[case]
    (tmp_path / "bad.fits").write_bytes(content)
    with pytest.raises(RuntimeError, match=r"sample 1 \(.*bad\.fits\): "):
        read(good, tmp_path / "bad.fits")
    with pytest.raises(RuntimeError, match=r"bad\.fits"):
        read(tmp_path / "bad.fits")
    with pytest.raises(RuntimeError, match=r"sample 1 \(.*missing\.fits\): "):
        read(good, tmp_path / "missing.fits")


@pytest.mark.parametrize("value", [b"0", b"-1", b"F", b"1.5", b"", b"99999999999"])
@pytest.mark.parametrize("name", [b"ZTILE1  ", b"ZTILE2  ", b"ZNAXIS2 ", b"ZVAL1   "])
def test_tiles_without_extent(tmp_path, name, value):
    file = write(tmp_path / "a.fits", fits.CompImageHDU(np.zeros((64, 64), "i2")))
    with open(file, "rb") as content:
        good = content.read()
    place = good.index(name) + 10
    (tmp_path / "b.fits").write_bytes(good[:place] + value.rjust(20) + good[place + 20 :])
    with pytest.raises(RuntimeError, match=r"b\.fits: expected a number of 1 or more"):
        read(tmp_path / "b.fits")


@pytest.mark.parametrize("method", METHODS[:3])
def test_damaged_tiles(tmp_path, method):
    """Whatever a byte is replaced by, reading ends with an image or an error."""
    random = np.random.default_rng(0)
    image = random.normal(size=(32, 32)).astype("f4")
    with open(write(tmp_path / "a.fits", fits.CompImageHDU(image, compression_type=method)), "rb") as file:
        good = np.frombuffer(file.read(), "u1")
    data = good.size - 2880 * 2
    errors = 0
    for _ in range(100):
        bad = good.copy()
        bad[random.integers(data, good.size, 3)] = random.integers(0, 256, 3)
        (tmp_path / "b.fits").write_bytes(bad.tobytes())
        try:
            read(tmp_path / "b.fits")
        except RuntimeError:
            errors += 1
    assert errors > 5


def test_compressed_headers_are_not_believed(tmp_path):
    file = write(tmp_path / "a.fits", fits.CompImageHDU(np.zeros((64, 64), "i2")))
    with open(file, "rb") as content:
        huge = content.read()
    for name in (b"ZNAXIS1 ", b"ZTILE1  "):
        huge = huge.replace(name + b"=                   64", name + b"=           2000000000")
    (tmp_path / "b.fits").write_bytes(huge)
    with pytest.raises(RuntimeError, match="more elements than the file can hold"):
        read(tmp_path / "b.fits")


def test_an_image_without_groups(tmp_path):
    """The size of the data follows from the number of groups: a file without any has no data."""
    with open(write(tmp_path / "a.fits", IMAGE.astype("i2")), "r+b") as file:
        content = file.read()
        content = content.replace(b"GCOUNT  =                    1", b"GCOUNT  =                    0")
        content = content.replace(b"NAXIS3  =                    3", b"NAXIS3  =           2147483648")
        file.seek(0)
        file.write(content)
    with pytest.raises(RuntimeError, match=r"expected an image of shape \(2147483648, 4, 5\) in HDU 2, got 0 bytes"):
        read(str(tmp_path / "a.fits"))
