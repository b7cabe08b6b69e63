"""Tensors and batches made by both libraries from the same things."""

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.parity.compare import ALL_DTYPES, both

THINGS = [
    (1, None),
    (1.5, None),
    (True, None),
    ([1, 2], None),
    ([1, 2.5], None),
    ([[True], [False]], None),
    ([], None),
    ([[], []], None),
    (range(3), None),
    ((1, 2), None),
    (2**31, None),
    ([2**32 - 1], None),
    ([np.float64(1.5)], None),
    (np.float64(1.5), None),
    (np.uint8(5), None),
    (bytearray(b"abc"), None),
    (np.zeros((0, 3), np.int16), None),
    (np.array(3.5), None),
    ("abc", RuntimeError),
    (["a"], RuntimeError),
    (None, ValueError),
    ({1, 2}, TypeError),
    (2**40, OverflowError),
    (-(2**31) - 1, OverflowError),
    ([[1, 2], [3]], ValueError),
    (np.array([1j]), RuntimeError),
    (np.array([None]), RuntimeError),
]


@pytest.mark.parametrize(("thing", "fails"), THINGS, ids=repr)
def test_tensor_from(thing, fails):
    both(lambda lib: lib.tensor(thing), fails=fails)
    both(lambda lib: lib.as_tensor(thing), fails=fails)


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_tensor_from_numpy(dtype):
    a = (np.arange(6).reshape(2, 3) % 2).astype(dtype)
    both(lambda lib: lib.as_tensor(a, layout="HW"))
    both(lambda lib: lib.as_tensor(a, dtype=lib.float32))
    both(lambda lib: lib.tensor(a, dtype=lib.uint8, layout="XY"))
    both(lambda lib: lib.as_batch(a))
    both(lambda lib: lib.as_batch(list(a), layout="X"))
    both(lambda lib: lib.as_batch(list(a), dtype=lib.int32))


ARGUMENTS = [
    (dict(device="cpu"), None),
    (dict(dtype="f16"), None),
    (dict(dtype=float), None),
    (dict(dtype=np.float16), None),
    (dict(layout="H"), ValueError),
    (dict(layout="HWC"), ValueError),
    (dict(device="foo"), ValueError),
    (dict(device="cpu:0"), ValueError),
    (dict(device=3), TypeError),
    (dict(device="mixed"), ValueError),
    (dict(dtype="foo"), ValueError),
    (dict(dtype=int), TypeError),
]


@pytest.mark.parametrize(("arguments", "fails"), ARGUMENTS, ids=repr)
def test_arguments(arguments, fails):
    both(lambda lib: lib.tensor(np.float32([[1.5, 2]]), **arguments), fails=fails)
    both(lambda lib: lib.tensor([[1.5, 2]], **arguments), fails=fails)
    both(lambda lib: lib.batch([[1.5, 2], [2, 3]], **arguments), fails=fails if arguments != {"layout": "H"} else None)


def test_conversion_of_lists():
    both(lambda lib: lib.tensor([300], dtype=lib.uint8), fails=OverflowError)
    both(lambda lib: lib.tensor([1.5, 2.5], dtype=lib.uint8))
    both(lambda lib: lib.tensor([-1.5], dtype=lib.uint8), fails=OverflowError)
    both(lambda lib: lib.tensor([1, 0], dtype=lib.bool))
    both(lambda lib: lib.tensor(np.float32([1.5, 2.5, -1.5, 300.7, -3, np.inf]), dtype=lib.uint8))


BATCHES = [
    ([[1, 2, 3], [4, 5]], None),
    ([1, 2], None),
    ([np.uint8([1]), np.float32([2.6])], None),
    ([True, 2], None),
    ([1, 2.7], None),
    ([2, -2.5], None),
    ([[1], [2.7]], None),
    ([np.zeros((2, 3)), np.ones((1, 3))], None),
    ([1, 2**31], OverflowError),
    ([], ValueError),
    (5, TypeError),
    ([None], TypeError),
    (np.float32(1), ValueError),
]


@pytest.mark.parametrize(("samples", "fails"), BATCHES, ids=repr)
def test_batch_from(samples, fails):
    both(lambda lib: lib.batch(samples), fails=fails)
    both(lambda lib: lib.as_batch(samples), fails=fails)


def test_batch_to_tensor():
    both(lambda lib: lib.as_tensor(lib.as_batch([[1, 2], [3, 4]], layout="X")))
    both(lambda lib: lib.as_tensor(lib.as_batch([[1, 2], [3]])), fails=ValueError)
    both(lambda lib: lib.as_tensor(lib.as_batch([[1, 2], [3]]), pad=True))
    both(lambda lib: lib.as_tensor(lib.as_batch([[1, 2], [3, 4]]), layout="AB"))


