"""Profiles of calls on a GPU."""

import numpy as np
import pytest

import avida as ndd

IMAGES = [np.full((8 + i, 9, 3), i, np.uint8) for i in range(4)]


def test_time_on_the_gpu():
    batch = ndd.batch(IMAGES, layout="HWC")
    ndd.flip(batch.gpu()).cpu().evaluate()  # compiles the kernel
    with ndd.profile() as p:
        for _ in range(3):
            images = ndd.flip(batch.gpu())
        images.cpu().evaluate()
    lines = {line.operator: line for line in p.lines}
    assert {name: line.calls for name, line in lines.items()} == {
        "copy to the GPU": 3,
        "flip": 3,
        "copy to the CPU": 1,
    }
    for line in lines.values():
        assert 0 < line.gpu_seconds < 10
        assert line.seconds > 0
        assert line.bytes > 0
    assert lines["copy to the GPU"].line == lines["flip"].line == lines["copy to the CPU"].line - 1
    assert p.memory.gpu.keys() == {0}
    assert p.memory.gpu[0] > 0
    assert "on GPU" in str(p)


def test_videos_that_the_cpu_decodes(tmp_path):
    videos = pytest.importorskip("tests.codecs.videos", reason="PyAV makes the videos")
    file = videos.all_videos()["mjpeg.avi"]
    for name in ("a.avi", "b.avi"):
        file.tofile(tmp_path / name)
    names = [str(tmp_path / name) for name in ("a.avi", "b.avi")]
    reader = ndd.experimental.readers.Video(filenames=names, sequence_length=10, device="gpu")
    reason = "the video engine does not decode mjpeg"
    for _ in range(2):  # also when the decoders are open already
        with ndd.profile() as p:
            reader[[0, 1, 2, 3]][0].evaluate()
        ((found, clips, of),) = p.fallbacks
        assert (found, clips, sorted(of)) == (reason, 4, names)
        assert "decoded by the CPU, although a GPU was asked to\n" in str(p)
        assert f"and 1 more, 4 times: {reason}" in p._repr_html_()
        events = [event for event in p.chrome_trace()["traceEvents"] if event.get("cat") == "fallback"]
        assert [event["args"] for event in events] == [{"reason": reason}] * 4
    with ndd.profile() as p:
        ndd.decoders.video(file, device="gpu").evaluate()
        ndd.decoders.video(ndd.as_batch([file, file]), device="gpu", on_error="placeholder").evaluate()
    assert sorted(p.fallbacks) == [
        ('on_error is not "raise"', 2, ["decoders.video"]),
        (reason, 1, ["decoders.video"]),
    ]


def test_rows_of_the_trace():
    batch = ndd.batch(IMAGES, layout="HWC")
    with ndd.profile() as p:
        ndd.flip(batch.gpu()).cpu().evaluate()
    events = p.chrome_trace()["traceEvents"]
    (row,) = (event["tid"] for event in events if event["name"] == "thread_name" and event["args"]["name"] == "GPU 0")
    spans = [event for event in events if event.get("cat") == "gpu"]
    assert {event["tid"] for event in spans} == {row}
    assert [event["name"] for event in sorted(spans, key=lambda event: event["ts"])] == [
        "copy to the GPU",
        "flip",
        "copy to the CPU",
    ]
    assert all(event["dur"] >= 0 and event["ts"] >= 0 for event in spans)
    assert any(event["name"] == "memory of GPU 0" for event in events)
