import numpy as np

import avida as ndd
from tests.op_case import op_case


@op_case("copy", layout="HWC")
def reference(x):
    return x


def test_has_memory_of_its_own():
    x = ndd.tensor(np.zeros((4, 4), np.uint8))
    copied = ndd.copy(x).evaluate()
    np.asarray(x)[0, 0] = 9
    assert np.asarray(copied)[0, 0] == 0


def test_large_samples():
    x = np.random.default_rng(0).integers(0, 255, (2, 300, 301, 3), np.uint8)
    np.testing.assert_array_equal(np.asarray(ndd.as_tensor(ndd.copy(ndd.as_batch(x)))), x)


def test_array_likes():
    assert np.asarray(ndd.copy([[1, 2], [3, 4]])).tolist() == [[1, 2], [3, 4]]
    assert ndd.copy(2.5).shape == ()
    assert ndd.copy([[1, 2], [3]]).shape == [(2,), (1,)]
