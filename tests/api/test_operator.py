"""Python functions as operators: per sample and per batch, on NumPy and PyTorch, in every mode."""

import numpy as np
import pytest

import avida as ndd


def values(batch):
    return [np.asarray(t).tolist() for t in batch]


@pytest.fixture(params=list(ndd.EvalMode), ids=lambda mode: mode.name)
def mode(request):
    with request.param:
        yield request.param


@pytest.mark.parametrize("framework", ["numpy", "torch"])
@pytest.mark.parametrize("per", ["sample", "batch"])
def test_forms(mode, per, framework):
    def double(x):
        return [y * 2 for y in x] if per == "batch" else x * 2

    operator = ndd.operator(double, per=per, framework=framework)
    batch = ndd.batch([[1, 2], [3]], layout="X")
    result = operator(batch)
    assert values(result) == [[2, 4], [6]]
    assert (result.layout, result.batch_size) == ("X", 2)
    alone = operator(ndd.tensor([1, 2]))
    assert isinstance(alone, ndd.Tensor)
    assert np.asarray(alone).tolist() == [2, 4]
    assert values(operator(np.array([5]), batch_size=2)) == [[10], [10]]
    assert values(operator(ndd.batch([], dtype=ndd.int32))) == []
    assert values(operator(batch) + 1) == [[3, 5], [7]]


def test_several_outputs_and_keywords(mode):
    @ndd.operator(outputs=2)
    def parts(x, y, scale):
        return x * scale, y.sum()

    a, b = parts(ndd.batch([[1, 2], [3]]), [10, 20], scale=3)
    assert values(a) == [[3, 6], [9]]
    assert values(b) == [30, 30]


def test_memory_of_the_function_may_be_used_again(mode):
    buffer = np.zeros(2, np.int32)

    @ndd.operator
    def reuse(x):
        buffer[:] = x
        return buffer

    first = reuse(ndd.batch([[1, 2], [3, 4], [5, 6]]))
    second = reuse(ndd.batch([[7, 8]]))
    second.evaluate()
    assert values(first) == [[1, 2], [3, 4], [5, 6]]


def test_inputs_stay_as_they_are(mode):
    import torch

    @ndd.operator(framework="torch")
    def in_place(x):
        return x.mul_(torch.tensor(10))

    @ndd.operator
    def forbidden(x):
        x += 1
        return x

    batch = ndd.batch([[1, 2]])
    assert values(in_place(batch)) == [[10, 20]]
    assert values(batch) == [[1, 2]]
    with pytest.raises(ValueError, match="read-only"):
        forbidden(batch).evaluate()


def test_order_and_effects_are_kept():
    seen = []

    @ndd.operator
    def note(x):
        seen.append(int(x))
        return x

    for i in range(20):
        note(i)
    ndd.EvalContext.current().evaluate_all()
    assert seen == list(range(20))


def test_errors_name_the_sample():
    @ndd.operator
    def picky(x):
        if x[0] == 3:
            raise ArithmeticError("three")
        return x

    with pytest.raises(ArithmeticError, match="three") as raised:
        picky(ndd.batch([[1], [3]])).evaluate()
    assert "sample 1" in raised.value.__notes__


def test_wrong_use():
    with pytest.raises(ValueError, match="per is"):
        ndd.operator(lambda x: x, per="row")
    with pytest.raises(ValueError, match="framework is"):
        ndd.operator(lambda x: x, framework="jax")
    for size in (-1, 2**70):
        with pytest.raises(ValueError, match=f"batch_size must be from 0 to 16777216, got {size}"):
            ndd.operator(lambda: 1)(batch_size=size)
    with pytest.raises(ValueError, match="batch sizes differ"):
        ndd.operator(lambda x, y: x)(ndd.batch([1]), ndd.batch([1, 2]))
    with pytest.raises(TypeError, match="returned None"):
        ndd.operator(lambda x: None)(1).evaluate()
    with pytest.raises(ValueError, match="expected 2 samples"):
        ndd.operator(lambda x: x[:1], per="batch")(ndd.batch([1, 2])).evaluate()
    with pytest.raises(ValueError, match="expected 2 results"):
        ndd.operator(lambda x: x, outputs=2)(1)[0].evaluate()
    assert ndd.operator(lambda: 1)(batch_size=0).evaluate().batch_size == 0
