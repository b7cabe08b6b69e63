"""Samples by index, in the user's own order, from any position; and continuing without those that cannot be read."""

import collections
import os
import warnings

import numpy as np
import pytest
import torch

import avida
from tests.readers.numbered import epoch, flat, make_files, numbers, reader_of


@pytest.fixture
def files(tmp_path):
    return make_files(tmp_path, 23)


def test_samples_by_number(files):
    reader = reader_of(files, labels=[10 * i for i in range(23)])
    assert len(reader) == 23
    file, label = reader[5]
    assert isinstance(file, avida.Tensor)
    assert (numbers(file), label.item()) == ([5], 50)
    assert numbers(reader[-1][0]) == [22]
    assert numbers(reader[np.int64(3)][0]) == [3]
    batch, labels = reader[[7, 2, 7]]
    assert isinstance(batch, avida.Batch)
    assert numbers(batch) == [7, 2, 7]
    assert labels.torch().flatten().tolist() == [70, 20, 70]
    assert batch.sources[1] == avida.SampleSource(files[2], 2, 0)
    assert numbers(reader[3:10:3][0]) == [3, 6, 9]
    assert numbers(reader[np.array([4, 1])][0]) == [4, 1]
    assert numbers(reader[torch.tensor([4, 1])][0]) == [4, 1]
    assert numbers(reader[(0, 1)][0]) == [0, 1]


def test_samples_by_number_know_nothing_of_shards(files):
    reader = reader_of(files, num_shards=4, shard_id=1, random_shuffle=True)
    assert len(reader) == 23
    assert numbers(reader[[0, 22]][0]) == [0, 22]
    before = epoch(reader_of(files, num_shards=4, shard_id=1, random_shuffle=True), 4)
    assert epoch(reader, 4) == before


def test_bad_numbers(files):
    reader = reader_of(files)
    for index in (23, -24, [0, 23]):
        with pytest.raises(IndexError, match="from -23 to 22"):
            reader[index]
    for index in ("a", 1.5, [1.5], None):
        with pytest.raises(TypeError):
            reader[index]
    with pytest.raises(ValueError, match="got an empty list"):
        reader[[]]
    os.remove(files[3])
    with pytest.raises(RuntimeError, match=r"readers\.File: .*00003.jpg"):
        reader[3]
    with pytest.raises(RuntimeError, match=r"readers\.File: sample 1 \(.*00003.jpg"):
        reader[[2, 3]]


def test_a_reader_is_not_iterable(files):
    """It would be all samples in order, whatever shard and shuffling say."""
    with pytest.raises(TypeError, match="next_epoch"):
        list(reader_of(files))


def test_masks_are_not_numbers(files):
    for mask in ([True, False], np.array([True, False])):
        with pytest.raises(TypeError, match="flatnonzero"):
            reader_of(files)[mask]


def test_representation(files):
    reader = reader_of(files, num_shards=2, shard_id=1)
    assert repr(reader) == "readers.File(23 samples, shard 1 of 2, epoch 0)"
    iterator = reader.next_epoch(3)
    next(iterator)
    assert repr(iterator).endswith(": 1 of 4 items taken")
    assert repr(reader_of(files, lazy_init=True)) == "readers.File(not opened yet, epoch 0)"


def test_misspelt_arguments():
    with pytest.raises(TypeError, match="did you mean 'file_root'"):
        avida.readers.File(file_rot="x")
    with pytest.raises(TypeError, match="did you mean 'features'"):
        avida.readers.TFRecord(path="x", featuers={})
    for bad in ("2", 2.5):
        with pytest.raises(ValueError, match="expected an integer"):
            avida.readers.File(files=["a"], num_shards=bad)


def test_classes_over_readers(files):
    class Plain(avida.readers.File):
        pass

    class First(avida.readers.File):
        def __init__(self, count, **options):
            super().__init__(files=files[:count], **options)

    assert epoch(Plain(files=files, last_batch="partial"), 23) == [list(range(23))]
    assert epoch(First(3, random_shuffle=False), 3) == [[0, 1, 2]]


def test_bytes(files):
    assert bytes(reader_of(files)[12][0]) == b"12"
    assert bytes(avida.tensor(np.uint8([5]))) == b"\x05"


