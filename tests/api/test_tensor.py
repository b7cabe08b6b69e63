"""Tensor: construction, properties, conversion, slicing."""

import copy
import pickle

import numpy as np
import pytest

import avida as ndd
from avida._values.picture import pixels

ALL = [
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "bool",
]


class TestConstruction:
    @pytest.mark.parametrize("dtype", ALL)
    def test_numpy_keeps_type_and_values(self, dtype):
        a = (np.arange(6).reshape(2, 3) % 2).astype(dtype)
        for make in (ndd.tensor, ndd.as_tensor, ndd.Tensor):
            t = make(a, layout="HW")
            assert t.dtype == ndd.dtype(dtype)
            assert t.shape == (2, 3)
            assert t.layout == "HW"
            assert t.device == ndd.Device("cpu")
            np.testing.assert_array_equal(np.asarray(t), a)
            assert np.asarray(t).dtype == a.dtype

    @pytest.mark.parametrize(
        ("data", "dtype", "shape"),
        [
            (1, "i32", ()),
            (1.5, "f32", ()),
            (True, "bool", ()),
            ([1, 2], "i32", (2,)),
            ([1, 2.5], "f32", (2,)),
            ([[True], [False]], "bool", (2, 1)),
            ([], "f32", (0,)),
            ([[], []], "f32", (2, 0)),
            (range(3), "i32", (3,)),
            ((1, 2), "i32", (2,)),
            (2**31, "u32", ()),
            ([2**32 - 1], "u32", (1,)),
            (np.float64(1.5), "f64", ()),
            (np.uint8(5), "u8", ()),
            ([np.float64(1.5)], "f32", (1,)),
            ([np.zeros(2, np.uint8)] * 3, "u8", (3, 2)),
            (b"abc", "u8", (3,)),
            (bytearray(b"abc"), "u8", (3,)),
            (memoryview(b"abc"), "u8", (3,)),
        ],
    )
    def test_default_types(self, data, dtype, shape):
        t = ndd.tensor(data)
        assert (str(t.dtype), t.shape) == (dtype, shape)

    @pytest.mark.parametrize(
        ("data", "error"),
        [
            (None, ValueError),
            ("abc", RuntimeError),
            (["a"], RuntimeError),
            (object(), TypeError),
            ({1, 2}, TypeError),
            ({1: 2}, TypeError),
            ((i for i in range(3)), TypeError),
            (2**40, OverflowError),
            (-(2**31) - 1, OverflowError),
            (2**63, OverflowError),
            ([[1, 2], [3]], ValueError),
            (np.array([None]), RuntimeError),
            (np.array([1j]), RuntimeError),
            (np.array(["2020-01-01"], "datetime64[D]"), ValueError),
            (np.zeros(2, [("a", int)]), ValueError),
            (np.zeros(2, np.longdouble), RuntimeError),
            (np.zeros((1,) * 17), ValueError),
        ],
    )
    def test_what_is_refused(self, data, error):
        for make in (ndd.tensor, ndd.as_tensor):
            with pytest.raises(error):
                make(data)

    def test_awkward_arrays_give_the_right_values(self):
        a = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
        read_only = a.copy()
        read_only.flags.writeable = False
        for awkward in (a.T, a[::-1], a[:, ::2], a[..., ::-2], a.astype(">i4"), np.asfortranarray(a), read_only):
            np.testing.assert_array_equal(np.asarray(ndd.as_tensor(awkward)), awkward)
            np.testing.assert_array_equal(np.asarray(ndd.tensor(awkward) + 1), awkward + 1)
        unaligned = np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(np.int32)
        np.testing.assert_array_equal(np.asarray(ndd.as_tensor(unaligned)), a.ravel())
        assert ndd.as_tensor(np.zeros((1,) * 16)).ndim == 16
        assert ndd.as_tensor(np.zeros((0, 3))).shape == (0, 3)

    def test_sharing_and_copying(self):
        a = np.zeros(3, np.float32)
        shared, own = ndd.as_tensor(a), ndd.tensor(a)
        a[0] = 7
        assert np.asarray(shared)[0] == 7
        assert np.asarray(own)[0] == 0
        assert np.shares_memory(np.asarray(shared), a)
        again = ndd.as_tensor(shared)
        assert again is not shared
        assert np.shares_memory(np.asarray(again), a)
        assert not np.shares_memory(np.asarray(ndd.tensor(shared)), a)

    def test_arrays_given_to_operators_may_change_afterwards(self):
        for mode in ndd.EvalMode:
            with mode:
                a = np.zeros((200, 200, 3), np.uint8)
                flipped = ndd.flip(a)
                a[:] = 9
                assert np.asarray(flipped).max() == 0

    def test_copies_are_made_at_once(self):
        @ndd.operator
        def same(x):
            return x.copy()

        for mode in ndd.EvalMode:
            with mode:
                a = np.zeros(1000, np.int32)
                busy = [ndd.math.sin(np.ones(100_000, np.float32)) for _ in range(20)]
                made = [ndd.batch([a]), ndd.batch(a[None]), ndd.tensor(ndd.as_tensor(a)), ndd.batch(ndd.as_batch([a]))]
                made += [same(a), ndd.Tensor(a, copy=True), ndd.batch([a], dtype=ndd.float32)]
                a[:] = 9
                for value in made:
                    tensor = value.tensors[0] if isinstance(value, ndd.Batch) else value
                    assert np.asarray(tensor).max() == 0
                del busy

    def test_read_only_memory_stays_so(self):
        t = ndd.as_tensor(np.frombuffer(b"hello", np.uint8))
        assert not np.asarray(t).flags.writeable
        assert not np.asarray(ndd.reshape(t, shape=[5, 1])).flags.writeable
        assert memoryview(t).readonly
        with pytest.raises(BufferError, match="read-only"):
            t.__dlpack__(copy=False)
        assert np.from_dlpack(t).tolist() == list(b"hello")
        assert np.asarray(t + 1).flags.writeable

    def test_memory_outlives_the_array(self):
        t = ndd.as_tensor(np.full(1000, 3.5))
        (t + 1).evaluate()
        import gc

        gc.collect()
        assert np.asarray(t).tolist() == [3.5] * 1000

    def test_dtype_converts(self):
        floats = np.float32([1.5, 2.5, -1.5, 300.7, -3, np.nan, np.inf])
        assert np.asarray(ndd.tensor(floats, dtype=ndd.uint8)).tolist() == [2, 3, 0, 255, 0, 0, 255]
        assert np.asarray(ndd.tensor([1.5, 2.5], dtype=ndd.uint8)).tolist() == [1, 2]
        with pytest.raises(OverflowError):
            ndd.tensor([300], dtype=ndd.uint8)
        with pytest.raises(OverflowError):
            ndd.tensor([-1.5], dtype=ndd.uint8)
        for dtype in (ndd.float16, "f16", "float16", np.float16, ndd.types.FLOAT16):
            assert ndd.tensor([1], dtype=dtype).dtype == ndd.float16
        assert ndd.tensor([1], dtype=float).dtype == ndd.float32
        with pytest.raises(TypeError):
            ndd.tensor([1], dtype=int)
        with pytest.raises(ValueError, match="foo"):
            ndd.tensor([1], dtype="foo")
        assert ndd.float32([1, 2]).dtype == ndd.float32

    def test_bfloat16(self):
        t = ndd.tensor([1.0, 2.0, 3.1415926], dtype=ndd.bfloat16)
        assert t.itemsize == 2
        assert np.asarray(ndd.cast(t, dtype=ndd.float32)).tolist() == [1, 2, 3.140625]
        assert "3.14" in repr(t)
        with pytest.raises(TypeError, match="bfloat16"):
            np.asarray(t)
        assert ndd.tensor(2.5, dtype=ndd.bfloat16).item() == 2.5

    def test_layout(self):
        assert ndd.tensor([1]).layout is None
        assert ndd.tensor([1], layout="").layout is None
        for bad in ("HW", "", 5):
            if bad:
                with pytest.raises(ValueError, match="layout"):
                    ndd.tensor([1], layout=bad)
        with pytest.raises(ValueError, match="names 1 axes"):
            ndd.tensor(1, layout="H")
        assert ndd.as_tensor(ndd.tensor([1], layout="X"), layout="Y").layout == "Y"

    def test_device(self):
        assert ndd.tensor([1], device="cpu").device.device_type == "cpu"
        assert ndd.tensor([1], device=ndd.Device("cpu")).device == ndd.Device.CPU
        with pytest.raises(ValueError, match="no device number"):
            ndd.tensor([1], device="cpu:0")
        with pytest.raises(ValueError, match="foo"):
            ndd.tensor([1], device="foo")
        with pytest.raises(TypeError):
            ndd.tensor([1], device=3)

    def test_batch_becomes_tensor(self):
        b = ndd.as_batch([[1, 2], [3, 4]], layout="X")
        t = ndd.as_tensor(b)
        assert (t.shape, t.layout) == ((2, 2), "NX")
        assert ndd.as_tensor(b, layout="AB").layout == "AB"
        ragged = ndd.as_batch([[1, 2], [3]])
        with pytest.raises(ValueError, match=r"\(2,\), \(1,\)"):
            ndd.as_tensor(ragged)
        assert np.asarray(ndd.as_tensor(ragged, pad=True)).tolist() == [[1, 2], [3, 0]]
        assert np.asarray(ndd.tensor(b, dtype=ndd.float32)).dtype == np.float32

    def test_constructor_from_batch(self):
        b = ndd.as_batch([[1, 2], [3, 4]])
        assert np.asarray(ndd.Tensor(batch=b, index_in_batch=1)).tolist() == [3, 4]


