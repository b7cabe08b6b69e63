"""Decoders of images: which part, which colours, what happens to bad files. The formats have tests of their own."""

import io
import os
import pathlib

import numpy as np
import pytest
from PIL import Image

import avida as ndd
from tests.codecs import samples
from tests.op_case import RANDOM_INPUTS, op_case

PNGS = [[samples.encoded(samples.picture(h, w), "PNG")] for h, w in ((24, 30), (17, 41), (9, 9))]
RANDOM_INPUTS["decoders.image_random_crop"] = lambda: [ndd.as_batch([png for (png,) in PNGS] * 5)]


def pixels(file, output_type=0):
    rgb = np.asarray(Image.open(io.BytesIO(file.tobytes())))
    return rgb[..., ::-1] if output_type == 1 else rgb


@op_case("decoders.image", inputs=PNGS, output_type=[0, 1, 4], on_error=["raise", "placeholder"])
def image(file, output_type, on_error):
    return pixels(file, output_type)


@op_case("decoders.image_crop", inputs=PNGS, crop=[[5, 7], [9, 3]], crop_pos_x=[0, 1.0], output_type=[0, 1])
def image_crop(file, crop, crop_pos_x, output_type):
    whole = pixels(file, output_type)
    y = int(np.floor((whole.shape[0] - crop[0]) / 2 + 0.5))
    x = int(crop_pos_x * (whole.shape[1] - crop[1]))
    return whole[y : y + crop[0], x : x + crop[1]]


@op_case("decoders.image_slice", inputs=PNGS, start=[[1, 2], [0, 4]], shape=[[3, 4], [5, 1]])
def image_slice(file, start, shape):
    return pixels(file)[start[1] : start[1] + shape[1], start[0] : start[0] + shape[0]]


@op_case("peek_image_shape", inputs=PNGS, image_type=[0, 2, 4])
def peek_image_shape(file, image_type):
    return np.array([*pixels(file).shape[:2], 1 if image_type == 2 else 3])


HERE = pathlib.Path(__file__).parent
PATHS = [[samples.as_bytes(str(path).encode())] for path in sorted(HERE.glob("test_c*.py"))[:3]]


@op_case("io.file.read", inputs=PATHS)
def file_read(path):
    return np.fromfile(path.tobytes().decode(), np.uint8)


def test_files_remember_their_paths(tmp_path):
    good, bad = tmp_path / "good.png", tmp_path / "bad.png"
    good.write_bytes(PNGS[0][0].tobytes())
    bad.write_bytes(b"nothing to see")
    assert [source.name for source in ndd.imread([good, bad], on_error="placeholder").sources] == [str(good), str(bad)]
    with pytest.raises(RuntimeError, match=r"decoders.image: sample 1 \(.*bad\.png\): expected an image"):
        ndd.imread([good, bad]).evaluate()
    with pytest.raises(RuntimeError, match=r"missing.png.*No such file"):
        ndd.imread(tmp_path / "missing.png").evaluate()
    with pytest.raises(RuntimeError, match="got a folder"):
        ndd.imread(tmp_path).evaluate()


def broken_batch():
    """Good at 0, 2 and 5; without a header at 1; broken in the middle at 3, truncated at 4."""
    file = samples.jpeg(samples.picture(90, 70))
    noise = file.copy()
    start = samples.scan_start(file)
    noise[start + 300 : start + 302] = [0xFF, 0xD9]
    return [file, samples.as_bytes(b"text"), file, noise, file[: start + 500], file]


@pytest.mark.parametrize("threads", [1, 4])
def test_placeholders(threads):
    files = broken_batch()
    with ndd.EvalContext(num_threads=threads):
        images = ndd.decoders.image(ndd.as_batch(files), on_error="placeholder").evaluate()
    assert images.shape == [(90, 70, 3), (0, 0, 3), (90, 70, 3), (0, 0, 3), (0, 0, 3), (90, 70, 3)]
    assert [error.sample for error in images.errors] == [1, 3, 4]
    assert "known format" in images.errors[0].message
    assert "Corrupt" in images.errors[1].message
    assert "ends early" in images.errors[2].message
    whole = np.asarray(ndd.decoders.image(files[0]))
    for i in (0, 2, 5):
        np.testing.assert_array_equal(np.asarray(images.tensors[i]), whole)


@pytest.mark.parametrize("threads", [1, 4])
def test_the_first_bad_sample_is_reported(threads):
    files = broken_batch()[2:]
    with ndd.EvalContext(num_threads=threads):
        images = ndd.decoders.image(ndd.as_batch(files))
        with pytest.raises(RuntimeError, match="sample 1: JPEG: Corrupt"):
            images.evaluate()
        assert ndd.decoders.image(ndd.as_batch(files[:1])).shape == [(90, 70, 3)]


