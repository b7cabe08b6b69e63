"""Batch: construction, selection, slicing, hand-over."""

import pickle

import numpy as np
import pytest

import avida as ndd


def values(batch):
    return [np.asarray(t).tolist() for t in batch]


class TestConstruction:
    def test_ragged_list(self):
        b = ndd.batch([[1, 2, 3], [4, 5]], layout="X")
        assert (b.batch_size, b.ndim, b.layout, str(b.dtype)) == (2, 1, "X", "i32")
        assert b.shape == [(3,), (2,)]
        assert values(b) == [[1, 2, 3], [4, 5]]
        assert len(b) == 2

    def test_first_type_wins(self):
        assert values(ndd.batch([1, 2.7])) == [1, 2]
        assert values(ndd.batch([[1], [2.7]])) == [[1], [2]]
        with pytest.raises(OverflowError):
            ndd.batch([1, 2**31])
        assert ndd.batch([np.uint8([1]), np.float32([2.6])]).dtype == ndd.uint8
        assert ndd.batch([1, 2], dtype=ndd.float32).dtype == ndd.float32

    def test_array_is_split(self):
        a = np.arange(6).reshape(3, 2)
        b = ndd.as_batch(a)
        assert values(b) == a.tolist()
        a[0, 0] = 9
        assert np.asarray(b.tensors[0])[0] == 9
        assert ndd.batch(a).batch_size == 3
        assert ndd.as_batch(np.zeros((0, 3))).batch_size == 0
        with pytest.raises(ValueError, match="without axes"):
            ndd.as_batch(np.float32(1))
        with pytest.raises(ValueError, match="layout of one sample"):
            ndd.as_batch(ndd.tensor(a, layout="NX"))
        assert ndd.as_batch(ndd.tensor(a, layout="NX"), layout="X").layout == "X"

    @pytest.mark.parametrize(
        ("data", "error"),
        [(5, TypeError), ([], ValueError), ([None], TypeError), (None, TypeError), ([[1, 2], 3], RuntimeError)],
    )
    def test_refused(self, data, error):
        with pytest.raises(error):
            ndd.batch(data)

    def test_too_many_samples(self):
        with pytest.raises(ValueError, match="at most"):
            ndd.as_batch(np.zeros(2**24 + 1, np.uint8))

    def test_batch_of_batches_is_refused(self):
        with pytest.raises(TypeError, match="cannot be batches"):
            ndd.batch([ndd.batch([1]), ndd.batch([2])])

    def test_empty(self):
        b = ndd.batch([], dtype=ndd.float32)
        assert (b.batch_size, b.shape, b.layout) == (0, [], None)
        assert (b + 1).batch_size == 0
        assert "num_samples=0" in repr(b)

    def test_iterables(self):
        assert values(ndd.batch(i for i in range(3))) == [0, 1, 2]
        assert ndd.as_batch(b := ndd.batch([1])) is b
        assert ndd.batch(b) is not b
        assert ndd.as_batch(b, dtype=ndd.float32).dtype == ndd.float32

    def test_layout_of_tensors(self):
        tensors = [ndd.tensor([1]), ndd.tensor([2], layout="X")]
        assert ndd.as_batch(tensors).layout == "X"
        assert ndd.as_batch(tensors, layout="Y").layout == "Y"

    def test_broadcast(self):
        b = ndd.Batch.broadcast([1, 2], 3)
        assert values(b) == [[1, 2]] * 3
        assert ndd.Batch.broadcast(1.5, 2, dtype=ndd.float64).dtype == ndd.float64
        assert ndd.Batch.broadcast(1, 0).batch_size == 0
        with pytest.raises(ValueError, match="negative"):
            ndd.Batch.broadcast(1, -1)
        with pytest.raises(ValueError, match="one sample"):
            ndd.Batch.broadcast(b, 2)

    def test_pickle(self):
        b = ndd.batch([[1, 2], [3]], layout="X")
        again = pickle.loads(pickle.dumps(b))
        assert (values(again), again.layout) == ([[1, 2], [3]], "X")


