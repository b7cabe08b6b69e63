"""decoders.video by seconds: the frames at times, at a rate and between two times; and decoders.video_info."""

import io
from typing import Any

import av
import numpy as np
import pytest

import avida
from tests.codecs.videos import all_videos, decoded, encoded, rotated, times_of

FILMS = ["h264.mp4", "h264_variable_rate.mp4", "h264_edit_list.mp4", "h264.ts", "vp9.webm", "mpeg4_b_frames.avi"]


def frames_and_times(name: str, **arguments) -> tuple[np.ndarray, np.ndarray]:
    frames, times = avida.decoders.video(all_videos()[name], save_times=True, **arguments)
    return np.asarray(frames), np.asarray(times)


def shown(times: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The last frames that have begun."""
    return np.searchsorted(times, at + 1e-9, side="right") - 1


def check(name: str, expected: np.ndarray, **arguments) -> None:
    frames, times = frames_and_times(name, **arguments)
    np.testing.assert_allclose(times, times_of(all_videos()[name])[expected], atol=1e-9)
    np.testing.assert_allclose(frames, decoded(all_videos()[name])[expected], atol=1)


@pytest.mark.parametrize("name", FILMS)
def test_rates(name):
    times = times_of(all_videos()[name])
    duration = avida.decoders.video_info(all_videos()[name], scan=True).duration
    for fps in (3.0, 10.0, 70.0):
        at = np.arange(int(np.ceil(duration * fps - 1e-6))) / fps
        check(name, shown(times, at), fps=fps)
    start, end = times[3] + 0.01, times[-2]
    at = start + np.arange(int(np.ceil((end - start) * 5.0 - 1e-6))) / 5.0
    check(name, np.minimum(shown(times, at), len(times) - 3), fps=5.0, start=start, end=end)


@pytest.mark.parametrize("name", FILMS)
def test_ranges(name):
    """The frame that is shown at the start, and those that begin before the end."""
    times = times_of(all_videos()[name])
    check(name, np.arange(2, 7), start=times[2] + 0.02, end=times[7])
    check(name, np.arange(2, 8), start=times[2], end=times[7] + 0.02)
    check(name, np.arange(len(times)), end=times[-1] + 1000)
    check(name, np.arange(4, len(times), 3), start=times[4], stride=3)
    check(name, np.arange(4, 10, 2), start=times[4], stride=2, sequence_length=3)


@pytest.mark.parametrize("name", FILMS)
@pytest.mark.parametrize("count", [1, 2, 7, 20, 33])
def test_uniform(name, count):
    frames = len(times_of(all_videos()[name]))
    check(name, np.linspace(0, frames - 1, count).round().astype(int), num_frames=count)
    check(name, np.linspace(5, 11, count).round().astype(int), num_frames=count, start_frame=5, end_frame=12)


def test_rate_of_a_number_of_frames():
    """They may go beyond the end, and are padded as others are."""
    frames, times = frames_and_times("h264.mp4", start=0.6, fps=10.0, sequence_length=4, pad_mode="edge")
    np.testing.assert_allclose(times, [0.6, 0.68, 0.76, 0.76])
    assert frames.shape[0] == 4
    _, times = frames_and_times("h264.mp4", times=[0.1, 9.0], pad_mode="constant")
    np.testing.assert_allclose(times, [0.08, -1])


def test_values_for_each_sample():
    files = avida.as_batch([all_videos()["h264.mp4"]] * 2)
    frames, times = avida.decoders.video(files, start=avida.batch([0.0, 0.4]), num_frames=3, save_times=True)
    assert frames.shape == [(3, 48, 64, 3)] * 2
    np.testing.assert_allclose([np.asarray(each) for each in times], [[0, 0.4, 0.76], [0.4, 0.56, 0.76]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": 0.1, "start_frame": 2}, "start or start_frame"),
        ({"end": 0.5, "sequence_length": 2}, "got two of them"),
        ({"fps": 2.0, "stride": 2}, "one of stride, fps and num_frames"),
        ({"num_frames": 2, "sequence_length": 2}, "num_frames or sequence_length"),
        ({"times": [0.1], "fps": 2.0}, "got several"),
        ({"fps": 0.0}, "fps above 0"),
        ({"fps": float("inf")}, "fps above 0"),
        ({"fps": 1e300}, "memory"),
        ({"num_frames": 2**31 - 1}, "memory"),
        ({"sequence_length": 2**31 - 1}, "memory"),
        ({"num_frames": 0}, "at least 1"),
        ({"start": 0.8}, "below 0.8 s"),
        ({"start": -0.1}, "below 0.8 s"),
        ({"start": 0.5, "end": 0.5}, "an end after the start"),
        ({"stream": 3}, "below 1, got 3"),
        ({"dtype": avida.int16}, "uint8, uint16 or float32"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        avida.decoders.video(all_videos()["h264.mp4"], **arguments).evaluate()


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_orientation(degrees):
    file = all_videos()["h264.mp4"]
    turned = rotated(file, degrees) if degrees else file
    stored = np.asarray(avida.decoders.video(turned, num_frames=2))
    upright = np.asarray(avida.decoders.video(turned, num_frames=2, adjust_orientation=True))
    np.testing.assert_array_equal(upright, np.rot90(stored, -degrees // 90, axes=(1, 2)))
    info = avida.decoders.video_info(turned)
    assert (info.rotation, info.height, info.width) == (degrees, 48, 64)


def test_streams_by_number():
    """Sound, a video, and a smaller one."""
    file = all_videos()["h264_two_streams.mkv"]
    assert avida.decoders.video(file, stream=1, num_frames=1).shape == (1, 48, 64, 3)
    assert avida.decoders.video(file, stream=2, num_frames=1).shape == (1, 24, 32, 3)
    with pytest.raises(RuntimeError, match="expected a video stream, stream 0 is one of audio"):
        avida.decoders.video(file, stream=0).evaluate()


@pytest.mark.parametrize("name", all_videos())
def test_info_is_that_of_pyav(name):
    file = all_videos()[name]
    info = avida.decoders.video_info(file)
    with av.open(io.BytesIO(file.tobytes()), "r") as opened:
        stream: Any = opened.streams.best("video")
        assert info.video
        assert (info.height, info.width, info.codec) == (
            stream.height,
            stream.width,
            stream.codec_context.codec.canonical_name,
        )
        assert info.video.format == stream.format.name
        assert info.video.number == stream.index
        assert [each.kind for each in info.streams] == [each.type for each in opened.streams]
    scanned = avida.decoders.video_info(file, scan=True)
    assert scanned.num_frames == len(times_of(file)) == len(scanned.times)
    np.testing.assert_allclose(scanned.times, np.sort(times_of(file)), atol=2e-3)  # PyAV's are unsorted in AVI
    assert scanned.duration >= scanned.times[-1]


def test_info_of_sources(tmp_path):
    file = all_videos()["h264_with_sound.mp4"]
    path = tmp_path / "film.mp4"
    path.write_bytes(file.tobytes())
    expected = avida.decoders.video_info(file)
    assert expected.audio
    assert (expected.audio.codec, expected.audio.sample_rate, expected.audio.channels) == ("aac", 8000, 2)
    assert expected == avida.decoders.video_info(path) == avida.decoders.video_info(str(path))
    assert (
        expected == avida.decoders.video_info(io.BytesIO(file.tobytes())) == avida.decoders.video_info(file.tobytes())
    )
    with path.open("rb") as opened:
        assert expected == avida.decoders.video_info(opened, scan=True).__class__(**vars(expected))
    assert avida.decoders.video_info(avida.as_batch([file, file])) == [expected] * 2
    with pytest.raises(RuntimeError, match="video_info: sample 1: expected a video or sound, got a file of 4 bytes"):
        avida.decoders.video_info(avida.as_batch([file, np.zeros(4, np.uint8)]))
    with pytest.raises(TypeError, match="a path, a URL or a file object, got float64 with 2 axes"):
        avida.decoders.video_info(np.zeros((2, 2)))


class Broken(io.BytesIO):
    """A file that cannot be read beyond its beginning."""

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell() > 100:
            raise OSError("the disk is gone")
        return super().read(min(size or 60, 60))


def test_file_objects_that_fail():
    with pytest.raises(RuntimeError, match="the disk is gone"):
        avida.decoders.video_info(Broken(all_videos()["h264.mp4"].tobytes()))
    with pytest.raises(TypeError, match="a file object"):
        avida.decoders.video_info(3)


def test_colours_in_infos():
    file = encoded(
        "libx265",
        "mp4",
        pixels="yuv420p10le",
        colorspace=9,
        color_range=1,
        frames=2,
        options={"x265-params": "log-level=none"},
    )
    video = avida.decoders.video_info(file).video
    assert video
    assert (video.matrix, video.range, video.bits) == ("bt2020nc", "limited", 10)


def test_times_far_apart_are_refused():
    """Matroska gives the time of a cluster 64 bits: the distance of two of them need not fit."""
    file = io.BytesIO()
    with av.open(file, "w", format="matroska", options={"live": "1", "cluster_time_limit": "40"}) as output:
        stream: Any = output.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.gop_size = 32, 16, 1
        for _ in range(3):
            output.mux(stream.encode(av.VideoFrame(32, 16, "yuv420p")))
        output.mux(stream.encode(None))
    head, *clusters = file.getvalue().split(b"\x1f\x43\xb6\x75")
    for number, time in ((0, -(2**62)), (2, 2**62)):
        cluster = clusters[number]
        at = cluster.index(b"\xe7")
        after = at + 2 + (cluster[at + 1] & 0x7F)
        stamp = b"\xe7\x88" + time.to_bytes(8, "big", signed=True)
        clusters[number] = bytes([cluster[0] + 10 - (after - at)]) + cluster[1:at] + stamp + cluster[after:]
    broken = np.frombuffer(b"\x1f\x43\xb6\x75".join([head, *clusters]), np.uint8)
    with pytest.raises(RuntimeError, match="the video is damaged: its frames have times from -46116"):
        avida.decoders.video(broken)[0].evaluate()
