"""Fills, one_hot, lookup_table, element_extract, get_property, permutations and generators against the real library."""

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import avida
from tests.op_case import ALL, INTEGERS
from tests.parity.compare import both, cases


@pytest.mark.parametrize("name", ["zeros", "ones"])
@pytest.mark.parametrize("dtype", ALL)
def test_constants(name, dtype):
    for shape in (None, [], 3, [2], (2, 3), [0, 3], [2.7], np.array([2, 1])):
        both(lambda lib, s=shape: getattr(lib, name)(shape=s, dtype=getattr(lib, dtype)))
    both(lambda lib: getattr(lib, name)(shape=lib.as_batch([[1, 2], [2, 1]]), dtype=getattr(lib, dtype)))


@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_constants_forms(name):
    both(lambda lib: getattr(lib, name)())
    both(lambda lib: getattr(lib, name)(shape=lib.as_batch([1, 2])))
    both(lambda lib: getattr(lib, name)(shape=lib.as_tensor([2.7, 1.2])))
    both(lambda lib: getattr(lib, name)(shape=[2], batch_size=3))
    both(lambda lib: getattr(lib, name)(shape=[2], batch_size=1))
    for arguments in ({"layout": "HW"}, {"layout": "H"}, {"layout": ""}, {"layout": None}):
        fails = arguments == {"layout": "H"} and RuntimeError
        both(lambda lib, a=arguments: getattr(lib, name)(shape=[2, 3], **a), fails=fails)
    both(lambda lib: getattr(lib, name)(layout="H"), fails=RuntimeError)
    both(lambda lib: getattr(lib, name)(shape=[-1]), fails=RuntimeError)
    both(lambda lib: getattr(lib, name)(shape=np.array([[2]])), fails=RuntimeError)
    both(lambda lib: getattr(lib, name)(shape=lib.as_batch([[1, 2], [2]])), fails=RuntimeError)
    both(lambda lib: getattr(lib, name)([2]), fails=TypeError)


@pytest.mark.parametrize("dtype", ALL)
def test_full(dtype):
    value = np.array([1, 0, 3]).astype(dtype)
    for shape in ([3], [2, 3], [1, 3], [0, 3], 3):
        both(lambda lib, s=shape: lib.full(lib.as_tensor(value), shape=s))
    both(lambda lib: lib.full(lib.as_tensor(value[:1]), shape=[2, 2]))
    both(lambda lib: lib.full_like(np.zeros((2, 3), dtype), lib.as_tensor(value)))
    for name in ("zeros_like", "ones_like"):
        both(lambda lib, n=name: getattr(lib, n)(np.zeros((2, 3), dtype)))
        both(lambda lib, n=name: getattr(lib, n)(np.zeros((2, 3), np.int16), dtype=getattr(lib, dtype)))


@pytest.mark.parametrize(
    ("filled", "fails"),
    cases(
        [
            (3, [2]),
            (3.5, None),
            (True, 2),
            ([1, 2], [3, 2]),
            ([[1], [2]], [2, 3]),
            ([[1, 2]], [2]),
            ([[1], [2]], [2, 2, 3]),
            ([[[1], [2]]], [4, 2, 3]),
            (np.zeros(0, np.int32), [0]),
        ],
        refused=[
            ([1, 2], [3]),
            (np.zeros(0, np.int32), [2]),
            (1, [-1]),
        ],
    ),
)
def test_full_repeats(filled, fails):
    value, shape = filled
    both(lambda lib: lib.full(value, shape=shape), fails=fails)
    if shape and min(shape if isinstance(shape, list) else [shape]) > 0:
        both(lambda lib: lib.full_like(np.zeros(shape, np.float32), value), fails=fails)


def test_full_forms():
    for layout in ("X", "XY", "", None):
        both(lambda lib, y=layout: lib.full([1, 2], shape=[2], layout=y), fails=layout == "XY" and RuntimeError)
    both(lambda lib: lib.full(lib.as_batch([1, 2]), shape=[2]))
    both(lambda lib: lib.full(lib.as_batch([[1, 2], [3]]), shape=[2]))
    both(lambda lib: lib.full(1, shape=lib.as_batch([1, 2])))
    both(lambda lib: lib.full(1, shape=[2], batch_size=2))
    both(lambda lib: lib.full(1, dtype=lib.int32), fails=TypeError)