class TestSelection:
    b = ndd.batch([[1, 2, 3], [4, 5], [6]], layout="X")

    def test_no_getitem(self):
        with pytest.raises(TypeError, match=r"batch\.tensors.*batch\.slice"):
            self.b[0]

    def test_tensors(self):
        assert np.asarray(self.b.tensors[1]).tolist() == [4, 5]
        assert np.asarray(self.b.tensors[-1]).tolist() == [6]
        assert self.b.tensors[0].layout == "X"
        assert len(self.b.tensors) == 3
        assert values(self.b.tensors[1:]) == [[4, 5], [6]]
        assert values(self.b.tensors[[2, 0, 2]]) == [[6], [1, 2, 3], [6]]
        assert values(self.b.tensors[...]) == values(self.b)
        assert values(ndd.as_batch(self.b.tensors[::2])) == [[1, 2, 3], [6]]
        assert np.asarray(self.b.tensors[1:][[0]][0]).tolist() == [4, 5]
        for bad in (3, -4, [5]):
            with pytest.raises(IndexError, match="out of range"):
                self.b.tensors[bad]
        for bad in (1.5, (0, 1), "a"):
            with pytest.raises(TypeError):
                self.b.tensors[bad]

    @pytest.mark.parametrize(
        ("index", "expected"),
        [
            ([0, 2], [[1, 2, 3], [6]]),
            (slice(1, None), [[4, 5], [6]]),
            ([], []),
            ([True, False, True], [[1, 2, 3], [6]]),
            ([False, False, False], []),
            ([np.True_, False, False], [[1, 2, 3]]),
            (np.array([2, -2]), [[6], [4, 5]]),
            (np.array([False, True, True]), [[4, 5], [6]]),
            (range(2), [[1, 2, 3], [4, 5]]),
            (..., [[1, 2, 3], [4, 5], [6]]),
        ],
    )
    def test_selected_samples_are_a_batch(self, index, expected):
        selected = self.b.tensors[index]
        assert issubclass(type(selected), ndd.Batch)
        assert (selected.layout, selected.batch_size) == ("X", len(expected))
        for whole in (
            selected,
            ndd.cast(selected, dtype=ndd.int64),
            selected + 0,
            selected.as_batch(),
            self.b.select(index),
        ):
            assert values(whole) == expected
        assert values(selected.as_batch(copy=True)) == values(selected.tolist()) == expected
        assert values(pickle.loads(pickle.dumps(selected))) == expected
        if expected:
            assert np.asarray(selected[0]).tolist() == expected[0]
            assert values(selected[:1]) == values(selected.tensors[[0]]) == expected[:1]

    def test_selection_shares_memory(self):
        assert self.b.tensors[[1]][0]._address == self.b.tensors[1]._address
        assert self.b.tensors[[1]].as_batch(copy=True).tensors[0]._address != self.b.tensors[1]._address

    def test_wrong_masks(self):
        with pytest.raises(IndexError, match="mask of 3 booleans, one for each sample, got 2"):
            self.b.tensors[[True, False]]
        with pytest.raises(TypeError, match="mixture"):
            self.b.tensors[[True, 0, 1]]

    def test_operators_take_all_samples(self):
        assert values(ndd.cast(self.b.tensors, dtype=ndd.uint8)) == values(self.b)

    def test_select(self):
        assert np.asarray(self.b.select(1)).tolist() == [4, 5]
        assert values(self.b.select([2, 0])) == [[6], [1, 2, 3]]
        assert values(self.b.select(slice(1, None))) == [[4, 5], [6]]
        assert self.b.select(...) is self.b

    def test_slice(self):
        samples = [np.arange(12).reshape(3, 4), np.arange(10).reshape(2, 5)]
        b = ndd.batch(samples, layout="HW")
        for index in (0, (slice(None), 0), (..., slice(1, 3)), slice(None, None, -1), (-1, slice(None, None, 2))):
            for got, sample in zip(b.slice[index], samples, strict=True):
                np.testing.assert_array_equal(np.asarray(got), sample[index])
        assert b.slice[0].layout == "W"
        assert b.slice[:, 0].layout == "H"
        each = ndd.batch([2, 1])
        assert [np.asarray(t).tolist() for t in b.slice[each]] == [samples[0][2].tolist(), samples[1][1].tolist()]
        assert b.slice[:, each:].shape == [(3, 2), (2, 4)]
        with pytest.raises(ValueError, match="batch sizes differ"):
            b.slice[ndd.batch([0, 1, 2])]
        with pytest.raises(IndexError, match="sample 1"):
            b.slice[2].evaluate()