class TestProperties:
    def test_sizes(self):
        t = ndd.tensor(np.zeros((2, 3), np.int16))
        assert (t.ndim, t.size, t.itemsize, t.nbytes, len(t)) == (2, 6, 2, 12, 2)
        assert isinstance(t.shape, tuple)
        with pytest.raises(AttributeError):
            t.shape = (3, 2)  # pyright: ignore[reportAttributeAccessIssue]
        with pytest.raises(TypeError):
            len(ndd.tensor(1))
        with pytest.raises(TypeError):
            hash(t)

    def test_numbers(self):
        assert ndd.tensor(3).item() == 3
        assert ndd.tensor([[3.5]]).item() == 3.5
        assert int(ndd.tensor(3)) == 3
        assert float(ndd.tensor(3)) == 3.0
        assert bool(ndd.tensor([1]))
        assert not bool(ndd.tensor(0.0))
        assert [10, 20, 30][ndd.tensor(1)] == 20
        for bad in (lambda: ndd.tensor([1, 2]).item(), lambda: ndd.tensor([]).item(), lambda: bool(ndd.tensor([1, 2]))):
            with pytest.raises(ValueError, match="one element"):
                bad()
        with pytest.raises(TypeError):
            [1][ndd.tensor(0.0)]

    def test_iteration(self):
        rows = list(ndd.tensor([[1, 2], [3, 4]], layout="HW"))
        assert [np.asarray(r).tolist() for r in rows] == [[1, 2], [3, 4]]
        assert rows[0].layout == "W"

    def test_repr(self):
        assert repr(ndd.tensor([[1.5, 2.0], [3.0, 4.0]], layout="HW")) == (
            "Tensor(\n    [[1.5 2. ]\n     [3.  4. ]],\n"
            '    dtype=f32,\n    layout="HW",\n    device="cpu",\n    shape=(2, 2))'
        )
        assert repr(ndd.tensor(5)) == 'Tensor(\n    5,\n    dtype=i32,\n    device="cpu",\n    shape=())'
        assert "..." in repr(ndd.tensor(np.zeros(100000)))

    def test_pictures(self):
        image = ndd.tensor(np.zeros((8, 8, 3), np.uint8), layout="HWC")
        assert "data:image/png;base64," in image._repr_html_()
        assert "<img" in ndd.tensor(np.random.rand(3, 8, 8), layout="CHW")._repr_html_()
        assert ndd.tensor([1.0])._repr_html_() is None
        assert ndd.tensor(np.zeros((0, 8, 3), np.uint8), layout="HWC")._repr_html_() is None
        shapes = [(8, 9, 3), (0, 4, 3), (4, 4, 3)]  # one has nothing to show
        grid = ndd.batch([np.zeros(shape, np.uint8) for shape in shapes], layout="HWC")._repr_html_()
        assert grid.count("<img") == 2
        assert ndd.batch([[1], [2]])._repr_html_() is None

    @pytest.mark.parametrize("layout", ["FHWC", "FCHW", "FHW"])
    def test_video(self, layout):
        """Eight frames from the first to the last, in two rows."""
        frames = np.zeros((20, 30, 40, 3), np.uint8)
        frames[0] = 50
        frames[-1] = 200
        array = {"FHWC": frames, "FCHW": frames.transpose(0, 3, 1, 2), "FHW": frames[..., 0]}[layout]
        sheet = pixels(ndd.tensor(array, layout=layout))
        assert sheet.shape == (2 * 32 + 2, 4 * 42 + 2, 3)
        assert (sheet[2:32, 2:42] == 50).all()
        assert (sheet[2:32, 44:84] == 0).all()
        assert (sheet[34:64, 128:168] == 200).all()
        assert "<img" in ndd.tensor(array, layout=layout)._repr_html_()
        assert ndd.batch([array, array[:3]], layout=layout)._repr_html_().count("<img") == 2

    @pytest.mark.parametrize("layout", ["ft", "tf"])
    def test_spectrogram(self, layout):
        """Low frequencies at the bottom; a tone that is 40 dB below another one is half as bright."""
        tone = np.sin(np.arange(16000) * 2 * np.pi / 16, dtype=np.float32)
        wave = np.concatenate([tone, 0.01 * tone])
        power = ndd.spectrogram(wave, nfft=256, window_length=256, window_step=128, layout=layout)
        image = pixels(power)
        assert image.shape == (129, 251, 1)
        assert np.argmax(image[:, 50]) == 128 - 16
        assert image[112, 50, 0] == pytest.approx(255, abs=2)
        assert image[112, 200, 0] == pytest.approx(127, abs=2)
        assert "<img" in power._repr_html_()
        assert "<img" in ndd.to_decibels(power)._repr_html_()

    def test_copies(self):
        t = ndd.tensor([1, 2], layout="X")
        for other in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
            assert np.asarray(other).tolist() == [1, 2]
            assert other.layout == "X"
            assert not np.shares_memory(np.asarray(other), np.asarray(t))

    def test_devices(self):
        t = ndd.tensor([1])
        assert t.cpu() is t
        assert t.to_device("cpu") is t
        assert t.evaluate() is t
        other = t.to_device("cpu", force_copy=True)
        assert other is not t
        assert not np.shares_memory(np.asarray(other), np.asarray(t))
        with pytest.raises(ValueError, match=f"GPU {ndd._core.gpu_count()}"):
            t.gpu(ndd._core.gpu_count())
        for bad, error in (("foo", ValueError), (5, TypeError), (None, TypeError)):
            with pytest.raises(error):
                t.to_device(bad)


