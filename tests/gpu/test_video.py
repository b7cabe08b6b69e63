"""Videos decoded for a GPU have the bits of the CPU, whichever decoder made them."""

import os

import numpy as np
import pytest

import avida as ndd

videos = pytest.importorskip("tests.codecs.videos", reason="PyAV makes the videos")

# Larger than the least size of NVDEC.
LARGE = {
    "h264.mp4": ("libx264", "mp4", "yuv420p", {"preset": "veryfast"}),
    "h264.ts": ("libx264", "mpegts", "yuv420p", {"preset": "veryfast"}),
    "h264_open_gop.mkv": ("libx264", "matroska", "yuv420p", {"x264-params": "open-gop=1:bframes=3"}),
    "h264_intra_refresh.mkv": ("libx264", "matroska", "yuv420p", {"x264-params": "intra-refresh=1"}),
    "hevc.mp4": ("libx265", "mp4", "yuv420p", {"x265-params": "log-level=none"}),
    "hevc_10_bits.mkv": ("libx265", "matroska", "yuv420p10le", {"x265-params": "log-level=none"}),
    "vp8.webm": ("libvpx", "webm", "yuv420p", {"auto-alt-ref": "1", "lag-in-frames": "10"}),
    "vp9.webm": ("libvpx-vp9", "webm", "yuv420p", {}),
}


def large(name: str) -> np.ndarray:
    codec, container, pixels, options = LARGE[name]
    return videos.encoded(codec, container, frames=24, size=(176, 208), pixels=pixels, gop=8, options=options)


def both(file, **arguments):
    on_gpu = ndd.decoders.video(file, device="gpu", **arguments)
    assert on_gpu.device.device_type == "gpu"
    return np.asarray(on_gpu.cpu()), np.asarray(ndd.decoders.video(file, **arguments))


@pytest.mark.parametrize("name", videos.all_videos())
def test_every_format(name):
    file = videos.all_videos()[name]
    np.testing.assert_array_equal(*both(file))
    np.testing.assert_array_equal(*both(file, frames=[len(both(file)[0]) - 1, 0, 0]))


@pytest.mark.parametrize("name", LARGE)
def test_the_engine_decodes(name, is_fake):
    file, before = large(name), ndd._core.testing.nvdec_history()[0]
    np.testing.assert_array_equal(*both(file))
    for first in (0, 3, 8, 17):
        np.testing.assert_array_equal(*both(file, start_frame=first, sequence_length=5, stride=2))
    if not is_fake:
        frames, refusal = ndd._core.testing.nvdec_history()
        assert frames > before, refusal


@pytest.mark.parametrize("name", ["h264.mp4", "hevc_10_bits.mkv"])
def test_pictures_are_converted_together(name, tmp_path):
    """One launch for a clip; where the video engine decodes, for the eight pictures that it lends at a time."""
    (tmp_path / "a").write_bytes(large(name).tobytes())
    before = ndd._core.testing.gpu_launches()
    ndd.decoders.video(large(name), device="gpu").evaluate()
    operator = ndd._core.testing.gpu_launches() - before
    reader = ndd.experimental.readers.Video(filenames=[tmp_path / "a"], sequence_length=24, device="gpu")
    for (clips,) in reader.next_epoch(batch_size=1):
        clips.evaluate()
    assert 1 <= operator <= 3
    assert 1 <= ndd._core.testing.gpu_launches() - before - operator <= 3


@pytest.mark.parametrize("matrix", [("bt601", 5), ("bt709", 1), ("bt2020", 9)])
@pytest.mark.parametrize("color_range", [1, 2])
def test_colors(matrix, color_range):
    for size in ((48, 64), (176, 208)):
        file = videos.encoded(
            "libx264", "mp4", frames=3, size=size, colorspace=matrix[1], color_range=color_range, options=videos.X264
        )
        np.testing.assert_array_equal(*both(file, color_matrix="file"))


@pytest.mark.parametrize("pixels", ["yuv420p", "yuv422p", "yuv440p", "yuv444p"])
@pytest.mark.parametrize("size", [(16, 16), (17, 18), (18, 35), (144, 142)])
def test_sizes(size, pixels):
    np.testing.assert_array_equal(*both(videos.encoded("libvpx-vp9", "webm", frames=2, size=size, pixels=pixels)))