@pytest.mark.parametrize("options", [{}, {"last_batch": "partial"}, {"pad_last_batch": True}, {"random_shuffle": True}])
def test_seek(files, options):
    whole = reader_of(files, **options)
    epochs = [epoch(whole, 4) for _ in range(3)]
    reader = reader_of(files, **options)
    reader.seek(0, 8)
    assert reader.epoch == 0
    assert epoch(reader, 4) == epochs[0][2:]
    assert epoch(reader, 4) == epochs[1]
    reader.seek(0)
    assert epoch(reader, 4) == epochs[0]
    if options != {} and "random_shuffle" not in options:
        reader.seek(2, 4)
        assert epoch(reader, 4) == epochs[2][1:]
    for arguments in ((-1, 0), (0, -1)):
        with pytest.raises(ValueError, match="from 0"):
            reader.seek(*arguments)


def test_seek_while_reading(files):
    reader = reader_of(files)
    iterator = reader.next_epoch(5)
    next(iterator)
    reader.seek(0, 20)
    assert epoch(reader, 3) == [[20, 21, 22]]
    assert numbers(next(iterator)[0]) == [5, 6, 7, 8, 9]


def test_seek_behind_the_end(files):
    reader = reader_of(files, last_batch="partial")
    reader.seek(0, 100)
    assert epoch(reader, 4) == []
    assert epoch(reader, 23) == [list(range(23))]


def test_indices(files):
    reader = reader_of(files, random_shuffle=True)
    iterator = reader.next_epoch(2, indices=[5, 5, -1])
    assert len(iterator) == 2
    assert [numbers(f) for f, _ in iterator] == [[5, 5], [22]]
    assert [numbers(f) for f, _ in reader.next_epoch(indices=range(3))] == [[0], [1], [2]]
    assert sorted(flat(epoch(reader, 23))) == list(range(23))
    with pytest.raises(IndexError, match="from -23 to 22"):
        next(reader.next_epoch(indices=[23]))
    assert list(reader.next_epoch(2, indices=[])) == []
    padded = reader_of(files, pad_last_batch=True)
    assert epoch(padded, 2, indices=[1, 2, 3]) == [[1, 2], [3, 3]]


def test_sampler(files):
    class Backwards:
        def __iter__(self):
            return iter(range(22 - self.epoch, -1, -1))

        def __len__(self):
            return 23

        def set_epoch(self, epoch):
            self.epoch = epoch

    parts = []
    for shard in range(2):
        reader = reader_of(files, num_shards=2, shard_id=shard, stick_to_shard=True)
        reader.sampler = Backwards()
        assert len(reader.next_epoch(4)) == 3
        parts.append([epoch(reader, 4) for _ in range(2)])
    for number in range(2):
        assert flat(parts[0][number] + parts[1][number]) == list(range(22 - number, -1, -1))
        assert len(parts[0][number]) == len(parts[1][number]) == 3
    reader.sampler = None
    assert flat(epoch(reader, 4))[0] == 11
    reader.sampler = [1, 2]
    assert epoch(reader, 2) == [[2]]


def test_bad_samplers(files):
    reader = reader_of(files)
    with pytest.raises(TypeError, match="got int"):
        reader.sampler = 3  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError, match="got an iterator"):
        reader.sampler = iter([1, 2])


def test_samplers_without_length(files):
    class Endless:
        def __iter__(self):
            return iter([1, 2, 3])

    reader = reader_of(files)
    reader.sampler = Endless()
    iterator = reader.next_epoch(2)
    with pytest.raises(TypeError, match="has no length"):
        len(iterator)
    next(iterator)
    assert len(iterator) == 2


def test_sampler_of_pytorch(files):
    reader = reader_of(files)
    weights = [0.0] * 20 + [1.0, 2.0, 3.0]
    reader.sampler = torch.utils.data.WeightedRandomSampler(weights, 50)
    seen = flat(epoch(reader, 8))
    assert len(seen) == 50
    assert set(seen) <= {20, 21, 22}
    reader.sampler = torch.utils.data.SubsetRandomSampler([3, 4, 5])
    assert sorted(flat(epoch(reader, 2))) == [3, 4, 5]