def test_full_like_forms():
    x = np.zeros((2, 2), np.uint8)
    for value in (7.5, 300, -3, [1, 2], [1, 2, 3], [[1.5], [260]], float("nan")):
        both(
            lambda lib, v=value: lib.full_like(lib.as_tensor(x, layout="HW"), v),
            fails=value == [1, 2, 3] and RuntimeError,
        )
    both(lambda lib: lib.full_like(x, lib.as_batch([1, 2])))
    both(lambda lib: lib.full_like(lib.as_batch([[1, 2], [3]]), 5))
    both(lambda lib: lib.full_like(lib.as_batch([[1, 2], [3]]), [5]))
    both(lambda lib: lib.full_like(3, [[4]]))
    both(lambda lib: lib.full_like(np.zeros((0, 2), np.int32), [1, 2]))
    both(lambda lib: lib.full_like(np.zeros((0, 2), np.int32), [1, 2, 3]), fails=RuntimeError)
    both(lambda lib: lib.full_like(x > 0, 0.3))
    both(lambda lib: lib.zeros_like([1, 2], batch_size=2))
    both(lambda lib: lib.ones_like(lib.as_batch([[1, 2], [3]], layout="X")))


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64"])
def test_one_hot_inputs(dtype):
    x = np.array([[0, 3, 1], [2, 4, 9]]).astype(dtype)
    for axis in (-1, 0, 1, 2, None, 3, -2):
        both(
            lambda lib, a=axis: lib.one_hot(lib.as_tensor(x), num_classes=4, axis=a),
            fails=axis in (3, -2) and RuntimeError,
        )
    both(lambda lib: lib.one_hot(lib.as_tensor(x[0, 1]), num_classes=4))


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64"])
def test_one_hot_outputs(dtype):
    for on, off in ((1, 0), (2.5, -2.7), (100, 7)):
        off = max(off, 0) if dtype[0] == "u" else off
        both(
            lambda lib, on=on, off=off: lib.one_hot(
                [1, 2], num_classes=3, on_value=on, off_value=off, dtype=getattr(lib, dtype)
            )
        )
    both(lambda lib: lib.one_hot([1, 2], num_classes=3, on_value=300.7, off_value=-5.7, dtype=lib.uint8))


@pytest.mark.parametrize(
    ("call", "fails"),
    cases(
        [
            ([1], {}),
            ([[1]], {}),
            ([1], {"axis": -1}),
            ([1], {"axis": 0}),
            (5, {"axis": 0}),
            (5, {"axis_name": "C"}),
            ([1], {"axis_name": "C"}),
            ([1, 2], {"num_classes": 0}),
            (np.zeros(0, np.int32), {}),
            (np.zeros((2, 0), np.int32), {}),
            (np.array([-0.5, 0.9, 2.7, np.nan], np.float32), {}),
        ],
        refused=[
            (5, {"axis": 1}),
            ([1, 2], {"axis_name": "C"}),
            ([[1]], {"axis_name": "C", "axis": 0}),
            (5, {"num_classes": -1}),
        ],
    ),
)
def test_one_hot_forms(call, fails):
    x, arguments = call
    both(lambda lib: lib.one_hot(x, **{"num_classes": 3, **arguments}), fails=fails)


def test_one_hot_layouts_and_batches():
    for arguments in ({}, {"axis_name": "C"}, {"axis_name": "C", "axis": 0}, {"axis_name": "CD"}, {"axis_name": ""}):
        for x in ([1, 2], [1]):
            both(
                lambda lib, a=arguments, x=x: lib.one_hot(lib.as_tensor(x, layout="H"), num_classes=3, **a),
                fails=arguments.get("axis_name") in ("CD", "") and RuntimeError,
            )
    for samples in ([[1], [2]], [[1], [1, 2]], [1, 2]):
        both(lambda lib, s=samples: lib.one_hot(lib.as_batch(s), num_classes=3))
        both(lambda lib, s=samples: lib.one_hot(lib.as_batch(s), num_classes=3, axis=0))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("out", ALL)
