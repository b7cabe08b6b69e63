"""Casts, shapes, windows, joins and subscripts: the same as the real library."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.parity.compare import ALL_DTYPES, both, cases

SETTINGS = settings(max_examples=150, deadline=None)


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng([seed, *map(ord, dtype)])
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith("float"):
        return rng.uniform(-300, 300, shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def image(library, shape=(5, 6, 3), layout="HWC", dtype="uint8", seed=0):
    return library.tensor(numbers(shape, dtype, seed), layout=layout)


def images(library, shapes=((5, 6, 3), (3, 9, 3), (8, 4, 3)), layout="HWC", dtype="uint8"):
    return library.batch([numbers(shape, dtype, i) for i, shape in enumerate(shapes)], layout=layout)


def per_sample(library, values, dtype=None):
    return library.batch([np.asarray(v, dtype) for v in values])


class TestCast:
    @pytest.mark.parametrize(("source", "target"), list(itertools.product(ALL_DTYPES, ALL_DTYPES)))
    def test_every_pair(self, source, target):
        array = numbers((4, 50), source)
        both(lambda lib: lib.cast(lib.tensor(array, layout="XY"), dtype=getattr(lib, target)))

    @pytest.mark.parametrize("target", ALL_DTYPES)
    @pytest.mark.parametrize("source", ["float16", "float32", "float64"])
    def test_halfway_tiny_and_huge(self, source, target):
        near = [0.0, 0.49999997, 0.5, 0.50000006, 1.0, 1.5, 2.5, 126.5, 127.5, 254.5, 255.5, 32767.5, 65535.5]
        far = [2.0**k + d for k in (15, 16, 23, 24, 31, 32, 52) for d in (-1, -0.5, 0, 0.5, 1)]
        huge = [1e-8, 65504, 65519, 65520, 1e9, 1e18, 1e19, 2e19, 1e30, np.inf]
        with np.errstate(over="ignore"):
            array = np.array([*near, *far, *huge]).astype(source)
        both(lambda lib: lib.cast(lib.tensor(np.concatenate([array, -array])), dtype=getattr(lib, target)))

    def test_halves_round_away_from_zero(self):
        array = np.arange(0, 1 << 14, dtype=np.int32)
        both(lambda lib: lib.cast(lib.tensor(array), dtype=lib.float16))
        tiny = np.arange(0, 1 << 12, dtype=np.float32) * np.float32(2**-26)
        both(lambda lib: lib.cast(lib.tensor(tiny), dtype=lib.float16))

    @given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=40), st.sampled_from(ALL_DTYPES))
    @SETTINGS
    def test_any_float(self, values, target):
        both(lambda lib: lib.cast(lib.tensor(np.float32(values)), dtype=getattr(lib, target)))

    @pytest.mark.parametrize("dtype", ["uint8", "float32"])
    def test_forms(self, dtype):
        both(lambda lib: lib.cast(images(lib), dtype=getattr(lib, dtype)))
        both(lambda lib: lib.cast(image(lib), dtype=getattr(lib, dtype), batch_size=2))
        both(lambda lib: lib.cast([1, 2, 300], dtype=getattr(lib, dtype)))
        both(lambda lib: lib.cast(3.5, dtype=getattr(lib, dtype)))
        both(lambda lib: lib.cast_like(images(lib), np.zeros(2, dtype)))
        both(lambda lib: lib.cast_like(image(lib), images(lib, dtype=dtype)))
        both(lambda lib: lib.cast_like(image(lib), 1.0))
        both(lambda lib: lib.copy(images(lib, dtype=dtype)))
        both(lambda lib: lib.copy(image(lib, dtype=dtype)))
        both(lambda lib: lib.copy([[1, 2], [3, 4]]))

    def test_dtype_is_required(self):
        both(lambda lib: lib.cast(image(lib)), fails=TypeError)
        both(lambda lib: lib.cast(image(lib), dtype=None), fails=TypeError)


class TestReshape:
    @pytest.mark.parametrize(
        ("arguments", "fails"),
        cases(
            [
                {"shape": [90]},
                {"shape": [3, -1]},
                {"shape": [-2, 5, 6]},
                {"shape": [9, 10], "layout": "AB"},
                {"shape": [6, 5, 3]},
                {"shape": [6, 5, 3], "layout": ""},
                {"shape": [3.9, -1]},
                {"layout": "ABC"},
                {"rel_shape": [1, -1]},
                {"rel_shape": [2, 0.5, 1]},
                {"rel_shape": [0.2, 1, 5]},
                {"rel_shape": [0.5, 1, -1]},
                {"rel_shape": [1, 1, 1, -1]},
            ],
            refused=[
                {"shape": [6, 5, 3], "layout": "AB"},
                {"shape": [-1, -1]},
                {"shape": [7, -1]},
                {"shape": [0, -1]},
                {"shape": [91]},
                {"shape": []},
                {"layout": "AB"},
                {},
                {"rel_shape": [1, 1, 0.33333, 3]},
                {"rel_shape": [1, 1, 1], "shape": [90]},
                {"rel_shape": [1.3, -1]},
            ],
        ),
    )
    def test_arguments(self, arguments, fails):
        both(lambda lib: lib.reshape(image(lib), **arguments), fails=fails)
        both(lambda lib: lib.reshape(images(lib, [(5, 6, 3)] * 2), **arguments), fails=fails)
        if "layout" not in arguments or "shape" in arguments:
            both(lambda lib: lib.reinterpret(image(lib), **arguments), fails=fails)

    def test_shape_per_sample(self):
        both(lambda lib: lib.reshape(image(lib), shape=per_sample(lib, [[90, 1], [45, -1]])))
        both(lambda lib: lib.reshape(images(lib), shape=per_sample(lib, [[-1, 3], [9, -1], [3, -1]])))
        both(lambda lib: lib.reshape(images(lib), rel_shape=per_sample(lib, [[1, -1], [-1, 1], [2, -1]], np.float32)))
        both(lambda lib: lib.reshape(images(lib), shape=per_sample(lib, [[-1], [9, -1], [3, -1]])), fails=RuntimeError)
        both(lambda lib: lib.reshape(image(lib), np.int32([45, 2])))
        both(lambda lib: lib.reshape(image(lib), np.int64([45, 2]), layout="AB"))
        both(lambda lib: lib.reshape(image(lib), np.float32([45, 2])), fails=RuntimeError)
        both(lambda lib: lib.reshape(image(lib), np.int32([45, 2]), shape=[45, 2]), fails=RuntimeError)
        both(lambda lib: lib.reshape(images(lib), per_sample(lib, [[-1, 3], [9, -1], [3, -1]])))
        both(lambda lib: lib.reshape(image(lib), shape=np.int32([45, 2])))

    def test_empty_and_scalar(self):
        both(lambda lib: lib.reshape(np.zeros((0, 3), np.uint8), shape=[3, -1]))
        both(lambda lib: lib.reshape(np.zeros((0, 3), np.uint8), shape=[0, -1]), fails=RuntimeError)
        both(lambda lib: lib.reshape(np.uint8([[7]]), shape=[]))
        both(lambda lib: lib.reshape(np.uint8(7), shape=[1, 1]))

    @pytest.mark.parametrize(
        ("source", "target"), list(itertools.product(["uint8", "int16", "float32", "int64"], repeat=2))
    )
    def test_reinterpret(self, source, target):
        array = numbers((2, 3, 8), source)
        sizes = np.dtype(source).itemsize, np.dtype(target).itemsize
        both(lambda lib: lib.reinterpret(lib.tensor(array, layout="HWC"), dtype=getattr(lib, target)))
        both(lambda lib: lib.reinterpret(array, dtype=getattr(lib, target), shape=[-1]))
        both(
            lambda lib: lib.reinterpret(array, dtype=getattr(lib, target), shape=[2, -1, 2], layout="ABC"),
            fails=48 * sizes[0] // sizes[1] % 4 and RuntimeError,
        )
        odd = numbers((2, 7), source)
        both(
            lambda lib: lib.reinterpret(odd, dtype=getattr(lib, target)), fails=7 * sizes[0] % sizes[1] and RuntimeError
        )
        both(
            lambda lib: lib.reinterpret(array, dtype=getattr(lib, target), rel_shape=[1, 1, 0.5]),
            fails=2 * sizes[0] != sizes[1] and RuntimeError,
        )

    def test_squeeze(self):
        def value(lib):
            return lib.tensor(numbers((1, 3, 1, 2), "int16"), layout="ABCD")

        for names in ("A", "AC", "CA", "B", "X", "AA", ""):
            both(
                lambda lib, names=names: lib.squeeze(value(lib), axis_names=names),
                fails=names in ("B", "X", "AA") and RuntimeError,
            )
        both(lambda lib: lib.squeeze(value(lib)), fails=RuntimeError)
        both(lambda lib: lib.squeeze(np.zeros((1, 2)), axis_names="A"), fails=RuntimeError)
        both(lambda lib: lib.squeeze(images(lib, [(1, 3, 2), (1, 5, 2)]), axis_names="H"))

    @pytest.mark.parametrize(
        ("arguments", "fails"),
        cases(
            [
                {"axes": 0},
                {"axes": [1, 3]},
                {"axes": [3, 0], "new_axis_names": "AB"},
                {"axes": [0, 3], "new_axis_names": "AB"},
                {"axes": []},
                {"axes": 2, "new_axis_names": "C"},
            ],
            refused=[
                {"axes": [0], "new_axis_names": "AB"},
                {"axes": [0, 0]},
                {"axes": [-1]},
                {"axes": [5]},
            ],
        ),
    )
    def test_expand_dims(self, arguments, fails):
        both(lambda lib: lib.expand_dims(image(lib, (5, 6), "HW")), fails=TypeError)
        both(lambda lib: lib.expand_dims(image(lib, (5, 6), "HW"), **arguments), fails=fails)
        both(lambda lib: lib.expand_dims(images(lib, [(5, 6), (2, 3)], "HW"), **arguments), fails=fails)
        both(
            lambda lib: lib.expand_dims(image(lib, (5, 6), None), **arguments),
            fails=fails or ("new_axis_names" in arguments and RuntimeError),
        )
        both(
            lambda lib: lib.expand_dims(7, **arguments),
            fails=fails or (arguments["axes"] not in (0, []) and RuntimeError),
        )


class TestTranspose:
    @pytest.mark.parametrize("dtype", ALL_DTYPES)
    def test_all_orders(self, dtype):
        for perm in itertools.permutations(range(3)):
            both(lambda lib, perm=perm: lib.transpose(image(lib, dtype=dtype), perm=perm))
            both(lambda lib, perm=perm: lib.transpose(images(lib, dtype=dtype), perm=list(perm)))

    @given(st.data())
    @SETTINGS
    def test_any_rank(self, data):
        shape = data.draw(st.lists(st.integers(1, 5), min_size=0, max_size=6))
        perm = data.draw(st.permutations(range(len(shape))))
        array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(np.int32)
        both(lambda lib: lib.transpose(array, perm=perm) if perm else lib.transpose(array))

    @pytest.mark.parametrize(
        ("arguments", "fails"),
        cases(
            [
                {},
                {"transpose_layout": False},
                {"output_layout": "XYZ"},
                {"perm": [2, 0, 1], "transpose_layout": False},
                {"perm": [2, 0, 1], "output_layout": "ABC", "transpose_layout": False},
            ],
            refused=[
                {"output_layout": "XY"},
                {"perm": [0, 1]},
                {"perm": [0, 1, 1]},
                {"perm": [0, 1, 3]},
                {"perm": [0, 1, -1]},
            ],
        ),
    )
    def test_arguments(self, arguments, fails):
        both(lambda lib: lib.transpose(image(lib), **arguments), fails=fails)
        both(lambda lib: lib.transpose(image(lib, layout=None), **arguments), fails=fails)


class TestJoin:
    @pytest.mark.parametrize("op", ["cat", "stack"])
    @pytest.mark.parametrize("dtype", ALL_DTYPES)
    @pytest.mark.parametrize("axis", [-4, -3, -2, -1, 0, 1, 2, 3, 4])
    def test_axes_and_types(self, op, dtype, axis):
        both(
            lambda lib: getattr(lib, op)(image(lib, dtype=dtype), image(lib, dtype=dtype, seed=1), axis=axis),
            fails=axis not in range(-3, 4 if op == "stack" else 3) and RuntimeError,
        )
        both(
            lambda lib: getattr(lib, op)(images(lib, dtype=dtype), images(lib, dtype=dtype), axis=axis),
            fails=axis not in range(-3, 4 if op == "stack" else 3) and RuntimeError,
        )

    def test_names_and_layouts(self):
        for op, name in itertools.product(["cat", "stack"], ["H", "C", "X", "HW", ""]):
            both(
                lambda lib, op=op, name=name: getattr(lib, op)(image(lib), image(lib), axis_name=name),
                fails=(name not in ("H", "C", "X") or (op, name) == ("cat", "X")) and RuntimeError,
            )
            both(
                lambda lib, op=op, name=name: getattr(lib, op)(image(lib, layout=None), image(lib), axis_name=name),
                fails=RuntimeError,
            )
        both(lambda lib: lib.stack(image(lib), image(lib), axis_name="N", axis=-1))
        both(lambda lib: lib.cat(image(lib), image(lib), axis_name="H", axis=0), fails=RuntimeError)
        both(lambda lib: lib.stack(1, 2, 3, axis_name="N"))
        both(lambda lib: lib.cat(image(lib, layout="ABC"), image(lib)))

    def test_mixed_and_mismatched(self):
        for op in ("cat", "stack"):
            both(lambda lib, op=op: getattr(lib, op)(images(lib, [(2, 3)] * 3, "HW"), np.zeros((2, 3), np.uint8)))
            both(lambda lib, op=op: getattr(lib, op)(np.zeros((2, 3), np.uint8), images(lib, [(2, 3)] * 3, "HW")))
            both(lambda lib, op=op: getattr(lib, op)(image(lib), image(lib, dtype="int8")), fails=RuntimeError)
            both(lambda lib, op=op: getattr(lib, op)(image(lib), image(lib, (5, 7, 3))), fails=RuntimeError)
            both(lambda lib, op=op: getattr(lib, op)(image(lib), image(lib, (5, 6), "HW")), fails=RuntimeError)
            both(lambda lib, op=op: getattr(lib, op)(image(lib)))
            both(lambda lib, op=op: getattr(lib, op)(image(lib), None, image(lib)))
            both(lambda lib, op=op: getattr(lib, op)(1, 2), fails=op == "cat" and RuntimeError)
            both(lambda lib, op=op: getattr(lib, op)(), fails=TypeError)

    @pytest.mark.parametrize(
        ("first", "second", "axis"),
        [((2, 3), (0, 3), 1), ((0, 3), (2, 3), 1), ((0, 5), (2, 3), 1), ((0, 3), (2, 3), 0), ((2, 3), (0, 0), 0)],
    )
    def test_inputs_without_elements(self, first, second, axis):
        both(lambda lib: lib.cat(np.ones(first, np.uint8), np.zeros(second, np.uint8), axis=axis))


POLICIES = ["error", "pad", "edge", "reflect", "reflect_101", "wrap", "trim_to_shape"]


class TestSlice:
    @pytest.mark.parametrize(
        ("arguments", "fails"),
        cases(
            [
                {"start": [1, 2]},
                {"end": [3, 2]},
                {"shape": [3, 2]},
                {"start": 1, "shape": 2},
                {"start": [1, 2], "end": [4, 2]},
                {"start": [1, 2], "shape": [4, 2]},
                {"start": [1, 2], "rel_shape": [0.5, 0.4]},
                {"rel_start": [0.1, 0.3], "rel_end": [0.9, 0.8]},
                {"rel_start": [0.1, 0.3], "end": [6, 5]},
                {"rel_start": 0.25, "rel_shape": 0.3},
                {"start": [2.6, 1.2], "shape": [1.9, 1.1]},
                {"start": [6, 5], "end": [6, 5]},
                {"start": [1], "shape": [2], "axes": [0]},
                {"start": [1], "shape": [2], "axes": [-1]},
                {"start": [1, 0, 2], "shape": [2, 2, 1], "axes": []},
                {"start": [1, 0, 2], "shape": [2, 2, 1], "axis_names": "HWC"},
                {"start": [1], "shape": [2], "axis_names": "H"},
                {"start": [], "shape": [1, 1]},
            ],
            refused=[
                {},
                {"start": [1, 2], "rel_start": [0, 0]},
                {"end": [1, 2], "shape": [1, 1]},
                {"start": [3, 3], "end": [1, 1]},
                {"start": [7, 5], "end": [7, 5]},
                {"start": [-1, 0], "end": [2, 2]},
                {"shape": [-1, 1]},
                {"start": [1, 1, 1], "shape": [1, 1, 1]},
                {"start": [1], "shape": [2], "axes": [3]},
                {"start": [1, 1], "shape": [2, 2], "axes": [0, 0]},
                {"start": [1], "shape": [2], "axis_names": "X"},
                {"start": [1], "shape": [2], "axis_names": "H", "axes": [0]},
                {"start": [1, 1], "out_of_bounds_policy": "nonsense"},
            ],
        ),
    )
    def test_named_arguments(self, arguments, fails):
        both(lambda lib: lib.slice(image(lib), **arguments), fails=fails)
        both(lambda lib: lib.slice(image(lib, layout=None), **arguments), fails=fails)
        both(lambda lib: lib.slice(images(lib, [(5, 6, 3), (7, 8, 3)]), **arguments), fails=fails)

    @pytest.mark.parametrize("dtype", sorted(set(ALL_DTYPES) - {"bool"}))
    @pytest.mark.parametrize("policy", POLICIES)
    def test_policies(self, dtype, policy):
        for start in ([-2, 1], [3, 3], [0, 0], [-20, 0], [30, 0]):
            for fill in (0, 77, -300.7, [1, 2, 3]):
                both(
                    lambda lib, start=start, fill=fill: lib.slice(
                        image(lib, dtype=dtype),
                        start=start,
                        shape=[9, 4],
                        out_of_bounds_policy=policy,
                        fill_values=fill,
                    ),
                    fails=policy == "error" and RuntimeError,
                )

    @pytest.mark.parametrize("layout", ["HWC", "CHW"])
    def test_fill_values_of_channels(self, layout):
        for fill in ([1, 2, 3], [1, 2], [], 9):
            for axes in ([0], [1], [2], [0, 1], [1, 2]):
                both(
                    lambda lib, fill=fill, axes=axes: lib.slice(
                        image(lib, (3, 4, 3), layout),
                        axes=axes,
                        start=-1,
                        shape=3,
                        out_of_bounds_policy="pad",
                        fill_values=fill,
                    ),
                    fails=fill == [1, 2] and RuntimeError,
                )

    @pytest.mark.parametrize("target", ["uint8", "float16", "float32"])
    @pytest.mark.parametrize("source", ["uint8", "int8", "int16", "uint32", "int64", "float16", "float32", "float64"])
    def test_conversion(self, source, target):
        for policy, start in itertools.product(["error", "pad", "edge"], [[1, 1], [-1, 3]]):
            both(
                lambda lib, policy=policy, start=start: lib.slice(
                    image(lib, dtype=source),
                    start=start,
                    shape=[3, 3],
                    out_of_bounds_policy=policy,
                    fill_values=300,
                    dtype=getattr(lib, target),
                ),
                fails=policy == "error" and start == [-1, 3] and RuntimeError,
            )

    @pytest.mark.parametrize(
        ("window", "fails"),
        cases(
            [
                ([0.1, 0.2], [0.5, 0.5], {}),
                ([0.35, 0.35], [0.12, 0.3], {}),
                ([1.4, 2.5], [2.3, 1.5], {"normalized_anchor": False, "normalized_shape": False}),
                ([1.4, 2.5], [0.5, 0.5], {"normalized_anchor": False}),
                ([0.3, 0.3], [2.4, 2.4], {"normalized_shape": False}),
                ([0.1], [0.5], {"axes": [0]}),
                ([0.1, 0.2, 0.3], [0.5, 0.5, 0.4], {"axis_names": "CHW"}),
                ([0.1, 0.9], [0.5, 0.5], {"out_of_bounds_policy": "pad"}),
            ],
            refused=[
                ([0.1], [0.5], {}),
                ([0.1, 0.2], [0.5, 0.5], {"start": [1, 1]}),
                ([0.1, 0.9], [0.5, 0.5], {}),
                ([0.1, 0.2], [-0.5, 0.5], {}),
            ],
        ),
    )
    def test_inputs(self, window, fails):
        anchor, shape, arguments = window
        both(lambda lib: lib.slice(image(lib), np.float32(anchor), np.float32(shape), **arguments), fails=fails)
        both(
            lambda lib: lib.slice(
                images(lib, [(5, 6, 3), (7, 8, 3)]), np.float32(anchor), np.float32(shape), **arguments
            ),
            fails=fails,
        )

    def test_integer_and_incomplete_inputs(self):
        both(lambda lib: lib.slice(image(lib), np.int32([1, 0]), np.int32([2, 3])))
        both(lambda lib: lib.slice(image(lib), np.int64([1, 0]), np.int64([2, 3]), normalized_anchor=True))
        both(lambda lib: lib.slice(image(lib), np.int32([1, 0]), np.float32([0.2, 0.3])), fails=RuntimeError)
        both(lambda lib: lib.slice(image(lib), np.int32([1, 0])), fails=RuntimeError)
        both(lambda lib: lib.slice(images(lib), per_sample(lib, [[1, 0], [2, 1], [0, 3]]), np.int64([2, 2])))

    def test_arguments_per_sample(self):
        both(lambda lib: lib.slice(images(lib), start=per_sample(lib, [[1, 0], [2, 1], [0, 3]]), shape=[2, 2]))
        both(lambda lib: lib.slice(images(lib), axes=[1], start=per_sample(lib, [1, 2, 0]), end=4))
        both(lambda lib: lib.slice(images(lib), axes=per_sample(lib, [[0], [1], [2]]), start=1))
        both(lambda lib: lib.slice(image(lib), rel_start=per_sample(lib, [[0.1, 0.2], [0.5, 0]], np.float32)))

    @given(
        extent=st.integers(0, 40),
        start=st.floats(-0.5, 1.5, width=32),
        size=st.floats(0, 1.5, width=32),
        named=st.sampled_from(["rel_shape", "rel_end", "inputs"]),
    )
    @SETTINGS
    def test_relative_positions_round_alike(self, extent, start, size, named):
        # The real library compares start and end before rounding them, each with a rounding error of its own.
        assume(size > 1e-3)
        array = np.arange(extent).astype(np.int32)
        arguments = {"axes": [0], "out_of_bounds_policy": "pad", "fill_values": -1}
        if named == "inputs":
            both(lambda lib: lib.slice(array, np.float32([start]), np.float32([size]), **arguments))
        else:
            both(
                lambda lib: lib.slice(array, rel_start=[start], **{named: [size]}, **arguments),
                fails=named == "rel_end" and size * extent < start * extent and RuntimeError,
            )

    @given(
        shape=st.lists(st.integers(0, 6), min_size=1, max_size=4),
        data=st.data(),
        policy=st.sampled_from(POLICIES),
        dtype=st.sampled_from(["uint8", "int16", "float32", "float64"]),
    )
    @SETTINGS
    def test_any_window(self, shape, data, policy, dtype):
        axes = data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
        start = [data.draw(st.integers(-4, 8)) for _ in axes]
        size = [data.draw(st.integers(0, 8)) for _ in axes]
        # The real library reads beyond the memory of samples that have nothing to repeat.
        assume(np.prod(shape) > 0 or policy in ("error", "pad", "trim_to_shape"))
        array = numbers(shape, dtype)
        beyond = any(a < 0 or a + n > shape[axis] for axis, a, n in zip(axes, start, size, strict=True))
        arguments = {"axes": axes, "start": start, "shape": size, "out_of_bounds_policy": policy, "fill_values": 3}
        both(lambda lib: lib.slice(array, **arguments), fails=beyond and policy == "error" and RuntimeError)

    def test_output_dtype_is_an_old_name(self):
        both(lambda lib: lib.slice(image(lib), start=[1, 1], output_dtype=lib.float32))
        both(
            lambda lib: lib.slice(image(lib), start=[1, 1], output_dtype=lib.float32, dtype=lib.float32),
            fails=TypeError,
        )


class TestCrop:
    @pytest.mark.parametrize("layout", ["HW", "XYZ", "WHC"])
    def test_unknown_layouts(self, layout):
        both(lambda lib: lib.crop(image(lib, (4, 5, 6)[: len(layout)], layout), crop=[2, 3]), fails=ValueError)

    @pytest.mark.parametrize("layout", ["HWC", "CHW", None])
    @pytest.mark.parametrize(
        ("arguments", "fails"),
        cases(
            [
                {},
                {"crop": [2, 3]},
                {"crop": [2.6, 3.2]},
                {"crop": [0, 2]},
                {"crop": [-1, 2]},
                {"crop": [1, 2, 3]},
                {"crop_h": 2, "crop_w": 3},
                {"crop_h": 2, "crop_w": 3, "crop_d": 1},
                {"crop": [2, 2], "crop_pos_x": 0.0, "crop_pos_y": 1.0},
                {"crop": [2, 2], "crop_pos_x": 0.3, "crop_pos_y": 0.7, "crop_pos_z": 0.2},
                {"crop": [2, 2], "rounding": "truncate"},
                {"crop": [9, 8], "out_of_bounds_policy": "pad", "fill_values": 7},
                {"crop": [9, 8], "out_of_bounds_policy": "pad", "fill_values": 7, "rounding": "truncate"},
                {"crop": [9, 8], "out_of_bounds_policy": "trim_to_shape"},
                {"crop": [9, 8], "out_of_bounds_policy": "reflect_101"},
                {"crop": [2, 3], "dtype": "float32"},
                {"crop": [2, 3], "dtype": "float16"},
            ],
            refused=[
                {"crop": [2]},
                {"crop": []},
                {"crop": [3, 3, 3, 3]},
                {"crop_h": 2},
                {"crop_w": 2},
                {"crop_d": 2},
                {"crop_h": 2, "crop": [2, 2]},
                {"crop": [2, 2], "crop_pos_x": -0.1},
                {"crop": [2, 2], "crop_pos_x": 1.1},
                {"crop": [2, 2], "rounding": "floor"},
                {"crop": [9, 2]},
            ],
        ),
    )
    def test_images(self, layout, arguments, fails):
        def run(make):
            def call(lib):
                named = dict(arguments)
                if "dtype" in named:
                    named["dtype"] = getattr(lib, named["dtype"])
                return lib.crop(make(lib), **named)

            both(call, fails=fails)

        run(lambda lib: image(lib, layout=layout))
        run(lambda lib: images(lib, [(5, 6, 3), (7, 8, 5)], layout))

    def test_fill_values_of_channels(self):
        arguments = {"crop": [9, 8], "out_of_bounds_policy": "pad", "fill_values": [7, 8, 9]}
        both(lambda lib: lib.crop(image(lib), **arguments))
        both(lambda lib: lib.crop(image(lib, layout=None), **arguments))
        both(lambda lib: lib.crop(image(lib, layout="CHW"), **arguments), fails=RuntimeError)
        both(lambda lib: lib.crop(images(lib, [(5, 6, 3), (7, 8, 5)]), **arguments), fails=RuntimeError)

    @pytest.mark.parametrize("layout", ["DHWC", "CDHW", "FHWC", "FCHW", "CFHW", None])
    @pytest.mark.parametrize(
        ("arguments", "fails"),
        cases(
            [
                {"crop": [2, 3]},
                {"crop": [1, 2, 3]},
                {"crop_h": 2, "crop_w": 1},
                {"crop_h": 2, "crop_w": 1, "crop_d": 1},
                {"crop": [2, 2, 2], "crop_pos_x": 0.1, "crop_pos_y": 0.9, "crop_pos_z": 0.4},
                {"crop": [7, 7, 7], "out_of_bounds_policy": "pad", "fill_values": 5},
            ],
            refused=[
                {"crop_d": 2},
            ],
        ),
    )
    def test_volumes_and_videos(self, layout, arguments, fails):
        both(lambda lib: lib.crop(image(lib, (4, 5, 6, 3), layout), **arguments), fails=fails)

    @pytest.mark.parametrize("dtype", sorted(set(ALL_DTYPES) - {"bool"}))
    def test_types(self, dtype):
        both(lambda lib: lib.crop(images(lib, dtype=dtype), crop=[3, 4]))
        both(lambda lib: lib.crop(images(lib, dtype=dtype), crop=[9, 10], out_of_bounds_policy="pad", fill_values=-3.6))

    def test_arguments_per_sample(self):
        both(lambda lib: lib.crop(images(lib), crop=per_sample(lib, [[2, 3], [3, 1], [4, 4]], np.float32)))
        both(lambda lib: lib.crop(images(lib), crop_h=per_sample(lib, [2, 3, 1]), crop_w=per_sample(lib, [3, 2, 2])))
        both(lambda lib: lib.crop(images(lib), crop=[2, 2], crop_pos_x=per_sample(lib, [0, 0.3, 1], np.float32)))
        both(lambda lib: lib.crop(image(lib), crop=per_sample(lib, [[2, 3], [3, 1]], np.float32)))

    @given(
        extents=st.tuples(st.integers(1, 30), st.integers(1, 30)),
        crop=st.tuples(st.integers(1, 30), st.integers(1, 30)),
        position=st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)),
        rounding=st.sampled_from(["round", "truncate"]),
    )
    @SETTINGS
    def test_positions_round_alike(self, extents, crop, position, rounding):
        array = np.arange(extents[0] * extents[1], dtype=np.int32).reshape(*extents, 1)
        x, y = position
        arguments = {"out_of_bounds_policy": "pad", "rounding": rounding, "fill_values": -1}
        both(lambda lib: lib.crop(array, crop=crop, crop_pos_x=x, crop_pos_y=y, **arguments))


class TestPad:
    @pytest.mark.parametrize(
        ("arguments", "fails"),
        cases(
            [
                {},
                {"fill_value": 7},
                {"fill_value": -1.7},
                {"axes": [0]},
                {"axes": [-1, 0]},
                {"axes": []},
                {"axis_names": "W"},
                {"axis_names": "WH"},
                {"shape": [4, 4, 4]},
                {"shape": [10, -1, 3]},
                {"shape": 11},
                {"align": 4},
                {"align": [2, 5, 1]},
                {"align": 4, "shape": [1, 1, 1]},
                {"align": [4, 3], "shape": [7, -1], "axes": [0, 1]},
            ],
            refused=[
                {"axes": [0, 0]},
                {"axes": [3]},
                {"axis_names": "X"},
                {"axis_names": "W", "axes": [1]},
                {"shape": [10, 10]},
                {"align": [2, 5]},
                {"align": 0},
                {"align": -2},
            ],
        ),
    )
    def test_arguments(self, arguments, fails):
        both(lambda lib: lib.pad(images(lib), **arguments), fails=fails)
        both(lambda lib: lib.pad(image(lib), **arguments), fails=fails)

    @pytest.mark.parametrize("dtype", sorted(set(ALL_DTYPES) - {"float64"}))
    def test_types(self, dtype):
        for fill in (0, 1, 300, -3.7):
            both(lambda lib, fill=fill: lib.pad(images(lib, dtype=dtype), fill_value=fill))

    def test_arguments_per_sample(self):
        both(lambda lib: lib.pad(images(lib), axes=[0], shape=per_sample(lib, [[6], [7], [9]])))
        both(lambda lib: lib.pad(images(lib), fill_value=per_sample(lib, [1, 2, 3], np.float32)))
        both(lambda lib: lib.pad(images(lib), align=per_sample(lib, [4, 8, 5])))

    @given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=4), st.integers(1, 5))
    @SETTINGS
    def test_any_shapes(self, shapes, align):
        both(lambda lib: lib.pad(images(lib, shapes, None, "int16"), align=align, fill_value=9))


class TestSubscript:
    @pytest.mark.parametrize(
        "index",
        [
            np.s_[0],
            np.s_[-1],
            np.s_[:, 2],
            np.s_[..., 1],
            np.s_[..., 0, 0],
            np.s_[1, 2, 0],
            np.s_[1:3],
            np.s_[1:3, ..., ::2],
            np.s_[::-1],
            np.s_[::-2, 4:1:-1],
            np.s_[3:1],
            np.s_[10:20],
            np.s_[-100:2],
            np.s_[:, :, ::-1],
            np.s_[0:0],
            np.s_[True],
        ],
    )
    def test_expressions(self, index):
        both(lambda lib: image(lib)[index].evaluate())
        both(lambda lib: images(lib).slice[index].evaluate())
        both(lambda lib: image(lib, dtype="float64")[index].evaluate())

    @pytest.mark.parametrize("index", [np.s_[0, 0, 0, 0], np.s_["a"]])
    def test_refused(self, index):
        both(lambda lib: image(lib)[index].evaluate(), fails=ValueError)

    def test_tensors_as_bounds(self):
        both(lambda lib: image(lib)[lib.tensor(1)].evaluate())
        both(lambda lib: image(lib)[lib.tensor(1) : lib.tensor(4) : lib.tensor(2)].evaluate())
        both(lambda lib: image(lib)[lib.tensor(1), lib.tensor(2.0)].evaluate())
        both(lambda lib: images(lib).slice[per_sample(lib, [0, 1, 2])].evaluate())
        both(lambda lib: images(lib).slice[:, per_sample(lib, [0, 1, 2]) : per_sample(lib, [4, 3, 3])].evaluate())

    @given(st.data())
    @SETTINGS
    def test_any_ranges(self, data):
        shape = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))
        bound = st.none() | st.integers(-8, 8)
        index = tuple(
            slice(data.draw(bound), data.draw(bound), data.draw(st.none() | st.integers(-3, 3).filter(bool)))
            for _ in range(data.draw(st.integers(1, len(shape))))
        )
        # The real library crashes on empty ranges with steps.
        assume(all(s.step in (None, 1, -1) or range(n)[s] for s, n in zip(index, shape, strict=False)))
        array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
        both(lambda lib: lib.tensor(array)[index].evaluate())
