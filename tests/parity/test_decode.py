"""Image decoders: JPEG bit for bit, with every argument; other formats in their conversions."""

import imagecodecs
import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.codecs import samples
from tests.parity.compare import both, cases

RGB, BGR, GRAY, YCBCR, ANY = range(5)
SIZES = [(64, 48), (37, 51), (1, 1), (17, 33), (8, 200)]


def decode(file, **arguments):
    dtype = arguments.pop("dtype", None)

    def run(library):
        chosen = {} if dtype is None else {"dtype": getattr(library, dtype)}
        return library.decoders.image(library.tensor(file), **arguments, **chosen)

    return run


@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("subsampling", samples.SUBSAMPLINGS)
def test_jpeg_is_equal_bit_for_bit(subsampling, progressive):
    for height, width in SIZES:
        file = samples.jpeg(samples.picture(height, width), subsampling, 85, progressive, restart=3 * (width == 51))
        for output_type in (RGB, BGR, GRAY, YCBCR, ANY):
            both(decode(file, output_type=output_type))
        both(decode(file, use_fast_idct=True))
        both(decode(file, jpeg_fancy_upsampling=True))


@pytest.mark.parametrize("quality", [1, 25, 60, 99, 100])
def test_jpeg_qualities(quality):
    both(decode(samples.jpeg(samples.picture(70, 90), quality=quality)))


@pytest.mark.parametrize("output_type", [RGB, BGR, GRAY, YCBCR])
def test_gray_jpeg(output_type):
    both(decode(samples.jpeg(samples.picture(40, 50, 1)[..., 0]), output_type=output_type))


@pytest.mark.parametrize("output_type", [RGB, BGR, GRAY, YCBCR])
def test_cmyk_jpeg(output_type):
    both(decode(samples.encoded(samples.picture(37, 51), "JPEG", "CMYK", quality=90), output_type=output_type))


@pytest.mark.parametrize("adjust", [True, False])
@pytest.mark.parametrize("orientation", range(10))
def test_orientation(orientation, adjust):
    file = samples.with_exif(samples.jpeg(samples.picture(37, 51)), orientation)
    both(decode(file, adjust_orientation=adjust))
    both(lambda library: library.peek_image_shape(library.tensor(file), adjust_orientation=adjust))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32"])
def test_dtype(dtype):
    file = samples.jpeg(samples.picture(37, 51))
    both(decode(file, dtype=dtype))
    both(decode(file, dtype=dtype, output_type=GRAY))
    # The last unit of a wide type depends on how often the other library rounds.
    unit = 1e-6 if dtype == "float32" else max(1, np.iinfo(dtype).max >> 22)
    both(decode(file, dtype=dtype, output_type=YCBCR), atol=0 if dtype == "uint8" else unit)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int64", "uint64", "bool"])
def test_dtypes_that_are_refused(dtype):
    both(decode(samples.jpeg(samples.picture(8, 8)), dtype=dtype), fails=RuntimeError)


def test_batches():
    files = [samples.jpeg(samples.picture(20 + i, 40 - i, seed=i)) for i in range(8)]
    both(lambda library: library.decoders.image(library.batch(files)))
    both(lambda library: library.peek_image_shape(library.batch(files)))
    both(lambda library: library.experimental.decoders.image(library.batch(files), output_type=GRAY))


@pytest.mark.parametrize("cut", [1, 2, 3, 100, 1000])
@pytest.mark.parametrize("progressive", [False, True])
def test_truncated_jpeg(cut, progressive):
    both(decode(samples.jpeg(samples.picture(60, 80), progressive=progressive)[:-cut]), fails=RuntimeError)


def test_bytes_around_an_image():
    file = samples.jpeg(samples.picture(30, 30))
    both(decode(np.concatenate([file, np.arange(100, dtype=np.uint8)])))
    both(decode(np.concatenate([np.zeros(3, np.uint8), file])), fails=RuntimeError)


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"hello, I am no image", b"\xff\xd8\xff", b"\xff\xd8\xff\xe0\0\x10JFIF"]
)
def test_what_is_no_image(data):
    both(decode(samples.as_bytes(data)), fails=RuntimeError)


@pytest.mark.parametrize(
    ("name", "value", "error"), [("output_type", 7, RuntimeError), ("dtype", "nothing", ValueError)]
)
def test_wrong_arguments(name, value, error):
    file = samples.jpeg(samples.picture(8, 8))
    both(lambda library: library.decoders.image(library.tensor(file), **{name: value}), fails=error)


FILES = [samples.jpeg(samples.picture(60, 80)), samples.with_exif(samples.jpeg(samples.picture(50, 70), "422"), 6)]


@pytest.mark.parametrize(
    ("arguments", "fails"),
    cases(
        [
            {"crop": [20, 30]},
            {"crop_h": 21, "crop_w": 33, "crop_pos_x": 0.2, "crop_pos_y": 0.9},
            {"crop": [20.7, 30.2], "crop_pos_x": 0.33, "rounding": "truncate"},
            {"crop": [0, 10]},
            {"crop": [10, 10], "output_type": GRAY},
            {},
        ],
        refused=[
            {"crop": [500, 10]},
            {"crop": [10, 10], "crop_pos_x": 1.5},
            {"crop_h": 20},
        ],
    ),
)
def test_image_crop(arguments, fails):
    both(lambda library: library.decoders.image_crop(library.batch(FILES), **arguments), fails=fails)