class TestHandOver:
    def test_torch(self):
        import torch

        b = ndd.batch([[1, 2], [3, 4]]) + 0
        shared = b.torch()
        assert torch.equal(shared, torch.tensor([[1, 2], [3, 4]], dtype=torch.int32))
        assert shared.data_ptr() == b.tensors[0]._address
        assert b.torch(copy=False).data_ptr() == shared.data_ptr()
        assert b.torch(copy=True).data_ptr() != shared.data_ptr()
        apart = ndd.as_batch([np.zeros(2), np.ones(2)])
        assert apart.torch().shape == (2, 2)
        with pytest.raises(ValueError, match="copy"):
            apart.torch(copy=False)
        ragged = ndd.batch([[1, 2], [3]])
        with pytest.raises(ValueError, match=r"\(2,\), \(1,\)"):
            ragged.torch()
        assert ragged.torch(pad=True).tolist() == [[1, 2], [3, 0]]
        with pytest.raises(RuntimeError, match="empty"):
            ndd.batch([], dtype=ndd.uint8).torch()

    def test_torch_with_a_mask(self):
        ragged = ndd.batch([[[1, 2], [3, 4]], [[5, 6]]])
        numbers, mask = ragged.torch(pad=True, mask=True)
        assert numbers.tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]
        assert mask.tolist() == [[[True, True], [True, True]], [[True, True], [False, False]]]
        even, mask = (ragged.slice[0] + 0).torch(mask=True)
        assert even.tolist() == [[1, 2], [5, 6]]
        assert mask.all()
        with pytest.raises(ValueError, match="pad=True"):
            ragged.torch(mask=True)

    def test_numpy(self):
        b = ndd.batch([[1, 2], [3, 4]]) + 0
        for array in (np.asarray(b), b.numpy(), b.numpy(copy=False)):
            assert array.dtype == np.int32
            assert array.tolist() == [[1, 2], [3, 4]]
            assert array.ctypes.data == b.tensors[0]._address
        assert b.numpy(copy=True).ctypes.data != b.tensors[0]._address
        assert np.array(b, dtype=np.float64).tolist() == [[1, 2], [3, 4]]
        assert np.sum(b) == 10
        assert np.array_equal(b, [[1, 2], [3, 4]])
        assert b.tensors[0].numpy().ctypes.data == b.tensors[0]._address
        apart = ndd.as_batch([np.zeros(2), np.ones(2)])
        assert np.asarray(apart).tolist() == [[0, 0], [1, 1]]
        with pytest.raises(ValueError, match="copy"):
            apart.numpy(copy=False)
        ragged = ndd.batch([[1, 2], [3]])
        with pytest.raises(ValueError, match=r"\(2,\), \(1,\).*pad=True.*resize"):
            np.asarray(ragged)
        assert ragged.numpy(pad=True).tolist() == [[1, 2], [3, 0]]
        for padded in (ragged.numpy, ragged.torch):
            with pytest.raises(ValueError, match="copy"):
                padded(pad=True, copy=False)
        assert b.numpy(pad=True, copy=False).tolist() == [[1, 2], [3, 4]]
        with pytest.raises(RuntimeError, match="empty"):
            np.asarray(ndd.batch([], dtype=ndd.uint8))

    def test_dlpack(self):
        b = ndd.batch([[1, 2], [3, 4]]) + 0
        shared = np.from_dlpack(b)
        assert shared.tolist() == [[1, 2], [3, 4]]
        assert shared.ctypes.data == b.tensors[0]._address
        with pytest.raises(ValueError, match="differ in shape"):
            np.from_dlpack(ndd.batch([[1, 2], [3]]))

    def test_functions_of_torch_say_what_to_call(self):
        import torch

        images = ndd.batch(np.ones((2, 3, 4, 4), np.float32))
        with pytest.raises(TypeError, match=r"conv2d: expected a torch.Tensor, got avida.Batch; .* torch\(\)"):
            torch.nn.Conv2d(3, 1, 1)(images)
        with pytest.raises(TypeError, match=r"stack: expected a torch.Tensor, got avida.Tensor; .* torch\(\)"):
            torch.stack(list(images))
        assert torch.from_dlpack(images).shape == torch.as_tensor(images).shape == (2, 3, 4, 4)
        assert isinstance(torch.ones(4) + images, ndd.Batch)

    def test_devices(self):
        b = ndd.batch([1])
        assert b.cpu() is b
        assert b.evaluate() is b
        assert b.to_device("cpu", force_copy=True) is not b

    def test_arithmetic(self):
        b = ndd.batch([[1, 2], [3, 4, 5]])
        assert values(b + 1) == [[2, 3], [4, 5, 6]]
        assert values(10 - b) == [[9, 8], [7, 6, 5]]
        assert values(b == b) == [[True] * 2, [True] * 3]
        assert values(np.int32(2) * b) == [[2, 4], [6, 8, 10]]
        assert values(np.array([1, 1]) + ndd.batch([[1, 2]])) == [[2, 3]]
        assert values(ndd.tensor(1) + b) == [[2, 3], [4, 5, 6]]
        assert values(abs(-b)) == values(b)
        with pytest.raises(TypeError):
            hash(b)

    def test_has_no_truth(self):
        """`if a == b` would be true for any two batches."""
        a, b = ndd.batch([[1, 2]]), ndd.batch([[3, 4]])
        for value in (a, a == b, ndd.batch([1]), ndd.batch([], dtype="uint8")):
            with pytest.raises(ValueError, match="array_equal"):
                bool(value)

    def test_repr(self):
        assert repr(ndd.batch([[1, 2, 3], [4, 5]], layout="X")) == (
            "Batch(\n    [[1 2 3],\n     [4 5]],\n"
            '    dtype=i32,\n    layout="X",\n    device="cpu",\n    num_samples=2,\n    shape=[(3,), (2,)])'
        )
        assert "..." in repr(ndd.batch([[1]] * 100))
