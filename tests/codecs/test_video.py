"""decoders.video against PyAV: which frames, in which order, with which pixels."""

import re
import struct
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import avida

from .videos import all_videos, decoded, encoded, rotated, times_of


def decode(file, **arguments):
    return np.asarray(avida.decoders.video(file, **arguments))


def assert_close(ours, expected):
    assert ours.shape == expected.shape
    assert np.abs(ours.astype(int) - expected).max() <= 1


@pytest.mark.parametrize("name", all_videos())
def test_whole_videos(name):
    file = all_videos()[name]
    assert_close(decode(file), decoded(file))


@pytest.mark.parametrize("name", all_videos())
def test_every_frame_is_the_same_alone(name):
    file = all_videos()[name]
    whole = decode(file)
    for number in range(len(whole)):
        np.testing.assert_array_equal(decode(file, frames=[number])[0], whole[number])


@pytest.mark.parametrize("name", ["h264.mp4", "h264_open_gop.mp4", "h264.ts", "hevc.mp4", "vp8.webm", "mpeg4.avi"])
def test_frames_in_any_order(name):
    file = all_videos()[name]
    whole, rng = decode(file), np.random.default_rng(0)
    for _ in range(20):
        frames = rng.integers(0, len(whole), 6)
        np.testing.assert_array_equal(decode(file, frames=frames.tolist()), whole[frames])


def test_rotation_is_not_applied():
    plain = all_videos()["h264.mp4"]
    for degrees in (90, 180, 270):
        np.testing.assert_array_equal(decode(rotated(plain, degrees)), decode(plain))


def test_an_edit_list_hides_frames():
    whole = decode(all_videos()["h264.mp4"])
    np.testing.assert_array_equal(decode(all_videos()["h264_edit_list.mp4"]), whole[7:])


@pytest.mark.parametrize("container", ["mp4", "mkv", "ts"])
def test_a_video_that_begins_without_a_keyframe(container):
    """begins with the first frame that can be decoded: the second keyframe."""
    whole = decode(all_videos()["h264.mp4"])
    np.testing.assert_array_equal(decode(all_videos()[f"h264_first_keyframe_missing.{container}"]), whole[6:])


@pytest.mark.parametrize("matrix", [("bt601", 5), ("bt709", 1), ("bt2020", 9)])
@pytest.mark.parametrize("color_range", [1, 2])
def test_color_matrices(matrix, color_range):
    name, number = matrix
    file = encoded("libx264", "mp4", frames=3, colorspace=number, color_range=color_range)
    assert_close(decode(file), decoded(file))
    assert_close(decode(file, color_matrix="file"), decoded(file, name))


@pytest.mark.parametrize("size", [(16, 16), (17, 18), (18, 35), (98, 130), (144, 82)])
@pytest.mark.parametrize("pixels", ["yuv420p", "yuv422p", "yuv440p", "yuv444p"])
def test_sizes(size, pixels):
    file = encoded("libvpx-vp9", "webm", frames=2, size=size, pixels=pixels)
    assert_close(decode(file), decoded(file))


def test_arguments_per_sample():
    file = all_videos()["h264.mp4"]
    whole = decode(file)
    clips = avida.decoders.video(
        avida.batch([file] * 3), start_frame=avida.batch([0, 5, 12]), sequence_length=avida.batch([4, 3, 2])
    )
    assert clips.layout == "FHWC"
    for clip, frames in zip(clips.tensors, [[0, 1, 2, 3], [5, 6, 7], [12, 13]], strict=True):
        np.testing.assert_array_equal(np.asarray(clip), whole[frames])


@pytest.mark.parametrize("name", ["h264.mp4", "h264_variable_rate.mp4", "vp9.webm"])
def test_times_give_the_frames_that_are_shown(name):
    file = all_videos()[name]
    frames, times = decode(file), times_of(file)
    early, late = times[1:] - 0.0005, (times[:-1] + times[1:]) / 2  # rounded down to a millisecond; between two frames
    for asked, expected in ((times, frames), (early, frames[1:]), (late, frames[:-1]), (times[::-2], frames[::-2])):
        np.testing.assert_array_equal(decode(file, times=asked), expected)
    beyond = [-1.0, times[-1] + 1.0]
    np.testing.assert_array_equal(decode(file, times=beyond, pad_mode="constant"), np.zeros_like(frames[:2]))
    np.testing.assert_array_equal(decode(file, times=beyond, pad_mode="edge"), frames[[0, -1]])


