"""decoders.open_media: parts of films from paths, URLs and file objects."""

import io
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import avida
from avida._core import OpenSound
from tests.codecs.tracks import all_tracks, decoded_track
from tests.codecs.videos import all_videos


@pytest.mark.parametrize("name", ["h264_with_sound.mp4", "h264_variable_rate.mp4", "hevc.ts", "mpeg4_b_frames.avi"])
def test_windows_are_the_whole(name, tmp_path):
    file = all_videos()[name]
    path = tmp_path / "film"
    path.write_bytes(file.tobytes())
    avida.storage.memory["films/" + name] = file.tobytes()
    whole, times = avida.decoders.video(file, save_times=True)
    for source in (file, path, f"memory://films/{name}", io.BytesIO(file.tobytes()), path.open("rb")):
        windows = list(avida.decoders.open_media(source).windows(0.17))
        np.testing.assert_array_equal(np.concatenate([np.asarray(window.frames) for window in windows]), whole)
        np.testing.assert_allclose(np.concatenate([window.times for window in windows]), times, atol=1e-9)
        if name == "h264_with_sound.mp4":
            sound = np.concatenate([np.asarray(window.sound) for window in windows])
            np.testing.assert_allclose(sound, avida.decoders.media(file)[1], atol=1e-6)
        else:
            assert windows[0].sound is None


def test_windows_of_sound():
    file = all_tracks()["aac.m4a"]
    opened = avida.decoders.open_media(file)
    assert opened.sample_rate == 44100
    windows = list(opened.windows(0.2))
    assert [window.frames for window in windows] == [None] * len(windows)
    np.testing.assert_allclose(np.concatenate([window.sound for window in windows]), decoded_track(file), atol=2e-6)
    np.testing.assert_allclose(opened.sound(0.1, 0.3), decoded_track(file)[4410:13230], atol=2e-6)


def test_frames_are_those_of_the_operator():
    file = all_videos()["h264.mp4"]
    opened = avida.decoders.open_media(file)
    assert opened.info == avida.decoders.video_info(file, scan=True)
    for arguments in ({"fps": 7.0}, {"num_frames": 5}, {"start": 0.3, "end": 0.6, "stride": 2}, {"times": [0.7, 0.1]}):
        expected, times = avida.decoders.video(file, save_times=True, **arguments)
        frames, shown = opened.frames(**arguments)
        np.testing.assert_array_equal(frames, expected)
        np.testing.assert_array_equal(shown, times)
    with pytest.raises(RuntimeError, match="the file has none"):
        opened.sound()
    with pytest.raises(RuntimeError, match="from 0 to 19"):
        opened.frames(times=[3.0])
    with pytest.raises(ValueError, match="more than 0 seconds"):
        next(opened.windows(0))


MEMORY = """
import json, resource, sys
import avida
film = avida.decoders.open_media(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
frames = sum(window.frames.shape[0] for window in film.windows(0.2))
print(json.dumps([frames, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before]))
"""


def test_memory_is_that_of_a_window(tmp_path):
    """A film of 120 MB of pixels, five frames at a time."""
    path = tmp_path / "film.y4m"
    with path.open("wb") as file:
        file.write(b"YUV4MPEG2 W640 H320 F25:1\n")
        for i in range(200):
            file.write(b"FRAME\n" + bytes([i]) * (640 * 320 * 3 // 2))
    ran = subprocess.run([sys.executable, "-c", MEMORY, os.fspath(path)], capture_output=True, text=True, check=True)
    frames, kilobytes = json.loads(ran.stdout)
    assert frames == 200
    assert kilobytes < 40_000


def test_frames_of_networks():
    """Beside the formulas of the originals."""
    for total, fps in ((100, 25.0), (31, 30.0), (9, 12.5), (5000, 29.97), (4, 1.0), (100000, 24.0)):
        most = min(768, total) // 2 * 2
        count = int(min(min(max(total / fps * 2.0, 4), most), total) // 2 * 2)
        expected = torch.linspace(0, total - 1, count).round().long().tolist()
        found = avida.decoders.qwen_vl_frames(total, fps)
        assert len(found) == len(expected)
        assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) <= (total > 1 << 14)  # linspace of floats
    for total, count in ((100, 8), (7, 8), (16, 16), (1001, 5)):
        acc = min(count, total)
        intervals = np.linspace(start=0, stop=total, num=acc + 1).astype(int)
        middle = [(intervals[i] + intervals[i + 1] - 1) // 2 for i in range(acc)]
        assert avida.decoders.internvideo_frames(total, count) == middle + [middle[-1]] * (count - acc)
    for total, clips in ((500, 1), (500, 3), (50, 2), (10, 2)):
        part = total // clips
        expected = []
        for i in range(clips):
            if part > 64:
                indices = np.clip(np.linspace(0, 64, num=16), 0, 63).astype(np.int64)
            else:
                indices = np.linspace(0, part, num=part // 4)
                indices = np.concatenate((indices, np.ones(16 - part // 4) * part))
                indices = np.clip(indices, 0, part - 1).astype(np.int64)
            expected.append((indices + i * part).tolist())
        assert avida.decoders.vjepa_frames(total, num_clips=clips) == expected
    with pytest.raises(ValueError, match="above 0"):
        avida.decoders.internvideo_frames(0)
    with pytest.raises(ValueError, match="at least 2 frames"):
        avida.decoders.qwen_vl_frames(1, 25.0)


def test_threads_share_what_is_open():
    """Going back opens the file again, while other threads ask for what its headers say."""
    sound = OpenSound(io.BytesIO(all_tracks()["aac.mp4"].tobytes()))
    info, samples = sound.info(), sound.read(0, 6000)

    def ask(number):
        if number % 2:
            return sound.info() == info and sound.stream == 0
        return sound.read(number, number + 500) == samples[number * 8 : (number + 500) * 8]

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(ask, range(400, 0, -1)))


def test_a_file_object_without_a_size():
    class Endless(io.BytesIO):
        def seek(self, *_):
            return -1

    with pytest.raises(RuntimeError, match="expected a file object whose end is at 0 or behind, got -1"):
        avida.decoders.open_media(Endless(b"film"))
