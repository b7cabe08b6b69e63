"""Video on the CPU: both libraries on the same files, in the codecs that both decode."""

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.codecs.videos import encoded, rotated

CODECS = {
    "vp9.webm": ("libvpx-vp9", "webm", "yuv420p"),
    "vp9.mp4": ("libvpx-vp9", "mp4", "yuv420p"),
    "vp9_444.webm": ("libvpx-vp9", "webm", "yuv444p"),
    "vp9_422.webm": ("libvpx-vp9", "webm", "yuv422p"),
    "vp9_rgb.webm": ("libvpx-vp9", "webm", "gbrp"),
    "vp8.webm": ("libvpx", "webm", "yuv420p"),
    "mjpeg.avi": ("mjpeg", "avi", "yuvj420p"),
    "mjpeg_444.mov": ("mjpeg", "mov", "yuvj444p"),
}
NEAR = 2  # of 255


def same(ours, theirs, near=0):
    ours, theirs = (np.asarray(value) for value in (ours, theirs))
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    if near:
        assert ours.size == 0 or np.abs(ours.astype(int) - theirs).max() <= near
    else:
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("size", [(48, 64), (47, 63)])
def test_pixels(name, size):
    codec, container, pixels = CODECS[name]
    file = encoded(codec, container, frames=12, pixels=pixels, size=size)
    same(avida.decoders.video(file), dali.decoders.video(file), NEAR)


@pytest.mark.parametrize("colorspace", [1, 5, 9])
@pytest.mark.parametrize("color_range", [1, 2])
def test_matrix_and_range(colorspace, color_range):
    file = encoded(frames=3, colorspace=colorspace, color_range=color_range)
    same(avida.decoders.video(file), dali.decoders.video(file), NEAR)


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_neither_applies_rotation(degrees, tmp_path):
    file = rotated(encoded(container="mp4"), degrees)
    same(avida.decoders.video(file), dali.decoders.video(file), NEAR)
    file.tofile(tmp_path / "a.mp4")
    compare_readers(filenames=[str(tmp_path / "a.mp4")], sequence_length=5)


@pytest.mark.parametrize(
    "arguments",
    [
        {"start_frame": 5},
        {"start_frame": 5, "end_frame": 9},
        {"start_frame": 5, "stride": 3},
        {"start_frame": 15, "end_frame": 25},
        {"start_frame": -1},
        {"sequence_length": 4},
        {"sequence_length": 0},
        {"sequence_length": 4, "stride": 3, "start_frame": 15},
        {"sequence_length": 21, "fill_value": [10, 20, 30]},
        {"frames": [3, 1, 1, 19]},
        {"frames": [3, 25], "fill_value": 200},
        {"frames": [-1]},
        {"frames": 3},
        {"build_index": False, "start_frame": 12},
    ],
)
def test_frames(arguments):
    file = encoded()
    same(avida.decoders.video(file, **arguments), dali.decoders.video(file, **arguments), NEAR)


@pytest.mark.parametrize("mode", ["none", "constant", "edge", "repeat", "reflect_1001", "symmetric", "reflect_101"])
@pytest.mark.parametrize(
    "arguments", [{"sequence_length": 16}, {"sequence_length": 40, "stride": 2}, {"end_frame": 25}]
)
def test_padding(mode, arguments):
    """The real library's imperative API does not take the name of a mode, its graphs do."""
    from nvidia.dali import fn, pipeline_def

    file = encoded()

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def graph():
        return fn.decoders.video(
            fn.external_source(source=lambda: [file], batch=True), start_frame=15, pad_mode=mode, **arguments
        )

    pipeline = graph()
    pipeline.build()
    (output,) = pipeline.run()
    theirs = np.asarray(output[0])
    same(avida.decoders.video(file, start_frame=15, pad_mode=mode, **arguments), theirs, NEAR)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("videos")
    for name, frames in {"x/b.webm": 7, "x/a.webm": 20, "y/c.webm": 10}.items():
        (root / name).parent.mkdir(exist_ok=True)
        encoded(frames=frames).tofile(root / name)
    encoded(container="matroska", frames=8, times=[0, 1, 4, 5, 9, 11, 20, 21]).tofile(root / "variable.mkv")
    encoded(container="matroska", frames=8, times=list(range(100, 108))).tofile(root / "late.mkv")
    return root


def clips_of(lib, arguments):
    reader = lib.experimental.readers.Video(**arguments)
    found = [tuple(batch.tensors[0] for batch in batches) for batches in reader.next_epoch(batch_size=1)]
    assert len(found) == reader.get_metadata()["epoch_size"]
    return found


def compare_readers(**arguments):
    ours, theirs = clips_of(avida, arguments), clips_of(dali, arguments)
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert len(mine) == len(other)
        same(mine[0], other[0], NEAR)
        for left, right in zip(mine[1:], other[1:], strict=True):
            same(left, right)


NUMBERS = {"enable_frame_num": "sequence", "enable_timestamps": True}


@pytest.mark.parametrize(
    "arguments",
    [
        {"sequence_length": 5},
        {"sequence_length": 6, "labels": [7]},
        {"sequence_length": 6, "step": 3, "enable_frame_num": "scalar"},
        {"sequence_length": 6, "step": 0},
        {"sequence_length": 4, "stride": 3},
        {"sequence_length": 4, "stride": 2, "step": 1, "pad_mode": "edge"},
        {"sequence_length": 4, "stride": 5, "step": 3, "pad_mode": "constant", "fill_value": [1, 2, 3]},
        {"sequence_length": 4, "stride": 5, "step": 3},
        {"sequence_length": 3, "stride": 4, "step": 30, "pad_mode": "edge"},
        {"sequence_length": 30, "pad_mode": "constant"},
        {"sequence_length": 5, "uniform_sample": True},
        {"sequence_length": 33, "uniform_sample": True},
        {"sequence_length": 1, "uniform_sample": True},
        *({"sequence_length": 8, "pad_mode": mode} for mode in ("constant", "edge", "reflect_1001", "reflect_101")),
    ],
)
def test_clips(folder, arguments):
    compare_readers(filenames=[str(folder / "x/a.webm")], **NUMBERS | arguments)


def test_folders(folder):
    compare_readers(file_root=str(folder), sequence_length=5, **NUMBERS)


@pytest.mark.parametrize("name", ["variable.mkv", "late.mkv"])
def test_times(folder, name):
    compare_readers(filenames=[str(folder / name)], sequence_length=3, **NUMBERS)


@pytest.mark.parametrize("rounding", ["start_down_end_up", "start_up_end_down", "all_up", "all_down"])
@pytest.mark.parametrize("part", ["0.21 0.31", "0.2 0.4", "0 0.75", "-1 0.2", ""])
def test_parts_in_seconds(folder, rounding, part):
    (folder / "list.txt").write_text(f"{folder}/x/a.webm 3 {part}\n{folder}/y/c.webm 4 0 0.2\n")
    compare_readers(file_list=str(folder / "list.txt"), file_list_rounding=rounding, sequence_length=1, **NUMBERS)


@pytest.mark.parametrize("part", ["5 7", "5.3 7.6", "-4 -1", "3 -15", "-3 25"])
@pytest.mark.parametrize("mode", ["none", "edge", "constant"])
def test_parts_in_frames(folder, part, mode):
    (folder / "list.txt").write_text(f"{folder}/x/a.webm 3 {part}\n")
    for length in (1, 2):
        compare_readers(
            file_list=str(folder / "list.txt"),
            file_list_format="frames",
            pad_mode=mode,
            sequence_length=length,
            **NUMBERS,
        )