def test_lists_of_times_are_one_for_each_sample():
    file = encoded(frames=8)
    at = times_of(file)
    for times in ([[at[1], at[3]], [at[2], at[5]]], [[at[1]], [at[2], at[5]]]):
        got = avida.decoders.video(avida.batch([file, file]), times=[list(map(float, each)) for each in times])
        for clip, asked in zip(got, times, strict=True):
            np.testing.assert_array_equal(clip, decode(file, times=asked))


def test_times_per_sample():
    file = all_videos()["h264.mp4"]
    frames, times = decode(file), times_of(file)
    asked = [[3, 1], [5], [0, 19, 7]]
    clips = avida.decoders.video(avida.batch([file] * 3), times=avida.batch([times[numbers] for numbers in asked]))
    for clip, numbers in zip(clips.tensors, asked, strict=True):
        np.testing.assert_array_equal(np.asarray(clip), frames[numbers])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"frames": [1], "stride": 2}, "got several"),
        ({"frames": [1], "times": [0.5]}, "got several"),
        ({"times": [float("inf")], "pad_mode": "none"}, "frames from 0 to 19"),
        ({"times": [-1.0], "pad_mode": "none"}, "frames from 0 to 19"),
        ({"sequence_length": 2, "end_frame": 4}, "got both"),
        ({"stride": 0}, "at least 1, got 0"),
        ({"start_frame": 20}, "below 20"),
        ({"start_frame": 4, "end_frame": 4}, "above start_frame"),
        ({"frames": [25], "pad_mode": "none"}, "got 25"),
        ({"pad_mode": "mirror"}, 'got "mirror"'),
        ({"fill_value": [1, 2]}, "got 2"),
        ({"fill_value": 256}, "got 256"),
        ({"color_matrix": "srgb"}, 'got "srgb"'),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises((RuntimeError, ValueError), match=message):
        decode(all_videos()["h264.mp4"], **arguments)