class TestExchange:
    def test_numpy(self):
        t = ndd.tensor([1, 2, 3])
        view = np.asarray(t)
        view[0] = 9
        assert np.asarray(t)[0] == 9
        assert np.asarray(t, dtype=np.float64).dtype == np.float64
        assert not np.shares_memory(np.array(t), view)
        assert np.shares_memory(t.numpy(), view)
        assert not np.shares_memory(t.numpy(copy=True), view)
        with pytest.raises(ValueError, match="copy"):
            t.__array__(np.float64, copy=False)
        assert np.sqrt(ndd.tensor([4.0])).tolist() == [2]

    def test_result_of_an_operator_keeps_its_memory_alive(self):
        view = np.asarray(ndd.tensor([1.0] * 1000) + 1)
        for _ in range(10):
            ndd.tensor([5.0] * 1000) + 1
        assert view.tolist() == [2.0] * 1000

    def test_buffer(self):
        view = memoryview(ndd.tensor([[1, 2], [3, 4]]))
        assert (view.format, view.shape, view.tolist()) == ("i", (2, 2), [[1, 2], [3, 4]])
        assert memoryview(ndd.tensor(2.5)).tolist() == 2.5

    @pytest.mark.parametrize("dtype", ALL)
    def test_dlpack(self, dtype):
        a = np.ones((2, 3), dtype)
        t = ndd.as_tensor(a)
        assert tuple(map(int, t.__dlpack_device__())) == (1, 0)
        shared = np.from_dlpack(t)
        np.testing.assert_array_equal(shared, a)
        assert np.shares_memory(shared, a)
        assert type(t.__dlpack__()).__name__ == "PyCapsule"

    def test_dlpack_capsule_that_nobody_takes(self):
        capsule = ndd.tensor([1.0] * 100).__dlpack__()
        del capsule

    def test_torch(self):
        import torch

        t = ndd.tensor([[1, 2], [3, 4]])
        shared = t.torch()
        shared[0, 0] = 7
        assert np.asarray(t)[0, 0] == 7
        t.torch(copy=True)[0, 0] = 1
        assert np.asarray(t)[0, 0] == 7
        source = torch.arange(6).reshape(2, 3)
        assert ndd.as_tensor(source).dtype == ndd.int64
        source[0, 0] = 5
        assert np.asarray(ndd.as_tensor(source))[0, 0] == 5
        np.testing.assert_array_equal(np.asarray(ndd.as_tensor(source.t())), source.t().numpy())
        half = torch.tensor([1.5, 2.5], dtype=torch.bfloat16)
        assert ndd.as_tensor(half).dtype == ndd.bfloat16
        assert torch.equal((ndd.as_tensor(half) + ndd.as_tensor(half)).torch(), half * 2)
        for dtype in (torch.uint16, torch.uint32, torch.uint64, torch.float16, torch.bool):
            assert ndd.as_tensor(torch.ones(2, dtype=dtype)).torch().dtype == dtype
        with pytest.raises(RuntimeError, match="gradient"):
            ndd.as_tensor(torch.ones(2, requires_grad=True))
        assert isinstance(torch.ones(2) + ndd.tensor([1.0, 2.0]), (ndd.Tensor, torch.Tensor))

    def test_other_dlpack_objects(self):
        class Exporter:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **kwargs):
                return self.array.__dlpack__()

            def __dlpack_device__(self):
                return (1, 0)

        a = np.arange(6.0).reshape(2, 3)
        np.testing.assert_array_equal(np.asarray(ndd.as_tensor(Exporter(a))), a)
        np.testing.assert_array_equal(np.asarray(ndd.as_tensor(Exporter(a.T))), a.T)

    def test_arrays_whose_dlpack_refuses(self):
        class Refusing:
            def __dlpack__(self, **kwargs):
                raise TypeError("no DLPack for this type")

            def __dlpack_device__(self):
                return (1, 0)

        class Array(Refusing):
            def __array__(self, dtype=None, copy=None):
                return np.arange(6.0)

        class Interface(Refusing):
            array = np.arange(6.0)
            __array_interface__ = array.__array_interface__

        for data in (Array(), Interface()):
            for make in (ndd.as_tensor, ndd.tensor):
                np.testing.assert_array_equal(make(data), np.arange(6.0))
            np.testing.assert_array_equal(ndd.as_batch([data, data]).tensors[1], np.arange(6.0))
        with pytest.raises(RuntimeError, match="Refusing"):
            ndd.as_tensor(Refusing())