def test_weighted_sampler(files):
    weights = np.arange(23.0)
    sampler = avida.readers.WeightedSampler(weights, 20_000, seed=3)
    counts = collections.Counter(sampler)
    assert counts[0] == 0
    expected = weights * 20_000 / weights.sum()
    assert sum((counts[i] - expected[i]) ** 2 / expected[i] for i in range(1, 23)) < 60  # 21 degrees: 99.999 %
    reader = reader_of(files)
    reader.sampler = avida.readers.WeightedSampler(weights, 10)
    first, second = epoch(reader, 10), epoch(reader, 10)
    assert first != second
    again = reader_of(files)
    again.sampler = avida.readers.WeightedSampler(weights, 10)
    again.seek(1)
    assert epoch(again, 10) == second

    once = avida.readers.WeightedSampler(weights, 22, replacement=False)
    assert sorted(once) == list(range(1, 23))
    # The first draw follows the weights.
    firsts = collections.Counter()
    for number in range(3000):
        once.set_epoch(number)
        firsts[next(iter(once))] += 1
    share = sum(firsts[i] for i in range(12, 23)) / 3000
    assert abs(share - sum(range(12, 23)) / sum(range(23))) < 0.03
    for bad in ({"weights": [-1.0, 1]}, {"weights": [0.0]}, {"weights": [[1.0]]}, {"weights": [1.0, np.nan]}):
        with pytest.raises(ValueError, match="weight"):
            avida.readers.WeightedSampler(**bad)
    with pytest.raises(ValueError, match="without replacement"):
        avida.readers.WeightedSampler([1.0, 0.0], replacement=False)


def test_batch_size_of_the_constructor(files):
    reader = reader_of(files, max_batch_size=4)
    assert [len(batch) for batch in epoch(reader, None)] == [4] * 6
    with pytest.raises(ValueError, match="max_batch_size=4"):
        reader.next_epoch(5)


def test_last_batches(files):
    assert [len(batch) for batch in epoch(reader_of(files, last_batch="partial"), 5)] == [5, 5, 5, 5, 3]
    assert [len(batch) for batch in epoch(reader_of(files, last_batch="drop"), 5)] == [5, 5, 5, 5]
    assert epoch(reader_of(files, last_batch="pad"), 5)[-1] == [20, 21, 22, 22, 22]
    assert epoch(reader_of(files, last_batch="wrap"), 5)[-1] == [20, 21, 22, 0, 1]
    reader = reader_of(files, last_batch="drop")
    assert epoch(reader, 50) == []
    assert len(epoch(reader, 20)) == 1
    with pytest.raises(ValueError, match="contradicts"):
        reader_of(files, last_batch="drop", pad_last_batch=True)
    with pytest.raises(ValueError, match="'partial'"):
        reader_of(files, last_batch="maybe")


@pytest.mark.parametrize("batch_size", [None, 1, 4, 23])
def test_skip(files, batch_size):
    for i in (0, 9, 10, 22):
        os.remove(files[i])
    os.remove(files[5])
    os.mkdir(files[5])
    reader = reader_of(files, on_error="skip", last_batch="partial")
    good = [i for i in range(23) if i not in (0, 5, 9, 10, 22)]
    assert flat(epoch(reader, batch_size)) == good
    assert [error.index for error in reader.errors] == [0, 5, 9, 10, 22]
    assert reader.errors[1].source == files[5]
    assert reader.errors[1].epoch == 0
    assert reader.errors[1].message == "expected a regular file, got a folder, pipe or device"
    assert flat(epoch(reader, batch_size)) == good
    assert [error.epoch for error in reader.errors] == [0] * 5 + [1] * 5


def test_skip_what_is_too_large(tmp_path, files):
    """A sample that no memory can hold is one bad sample, not a bad batch."""
    np.save(tmp_path / "good.npy", np.arange(4))
    with open(tmp_path / "large.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<i8", "fortran_order": False, "shape": (2**40,)})
        try:
            file.truncate(2**43 + 128)
        except OSError:
            pytest.skip("the file system has no files of 8 TiB")
    reader = avida.readers.Numpy(file_root=str(tmp_path), on_error="skip", last_batch="partial")
    assert [array.shape for (array,) in reader.next_epoch(2)] == [[(4,)]]
    assert "larger than any memory" in reader.errors[0].message
    strict = avida.readers.Numpy(file_root=str(tmp_path))
    with pytest.raises(ValueError, match=r"large\.npy.*larger than any memory"):
        next(strict.next_epoch(2))[0].evaluate()