def test_frames_beyond_the_end_are_told_once(tmp_path):
    """Black frames that nobody asked for: a warning at the line that reads the first of them."""
    (tmp_path / "video.mp4").write_bytes(all_videos()["h264.mp4"].tobytes())
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import linecache
        import warnings
        import numpy as np
        import avida

        file = np.fromfile({str(tmp_path / "video.mp4")!r}, np.uint8)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for mode in ("constant", "edge", "none"):
                avida.decoders.video(file, start_frame=15, sequence_length=10, pad_mode=mode).shape
            avida.decoders.video(file, start_frame=15, sequence_length=5).shape
            assert not caught, caught[0].message
            for arguments in ({{"frames": [3, 20]}}, {{"start_frame": 15, "sequence_length": 10}}):
                clip = avida.decoders.video(avida.batch([file, file]), **arguments)
                last = np.asarray(clip.tensors[1])[-1]  # the line
                assert not last.any()
        (warning,) = caught
        assert "has frames 0 to 19, and frame 20 was asked for" in str(warning.message), warning.message
        assert warning.filename == __file__
        assert "# the line" in linecache.getline(__file__, warning.lineno)
        """)
    )
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr


def test_sound_is_not_a_video():
    from .sounds import encoded as sound
    from .sounds import noise

    with pytest.raises(RuntimeError, match="expected a video stream"):
        decode(sound(noise(100), form="OGG"))


@pytest.mark.parametrize("data", [b"", b"hello", b"\0" * 1000])
def test_other_files(data):
    with pytest.raises(RuntimeError, match="expected a video"):
        decode(np.frombuffer(data, np.uint8))


def test_a_playlist_opens_no_other_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.mp4").write_bytes(all_videos()["h264.mp4"].tobytes())
    with pytest.raises(RuntimeError, match="expected a video"):
        decode(np.frombuffer(b"ffconcat version 1.0\nfile a.mp4\n", np.uint8))


@pytest.mark.parametrize("name", ["h264.mp4", "h264.mkv", "hevc.ts", "vp9.webm", "mpeg4.avi", "mjpeg.mov"])
def test_truncated_anywhere(name):
    """An error, or some first frames; and the whole file is decoded all the same afterwards."""
    file = all_videos()[name]
    whole = decode(file)
    for size in range(1, len(file), max(1, len(file) // 60)):
        try:
            cut = decode(file[:size])
        except RuntimeError as error:
            assert re.search(
                "expected a video|opened as a video|no frames|cannot be decoded|rows and columns", str(error)
            ), error
        else:
            assert cut.shape[1:] == whole.shape[1:]
            assert len(cut) <= len(whole)
    np.testing.assert_array_equal(decode(file), whole)


@pytest.mark.parametrize("box", [b"mvhd", b"mdhd", b"tkhd", b"elst"])
def test_lying_durations(box):
    file = bytearray(all_videos()["h264.mp4"].tobytes())
    duration = file.index(box) + {b"tkhd": 24, b"elst": 12}.get(box, 20)
    file[duration : duration + 4] = struct.pack(">I", 2**31 - 1)
    np.testing.assert_array_equal(decode(np.frombuffer(file, np.uint8)), decode(all_videos()["h264.mp4"]))


def test_no_frames():
    with pytest.raises(RuntimeError, match="the video has no frames"):
        decode(np.frombuffer(b"YUV4MPEG2 W32 H32 F25:1\n", np.uint8))


def test_huge_frames():
    """JPEG images that claim 65,000 x 65,000 pixels."""
    file = all_videos()["mjpeg.avi"].tobytes()
    extents = struct.pack(">HH", 48, 64)
    assert file.count(b"\xff\xc0\x00\x11\x08" + extents) == 20
    file = file.replace(b"\xff\xc0\x00\x11\x08" + extents, b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", 65000, 65000))
    with pytest.raises(RuntimeError, match=r"set_decode_limits|cannot be decoded"):
        decode(np.frombuffer(file, np.uint8))


def test_a_broken_tail_costs_its_frames_only():
    file = all_videos()["h264.mkv"]
    whole = decode(file)
    cut = decode(file[: len(file) * 3 // 4])
    assert 0 < len(cut) < len(whole)
    np.testing.assert_array_equal(cut[:6], whole[:6])


def test_a_part_that_claims_gigabytes():
    file = all_videos()["mpeg4.avi"].copy()
    size = file.tobytes().index(b"avih") + 4
    file[size : size + 4] = [0, 0, 0, 0xF0]
    with pytest.raises(RuntimeError, match="expected a video"):
        decode(file)


def test_a_damaged_frame_is_named():
    file = all_videos()["mjpeg.avi"].copy()
    starts = [i for i in range(len(file) - 3) if file[i : i + 3].tobytes() == b"\xff\xd8\xff"]
    file[starts[7] : starts[8] - 8] = 0
    good = decode(file, frames=[6, 8])
    np.testing.assert_array_equal(good, decode(all_videos()["mjpeg.avi"], frames=[6, 8]))
    with pytest.raises(RuntimeError, match="frame 7 of 20 cannot be decoded"):
        decode(file, frames=[7])


def test_placeholder():
    batch = avida.decoders.video(
        avida.batch([all_videos()["vp9.webm"], np.zeros(9, np.uint8)]), on_error="placeholder", sequence_length=2
    )
    assert batch.shape == [(2, 48, 64, 3), (0, 1, 1, 3)]
    assert "expected a video" in str(batch.errors[0])


def test_limits():
    before = avida.decode_limits()
    avida.set_decode_limits(memory=100_000)
    try:
        with pytest.raises(RuntimeError, match=r"avida.set_decode_limits\(memory=...\)"):
            decode(all_videos()["h264.mp4"])
        assert decode(all_videos()["h264.mp4"], sequence_length=2).shape[0] == 2
    finally:
        avida.set_decode_limits(**before._asdict())