@pytest.mark.parametrize(
    ("arguments", "fails"),
    cases(
        [
            {"start": [3, 5], "shape": [20, 30]},
            {"start": [3, 5], "end": [40, 41], "axes": [0, 1]},
            {"rel_start": [0.1, 0.2], "rel_shape": [0.5, 0.25]},
            {"rel_start": [0.1, 0.2], "rel_end": [0.9, 0.7], "axis_names": "HW"},
            {"start": [4], "shape": [7], "axis_names": "H"},
            {"rel_start": [0.1, 0.2], "rel_shape": [0.5, 0.25], "output_type": YCBCR},
        ],
        refused=[
            {"start": [3, 5], "shape": [2000, 30]},
            {"start": [-3, 5], "shape": [20, 30]},
            {"start": [1, 1], "rel_start": [0.1, 0.1]},
        ],
    ),
)
def test_image_slice(arguments, fails):
    both(lambda library: library.decoders.image_slice(library.batch(FILES), **arguments), fails=fails)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_image_slice_by_inputs(dtype):
    anchor = np.array([0.1, 0.3] if dtype == np.float32 else [5, 9], dtype)
    shape = np.array([0.5, 0.6] if dtype == np.float32 else [31, 22], dtype)
    scale = dtype(40 if dtype == np.float32 else 1)
    both(
        lambda library: library.decoders.image_slice(
            library.batch(FILES), library.tensor(anchor), library.tensor(shape)
        )
    )
    both(
        lambda library: library.decoders.image_slice(
            library.batch(FILES), library.tensor(anchor * scale), library.tensor(shape * scale),
            normalized_anchor=False, normalized_shape=False,
        )
    )  # fmt: skip


def test_random_crops_have_the_same_distribution():
    file = samples.jpeg(samples.picture(60, 90), quality=30)

    def shapes(library):
        rng = library.random.RNG(seed=7)
        found = []
        for _ in range(8):
            images = library.decoders.image_random_crop(library.batch([file] * 64), rng=rng)
            found += [np.asarray(images.tensors[i]).shape[:2] for i in range(64)]
        return np.array(found)

    ours, theirs = shapes(avida), shapes(dali)
    for statistic in (lambda s: s.prod(1) / 5400, lambda s: np.log(s[:, 1] / s[:, 0])):
        a, b = np.sort(statistic(ours)), np.sort(statistic(theirs))
        grid = np.concatenate([a, b])
        distance = np.abs(np.searchsorted(a, grid, "right") - np.searchsorted(b, grid, "right")).max() / len(a)
        assert distance < 0.12  # Kolmogorov-Smirnov: passed by equal distributions in 999 of 1000 runs


@pytest.mark.parametrize("image_type", [RGB, GRAY, YCBCR, ANY])
@pytest.mark.parametrize("dtype", ["int64", "uint32", "float32"])
def test_peek(image_type, dtype):
    for file in (FILES[1], samples.jpeg(samples.picture(9, 7, 1)[..., 0])):
        both(
            lambda library, file=file: library.peek_image_shape(
                library.tensor(file), image_type=image_type, dtype=getattr(library, dtype)
            )
        )


def test_files(tmp_path):
    paths = [tmp_path / f"{i}.jpg" for i in range(3)]
    for i, path in enumerate(paths):
        path.write_bytes(samples.jpeg(samples.picture(20 + i, 30)).tobytes())
    as_arrays = [np.frombuffer(str(path).encode(), np.uint8) for path in paths]
    both(lambda library: library.io.file.read(library.tensor(as_arrays[0])))
    both(lambda library: library.io.file.read(library.batch(as_arrays)))
    both(lambda library: library.imread(paths[0]))
    both(lambda library: library.imread(str(paths[0]), output_type=GRAY))
    both(lambda library: library.imread([str(path) for path in paths]))
    both(lambda library: library.imread(paths))
    both(lambda library: library.imread(library.tensor(as_arrays[0])))
    both(lambda library: library.imread(library.batch(as_arrays)))
    both(lambda library: library.imread(str(tmp_path / "missing.jpg")), fails=RuntimeError)
    both(lambda library: library.io.file.read(library.tensor(as_arrays[0].reshape(1, -1))), fails=RuntimeError)
    both(lambda library: library.imread([]), fails=ValueError)


PIXELS = samples.picture(31, 47)


@pytest.mark.parametrize("output_type", [RGB, BGR, GRAY, YCBCR, ANY])
@pytest.mark.parametrize("format", ["PNG", "BMP", "PPM", "TIFF", "WEBP", "JPEG2000"])
def test_other_formats(format, output_type):
    options = {"lossless": True} if format == "WEBP" else {}
    # The other library rounds gray differently in each format.
    both(decode(samples.encoded(PIXELS, format, **options), output_type=output_type), atol=int(output_type == GRAY))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
@pytest.mark.parametrize("output_type", [RGB, GRAY, YCBCR, ANY])
def test_sixteen_bits(dtype, output_type):
    pixels = np.random.default_rng(0).integers(0, 65536, (31, 47, 3), dtype=np.uint16)
    file = samples.as_bytes(imagecodecs.png_encode(pixels))
    tolerance = {"float32": 2e-5, "uint8": 1, "uint16": 2, "int16": 1}[dtype]
    both(decode(file, dtype=dtype, output_type=output_type), atol=tolerance)
