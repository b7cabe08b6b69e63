"""Arguments for each frame: every operator that takes them gives what it gives for the frames as samples."""

import numpy as np
import pytest

import avida as ndd
from tests.every_op.test_every_op import combinations, results
from tests.op_case import CASES, OPS

CASES_PER_FRAME = [
    case
    for case in CASES
    if OPS[case.op]["per_frame"]
    and not case.alone
    and case.per_sample
    and case.inputs is None
    and case.layout in ("HWC", "HW", None)
]


def sequences(case, dtype, counts):
    """Batches of sequences of the case's first sample, and the same as batches of frames."""
    frames = [case.arrays(0, dtype) for _ in range(sum(counts))]
    videos, stills = [], []
    for column in zip(*[[np.roll(a, i) for a in frame] for i, frame in enumerate(frames)], strict=True):
        layout = case.layout if case.layout and len(case.layout) == column[0].ndim else None
        parts = np.split(np.stack(column), np.cumsum(counts)[:-1])
        videos.append(ndd.as_batch(parts, layout="F" + (layout or "*" * column[0].ndim)))
        stills.append(ndd.as_batch(list(column), layout=layout))
    return videos, stills


@pytest.mark.parametrize("case", CASES_PER_FRAME, ids=lambda case: f"{case.op}-{case.source.rpartition('.')[2]}")
def test_frames_are_as_samples(case):
    counts = [3, 1, 2]
    names = case.per_sample
    choices = combinations(case, 100)
    choices = [c for c in choices if all(np.shape(c[n]) == np.shape(choices[0][n]) for n in names)]
    fixed = {n: v[0] for n, v in case.arguments.items() if n not in names}
    shapes = [[out.shape for out in case.expected(case.arrays(0, case.dtypes[0]), choice)] for choice in choices]
    choices = [choice for choice, shape in zip(choices, shapes, strict=True) if shape == shapes[0]]
    picked = [choices[(5 * i + 1) % len(choices)] for i in range(sum(counts))]
    given = [n for n in names if picked[0][n] is not None]
    values = {n: [np.asarray(p[n]) for p in picked] for n in given}
    videos, stills = sequences(case, case.dtypes[0], counts)
    per_frame = {
        n: ndd.per_frame(ndd.as_batch(np.split(np.stack(v), np.cumsum(counts)[:-1]))) for n, v in values.items()
    }
    per_sample = {n: ndd.as_batch(v) for n, v in values.items()}
    got = results(case.function(*videos, **fixed, **per_frame))
    expected = results(case.function(*stills, **fixed, **per_sample))
    for out, frames in zip(got, expected, strict=True):
        assert out.layout.startswith("F")
        joined = [np.asarray(frame) for video in out.tensors for frame in np.asarray(video)]
        assert [np.asarray(video).shape[0] for video in out.tensors] == counts
        for a, b in zip(joined, frames.tensors, strict=True):
            np.testing.assert_array_equal(a, np.asarray(b))
