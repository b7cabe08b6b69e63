"""reader(): the next sample or batch, on and on, beside loops over epochs."""

import threading

import pytest

import avida
from tests.readers.numbered import epoch, flat, make_files, numbers, reader_of

ORDERS = [{}, {"random_shuffle": True, "seed": 5}, {"shuffle_after_epoch": True}]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("numbered"), 10)


def calls(reader, count, **options):
    return [numbers(reader(**options)[0]) for _ in range(count)]


@pytest.mark.parametrize("last", ["wrap", "pad", "partial", "drop"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("batch_size", [None, 4])
def test_calls_run_through_the_epochs(files, order, last, batch_size):
    options = {**order, "last_batch": last}
    looped = reader_of(files, **options)
    expected = flat([epoch(looped, batch_size) for _ in range(3)])
    assert calls(reader_of(files, **options), len(expected), batch_size=batch_size) == expected


def test_samples_and_batches(files):
    reader = reader_of(files, max_batch_size=4)
    sample, label = reader()
    assert isinstance(sample, avida.Tensor)
    assert (sample.ndim, label.shape) == (1, (1,))
    assert reader(batch_size=4)[0].batch_size == 4
    with pytest.raises(ValueError, match="max_batch_size=4"):
        reader(batch_size=5)


def test_batch_size_may_change_within_an_epoch(files):
    reader = reader_of(files)
    assert calls(reader, 1, batch_size=4) == [[0, 1, 2, 3]]
    assert calls(reader, 1) == [[4]]
    assert calls(reader, 3, batch_size=3) == [[5, 6, 7], [8, 9, 0], [1, 2, 3]]


def test_loops_and_calls_do_not_disturb_each_other(files):
    reader = reader_of(files, last_batch="partial")
    assert calls(reader, 2) == [[0], [1]]
    assert flat(epoch(reader, 4)) == list(range(10))
    assert calls(reader, 9) == [[i] for i in (2, 3, 4, 5, 6, 7, 8, 9, 0)]


def test_state(files):
    reader = reader_of(files, random_shuffle=True, seed=5)
    calls(reader, 7, batch_size=3)
    state = str(reader.get_state())
    again = reader_of(files, random_shuffle=True)
    calls(again, 2, batch_size=3)  # which the state overrules
    again.set_state(state)
    assert calls(again, 8, batch_size=3) == calls(reader, 8, batch_size=3)


def test_epoch_without_items(files, tmp_path):
    with pytest.warns(UserWarning, match="epoch is empty"), pytest.raises(RuntimeError, match="epoch 0 has no item"):
        reader_of(files, last_batch="drop")(batch_size=11)
    missing = reader_of([str(tmp_path / f"none{i}.jpg") for i in range(3)], on_error="skip")
    with pytest.raises(RuntimeError, match="epoch 0 has no item"):
        missing(batch_size=2)


def test_threads_share_the_calls(files):
    reader, found, lock = reader_of(files), [], threading.Lock()

    def work():
        mine = flat(calls(reader, 50))
        with lock:
            found.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(list(range(10)) * 20)


def test_dictionaries(tmp_path):
    from tests.readers.records import example, ints, write_tfrecords

    path = write_tfrecords(tmp_path / "a", [example(number=ints(i)) for i in range(3)])
    features = {"number": avida.tfrecord.FixedLenFeature([], avida.tfrecord.int64, 0)}
    reader = avida.readers.TFRecord(path=path, features=features)
    assert [reader()["number"].item() for _ in range(4)] == [0, 1, 2, 0]


def test_metadata_takes_a_batch_size(files):
    reader = reader_of(files, num_shards=3)
    assert reader.get_metadata(batch_size=8) == reader.get_metadata(8) == reader.get_metadata()


def test_capture_and_its_older_spelling(files):
    for option in ("capture", "compile"):
        assert flat(epoch(reader_of(files), 5, **{option: True})) == list(range(10))