def test_broadcast():
    both(lambda lib: lib.Batch.broadcast([1, 2], 3))
    both(lambda lib: lib.Batch.broadcast(1.5, 2, dtype=lib.int32))
    both(lambda lib: lib.Batch.broadcast(1, -1), fails=ValueError)
    both(lambda lib: lib.Batch.broadcast(lib.batch([1]), 2), fails=ValueError)


INDICES = [
    0,
    -1,
    (0, 1),
    slice(1, 4),
    (slice(None), slice(None, None, 2)),
    (slice(None), slice(None, None, -1)),
    (..., 1),
    (slice(None), slice(10, 20)),
    True,
    (0, 0, 0, 0),
]


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_slicing(index):
    a = np.arange(30, dtype=np.int32).reshape(2, 5, 3)
    both(lambda lib: lib.as_tensor(a, layout="HWC")[index].evaluate(), fails=index == (0, 0, 0, 0) and ValueError)


@pytest.mark.parametrize("index", INDICES[:8], ids=repr)
def test_slicing_every_sample(index):
    samples = [np.arange(30, dtype=np.int32).reshape(2, 5, 3), np.ones((3, 2, 2), np.int32)]
    both(lambda lib: lib.as_batch(samples, layout="HWC").slice[index])


def test_slicing_with_batches():
    samples = [np.arange(12).reshape(3, 4), np.arange(10).reshape(2, 5)]
    both(lambda lib: lib.as_batch(samples).slice[lib.as_batch([2, 1])])
    both(lambda lib: lib.as_batch(samples).slice[:, lib.as_batch([1, 2]) :])
    both(lambda lib: lib.as_batch(samples).slice[lib.as_batch([0, 1, 1])], fails=ValueError)
    both(lambda lib: lib.as_tensor(samples[0])[lib.as_tensor(1)])


def test_out_of_range():
    for index in (5, -6):
        both(lambda lib, i=index: lib.as_tensor([1, 2, 3])[i].shape and lib.as_tensor([1]), fails=IndexError)


def test_general_call_rules():
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    both(lambda lib: lib.flip(image))
    both(lambda lib: lib.flip(image, batch_size=2))
    both(lambda lib: lib.flip(image, batch_size=-1), fails=ValueError)
    both(lambda lib: lib.flip(lib.as_batch([image] * 2), batch_size=3))
    both(lambda lib: lib.flip(image, horizontal=lib.as_batch([0, 1])))
    both(lambda lib: lib.flip(lib.as_batch([image] * 2, layout="HWC"), horizontal=lib.as_batch([0, 1])))
    both(
        lambda lib: lib.flip(lib.as_batch([image] * 2, layout="HWC"), horizontal=lib.as_batch([0, 1, 1])),
        fails=ValueError,
    )
    both(lambda lib: lib.flip(image, horizontal=0.7))
    both(lambda lib: lib.flip(image, nothing=1), fails=TypeError)
    both(lambda lib: lib.flip(), fails=TypeError)
    both(lambda lib: lib.flip(None), fails=TypeError)
    both(lambda lib: lib.flip("abc"), fails=RuntimeError)
    both(lambda lib: lib.flip(image, device="foo"), fails=ValueError)
    both(lambda lib: lib.flip(image[0]), fails=ValueError)
    both(lambda lib: lib.flip(lib.as_tensor(image, layout="XYZ")), fails=ValueError)
    both(lambda lib: lib.flip(np.stack([image] * 2)))
    both(lambda lib: lib.flip([image, image], vertical=1))


@pytest.mark.parametrize("index", [np.s_[5:1], np.s_[2:5:-1], np.s_[5:1:-1], np.s_[5:1, 1:], np.s_[5:1, 0]])
def test_ranges_that_end_before_they_start(index):
    both(lambda lib: lib.tensor(np.arange(12).reshape(6, 2))[index])
    both(lambda lib: lib.batch(np.arange(24).reshape(2, 6, 2)).slice[index])


def test_powers_of_zero():
    for dtype in ("uint8", "uint32", "int32"):
        both(lambda lib, t=dtype: 0 ** lib.batch([1, 0], dtype=getattr(lib, t)))
    both(lambda lib: 0 ** lib.batch([2**31, 0], dtype=lib.uint32))
    both(lambda lib: 0 ** lib.tensor([0, 1, 2], dtype=lib.uint32))