def test_lookup_table(dtype, out):
    x = np.array([[0, 1, 2], [5, 100, 127]], dtype)
    both(
        lambda lib: lib.lookup_table(
            lib.as_tensor(x, layout="HW"),
            keys=[1, 2, 100, 2],
            values=[10.5, 7, -1.5, 300],
            default_value=-1,
            dtype=getattr(lib, out),
        )
    )


@pytest.mark.parametrize(
    ("arguments", "fails"),
    cases(
        [
            {"keys": 1, "values": 10.5},
            {"keys": [65535, 65535], "values": [10.5, 7]},
            {"keys": [1.7], "values": [2.7]},
            {},
        ],
        refused=[
            {"keys": [1], "values": [1, 2]},
            {"keys": [-1], "values": [1]},
            {"keys": [65536], "values": [1]},
            {"values": [1]},
        ],
    ),
)
def test_lookup_table_forms(arguments, fails):
    both(lambda lib: lib.lookup_table(np.array([0, 1, -1, 65535, 70000]), **arguments), fails=fails)
    both(lambda lib: lib.lookup_table(np.zeros(2, np.float32), **arguments), fails=RuntimeError)
    both(lambda lib: lib.lookup_table(lib.as_batch([[1, 0], [65535]]), **arguments), fails=fails)


@pytest.mark.parametrize("element_map", [0, [1], [1, 0], [2, 2, 0], [3], [-1], [], 1.7])
def test_element_extract(element_map):
    beyond = element_map in ([3], [-1], [])
    for dtype in ("uint8", "int64", "float16", "bool"):
        x = np.arange(24).reshape(3, 2, 4).astype(dtype)
        for layout in ("FHW", "HWC", None):
            both(
                lambda lib, x=x, y=layout: lib.element_extract(lib.as_tensor(x, layout=y), element_map=element_map),
                fails=(layout == "HWC" or beyond) and RuntimeError,
            )
        both(
            lambda lib, x=x: lib.element_extract(lib.as_batch([x, x[::-1].copy()]), element_map=element_map),
            fails=beyond and RuntimeError,
        )
    both(lambda lib: lib.element_extract(np.arange(3), element_map=element_map), fails=RuntimeError)


@pytest.mark.parametrize("key", ["layout", "source_info", "other"])
def test_get_property(key):
    x = np.zeros((2, 3, 4), np.uint8)
    both(lambda lib: lib.get_property(lib.as_tensor(x, layout="HWC"), key=key), fails=key == "other" and RuntimeError)
    both(lambda lib: lib.get_property(lib.as_tensor(x), key=key), fails=key == "other" and RuntimeError)
    both(
        lambda lib: lib.get_property(lib.as_batch([x, x], layout="HWC"), key=key), fails=key == "other" and RuntimeError
    )
    both(lambda lib: lib.get_property(x, key=key, batch_size=2), fails=key == "other" and RuntimeError)


@pytest.mark.parametrize(
    ("indices", "fails"),
    cases(
        [
            [2, 0, 1],
            [1, 1, 1],
            [0, 0, 2],
            [0, 1],
            [2.2, 0.4, 0.6],
        ],
        refused=[
            [3, 0, 0],
            [-1, 0, 0],
        ],
    ),
)
def test_permute_batch(indices, fails):
    samples = [np.arange(n) for n in (2, 0, 5)]
    both(
        lambda lib: lib.permute_batch(lib.as_batch(samples, layout="X"), indices=lib.as_batch(indices)),
        fails=ValueError if len(indices) == 2 else fails,
    )
    both(lambda lib: lib.permute_batch([7, 8], indices=lib.as_batch(indices)), fails=fails)
    both(lambda lib: lib.permute_batch(lib.as_batch(samples), indices=int(indices[0])), fails=fails)
    both(lambda lib: lib.permute_batch(lib.as_batch(samples), indices=indices), fails=RuntimeError)
    both(lambda lib: lib.permute_batch([7, 8], indices=int(indices[0])), fails=int(indices[0]) != 0 and RuntimeError)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(-(2**70), 2**70), steps=st.lists(st.integers(0, 2**40), max_size=4))