def test_skip_leaves_out_whole_batches(files):
    for file in files[4:8]:
        os.remove(file)
    reader = reader_of(files, on_error="skip")
    assert [batch[0] for batch in epoch(reader, 4)][:3] == [0, 8, 12]
    for file in files[:4] + files[8:]:
        os.remove(file)
    assert epoch(reader_of(files, on_error="skip"), 4) == []
    with pytest.raises(ValueError, match="'skip'"):
        reader_of(files, on_error="ignore")


def test_deleted_in_mid_epoch(files):
    reader = reader_of(files)
    iterator = reader.next_epoch(1)
    next(iterator)
    os.remove(files[20])
    failed = []
    for batch, labels in iterator:
        try:
            batch.evaluate()
        except RuntimeError as error:
            failed.append(str(error))
            with pytest.raises(RuntimeError):
                labels.evaluate()
    assert len(failed) == 1
    assert failed[0].startswith("readers.File: sample 0 (")
    assert "00020.jpg" in failed[0]


def test_errors_of_single_samples_name_the_file(files):
    file, _ = reader_of(files)[3]
    with pytest.raises(RuntimeError, match=r"decoders\.image: .*00003\.jpg: "):
        avida.decoders.image(file).evaluate()


def test_sources_survive_operators(files):
    batch, labels = next(reader_of(files).next_epoch(4))
    for value in (batch + 1, avida.cast(labels, dtype=avida.float32), avida.reductions.sum(labels), labels * labels):
        assert value.sources == batch.sources
        assert value.tensors[2].source == avida.SampleSource(files[2], 2, 0)
    _, again = next(reader_of(files, num_shards=2, shard_id=1).next_epoch(11))
    assert [source.index for source in again.sources] == list(range(11, 22))
    reader = reader_of(files)
    _, last = list(reader.next_epoch(4))[-1]
    assert [(source.index, source.epoch) for source in last.sources] == [(20, 0), (21, 0), (22, 0), (0, 1)]


def test_an_epoch_that_has_ended_says_so(files):
    """Once for a line of the user's, and never for a fresh one."""
    reader = reader_of(files)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        items = reader.next_epoch(10)
        assert list(items)
        assert next(items, None) is None
        for item in (reader.next_epoch(10), reader.next_epoch(10)):
            next(item)
            assert list(item)
    with pytest.warns(UserWarning, match=r"this epoch has ended .* Call next_epoch\(\)") as caught:
        assert list(items) == []
    assert caught[0].filename == __file__
    source = avida.ExternalSource([np.zeros(1)]).next_epoch()
    assert len(list(source)) == 1
    with pytest.warns(UserWarning, match="this epoch has ended"):
        assert list(source) == []


def test_an_epoch_without_batches_says_so(files):
    reader = reader_of(files, last_batch="drop", num_shards=2)
    with pytest.warns(UserWarning, match=r'last_batch="drop" .* fewer than batch_size=64 samples') as caught:
        assert list(reader.next_epoch(64)) == []
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(reader.next_epoch(11))) == 1
        reader.seek(5, 10)
        assert list(reader.next_epoch(2)) == []  # the rest of an epoch may have no batch


def test_errors_do_not_grow_for_ever(tmp_path):
    """The newest thousand stay, all are counted."""
    reader = reader_of([str(tmp_path / "no") for _ in range(700)], on_error="skip", last_batch="partial")
    assert reader.errors == []
    for number in range(2):
        assert list(reader.next_epoch(100)) == []
        assert reader.errors.total == 700 * (number + 1)
    assert len(reader.errors) == 1000
    assert (reader.errors[0].epoch, reader.errors[0].index) == (0, 400)
    assert (reader.errors[-1].epoch, reader.errors[-1].index) == (1, 699)


def test_too_few_samples_name_their_data(tmp_path, files):
    with pytest.raises(RuntimeError, match=r"each of 99 shards, got 23 from files=\['.*00000.jpg', .*, \.\.\.\]"):
        reader_of(files, num_shards=99)
    path = tmp_path / "empty.tar"
    path.write_bytes(bytes(1024))
    with pytest.raises(RuntimeError, match=rf"got 0 from paths='{path}'"):
        avida.readers.Webdataset(paths=path, ext="x")