class TestSlicing:
    A = np.arange(2 * 5 * 3).reshape(2, 5, 3)

    @pytest.mark.parametrize(
        "index",
        [
            0, -1, (0, 1), (0, 1, 2), slice(1, 4), (slice(None), slice(1, 4)), (slice(None), slice(None, None, 2)),
            (slice(None), slice(None, None, -1)), (slice(None), slice(4, 0, -2)), (..., 1), (0, ..., 1), ...,
            (), (slice(None), slice(10, 20)), (slice(None), slice(-100, 2)), (slice(None), slice(3, 1)),
            (slice(-1, None), slice(-3, -1), slice(None, None, -2)), True,
        ],
    )  # fmt: skip
    def test_like_numpy(self, index):
        expected = self.A[1 if index is True else index]
        np.testing.assert_array_equal(np.asarray(ndd.as_tensor(self.A)[index]), expected)

    def test_layout_follows(self):
        t = ndd.as_tensor(self.A, layout="HWC")
        assert t[0].layout == "WC"
        assert t[:, 1].layout == "HC"
        assert t[..., 1].layout == "HW"
        assert t[0, 0, 0].layout is None
        assert t[:, ::2].layout == "HWC"

    def test_tensors_as_indices(self):
        t = ndd.as_tensor(self.A)
        one, three = ndd.tensor(1), ndd.tensor([3])
        np.testing.assert_array_equal(np.asarray(t[one]), self.A[1])
        np.testing.assert_array_equal(np.asarray(t[:, one:three]), self.A[:, 1:3])
        np.testing.assert_array_equal(np.asarray(t[0, ::one]), self.A[0])

    def test_full_slices_are_the_same_object(self):
        t = ndd.as_tensor(self.A)
        assert t[:] is t
        assert t[...] is t
        assert not np.shares_memory(np.asarray(t[1:]), self.A)

    @pytest.mark.parametrize("index", [None, [0, 1], 1.5, "a", (0, 0, 0, 0), (..., ...), slice(None, None, 0)])
    def test_refused(self, index):
        with pytest.raises(ValueError, match=r"ind|slice|ellipsis"):
            ndd.as_tensor(self.A)[index]

    def test_numbers_beyond_all_extents(self):
        t = ndd.tensor([1, 2, 3])
        for index in (-(2**63) + 1, 2**70, -(2**63)):
            with pytest.raises(IndexError, match="out of range"):
                t[index].evaluate()
        assert np.asarray(t[:: -(2**63)]).tolist() == [3]
        assert np.asarray(t[: 2**70]).tolist() == [1, 2, 3]
        assert np.asarray(t[-(2**70) : 2]).tolist() == [1, 2]

    @pytest.mark.parametrize("index", [2, -3, (0, 5), (0, 0, -4)])
    def test_out_of_range(self, index):
        with pytest.raises(IndexError, match="out of range"):
            ndd.as_tensor(self.A)[index].evaluate()


def test_extents_whose_strides_overflow():
    """Also where another extent is 0: strides in bytes are products of the others."""
    for shape in ((0, 2**63 - 1), (2**63 - 1, 0), (0, 2**60)):
        with pytest.raises(ValueError, match="too large"):
            ndd.zeros(shape=shape, dtype=ndd.int32).evaluate()
        with pytest.raises(ValueError, match="too large"):
            ndd.tensor(np.empty(shape, np.uint8))
    assert np.asarray(ndd.zeros(shape=[0, 2**40], dtype=ndd.int64)).shape == (0, 2**40)
