"""Every operator, in every form: types, Tensor and Batch, per-sample arguments, modes, threads, errors.

The references stand in tests/ops; an operator without one fails here.
"""

import importlib
import itertools
import operator
import pathlib

import numpy as np
import pytest

import avida as ndd
from tests.op_case import CASES, OPS, RANDOM_ARGUMENTS, RANDOM_INPUTS, Case

for path in sorted((pathlib.Path(__file__).parent.parent / "ops").glob("test_*.py")):
    try:
        importlib.import_module(f"tests.ops.{path.stem}")
    except ModuleNotFoundError as missing:
        if missing.name not in ("av", "soundfile"):  # which machines with a GPU need not have: see tests/gpu
            raise

MODES = list(ndd.EvalMode)


def each_case(test):
    names = [f"{case.op}-{case.source.rpartition('.')[2]}" for case in CASES]
    return pytest.mark.parametrize("case", CASES, ids=names)(test)


def combinations(case: Case, most: int = 24):
    """Argument values to try: all combinations, thinned out evenly when they are many."""
    every = list(itertools.product(*case.arguments.values()))
    step = -(-len(every) // most)
    return [dict(zip(case.arguments, values, strict=True)) for values in every[::step]]


def inputs_as_tensors(case: Case, arrays):
    return [
        ndd.as_tensor(a, layout=case.layout if case.layout and len(case.layout) == a.ndim else None) for a in arrays
    ]


def inputs_as_batches(case: Case, dtype: str):
    samples = [case.arrays(i, dtype) for i in range(len(case.shapes))]
    columns = zip(*samples, strict=True)
    batches = [
        ndd.as_batch(list(c), layout=case.layout if case.layout and len(case.layout) == c[0].ndim else None)
        for c in columns
    ]
    return samples, batches


def results(value):
    return value if isinstance(value, tuple) else (value,)


def check(case: Case, got, expected):
    array = np.asarray(got)
    assert array.shape == expected.shape
    assert array.dtype == expected.dtype
    if expected.dtype.kind == "f":
        rtol = max(case.rtol, 2e-3 if expected.dtype == np.float16 else 0)
        np.testing.assert_allclose(array, expected, rtol=rtol, atol=1e-6)
    elif case.atol:
        assert np.abs(array.astype(np.int64) - expected.astype(np.int64)).max(initial=0) <= case.atol
    else:
        np.testing.assert_array_equal(array, expected)


def test_every_operator_has_a_case():
    others = {name for name, op in OPS.items() if op["random"] or op["gpu_only"]}
    assert sorted(OPS.keys() - {case.op for case in CASES} - others) == []


@each_case
def test_tensor(case):
    for dtype in case.dtypes:
        arrays = case.arrays(0, dtype)
        for arguments in combinations(case):
            out = results(case.function(*inputs_as_tensors(case, arrays), **arguments))
            for got, expected in zip(out, case.expected(arrays, arguments), strict=True):
                assert isinstance(got, ndd.Tensor)
                check(case, got, expected)


@each_case
def test_batch_with_the_same_arguments_for_all(case):
    for dtype in case.dtypes:
        samples, batches = inputs_as_batches(case, dtype)
        if not batches or case.alone:
            continue
        for arguments in combinations(case, 6):
            out = results(case.function(*batches, **arguments))
            for i, arrays in enumerate(samples):
                for got, expected in zip(out, case.expected(arrays, arguments), strict=True):
                    assert isinstance(got, ndd.Batch)
                    check(case, got.tensors[i], expected)


@each_case
def test_batch_with_arguments_per_sample(case):
    names = case.per_sample
    if not names or case.alone:
        return
    choices = [c for c in combinations(case, 100) if all(np.ndim(c[n]) == np.ndim(case.arguments[n][0]) for n in names)]
    fixed = {n: v[0] for n, v in case.arguments.items() if n not in names}
    dtype = case.dtypes[0]
    samples, batches = inputs_as_batches(case, dtype)
    picked = [choices[(5 * i + 1) % len(choices)] for i in range(len(samples))]
    per_sample = {n: ndd.as_batch([p[n] for p in picked]) for n in names if picked[0][n] is not None}
    out = results(case.function(*batches, **fixed, **per_sample))
    for i, arrays in enumerate(samples):
        arguments = fixed | {n: picked[i][n] for n in names}
        for got, expected in zip(out, case.expected(arrays, arguments), strict=True):
            check(case, got.tensors[i], expected)


@each_case
def test_modes_and_threads_change_no_bit(case):
    dtype = "float32" if "float32" in case.dtypes else case.dtypes[0]
    arguments = combinations(case)[-1]

    def run():
        _, batches = inputs_as_batches(case, dtype)
        count = {} if batches else {"batch_size": len(case.shapes)}
        return [np.asarray(t).tobytes() for out in results(case.function(*batches, **arguments, **count)) for t in out]

    with ndd.EvalMode.sync_cpu, ndd.EvalContext(num_threads=1):
        expected = run()
    for mode, threads in itertools.product(MODES, (1, 2, 8)):
        with mode, ndd.EvalContext(num_threads=threads):
            assert run() == expected


@each_case
def test_uniform_batches_lie_in_one_block(case):
    arrays = case.arrays(0, case.dtypes[0])
    if not arrays:
        return
    layouts = [case.layout if case.layout and len(case.layout) == a.ndim else None for a in arrays]
    batches = [
        ndd.as_batch([a.copy() for _ in range(3)], layout=layout) for a, layout in zip(arrays, layouts, strict=True)
    ]
    for out in results(case.function(*batches, **combinations(case)[0])):
        if out._uniform() and not case.op.startswith(("reshape", "reinterpret", "squeeze", "expand_dims", "per")):
            assert out._contiguous()


@each_case
def test_empty_batch(case):
    arrays = case.arrays(0, case.dtypes[0])
    if not arrays:
        return
    batches = [ndd.as_batch([], dtype=case.dtypes[0], layout=case.layout) for _ in arrays]
    arguments = {n: v for n, v in combinations(case)[0].items()}
    try:
        out = results(case.function(*batches, **arguments))
        assert all(o.evaluate().batch_size == 0 for o in out)
    except (ValueError, RuntimeError, IndexError, TypeError) as error:
        assert case.op.rpartition(".")[2] in str(error)


@each_case
def test_wrong_calls_are_refused(case):
    tensors = inputs_as_tensors(case, case.arrays(0, case.dtypes[0]))
    arguments = combinations(case)[0]
    with pytest.raises(TypeError):
        case.function(*tensors, **arguments, no_such_argument=1)
    if tensors and not OPS[case.op]["inputs"][-1]["variadic"]:
        with pytest.raises(TypeError):
            case.function(*tensors, *[1] * 5, **arguments)
    if not OPS[case.op]["plain"]:
        with pytest.raises(ValueError, match="no device"):
            case.function(*tensors, **arguments, device="nowhere")
        with pytest.raises(ValueError, match="out of range"):
            case.function(*tensors, **arguments, device=f"gpu:{ndd._core.gpu_count()}")
    with pytest.raises(Exception):  # noqa: B017, PT011
        results(case.function(*[object()] * max(1, len(tensors)), **arguments))[0].evaluate()


@pytest.mark.parametrize("name", sorted(name for name, op in OPS.items() if op["random"]))
def test_random_operators_follow_the_seed_alone(name):
    function = operator.attrgetter(name)(ndd)
    needed = sum(not given["optional"] for given in OPS[name]["inputs"])
    inputs = RANDOM_INPUTS[name]() if name in RANDOM_INPUTS else [1000] * needed
    count = {} if name in RANDOM_INPUTS else {"batch_size": 50}

    def run(seed):
        rng = ndd.random.RNG(seed)
        out = [
            o for _ in range(3) for o in results(function(*inputs, **RANDOM_ARGUMENTS.get(name, {}), **count, rng=rng))
        ]
        return [np.asarray(t).tobytes() for o in out for t in o]

    expected = run(5)
    assert run(6) != expected
    for mode, threads in itertools.product(MODES, (1, 2, 8)):
        with mode, ndd.EvalContext(num_threads=threads):
            assert run(5) == expected