def test_negatives_as_unsigned():
    """Python's numbers are refused, those of arrays are clamped."""
    for numbers in (-1, [-1], [-1.5]):
        both(lambda lib, x=numbers: lib.tensor(x, dtype=lib.uint32), fails=OverflowError)
    for numbers in (np.array([-1]), np.array([-1.5])):
        both(lambda lib, x=numbers: lib.tensor(x, dtype=lib.uint32))
        both(lambda lib, x=numbers: lib.tensor(lib.tensor(x), dtype=lib.uint32))


def test_the_layout_of_batches_that_become_tensors():
    for layout in ("N", "C"):
        both(lambda lib, x=layout: lib.as_tensor(lib.as_batch(np.zeros((2, 3)), layout=x)))
    both(lambda lib: lib.batch([1, 2], layout="N"), fails=ValueError)


@pytest.mark.parametrize(
    "shapes", [[(0, 2), (2, 3)], [(2, 0), (2, 3)], [(3, 0), (2, 3)], [(0, 2), (0, 3)], [(1, 2), (0, 3)]]
)
def test_joins_with_empty_arrays(shapes):
    both(lambda lib: lib.cat(*(np.ones(shape) for shape in shapes), axis=0))


def test_integers_from_two_to_the_31():
    both(lambda lib: lib.tensor(2**31))
    both(lambda lib: lib.batch([2**31]))
    both(lambda lib: lib.tensor([1, 2**32]), fails=OverflowError)
    for value in (1, 1.5):
        both(lambda lib, x=value: lib.tensor([x]) * 2**31, fails=OverflowError)
    both(lambda lib: lib.tensor([1], dtype=lib.int64) + 2**31, fails=OverflowError)


class TestDifferences:
    """What docs/differences.md says of values."""

    def test_arrays_on_the_left(self):
        for library, kinds in ((dali, (np.ndarray, np.ndarray)), (avida, (avida.Tensor, avida.Batch))):
            assert isinstance(np.array([1, 2]) + library.tensor([1, 2]), kinds[0])
            assert isinstance(np.array([1, 2]) + library.batch([[1, 2], [3, 4]]), kinds[1])

    @pytest.mark.parametrize("index", [np.s_[:], np.s_[:, :]])
    def test_more_full_slices_than_axes(self, index):
        assert dali.tensor(3)[index].shape == ()
        with pytest.raises(ValueError, match="too many indices"):
            avida.tensor(3)[index]

    @pytest.mark.parametrize("index", [1.0, 1.7, np.s_[0.5:2]])
    def test_floats_as_indices(self, index):
        dali.batch([[1, 2]]).slice[index].evaluate()
        with pytest.raises(ValueError, match="expected integers"):
            avida.batch([[1, 2]]).slice[index]

    def test_joins_of_nothing(self):
        for library, shape in ((dali, (2, 0)), (avida, (5, 0))):
            assert library.cat(np.zeros((2, 0)), np.zeros((3, 0)), axis=0).shape == shape

    def test_integers_as_inputs(self):
        assert str(dali.full(2**31).dtype) == "u32"
        with pytest.raises(OverflowError, match="pass an array or tensor of a wider type"):
            avida.full(2**31)
        assert np.asarray(avida.full(np.int64(2**31))) == 2**31

    def test_layouts_of_grid_mask(self):
        x = np.ones((4, 6, 3), np.uint8)
        assert dali.grid_mask(x, tile=2).layout is None
        assert avida.grid_mask(x, tile=2).layout == "HWC" == dali.flip(x).layout

    def test_state_of_a_reader_that_was_used(self, tmp_path):
        for i in range(6):
            (tmp_path / f"{i}.bin").write_bytes(bytes([i]))
        options = {"files": [str(tmp_path / f"{i}.bin") for i in range(6)], "enable_checkpointing": True}

        def first_of(batches):
            return [int(np.asarray(data.tensors[0])[0]) for data, _ in batches]

        for library, is_refused in ((dali, True), (avida, False)):
            reader = library.readers.File(**options)
            batches = reader.next_epoch(batch_size=2)
            next(iter(batches))
            state = reader.get_state()
            first_of(batches)
            if is_refused:
                with pytest.raises(RuntimeError, match="set_state"):
                    reader.set_state(state)
            else:
                reader.set_state(state)
                assert first_of(reader.next_epoch(batch_size=2)) == [2, 4]

    def test_names_of_inputs(self):
        """Both refuse them."""
        both(lambda lib: lib.experimental.decoders.image_slice(input_0=np.zeros(3, np.uint8)), fails=TypeError)
