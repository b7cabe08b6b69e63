"""When and how errors surface."""

import sys

import numpy as np
import pytest

import avida as ndd


def test_data_errors_come_when_read_and_name_operator_sample_and_line():
    a = ndd.batch([[1, 2], [3, 4]])
    b = ndd.batch([[1, 2], [3, 4, 5]])
    line = sys._getframe().f_lineno + 1
    bad = a + b
    for read in (lambda: bad.shape, lambda: bad.evaluate(), lambda: str(bad), lambda: next(iter(bad)).shape):
        with pytest.raises(RuntimeError) as raised:
            read()
        message = str(raised.value)
        assert "add" in message
        assert "sample 1" in message
        assert "(2,) and (3,)" in message
        assert raised.value.__notes__ == [f"called at {__file__}:{line}"]
        assert __file__ not in message  # clients of a server may see it
    assert bad.dtype == ndd.int32
    assert bad.batch_size == 2


@pytest.mark.parametrize("mode", [ndd.EvalMode.sync_cpu, ndd.EvalMode.sync_full])
def test_sync_modes_raise_at_the_call(mode):
    with mode, pytest.raises(RuntimeError, match="broadcast"):
        ndd.tensor([1, 2]) + ndd.tensor([1, 2, 3])


def test_what_depends_on_a_failed_value_raises_the_same_error():
    bad = ndd.tensor([1, 2]) + ndd.tensor([1, 2, 3])
    later = ndd.math.sqrt(bad * 2)
    fine = ndd.tensor([1]) + 1
    with pytest.raises(RuntimeError) as first:
        bad.evaluate()
    with pytest.raises(RuntimeError) as second:
        later.evaluate()
    assert str(first.value) == str(second.value)
    assert fine.item() == 2


def test_an_error_that_nobody_reads_disturbs_nobody():
    ndd.tensor([1, 2]) + ndd.tensor([1, 2, 3])
    assert (ndd.tensor([1]) + 1).item() == 2
    ndd.EvalContext.current().evaluate_all()


def test_division_by_zero_keeps_its_type():
    with pytest.raises(ValueError, match="division by zero"):
        (ndd.tensor([1]) // 0).evaluate()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_of_several_failed_samples_is_named(threads):
    ones = np.ones(200_000, np.int32)
    divisors = [ones] * 3 + [0 * ones, ones] + [0 * ones] * 8
    with ndd.EvalContext(num_threads=threads):
        for _ in range(5):
            with pytest.raises(ValueError, match="sample 3: integer division by zero"):
                (ndd.batch([ones] * len(divisors)) // ndd.batch(divisors)).evaluate()


def test_errors_at_the_call():
    image = np.zeros((2, 2, 3), np.uint8)
    with pytest.raises(TypeError):
        ndd.flip(image, horisontal=1)
    with pytest.raises(TypeError):
        ndd.flip()
    with pytest.raises(TypeError, match="missing"):
        ndd.flip(None)
    with pytest.raises(TypeError, match="horizontal"):
        ndd.flip(image, horizontal="abc")
    with pytest.raises(ValueError, match=r'flip: expected "input" with layout .* got "HC"'):
        ndd.flip(ndd.tensor(image[0], layout="HC"))
    with pytest.raises(ValueError, match="batch sizes differ"):
        ndd.flip(ndd.batch([image] * 2, layout="HWC"), horizontal=ndd.batch([1, 0, 1]))
    with pytest.raises(ValueError, match="foo"):
        ndd.flip(image, device="foo")
    with pytest.raises(ValueError, match="pipeline mode"):
        ndd.flip(image, device="mixed")
    with pytest.raises(ValueError, match="negative"):
        ndd.flip(image, batch_size=-1)
    with pytest.raises(RuntimeError, match="str"):
        ndd.flip("image.jpg")


def test_python_operator_raises_its_own_exception_with_traceback():
    class Strange(Exception):
        pass

    @ndd.operator
    def broken(x):
        raise Strange("from inside")

    result = broken(ndd.tensor([1]))
    for _ in range(2):
        with pytest.raises(Strange, match="from inside") as raised:
            result.evaluate()
    assert any("broken" in str(entry.name) for entry in raised.traceback)
    assert any("broken" in note and __file__ in note for note in raised.value.__notes__)
    with pytest.raises(Strange):
        (result + 1).evaluate()


def test_every_way_of_reading_raises_the_same_type():
    bad = ndd.tensor([1]) // 0
    for read in (np.asarray, np.array, memoryview, float, lambda t: t.item(), lambda t: t.__dlpack__()):
        with pytest.raises(ValueError, match="division by zero"):
            read(bad)


def test_exceptions_that_cannot_be_changed():
    import dataclasses

    @dataclasses.dataclass(frozen=True)
    class Frozen(Exception):
        code: int

    @ndd.operator
    def broken(x):
        raise Frozen(7)

    with pytest.raises(Frozen) as raised:
        broken(ndd.tensor([1])).evaluate()
    assert raised.value.code == 7


def test_failed_operators_keep_nothing_alive():
    import gc
    import weakref

    @ndd.operator
    def broken(x):
        raise ValueError("no")

    class Witness:
        pass

    def fails():
        witness = Witness()
        result = broken(ndd.tensor([1]))
        depths = []
        for _ in range(3):
            try:
                result.evaluate()
            except ValueError as error:
                depth, at = 0, error.__traceback__
                while at:
                    depth, at = depth + 1, at.tb_next
                depths.append(depth)
        assert len(set(depths)) == 1
        return weakref.ref(witness)

    witnesses = [fails() for _ in range(3)]
    gc.collect()
    assert [w() for w in witnesses] == [None] * 3


def test_half_built_objects():
    for make, bad in ((ndd.Tensor, object()), (ndd.Batch, 5)):
        with pytest.raises(TypeError) as raised:
            make(bad)
        half_built = raised.traceback[1].frame.f_locals["self"]
        with pytest.raises(TypeError):  # as debuggers do that show the variables of a traceback
            repr(half_built)
    with pytest.raises(TypeError):
        ndd.flip(ndd.Tensor.__new__(ndd.Tensor))


def test_an_operator_has_results():
    with pytest.raises(ValueError, match="outputs must be from 1 to"):
        ndd.operator(lambda x: x, outputs=0)


def test_python_operators_are_named_without_internals():
    with pytest.raises(RuntimeError, match=r"^add: the shapes"):
        (ndd.tensor([1, 2]) + ndd.tensor([1, 2, 3])).evaluate()
    with pytest.raises(RuntimeError, match=r"^bit_and: expected integers"):
        ndd.tensor([1]) & 1.5
    with pytest.raises(IndexError, match=r"^subscript: index 5"):
        ndd.tensor([1, 2])[5].evaluate()