def test_generators_give_the_same_words(seed, steps):
    ours, theirs = avida.random.RNG(seed), dali.random.RNG(seed)
    for step in steps:
        assert ours() == theirs()
        ours.advance(step)
        theirs.advance(step)
    assert str(ours.state) == str(theirs.state)
    assert repr(ours) == repr(theirs)
    assert [ours() for _ in range(5)] == [theirs() for _ in range(5)]
    assert avida.random.RNG(state=str(theirs.state))() == theirs()
    assert dali.random.RNG(state=ours.clone().state)() == ours.clone()()


@pytest.mark.parametrize(
    "arguments",
    [{}, {"allow_repetitions": True}, {"no_fixed_points": True}, {"allow_repetitions": True, "no_fixed_points": True}],
    ids=str,
)
def test_batch_permutation(arguments):
    found = []
    for lib in (avida, dali):
        rng = lib.random.RNG(5)
        drawn = [lib.batch_permutation(batch_size=3, rng=rng, **arguments) for _ in range(300)]
        found.append({tuple(t.item() for t in batch) for batch in drawn})
        found.append((str(drawn[0].dtype), drawn[0].shape, drawn[0].layout, str(rng.state)))
    assert found[:2] == found[2:]


@settings(max_examples=150, deadline=None)
@given(
    dtype=st.sampled_from(INTEGERS),
    shapes=st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=2), min_size=1, max_size=3),
    axis=st.sampled_from([None, -1, 0, 1, 2]),
    classes=st.integers(0, 6),
    seed=st.integers(0, 1000),
)
def test_random_one_hot_and_lookup(dtype, shapes, axis, classes, seed):
    rng = np.random.default_rng(seed)
    samples = [rng.integers(0, 8, shape).astype(dtype) for shape in shapes]
    both(lambda lib: lib.one_hot(lib.as_batch(samples), num_classes=classes, axis=axis))
    keys = rng.integers(0, 10, 4).tolist()
    values = rng.uniform(-5, 5, 4).tolist()
    both(lambda lib: lib.lookup_table(lib.as_batch(samples), keys=keys, values=values, default_value=classes))


@settings(max_examples=150, deadline=None)
@given(
    shape=st.lists(st.integers(0, 4), max_size=4),
    keep=st.lists(st.booleans(), max_size=4),
    dtype=st.sampled_from(ALL),
    seed=st.integers(0, 1000),
)
def test_random_fills(shape, keep, dtype, seed):
    # The fill value has the last axes of the shape, some of them with the extent 1.
    keep = keep[: len(shape)]
    last = shape[len(shape) - len(keep) :]
    extents = [n if whole else 1 for n, whole in zip(last, keep, strict=True)]
    value = np.random.default_rng(seed).integers(0, 100, extents).astype(dtype)
    if value.size == 0 and np.prod(shape) > 0:
        return
    both(lambda lib: lib.full(lib.as_tensor(value), shape=shape))
    both(lambda lib: lib.full_like(np.zeros(shape, np.int16), lib.as_tensor(value)))


@pytest.mark.parametrize("dtype", ALL)
def test_sequence_rearrange(dtype):
    x = np.arange(24).reshape(4, 3, 2).astype(dtype)
    for order in ([2, 0, 0], [3], [1, 1, 2, 3, 0]):
        both(lambda lib, o=order: lib.sequence_rearrange(lib.tensor(x), new_order=o))
    both(lambda lib: lib.sequence_rearrange(lib.tensor(x, layout="FHW"), new_order=[1, 1]))
    both(
        lambda lib: lib.sequence_rearrange(
            lib.batch([x, x[:2]]), new_order=lib.batch([np.int32([1, 3]), np.int32([1])])
        )
    )


@pytest.mark.parametrize("order", [[], [4], [-1]])
def test_frames_that_are_not_there(order):
    x = np.zeros((4, 3, 2), np.uint8)
    both(lambda lib: lib.sequence_rearrange(lib.tensor(x), new_order=order), fails=RuntimeError)
    both(lambda lib: lib.sequence_rearrange(lib.tensor(x[:0]), new_order=order), fails=RuntimeError)
    both(lambda lib: lib.sequence_rearrange(lib.tensor(x, layout="HWC"), new_order=[0]), fails=RuntimeError)
    both(lambda lib: lib.sequence_rearrange(lib.tensor(np.float32(1)), new_order=[0]), fails=RuntimeError)
