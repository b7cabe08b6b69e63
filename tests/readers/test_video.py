"""Readers of videos: clips, shards, order, resuming, broken files, both readers' rules."""

import ctypes
import pathlib
import subprocess
import sys
from typing import Any

import av
import numpy as np
import pytest

import avida
from tests.codecs.videos import all_videos, decoded, encoded, times_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("videos")
    names = {"cat/a.mp4": "h264.mp4", "cat/b.mkv": "hevc_10_bits.mkv", "dog/a.webm": "vp9.webm"}
    for name, kind in names.items():
        (root / name).parent.mkdir(exist_ok=True)
        all_videos()[kind].tofile(root / name)
    all_videos()["h264_variable_rate.mp4"].tofile(root / "variable.mp4")
    return root


def reader_of(folder, **arguments):
    return avida.experimental.readers.Video(file_root=folder, **{"sequence_length": 4} | arguments)


def clip(folder, name, frames):
    return np.asarray(avida.decoders.video(np.fromfile(folder / name, np.uint8), frames=frames))


def test_clips_are_frames_of_the_files(folder):
    reader = reader_of(folder, enable_frame_num="scalar", enable_timestamps=True)
    assert len(reader) == 15
    times = times_of(all_videos()["h264.mp4"])
    for i, (clips, labels, numbers, seconds) in enumerate(reader.next_epoch(batch_size=1)):
        name = ["cat/a.mp4", "cat/b.mkv", "dog/a.webm"][i // 5]
        first = 4 * (i % 5)
        assert int(numbers.tensors[0]) == first
        assert int(labels.tensors[0]) == i // 10
        np.testing.assert_array_equal(np.asarray(clips.tensors[0]), clip(folder, name, list(range(first, first + 4))))
        np.testing.assert_allclose(np.asarray(seconds.tensors[0]), times[first : first + 4], atol=1e-3)
        assert clips.tensors[0].source.name == f"{folder}/{name}, clip from frame {first}"


@pytest.mark.parametrize("name", all_videos())
def test_frames_and_times_of_every_kind(name, tmp_path):
    """as FFmpeg's own decoder gives them, in order and by jumps, read twice with the same bits."""
    file = all_videos()[name]
    file.tofile(tmp_path / name)
    arguments = {"sequence_length": 3, "pad_mode": "edge", "last_batch": "partial"}
    expected, times = decoded(file), np.sort(times_of(file))  # PyAV mixes up those of B-frames in AVI
    for shuffled in (False, True):
        reader = avida.experimental.readers.Video(
            filenames=tmp_path / name, enable_frame_num="sequence", enable_timestamps=True, random_shuffle=shuffled,
            **arguments,
        )  # fmt: skip
        assert len(reader) == -(-len(expected) // 3)
        seen = set()
        for batches in reader.next_epoch(batch_size=2):
            for clip, numbers, seconds in zip(*(batch.tensors for batch in batches), strict=True):
                frames = np.asarray(numbers)
                seen.update(frames.tolist())
                assert np.abs(np.asarray(clip).astype(int) - expected[frames]).max() <= 1
                np.testing.assert_allclose(np.asarray(seconds), times[frames], atol=1e-3)
        assert seen == set(range(len(expected)))


def test_overlapping_clips(folder):
    reader = reader_of(folder, step=1, stride=2, enable_frame_num="sequence")
    for clips, _, numbers in reader.next_epoch(batch_size=13):
        for i, tensor in enumerate(clips.tensors):
            name = tensor.source.name.partition(",")[0]
            np.testing.assert_array_equal(
                np.asarray(tensor), clip(folder, name, np.asarray(numbers.tensors[i]).tolist())
            )


def bytes_read():
    text = pathlib.Path("/proc/self/io").read_text()
    return int(text.split()[1])


@pytest.mark.parametrize("stride", [1, 2])
def test_clips_of_a_batch_that_overlap_are_decoded_once(tmp_path, stride):
    """in whatever order they are asked for: the file is read about once, not once for each clip."""
    noise = np.random.default_rng(0).integers(0, 255, (60, 128, 128, 3), np.uint8)
    path = tmp_path / "a.avi"
    with av.open(str(path), "w") as output:
        stream: Any = output.add_stream("mjpeg", rate=25, options={"qmin": "2", "qmax": "2"})
        stream.width, stream.height, stream.pix_fmt = 128, 128, "yuvj420p"
        for image in noise:
            output.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        output.mux(stream.encode(None))
    whole = np.asarray(avida.decoders.video(np.fromfile(path, np.uint8)))
    reader = avida.experimental.readers.Video(filenames=path, sequence_length=8, stride=stride, step=1)
    numbers = np.random.default_rng(1).permutation(len(reader)).tolist()
    before = bytes_read()
    clips = reader[numbers][0].evaluate()
    assert bytes_read() - before < 2 * path.stat().st_size
    for clip, first in zip(clips.tensors, numbers, strict=True):
        np.testing.assert_array_equal(np.asarray(clip), whole[first : first + 8 * stride : stride])


LIVE_BYTES = """
import ctypes, os, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # so that the frames of one video are kept
import avida

class Heap(ctypes.Structure):
    _fields_ = [(str(i), ctypes.c_size_t) for i in range(10)]

mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Heap
step, *names = sys.argv[1:]
reader = avida.experimental.readers.Video(filenames=names, sequence_length=16, step=int(step))
for i in range(0, len(reader), len(reader) // len(names)):
    reader[i][0].evaluate()
heap = mallinfo2()
print(getattr(heap, "4") + getattr(heap, "7"))  # in blocks of their own, and in arenas
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="glibc alone counts the bytes of its heap")
def test_open_videos_release_the_frames_that_they_kept(tmp_path):
    """20 videos, whose clips overlap: each keeps frames for its next clip, until other videos are read."""
    file = encoded("libx264", "mp4", frames=32, size=(240, 320), gop=16)
    names = [str(tmp_path / f"{i}.mp4") for i in range(20)]
    for name in names:
        file.tofile(name)

    def live_bytes(step):
        command = [sys.executable, "-c", LIVE_BYTES, str(step), *names]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert live_bytes(step=1) <= 1.2 * live_bytes(step=16)


def test_a_damaged_frame_among_clips_that_overlap(tmp_path):
    file = all_videos()["mjpeg.avi"].copy()
    starts = [i for i in range(len(file) - 3) if file[i : i + 3].tobytes() == b"\xff\xd8\xff"]
    file[starts[7] : starts[8] - 8] = 0
    file.tofile(tmp_path / "a.avi")
    reader = avida.experimental.readers.Video(
        filenames=tmp_path / "a.avi", sequence_length=3, step=1, on_error="skip", enable_frame_num=True
    )
    clips, numbers = next(reader.next_epoch(batch_size=18, indices=list(range(17, -1, -1))))
    good = [first for first in range(17, -1, -1) if first not in (5, 6, 7)]
    assert np.asarray(numbers).ravel().tolist() == good
    whole = np.asarray(avida.decoders.video(all_videos()["mjpeg.avi"]))
    for clip, first in zip(clips.tensors, good, strict=True):
        np.testing.assert_array_equal(np.asarray(clip), whole[first : first + 3])


def test_random_access(folder):
    reader = reader_of(folder)
    in_order = [np.asarray(clips.tensors[0]) for clips, _ in reader.next_epoch(batch_size=1)]
    for i in (7, 0, 14, 3, 2):
        np.testing.assert_array_equal(np.asarray(reader[i][0]), in_order[i])
    for got, i in zip(reader[[9, 1]][0].tensors, (9, 1), strict=True):
        np.testing.assert_array_equal(np.asarray(got), in_order[i])


def test_shards_and_shuffling(folder):
    seen = []
    for shard in range(2):
        reader = reader_of(folder, shard_id=shard, num_shards=2, random_shuffle=True, seed=4, last_batch="partial")
        for clips, _ in reader.next_epoch(batch_size=4):
            seen += [tensor.source.name for tensor in clips.tensors]
    assert len(seen) == len(set(seen)) == 15


def test_exact_resume(folder):
    def order(reader):
        return [[t.source.name for t in clips.tensors] for clips, _ in reader.next_epoch(batch_size=2)]

    arguments = {"random_shuffle": True, "seed": 1}
    reader = reader_of(folder, **arguments)
    whole = order(reader)
    other = reader_of(folder, **arguments)
    epoch = other.next_epoch(batch_size=2)
    for _ in range(3):
        next(epoch)
    resumed = reader_of(folder, **arguments)
    resumed.set_state(other.get_state())
    assert order(resumed) == whole[3:]


@pytest.mark.parametrize("kind", [avida.experimental.readers.Video, avida.readers.Video, avida.readers.VideoResize])
def test_every_reader_shards_shuffles_seeks_and_resumes(folder, kind):
    def make(**arguments):
        resized = {"size": [8, 8]} if kind is avida.readers.VideoResize else {}
        return kind(
            file_root=folder, sequence_length=4, random_shuffle=True, seed=3, num_shards=2, shard_id=1,
            last_batch="partial", **resized, **arguments,
        )  # fmt: skip

    def rest(epoch):
        return [(source.name, int(label)) for clips, labels in epoch for source, label in named(clips, labels)]

    def named(clips, labels):
        return zip(clips.sources, np.asarray(labels).ravel(), strict=True)

    reader = make()
    first, second = (rest(reader.next_epoch(batch_size=3)) for _ in range(2))
    assert sorted(first) != first
    assert len(set(first)) == len(first) in (7, 8)
    assert all(", clip from frame " in name and ("/dog/" in name) == label for name, label in first)
    again = make()
    again.seek(1, 3)
    assert rest(again.next_epoch(batch_size=3)) == second[3:]
    again.seek(0)
    epoch = again.next_epoch(batch_size=3)
    next(epoch)
    resumed = make()
    resumed.set_state(again.get_state())
    assert rest(resumed.next_epoch(batch_size=3)) == first[3:]


@pytest.mark.parametrize(
    ("last_batch", "sizes"), [("wrap", [4] * 4), ("pad", [4] * 4), ("partial", [4, 4, 4, 3]), ("drop", [4] * 3)]
)
def test_last_batch(folder, last_batch, sizes):
    reader = reader_of(folder, last_batch=last_batch)
    assert [clips.batch_size for clips, _ in reader.next_epoch(batch_size=4)] == sizes


def test_arguments_per_frame(folder):
    """One number for each frame of each clip: here how bright it is, by its time."""
    reader = reader_of(folder, enable_timestamps=True)
    clips, _, times = next(reader.next_epoch(batch_size=3))
    faded = avida.brightness(clips, brightness=avida.per_frame(avida.cast(times, dtype=avida.float32)))
    for clip, seconds, result in zip(clips.tensors, times.tensors, faded.tensors, strict=True):
        scaled = np.asarray(clip).astype(np.float32) * np.asarray(seconds, np.float32)[:, None, None, None]
        assert np.abs(np.asarray(result) - np.clip(scaled.round(), 0, 255)).max() <= 1


def test_a_broken_file_is_one_bad_sample(folder, tmp_path):
    (tmp_path / "bad.mp4").write_bytes(b"this is not a video")
    names = [folder / "cat/a.mp4", tmp_path / "bad.mp4", folder / "dog/a.webm"]
    reader = avida.experimental.readers.Video(filenames=names, sequence_length=20, on_error="skip")
    assert [clips.batch_size for (clips,) in reader.next_epoch(batch_size=1)] == [1, 1]
    assert [error.source for error in reader.errors] == [str(tmp_path / "bad.mp4")]
    reader = avida.experimental.readers.Video(filenames=names, sequence_length=20)
    batches = [clips for (clips,) in reader.next_epoch(batch_size=1)]
    with pytest.raises(RuntimeError, match=r"bad\.mp4.*expected a video"):
        batches[1].evaluate()
    assert np.asarray(batches[2].tensors[0]).shape == (20, 48, 64, 3)
    with pytest.raises(RuntimeError, match=r"bad\.mp4.*expected a video"):
        avida.experimental.readers.Video(filenames=names[1:2], sequence_length=20)


def test_a_damaged_frame_costs_its_clips(tmp_path):
    file = all_videos()["mjpeg.avi"].copy()
    starts = [i for i in range(len(file) - 3) if file[i : i + 3].tobytes() == b"\xff\xd8\xff"]
    file[starts[7] : starts[8] - 8] = 0
    file.tofile(tmp_path / "a.avi")
    reader = avida.experimental.readers.Video(filenames=tmp_path / "a.avi", sequence_length=5, on_error="skip")
    assert sum(clips.batch_size for (clips,) in reader.next_epoch(batch_size=2)) == 3
    assert "frame 7 of 20 cannot be decoded" in reader.errors[0].message


@pytest.mark.parametrize(("pads", "stride", "expected"), [(False, 1, 3), (True, 1, 4), (False, 6, 1), (True, 6, 1)])
def test_classic_clips(folder, pads, stride, expected):
    reader = avida.readers.Video(
        filenames=[folder / "cat/a.mp4"], sequence_length=6 if stride == 1 else 4, stride=stride, pad_sequences=pads,
        labels=[], enable_frame_num="sequence",
    )  # fmt: skip
    found = list(reader.next_epoch(batch_size=1))
    assert len(found) == expected
    clips, labels, numbers = (batch.tensors[0] for batch in found[-1])
    assert int(labels) == 0
    padded = np.asarray(numbers) < 0
    assert padded.any() == (pads and stride == 1)
    assert not np.asarray(clips)[padded].any()


def test_classic_parts(folder, tmp_path):
    (tmp_path / "list.txt").write_text(f"{folder}/cat/a.mp4 1 0.19 0.33\n{folder}/dog/a.webm 2\n")

    def numbers(**arguments):
        reader = avida.readers.Video(
            file_list=tmp_path / "list.txt", sequence_length=1, enable_frame_num=True, **arguments
        )
        return [int(n.tensors[0]) for _, labels, n in reader.next_epoch(batch_size=1) if int(labels.tensors[0]) == 1]

    assert numbers() == [5, 6, 7]
    assert numbers(file_list_include_preceding_frame=True) == [4, 5, 6, 7, 8]
    (tmp_path / "list.txt").write_text(f"{folder}/cat/a.mp4 1 2.5 -15.5\n")
    assert numbers(file_list_frame_num=True) == [3]


def test_variable_rates_are_refused_by_the_classic_reader(folder):
    arguments = {"filenames": [folder / "variable.mp4"], "sequence_length": 2}
    with pytest.raises(RuntimeError, match=r"variable\.mp4.*skip_vfr_check=True"):
        next(avida.readers.Video(**arguments).next_epoch(batch_size=1))[0].evaluate()
    assert len(avida.readers.Video(**arguments, skip_vfr_check=True)) == 10


def test_floats(folder):
    arguments = {"filenames": [folder / "cat/a.mp4"], "sequence_length": 4}
    numbers = np.asarray(avida.readers.Video(**arguments)[0][0])
    floats = avida.readers.Video(**arguments, dtype=avida.float32)
    np.testing.assert_array_equal(np.asarray(floats[0][0]), numbers.astype(np.float32))
    parts = avida.readers.Video(**arguments, dtype=avida.float32, normalized=True)
    np.testing.assert_allclose(np.asarray(parts[0][0]), numbers / 255, atol=1e-6)


@pytest.mark.parametrize(
    "arguments",
    [
        {"size": [24, 20]},
        {"size": (100, -90), "interp_type": "cubic"},
        {"resize_shorter": 24},
        {"resize_longer": 130.0, "antialias": False},
        {"resize_x": 31},
        {"size": [30, 30], "mode": "not_smaller", "max_size": 36},
        {"size": [16, 16], "roi_start": [0.25, 0], "roi_end": [1, 0.5], "roi_relative": True},
        {"size": avida.tensor([24.0, 20.0])},  # frames are resized after the clips are read
        {"size": [24, 20], "dtype": avida.float32, "normalized": True},
    ],
)
def test_resizing(folder, arguments):
    """is the operator on the clips, whether it runs while they are decoded or afterwards."""
    own = {name: value for name, value in arguments.items() if name in ("dtype", "normalized")}
    arguments = {name: value for name, value in arguments.items() if name not in own}
    files = [folder / "cat/a.mp4", folder / "dog/a.webm"]
    own |= {"filenames": files, "sequence_length": 3, "step": 2, "pad_sequences": True, "enable_frame_num": "sequence"}
    resized = avida.readers.VideoResize(**own, **arguments)
    whole = avida.readers.Video(**own)
    assert len(resized) == len(whole) == 20
    for (clips, numbers), (others, expected) in zip(
        resized.next_epoch(batch_size=7), whole.next_epoch(batch_size=7), strict=True
    ):
        np.testing.assert_array_equal(np.asarray(numbers), np.asarray(expected))
        for mine, other in zip(clips.tensors, avida.resize(others, **arguments).tensors, strict=True):
            np.testing.assert_array_equal(np.asarray(mine), np.asarray(other))
        assert clips.sources[0].name.startswith(str(folder))


def test_wrong_sizes(folder):
    arguments = {"filenames": [folder / "cat/a.mp4"], "sequence_length": 4}
    with pytest.raises(RuntimeError, match="expected the size in one way"):
        avida.readers.VideoResize(**arguments)
    with pytest.raises(RuntimeError, match='got "huge"'):
        avida.readers.VideoResize(**arguments, size=[3, 3], mode="huge")
    reader = avida.readers.VideoResize(**arguments, size=[3, 3, 3])
    with pytest.raises(RuntimeError, match=r"cat/a\.mp4.*expected one number or 2"):
        np.asarray(reader[0][0])


def test_ycbcr(folder):
    arguments = {"filenames": [folder / "cat/a.mp4"], "sequence_length": 4}
    codes = avida.readers.Video(**arguments, image_type="ycbcr")[0][0]
    rgb = avida.readers.Video(**arguments)[0][0]
    again = avida.color_space_conversion(codes, image_type="ycbcr", output_type="rgb")
    assert np.abs(np.asarray(again).astype(int) - np.asarray(rgb)).max() <= 2


@pytest.mark.parametrize("shuffled", [False, True])
def test_clips_by_times(folder, shuffled):
    """as rows of a table name them: a video and the times of some frames, of different numbers of frames."""
    times = times_of(all_videos()["h264.mp4"])  # those of all three
    names = ["cat/a.mp4", "dog/a.webm", "cat/b.mkv"]
    rows = [(names[i % 3], [(5 * i + k * i) % 20 for k in range(1 + i % 3)]) for i in range(12)]
    reader = avida.experimental.readers.Video(
        filenames=[folder / name for name, _ in rows],
        labels=range(12),
        last_batch="partial",
        times=[times[frames] for _, frames in rows],
        enable_frame_num="sequence",
        random_shuffle=shuffled,
        seed=5,
    )
    seen = []
    for clips, labels, numbers in reader.next_epoch(batch_size=5):
        for frames, row, numbers_of_clip in zip(clips.tensors, labels.tensors, numbers.tensors, strict=True):
            name, expected = rows[int(row)]
            assert np.asarray(numbers_of_clip).tolist() == expected
            np.testing.assert_array_equal(np.asarray(frames), clip(folder, name, expected))
            assert frames.source.name == f"{folder / name}, clip at {times[expected[0]]:g} s"
            seen.append(int(row))
    assert sorted(seen) == list(range(12))
    assert (seen != sorted(seen)) == shuffled


def test_times_outside_of_a_video(folder):
    arguments = {"filenames": [folder / "cat/a.mp4"] * 3, "times": np.array([[0.0], [100.0], [-1.0]])}
    reader = avida.experimental.readers.Video(**arguments)
    assert reader[0][0].shape[0] == 1
    for row in (1, 2):
        with pytest.raises(RuntimeError, match=r"clip at .* s: expected times from 0 to .* without padding"):
            reader[row][0].evaluate()
    padded = avida.experimental.readers.Video(**arguments, pad_mode="edge", enable_frame_num="sequence")
    assert [int(padded[row][1][0]) for row in range(3)] == [0, 19, 0]
    black = avida.readers.Video(**arguments, pad_sequences=True, labels=[])
    for clips, labels in black.next_epoch(batch_size=3):
        assert [bool(np.asarray(frames).any()) for frames in clips.tensors] == [True, False, False]
        assert np.asarray(labels.torch()).ravel().tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "expected sequence_length"),
        ({"times": [[0.0]], "sequence_length": 2}, "got both"),
        ({"times": [[0.0]], "uniform_sample": True}, "got both"),
        ({"times": [[0.0], [1.0]]}, "got 1 files, 2 lists of times"),
        ({"times": [[]]}, "at least one time"),
        ({"times": [[float("inf")]]}, "got inf"),
        ({"times": [["1 s"]]}, "must be real number"),
        ({"times": [[0.0]], "filenames": None, "file_root": "."}, "times go with filenames"),
    ],
)
def test_wrong_times(folder, arguments, message):
    with pytest.raises((RuntimeError, ValueError, TypeError), match=message):
        avida.experimental.readers.Video(**{"filenames": [folder / "cat/a.mp4"]} | arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sequence_length": 0}, "sequence_length must be"),
        ({"stride": 0}, "stride must be"),
        ({"pad_mode": "mirror"}, 'got "mirror"'),
        ({"enable_frame_num": "all"}, 'got "all"'),
        ({"file_list_format": "hours"}, 'got "hours"'),
        ({"file_list_rounding": "near"}, 'got "near"'),
        ({"image_type": "gray"}, '"RGB" or "YCbCr"'),
        ({"filenames": ["a"]}, "expected one of"),
        ({"sequence_length": 100}, "at least one sample"),
    ],
)
def test_wrong_arguments(folder, arguments, message):
    with pytest.raises((RuntimeError, ValueError), match=message):
        reader_of(folder, **arguments)


@pytest.mark.parametrize("line", ["a.mp4", "a.mp4 x", "a.mp4 1 2 3 4", "a.mp4 1 one"])
def test_wrong_lines(tmp_path, line):
    (tmp_path / "list.txt").write_text(f"\n{line}\n")
    with pytest.raises(RuntimeError, match=r"list\.txt:2: expected a file, a label"):
        avida.experimental.readers.Video(file_list=tmp_path / "list.txt", sequence_length=1)


def test_odd_sizes_together(tmp_path):
    encoded(size=(47, 63)).tofile(tmp_path / "a.webm")
    encoded(size=(32, 16)).tofile(tmp_path / "b.webm")
    reader = avida.experimental.readers.Video(filenames=[tmp_path / "a.webm", tmp_path / "b.webm"], sequence_length=10)
    (clips,) = next(reader.next_epoch(batch_size=4))
    assert clips.shape == [(10, 47, 63, 3)] * 2 + [(10, 32, 16, 3)] * 2
