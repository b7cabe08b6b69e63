"""Optical flow: the engine finds how far a pattern has moved, for every preset, grid, colour and size.

The emulated GPU searches whole pixels in place of the engine, so that all around it is tested there, too.
"""

import os
import pathlib
import re

import numpy as np
import pytest

import avida as ndd
from tests.flow_clips import clip
from tests.op_case import OPS

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "video.md"
IS_FAKE = bool(os.environ.get("AVIDA_FAKE_GPU"))


def has_engine():
    """The engine is a part of the driver that not every machine has; what is missing is then said."""
    try:
        ndd.optical_flow(clip(2, 64, 64, 0, 0), device="gpu").evaluate()
    except RuntimeError as error:
        if re.search(r"libnvidia-opticalflow.so.1|has no optical flow engine", str(error)):
            return str(error)
        raise
    return ""


pytestmark = pytest.mark.skipif(bool(MISSING := has_engine()), reason=MISSING)


def check(flow, frames, height, width, grid, dx, dy):
    flow = np.asarray(flow.cpu())
    assert flow.shape == (frames - 1, -(-height // grid), -(-width // grid), 2)
    assert flow.dtype == np.float32
    assert np.array_equal(flow * 32, np.round(flow * 32))
    for pair in flow:
        back = np.array([-dx, -dy])  # to the frame before
        assert np.abs(np.median(pair.reshape(-1, 2), axis=0) - back).max() <= 0.5


@pytest.mark.parametrize("preset", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("grid", [1, 2, 4])
def test_presets_and_grids(preset, grid):
    flow = ndd.optical_flow(clip(3, 90, 131, 3, -2), preset=preset, output_grid=grid)
    assert (flow.device.device_type, flow.layout, flow.dtype) == ("gpu", "FHWC", ndd.float32)
    check(flow, 3, 90, 131, grid, 3, -2)


@pytest.mark.parametrize(("dx", "dy"), [(0, 0), (3, 0), (0, 3), (-3, 0), (0, -3), (2, 4)])
def test_directions(dx, dy):
    check(ndd.optical_flow(clip(2, 96, 128, dx, dy)), 2, 96, 128, 4, dx, dy)


def test_colours():
    video = clip(3, 64, 96, 2, 1)
    colour = np.asarray(ndd.optical_flow(video).cpu())
    swapped = ndd.optical_flow(video[..., ::-1].copy(), image_type=ndd.types.BGR)
    assert np.array_equal(np.asarray(swapped.cpu()), colour)
    gray = ndd.optical_flow(video[..., 1:2].copy(), image_type="gray")
    check(gray, 3, 64, 96, 4, 2, 1)


@pytest.mark.parametrize("width", [32, 33, 34, 35, 61, 128])
def test_widths(width):
    """Rows end within words and within cells, and begin at any address."""
    for channels in (1, 3):
        kind = {"image_type": ndd.types.GRAY} if channels == 1 else {}
        video = clip(3, 47, width, 1, 1)[..., :channels].copy()
        alone = np.asarray(ndd.optical_flow(video, **kind).cpu())
        check(ndd.optical_flow(video, **kind), 3, 47, width, 4, 1, 1)
        # The same pixels within a wider frame, in other places of memory.
        batch = ndd.batch([video[:2, :33].copy(), video], layout="FHWC").gpu()
        assert np.array_equal(np.asarray(ndd.optical_flow(batch, **kind).tensors[1].cpu()), alone)


def test_ragged_batches():
    videos = [
        clip(4, 64, 80, 2, 1),
        clip(2, 50, 97, -1, 2),
        clip(40, 64, 80, 1, -2),  # more frames than the engine gets at once
        clip(3, 50, 97, 0, 3),
    ]
    flows = ndd.optical_flow(ndd.batch(videos, layout="FHWC"))
    for video, flow, moved in zip(videos, flows.tensors, [(2, 1), (-1, 2), (1, -2), (0, 3)], strict=True):
        check(flow, len(video), *video.shape[1:3], 4, *moved)
        assert np.array_equal(np.asarray(flow.cpu()), np.asarray(ndd.optical_flow(video).cpu()))


def test_more_sizes_than_are_kept_open():
    for _ in range(2):
        for width in range(40, 70, 2):
            check(ndd.optical_flow(clip(2, 40, width, 1, 0)), 2, 40, width, 4, 1, 0)


def test_sessions_that_nobody_uses_give_their_memory_to_others():
    """The emulated engine has memory for 512 buffers. A session of these has 33 of them, and 16 sessions are kept."""
    for width in range(32, 48):
        check(ndd.optical_flow(clip(17, 32, width, 1, 0)), 17, 32, width, 4, 1, 0)


def test_streams_and_modes():
    video = ndd.as_tensor(clip(3, 64, 80, 2, 1), layout="FHWC").gpu()
    expected = np.asarray(ndd.optical_flow(video).cpu())
    for mode in ndd.EvalMode:
        with mode, ndd.EvalContext(num_threads=2):
            for _ in range(5):
                assert np.array_equal(np.asarray(ndd.optical_flow(video).cpu()), expected)


def test_hints():
    """Motion that is too far to be found is found beside a hint."""
    far = (-30, 24) if IS_FAKE else (-60, 40)
    video = clip(3, 128, 160, 30, -24) if IS_FAKE else clip(3, 256, 320, 60, -40)
    for output_grid, hint_grid in [(4, 4), (4, 8), (1, 1), (1, 2), (2, 8)]:
        shape = (2, -(-video.shape[1] // hint_grid), -(-video.shape[2] // hint_grid), 2)
        hints = np.broadcast_to(np.array(far, np.float32), shape).copy()
        arguments = {"enable_external_hints": True, "output_grid": output_grid, "hint_grid": hint_grid}
        flow = np.asarray(ndd.optical_flow(video, hints, **arguments).cpu())
        assert flow.shape == (2, -(-video.shape[1] // output_grid), -(-video.shape[2] // output_grid), 2)
        middle = flow[:, flow.shape[1] // 2, flow.shape[2] // 2]
        assert np.abs(middle - far).max() <= 0.5


def test_temporal_hints_begin_with_each_video():
    video = clip(6, 96, 128, 3, -2)
    flow = ndd.optical_flow(ndd.batch([video, video], layout="FHWC"), enable_temporal_hints=True)
    for one in flow.tensors:
        check(one, 6, 96, 128, 4, 3, -2)
        assert np.array_equal(np.asarray(one.cpu()), np.asarray(flow.tensors[0].cpu()))
    first = np.asarray(ndd.optical_flow(video[:2]).cpu())
    assert np.array_equal(np.asarray(flow.tensors[0].cpu())[:1], first)


@pytest.mark.parametrize(
    ("arguments", "shape", "message"),
    [
        ({"preset": 0.3}, (2, 64, 64, 3), r"expected a preset of 0\.0 \(best\), 0\.5 or 1\.0 \(fastest\), got 0\.3"),
        ({"output_grid": 8}, (2, 64, 64, 3), r"expected an output_grid of 1, 2 or 4, .* got 8"),
        ({"output_format": 3}, (2, 64, 64, 3), r"expected an output_grid of 1, 2 or 4, .* got 3"),
        ({"image_type": "ycbcr"}, (2, 64, 64, 3), '"image_type" must be "rgb", "bgr" or "gray", got "ycbcr"'),
        ({"image_type": "gray"}, (2, 64, 64, 3), "expected frames with 1 channel, as image_type says, got 3"),
        ({}, (2, 64, 64, 1), "expected frames with 3 channels, as image_type says, got 1"),
        ({}, (0, 64, 64, 3), "expected at least one frame, got none"),
        ({}, (2, 31, 64, 3), r"expected frames of 32 x 32 to \d+ x \d+ pixels, .* got 31 x 64"),
        ({}, (2, 32, 8200, 3), r"expected frames of 32 x 32 to \d+ x \d+ pixels, .* got 32 x 8200"),
        ({"enable_external_hints": True}, (2, 64, 64, 3), "expected hints as the second input"),
    ],
)
def test_refused(arguments, shape, message):
    with pytest.raises((ValueError, RuntimeError), match=f"optical_flow: .*{message}"):
        ndd.optical_flow(np.zeros(shape, np.uint8), **arguments).evaluate()


@pytest.mark.parametrize(
    ("arguments", "shape", "message"),
    [
        ({}, (1, 16, 16, 2), "expected no hints, since enable_external_hints is False"),
        ({"enable_external_hints": True}, (1, 16, 15, 2), r"expected hints of the shape \(1, 16, 16, 2\), .* 15"),
        ({"enable_external_hints": True, "hint_grid": 2}, (1, 32, 32, 2), "not finer than output_grid, 4, got 2"),
        ({"enable_external_hints": True, "hint_grid": 16}, (1, 4, 4, 2), "expected an hint_grid of 1, 2, 4 or 8"),
    ],
)
def test_refused_hints(arguments, shape, message):
    with pytest.raises((ValueError, RuntimeError), match=f"optical_flow: .*{message}"):
        ndd.optical_flow(np.zeros((2, 64, 64, 3), np.uint8), np.zeros(shape, np.float32), **arguments).evaluate()


def test_samples_are_named():
    with pytest.raises(RuntimeError, match=r"optical_flow: sample 1: expected frames of 32 x 32 to .* got 20 x 64"):
        ndd.optical_flow(ndd.batch([clip(2, 64, 64, 0, 0), clip(2, 20, 64, 0, 0)], layout="FHWC")).evaluate()


def test_one_frame_has_no_motion():
    flow = ndd.optical_flow(ndd.batch([clip(1, 64, 70, 0, 0), clip(3, 64, 70, 1, 0)], layout="FHWC"))
    assert flow.shape == [(0, 16, 18, 2), (2, 16, 18, 2)]
    check(flow.tensors[1], 3, 64, 70, 4, 1, 0)


def test_the_cpu_is_refused():
    with pytest.raises(ValueError, match='optical_flow: runs on GPUs only, got device="cpu"'):
        ndd.optical_flow(clip(2, 64, 64, 0, 0), device="cpu")


def test_examples_run():
    blocks = re.findall(r"^```python needs=gpu\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    (shown,) = (code for code in blocks if "optical_flow" in code)
    for code in (shown, OPS["optical_flow"]["example"].replace(">>> ", "")):
        names = {"np": np, "ndd": ndd, "avida": ndd}
        exec(compile(code, "an example of optical_flow", "exec"), names)
        names.get("flow", ndd.tensor(0)).evaluate()
