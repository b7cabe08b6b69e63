"""Who a sample is survives every operator: `sources`, and the identity that keyed draws go by."""

import numpy as np
import pytest

import avida as ndd
from tests.every_op.test_every_op import combinations, each_case, inputs_as_batches, results

REARRANGE = {"permute_batch"}
RENAME = {"io.file.read"}


def identified(*values):
    """The samples of each value as if a reader had read them."""
    return ndd._core.identify(list(values), "data", 10, 0)


@each_case
def test_operators(case):
    _, batches = inputs_as_batches(case, case.dtypes[0])
    if not batches or case.op in REARRANGE:
        return
    sources = [ndd.SampleSource(f"data[{10 + i}]", 10 + i, 0) for i in range(batches[0].batch_size)]
    with ndd.EvalMode.deferred:
        inputs = identified(
            *(ndd.batch(batch) for batch in batches)
        )  # memory of their own, which calls need not read at once
        outputs = results(case.function(*inputs, **combinations(case)[0]))
        draws = [ndd.random.uniform(keyed_by=out) for out in outputs]
        assert all(out._pending() for out in outputs), "a keyed draw waits for nothing"
        for out, drawn in zip(outputs, draws, strict=True):
            assert drawn.sources == sources  # pyright: ignore[reportAttributeAccessIssue]
            assert [(s.index, s.epoch) for s in out.sources] == [(s.index, s.epoch) for s in sources]
            assert out.sources == sources or case.op in RENAME


PYTHON = {
    "scalar first": lambda x: 1 - x,
    "scalar last": lambda x: x * 2.0,
    "comparison": lambda x: x > 3,
    "negative": lambda x: -x,
    "array": lambda x: x + np.arange(3, dtype=np.float32),
    "each sample sliced": lambda x: x.slice[1:],
    "operator": lambda x: ndd.operator(lambda a: a + 1)(x),
    "operator per batch": lambda x: ndd.operator(lambda a: [b + 1 for b in a], per="batch")(x),
    "operator with two results": lambda x: ndd.operator(lambda a: (a, a + 1), outputs=2)(x)[1],
    "copy": lambda x: ndd.batch(x),
    "samples": lambda x: ndd.batch(list(x)),
    "sample sequence": lambda x: ndd.as_batch(x.tensors[:]),
    "another type": lambda x: ndd.as_batch(x, dtype=ndd.float64),
    "cpu": lambda x: x.cpu(),
    "evaluated": lambda x: (x + 1).evaluate(),
    "without failed ones": lambda x: ndd.drop_failed(x),
}


@pytest.mark.parametrize("mode", list(ndd.EvalMode))
@pytest.mark.parametrize("name", PYTHON)
def test_python(name, mode):
    with mode:
        (samples,) = identified(ndd.batch(np.zeros((3, 3), np.float32)))
        out = PYTHON[name](samples)
        drawn = ndd.random.uniform(keyed_by=out)
        assert out.sources == drawn.sources == samples.sources  # pyright: ignore[reportAttributeAccessIssue]
        assert str(out.sources[1]) == "data[11]"


def test_tensors():
    (sample,) = identified(ndd.as_tensor(np.zeros((2, 2), np.float32)))
    out = ndd.operator(lambda a: a + 1)(1 - sample)
    assert out.source == ndd.random.uniform(keyed_by=out).source == ndd.SampleSource("data[10]", 10, 0)


def test_batches_of_samples_from_anywhere():
    a, b = (ndd.batch([1, 2]), ndd.batch([3, 4]))
    (a,), (b,) = identified(a), ndd._core.identify([b], "other", 0, 3)
    mixed = ndd.as_batch([b.tensors[1], ndd.as_tensor(7), a.tensors[0]])
    assert [source and str(source) for source in mixed.sources] == ["other[1]", None, "data[10]"]
