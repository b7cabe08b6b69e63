import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


@op_case("permute_batch", alone=True, indices=[0])
def only_sample(x, indices):
    return x


def samples(batch):
    return [np.asarray(t).tolist() for t in batch]


def test_order():
    batch = ndd.as_batch([[1], [2, 3], [4]], layout="X")
    out = ndd.permute_batch(batch, indices=ndd.as_batch([2, 0, 1]))
    assert samples(out) == [[4], [1], [2, 3]]
    assert out.layout == "X"
    assert samples(ndd.permute_batch(batch, indices=ndd.as_batch([1, 1, 0]))) == [[2, 3], [2, 3], [1]]
    assert samples(ndd.permute_batch(batch, indices=1)) == [[2, 3]] * 3
    assert samples(ndd.permute_batch(batch, indices=ndd.as_tensor(2))) == [[4]] * 3


def test_a_tensor_stands_for_every_sample():
    assert samples(ndd.permute_batch([1, 2], indices=ndd.as_batch([0, 1]))) == [[1, 2], [1, 2]]
    assert isinstance(ndd.permute_batch([1, 2], indices=0), ndd.Tensor)


def test_the_result_has_its_own_memory():
    batch = ndd.as_batch(np.arange(6, dtype=np.int32).reshape(2, 3))
    out = ndd.permute_batch(batch, indices=ndd.as_batch([1, 1]))
    np.asarray(out.tensors[0])[0] = 99
    assert samples(out) == [[99, 4, 5], [3, 4, 5]]
    assert samples(batch) == [[0, 1, 2], [3, 4, 5]]


def test_large_samples():
    arrays = [np.random.default_rng(i).random((300, 200 + i)) for i in range(3)]
    out = ndd.permute_batch(ndd.as_batch(arrays), indices=ndd.as_batch([2, 0, 1]))
    for i, k in enumerate([2, 0, 1]):
        np.testing.assert_array_equal(np.asarray(out.tensors[i]), arrays[k])


@pytest.mark.parametrize(
    ("indices", "error"),
    [
        (ndd.as_batch([2, 0, 3]), RuntimeError),
        (ndd.as_batch([2, 0, -1]), RuntimeError),
        (ndd.as_batch([2, 0]), ValueError),
        ([2, 0, 1], RuntimeError),
        (3, RuntimeError),
        (None, TypeError),
    ],
)
def test_refused(indices, error):
    with pytest.raises(error, match="permute_batch"):
        ndd.permute_batch(ndd.as_batch([[1], [2, 3], [4]]), indices=indices).evaluate()
    with pytest.raises(TypeError):
        ndd.permute_batch(ndd.as_batch([[1]]))