@pytest.mark.parametrize("name", ["image_crop", "image_slice", "image_random_crop"])
def test_placeholders_of_all_decoders(name):
    arguments = {"image_crop": {"crop": [40, 30]}, "image_slice": {"start": [1, 2], "shape": [60, 80]}}.get(name, {})
    images = getattr(ndd.decoders, name)(
        ndd.as_batch(broken_batch()), output_type=ndd.types.GRAY, on_error="placeholder", **arguments
    )
    assert {1, 3} <= {error.sample for error in images.errors} <= {1, 3, 4}
    assert images.shape[1] == (0, 0, 1)
    with pytest.raises(ValueError, match="on_error"):
        getattr(ndd.decoders, name)(broken_batch()[0], on_error="ignore", **arguments).evaluate()


def test_drop_failed():
    images = ndd.decoders.image(ndd.as_batch(broken_batch()), on_error="placeholder")
    labels = ndd.batch(list(range(6)))
    kept, kept_labels = ndd.drop_failed(images, labels)
    assert kept.shape == [(90, 70, 3)] * 3
    assert kept.errors == []
    assert [t.item() for t in kept_labels] == [0, 2, 5]
    one = ndd.drop_failed(images)
    assert isinstance(one, ndd.Batch)
    assert one.batch_size == 3
    assert ndd.drop_failed(labels) is labels
    with pytest.raises(ValueError, match="one size"):
        ndd.drop_failed(images, ndd.batch([1]))
    with pytest.raises(TypeError):
        ndd.drop_failed()
    with pytest.raises(TypeError):
        ndd.drop_failed([1, 2])


def test_random_crops_are_parts_of_the_image():
    whole = pixels(PNGS[0][0])
    images = ndd.decoders.image_random_crop(
        ndd.as_batch([PNGS[0][0]] * 40), random_area=[0.2, 0.5], random_aspect_ratio=[0.8, 1.25], rng=ndd.random.RNG(3)
    )
    assert len(set(images.shape)) > 5
    for t in images:
        part = np.asarray(t)
        h, w, _ = part.shape
        assert 0.15 < h * w / whole[..., 0].size < 0.55
        windows = np.lib.stride_tricks.sliding_window_view(whole, part.shape)[..., 0, :, :, :]
        assert (windows == part).all((-1, -2, -3)).any()


def test_the_device_mixed_is_refused():
    with pytest.raises(ValueError, match="pipeline mode"):
        ndd.decoders.image(PNGS[0][0], device="mixed")


def test_wrong_inputs():
    with pytest.raises(RuntimeError, match="uint8"):
        ndd.decoders.image(np.zeros(5, np.float32)).evaluate()
    with pytest.raises(RuntimeError, match=r'"output_type" must be "rgb", .* or "indices", got 7'):
        ndd.decoders.image(PNGS[0][0], output_type=7).evaluate()
    with pytest.raises(ValueError, match="at least one path"):
        ndd.imread([])
    with pytest.raises(TypeError, match="path"):
        ndd.imread([1, 2])


def test_placeholders_pass_through_other_operators():
    images = ndd.decoders.image(ndd.as_batch(broken_batch()), on_error="placeholder")
    failed = [error.sample for error in images.errors]
    assert failed
    small = ndd.random_resized_crop(images, size=[4, 5])
    made = ndd.crop_mirror_normalize(ndd.crop(small, crop=[2, 3]), mean=[1, 2, 3])
    assert [error.sample for error in made.errors] == failed
    for i, shape in enumerate(made.shape):
        assert shape == ((3, 0, 0) if i in failed else (3, 2, 3))
    kept, numbers = ndd.drop_failed(made, ndd.batch([np.int32(i) for i in range(made.batch_size)]))
    assert kept.shape == [(3, 2, 3)] * (made.batch_size - len(failed))
    assert [int(number) for number in numbers] == [i for i in range(made.batch_size) if i not in failed]
    assert made.tensors[failed[0]].error == images.errors[0].message


def test_scalars_of_placeholders_are_zero():
    used = [ndd.tensor(np.full(16, 7, np.int32)) for _ in range(8)]  # blocks with something in them
    images = ndd.decoders.image(ndd.as_batch(broken_batch()), on_error="placeholder")
    del used
    lost = {error.sample for error in images.errors}
    numbers = ndd.reductions.mean(images, axes=[0, 1, 2]) + 1
    assert {i for i, number in enumerate(numbers) if number.item() == 0} == lost


def test_a_smallest_size_below_zero():
    with pytest.raises(RuntimeError, match="reduce_to"):
        ndd.decoders.image(PNGS[0][0], reduce_to=-1).evaluate()


def test_a_named_pipe_makes_nobody_wait(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RuntimeError, match=r"pipe\": expected a regular file"):
        ndd.io.file.read(np.frombuffer(os.fsencode(tmp_path / "pipe"), np.uint8)).evaluate()