def test_ragged_batch():
    files = [large("h264.mp4"), videos.all_videos()["odd_size.webm"], large("hevc_10_bits.mkv")]
    clips = ndd.decoders.video(ndd.as_batch(files), device="gpu", frames=[5, 23, -3], fill_value=[9, 8, 7])
    for clip, file in zip(clips.tensors, files, strict=True):
        expected = np.asarray(ndd.decoders.video(file, frames=[5, 23, -3], fill_value=[9, 8, 7]))
        np.testing.assert_array_equal(np.asarray(clip.cpu()), expected)


@pytest.mark.parametrize("reader", [ndd.readers.Video, ndd.experimental.readers.Video])
@pytest.mark.parametrize("step", [4, 8, 11])
def test_readers(tmp_path, reader, step):
    names = [*LARGE, "mpeg4.avi"]
    for name in names:
        (tmp_path / name).write_bytes((large(name) if name in LARGE else videos.all_videos()[name]).tobytes())
    paths = [os.fspath(tmp_path / name) for name in names]

    def clips(device):
        arguments = {"skip_vfr_check": True} if reader is ndd.readers.Video else {}
        made = reader(filenames=paths, sequence_length=8, step=step, device=device, **arguments)
        for shuffled in (False, True):
            indices = np.random.default_rng(0).permutation(len(made)) if shuffled else np.arange(len(made))
            for (batch,) in made.next_epoch(batch_size=5, indices=indices.tolist()):
                yield from (np.asarray(clip.cpu()) for clip in batch.tensors)

    for ours, expected in zip(clips("gpu"), clips("cpu"), strict=True):
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("normalized", [False, True])
def test_floats(tmp_path, normalized):
    (tmp_path / "a.mp4").write_bytes(large("h264.mp4").tobytes())
    both_devices = []
    for device in ("cpu", "gpu"):
        reader = ndd.readers.Video(
            filenames=[tmp_path / "a.mp4"],
            sequence_length=7,
            dtype=ndd.float32,
            normalized=normalized,
            pad_sequences=True,
            device=device,
        )
        both_devices.append([np.asarray(clip.cpu()) for (batch,) in reader.next_epoch(batch_size=2) for clip in batch])
    for ours, expected in zip(*both_devices, strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_resized_clips(tmp_path):
    (tmp_path / "a.mp4").write_bytes(large("h264.mp4").tobytes())
    made = []
    for device in ("cpu", "gpu"):
        reader = ndd.readers.VideoResize(
            filenames=[tmp_path / "a.mp4"], sequence_length=6, size=[40, 56], device=device
        )
        made.append(
            np.stack([np.asarray(clip.cpu()) for (batch,) in reader.next_epoch(batch_size=3) for clip in batch])
        )
    assert np.abs(made[0].astype(int) - made[1]).max() <= 1


def test_damaged_videos_name_the_file_and_the_next_works(tmp_path):
    whole = large("h264.mp4")
    broken = whole.copy()
    broken[len(broken) // 2 : len(broken) // 2 + 600] = 255
    for name, file in (("broken.mp4", broken), ("whole.mp4", whole)):
        (tmp_path / name).write_bytes(file.tobytes())
    paths = [tmp_path / "broken.mp4", tmp_path / "whole.mp4"]
    for device in ("cpu", "gpu"):
        reader = ndd.readers.Video(filenames=paths, sequence_length=24, on_error="skip", device=device)
        clips = [np.asarray(clip.cpu()) for (batch,) in reader.next_epoch(batch_size=1) for clip in batch]
        np.testing.assert_array_equal(clips[-1], np.asarray(ndd.decoders.video(whole)))
        assert all("broken.mp4" in error.source for error in reader.errors)


@pytest.mark.parametrize("name", LARGE)
def test_times(name):
    frames, times = ndd.decoders.video(large(name), device="gpu", fps=10.0, start=0.2, save_times=True)
    expected, seconds = ndd.decoders.video(large(name), fps=10.0, start=0.2, save_times=True)
    np.testing.assert_array_equal(np.asarray(frames.cpu()), np.asarray(expected))
    np.testing.assert_array_equal(np.asarray(times.cpu()), np.asarray(seconds))


@pytest.mark.parametrize(
    "arguments", [{"dtype": ndd.uint16}, {"tone_map": True}, {"adjust_orientation": True}], ids=str
)
def test_what_the_cpu_decodes(arguments):
    """It is told as a fallback."""
    with ndd.profile() as profile:
        np.testing.assert_array_equal(*both(large("hevc_10_bits.mkv"), **arguments))
    assert any("dtype, tone_map or adjust_orientation" in str(each) for each in profile.fallbacks)
