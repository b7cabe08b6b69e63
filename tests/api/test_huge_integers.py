"""Integers that no 64 bits hold: errors that say what was expected, and never the signatures of native functions."""

import json
import operator

import numpy as np
import pytest

import avida
from avida import _core

HUGE = [2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 2**70, -(2**70)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for i in range(5):
        (folder / f"{i}.jpg").write_bytes(b"x")
        np.save(folder / f"{i}.npy", np.zeros((2, 3)))
    return folder


def file_reader(folder, **options):
    return avida.readers.File(files=[str(folder / f"{i}.jpg") for i in range(5)], **options)


def changed_state(folder, name, n):
    state = json.loads(str(file_reader(folder).get_state())) | {"shards": 1, "batch_size": 1}
    reader = file_reader(folder)
    reader.set_state(json.dumps(state | {name: n}))
    return next(reader.next_epoch(1))


def seek(folder, *place):
    reader = file_reader(folder)
    reader.seek(*place)
    return next(reader.next_epoch(1), None)


def region(folder, **options):
    reader = avida.readers.Numpy(file_root=str(folder), file_filter="*.npy", **options)
    return next(reader.next_epoch(1))[0].evaluate()


def feature(folder, *arguments):
    features = {"a": avida.tfrecord.FixedLenFeature(*arguments)}
    return avida.readers.TFRecord(path=str(folder / "0.jpg"), features=features).next_epoch(1)


@avida.operator
def made():
    return np.zeros(2)


IMAGE = avida.tensor(np.zeros((4, 4, 3), np.uint8), layout="HWC")
BATCH = avida.batch([np.zeros((2, 2, 3), np.uint8)] * 3, layout="HWC")
CALLS = {
    "tensors[]": lambda n, _: BATCH.tensors[n],
    "tensors[[]]": lambda n, _: BATCH.tensors[[n]],
    "tensors[:]": lambda n, _: BATCH.tensors[:n],
    "batch.slice": lambda n, _: BATCH.slice[n, ::n].evaluate(),
    "tensor[]": lambda n, _: IMAGE[n],
    "tensor[::]": lambda n, _: IMAGE[n::n].evaluate(),
    "tensor": lambda n, _: avida.tensor(n),
    "add": lambda n, _: IMAGE + n,
    "__dlpack__": lambda n, _: IMAGE.__dlpack__(stream=n),
    "batch_size": lambda n, _: avida.random.uniform(batch_size=n),
    "shape": lambda n, _: avida.zeros(shape=[0, n]),
    "operator": lambda n, _: made(batch_size=n),
    "outputs": lambda n, _: avida.operator(lambda: 0, outputs=n),
    "set_seed": lambda n, _: avida.random.set_seed(n),
    "RNG": lambda n, _: avida.random.RNG(n)(),
    "set_num_threads": lambda n, _: avida.set_num_threads(n),
    "ThreadPool": lambda n, _: avida.ThreadPool(n),
    "set_memory_budget": lambda n, _: avida.set_memory_budget(n),
    "Device": lambda n, _: avida.Device("gpu", n),
    "stream": lambda n, _: avida.Stream(stream=n),
    "device_id": lambda n, _: avida.EvalContext(device_id=n),
    "reader[]": lambda n, folder: file_reader(folder)[n],
    "reader[[]]": lambda n, folder: file_reader(folder)[[n]],
    "indices": lambda n, folder: next(file_reader(folder).next_epoch(1, indices=[n])),
    "next_epoch": lambda n, folder: file_reader(folder).next_epoch(n),
    "seek epoch": lambda n, folder: seek(folder, n),
    "seek position": lambda n, folder: seek(folder, 0, n),
    "num_shards": lambda n, folder: next(file_reader(folder, num_shards=n).next_epoch(1)),
    "shard_id": lambda n, folder: next(file_reader(folder, num_shards=2, shard_id=n).next_epoch(1)),
    "seed": lambda n, folder: next(file_reader(folder, random_shuffle=True, seed=n).next_epoch(1)),
    "labels": lambda n, folder: next(avida.readers.File(files=[str(folder / "0.jpg")], labels=[n]).next_epoch(1)),
    **{
        f"state {name}": lambda n, folder, name=name: changed_state(folder, name, n)
        for name in ("epoch", "done", "base", "taken", "shards", "batch_size", "samples", "seed", "own_order")
    },
    **{
        name: lambda n, folder, name=name: region(folder, **{name: [n]})
        for name in ("roi_start", "roi_end", "roi_shape")
    },
    "roi_axes": lambda n, folder: region(folder, roi_start=[0], roi_axes=[n]),
    "hdu_indices": lambda n, folder: avida.experimental.readers.Fits(
        files=[str(folder / "0.jpg")], hdu_indices=[n]
    ).next_epoch(1),
    "num_labels": lambda n, folder: avida.readers.Caffe2(path=folder, num_labels=n).next_epoch(1),
    "additional_inputs": lambda n, folder: avida.readers.Caffe2(path=folder, additional_inputs=n).next_epoch(1),
    "feature shape": lambda n, folder: feature(folder, [n], avida.tfrecord.int64, 0),
    "feature default": lambda n, folder: feature(folder, [1], avida.tfrecord.int64, n),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_was_expected_is_said(name, folder):
    try:
        for n in HUGE:
            try:
                CALLS[name](n, folder)
            except Exception as error:
                assert not is_dump(error), (n, error)
                assert str(error), n
    finally:
        avida.set_memory_budget(None)


def is_dump(error):
    text = str(error)
    return "incompatible function arguments" in text or "bad_cast" in text or "Invoked with types" in text


def test_the_dump_is_recognised():
    with pytest.raises(TypeError) as caught:
        _core.set_memory_budget(2**70)
    assert is_dump(caught.value)


def test_the_environment(monkeypatch):
    monkeypatch.setenv("AVIDA_MEMORY_BUDGET", "99999999999T")
    with pytest.raises(ValueError, match="AVIDA_MEMORY_BUDGET must be from 0 to"):
        avida.set_memory_budget(None)


OPERATORS = {op["name"]: op for op in map(_core.describe_op, range(_core.op_count())) if not op["hidden"]}


@pytest.mark.parametrize("name", OPERATORS)
def test_every_argument_of_every_operator(name):
    """By the registry: whatever an argument is, a huge integer in its place is no reason for a dump."""
    described = OPERATORS[name]
    function = operator.attrgetter(name)(avida)
    inputs = [IMAGE for entry in described["inputs"] if not entry["optional"]]
    with avida.EvalMode.deferred:
        for argument in described["args"]:
            for n in HUGE:
                try:
                    function(*inputs, **{argument["name"]: n})
                except Exception as error:
                    assert not is_dump(error), (argument["name"], n, error)
