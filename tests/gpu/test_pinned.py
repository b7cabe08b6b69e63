"""Results on the CPU in pinned memory, for a GPU that reads them: what lies in it, and when it is used again.

The emulated GPU has ordinary memory in place of pinned memory; what only CUDA can tell is in test_exchange.py.
"""

import itertools
import threading
import time

import numpy as np
import pytest
import torch

import avida as ndd
from tests.children import in_child


def images(n=4, shape=(24, 32, 3)):
    rng = np.random.default_rng(3)
    return ndd.batch([rng.integers(0, 255, shape, np.uint8) for _ in range(n)], layout="HWC")


@pytest.fixture(autouse=True)
def cuda(is_fake):
    """PyTorch calls no memory pinned before it has initialised CUDA."""
    if not is_fake:
        torch.cuda.init()


@pytest.fixture
def pinned():
    with ndd.EvalContext(pin_memory=True) as context:
        yield context
        context.evaluate_all()


@pytest.fixture
def ordinary():
    with ndd.EvalContext(pin_memory=False) as context:
        yield context


def address(batch):
    return batch.tensors[0]._address


def test_results_of_operators_are_pinned(pinned):
    x = images()
    assert not x._pinned  # no operator made it
    sequences = ndd.batch([np.zeros((3, 5, 7, 3), np.uint8), np.zeros((2, 4, 5, 3), np.uint8)], layout="FHWC")
    angles = ndd.per_frame(ndd.batch([np.float32([1, 2, 3]), np.float32([4, 5])]))
    results = [
        ndd.flip(x),
        ndd.flip(x.tensors[0]),
        ndd.resize(ndd.flip(x), size=[8, 8]),
        x + 1,
        ndd.reductions.mean(x),
        ndd.random.uniform(like=x),
        ndd.normalize(x),
        ndd.crop_mirror_normalize(x, dtype=ndd.float32),
        ndd.pad(ndd.batch([[1, 2, 3], [4]])),
        ndd.rotate(sequences, angle=angles, keep_size=True),
        ndd.reshape(ndd.flip(x), shape=[-1]),
        ndd.flip(x).tensors[1],
        ndd.flip(x).select([2, 0]),
        *ndd.flip(x),
        ndd.as_batch(list(ndd.flip(x))),
    ]
    for result in results:
        assert result._pinned
    assert not ndd.as_batch([*ndd.flip(x), *x])._pinned


def test_chains_are_pinned(pinned, tmp_path):
    from PIL import Image

    paths = []
    for i in range(16):
        paths.append(str(tmp_path / f"{i}.jpg"))
        Image.fromarray(np.asarray(images(1, (60 + i, 80, 3)).tensors[0])).save(paths[-1])
    reader = ndd.readers.File(files=paths)
    for jpegs, _ in reader.next_epoch(batch_size=16):
        made = ndd.crop_mirror_normalize(ndd.resize(ndd.decoders.image(jpegs), size=[32, 32]), dtype=ndd.float32)
        assert made._pinned
        assert made.torch().data_ptr() == address(made)


def test_the_same_numbers_as_in_ordinary_memory():
    x = images()

    def make():
        return ndd.resize(ndd.rotate(x, angle=30.0), size=[17, 19])

    with ndd.EvalContext(pin_memory=True):
        made = make()
    assert made._pinned
    with ndd.EvalContext(pin_memory=False):
        expected = make()
    assert not expected._pinned
    np.testing.assert_array_equal(np.asarray(made), np.asarray(expected))


@pytest.mark.parametrize("mode", list(ndd.EvalMode))
def test_modes(pinned, mode):
    with mode:
        made = ndd.flip(images())
    assert made._pinned
    np.testing.assert_array_equal(np.asarray(made), np.asarray(images())[:, :, ::-1])


def test_calls_on_a_gpu_are_left_alone(pinned):
    made = ndd.flip(images().gpu())
    assert made.device.device_type == "gpu"
    np.testing.assert_array_equal(np.asarray(made.cpu()), np.asarray(images())[:, :, ::-1])


def test_the_setting():
    context = ndd.EvalContext.default()
    context.pin_memory = False
    assert not context.pin_memory
    assert not ndd.flip(images())._pinned
    context.pin_memory = True
    try:
        assert context.pin_memory
        assert ndd.flip(images())._pinned
        with ndd.EvalContext(pin_memory=False):
            assert not ndd.flip(images())._pinned
    finally:
        context.pin_memory = None


def test_torch_shares_what_is_pinned(pinned, is_fake):
    batch, tensor = ndd.flip(images()), ndd.flip(images().tensors[0])
    for value, own in ((batch, address(batch)), (tensor, tensor._address)):
        for exported in (value.torch(), value.torch(pin_memory=True), value.torch(copy=False, pin_memory=True)):
            assert exported.data_ptr() == own
            assert is_fake or exported.is_pinned()
        copied = value.torch(copy=True, pin_memory=True)
        assert copied.data_ptr() != own
        assert is_fake or copied.is_pinned()
        np.testing.assert_array_equal(copied, np.asarray(value))


@pytest.mark.parametrize("dtype", ["uint8", "bool", "int64", "float16", "bfloat16", "float64"])
def test_torch_copies_what_is_not_pinned(dtype, is_fake, ordinary):
    batch = ndd.cast(images() // 100, dtype=dtype)
    samples = ndd.as_batch(list(ndd.cast(images() // 100, dtype=dtype).select([3, 1, 0])))  # not contiguous
    for value in (batch, samples, batch.tensors[2]):
        copied = value.torch(pin_memory=True)
        expected = value.torch()
        assert copied.data_ptr() not in (expected.data_ptr(), getattr(value, "_address", None))
        assert is_fake or copied.is_pinned()
        assert copied.dtype == expected.dtype
        assert torch.equal(copied, expected)
    for unpinned in (batch, samples):
        with pytest.raises(ValueError, match="copy=None"):
            unpinned.torch(copy=False, pin_memory=True)


def test_torch_of_ragged_and_empty_batches(is_fake):
    ragged = ndd.batch([[1, 2, 3], [4]])
    padded = ragged.torch(pad=True, pin_memory=True)
    assert padded.tolist() == [[1, 2, 3], [4, 0, 0]]
    assert is_fake or padded.is_pinned()
    with pytest.raises(ValueError, match="pad=True"):
        ragged.torch(pin_memory=True)
    assert ndd.batch([np.zeros((0, 3)), np.zeros((0, 3))]).torch(pin_memory=True).shape == (2, 0, 3)


def test_data_on_a_gpu_is_not_pinned():
    for value in (images().gpu(), images().gpu().tensors[0]):
        with pytest.raises(ValueError, match=r"data on the CPU, got data on gpu:0"):
            value.torch(pin_memory=True)


def test_memory_that_nobody_has_had_is_used_again_at_once(pinned):
    x = images()
    addresses = set()
    for _ in range(20):
        made = ndd.flip(x).evaluate()
        addresses.add(address(made))
        del made
        pinned.evaluate_all()
    assert len(addresses) <= 5  # a call drops what it held a moment after its result is there


@pytest.mark.parametrize("export", [lambda x: x.torch(), np.asarray, memoryview, lambda x: torch.from_dlpack(x)])
def test_memory_that_another_library_has_had_waits_for_the_gpu(pinned, is_fake, export):
    """The emulated GPU answers the first question, whether its work is done, with no."""
    if not is_fake:
        pytest.skip("a real GPU may be done at once")
    x = images(1, (41, 43, 3)).tensors[0]

    def made():
        return ndd.flip(x).evaluate()

    first = made()
    own = first._address
    exported = export(first)
    del first, exported
    pinned.evaluate_all()
    second = made()
    assert second._address != own  # nothing tells yet when it may be used
    export(second)  # marks the work that is queued now
    third = made()
    assert third._address != own  # the GPU is asked, and not done
    fourth = made()
    assert own in (third._address, fourth._address)


def test_memory_stays_flat(pinned):
    """However the results are handed over, and of changing sizes."""
    sizes = itertools.cycle([(32, 40), (40, 32), (37, 41), (16, 16)])
    hand_over = itertools.cycle([lambda x: x.torch(), lambda x: x.torch(pin_memory=True, copy=True), np.asarray])

    def run(batches):
        for size, export in itertools.islice(zip(sizes, hand_over, strict=False), batches):
            made = ndd.resize(images(), size=list(size))
            export(ndd.crop_mirror_normalize(made, dtype=ndd.float32))

    run(200)
    before = ndd.memory_use()
    run(1000)
    pinned.evaluate_all()
    now = ndd.memory_use()
    assert now.in_use + now.kept <= (before.in_use + before.kept) * 1.25


def test_pinned_memory_is_counted_and_has_a_budget(pinned):
    size = 64 << 20  # more than all other tests hold

    def used_and_freed():
        made = ndd.zeros(shape=[size], dtype=ndd.uint8).evaluate()
        assert ndd.memory_use().in_use >= size
        del made
        end = time.monotonic() + 60  # a call drops what it held a moment after its result is there
        while ndd.memory_use().in_use >= size and time.monotonic() < end:
            time.sleep(0.01)
        return ndd.memory_use()

    assert used_and_freed().kept >= size
    try:
        ndd.set_memory_budget(size // 2)
        assert ndd.memory_use().kept < size
        assert used_and_freed().kept < size
    finally:
        ndd.set_memory_budget(None)


def test_gpu_returns_at_once(pinned):
    """Python does not wait for what is pending, nor does the copy need it."""
    may_go_on = threading.Event()

    @ndd.operator
    def held(x):
        assert may_go_on.wait(600)
        return x

    for context in (pinned, ndd.EvalContext(pin_memory=False)):
        may_go_on.clear()
        with context:
            x = images()
            ready = ndd.flip(x).evaluate()
            pending = ndd.flip(held(x))
            copies = [pending.gpu(), ready.gpu(), ndd.flip(pending).to_device("gpu")]
            assert all(copy._pending() for copy in copies)  # in the order of the calls
            may_go_on.set()
            for copy, expected in zip(copies, (ready, ready, x), strict=True):
                np.testing.assert_array_equal(np.asarray(copy.cpu()), np.asarray(expected))


def test_gpu_reads_pinned_memory_that_is_dropped_at_once(pinned):
    kinds = [lambda x: x, lambda x: x.select([1, 0]), lambda x: ndd.as_batch(list(x)), lambda x: x.tensors[1]]
    zeros = ndd.zeros(shape=[50, 60, 3], batch_size=2, dtype=ndd.float32)
    copies = [kinds[i % 4](zeros + float(i)).gpu() for i in range(64)]
    for i, copy in enumerate(copies):
        assert (np.asarray(copy.cpu()) == i).all()


def test_a_forked_child_computes_in_ordinary_memory(pinned):
    ndd.flip(images()).evaluate()
    np.testing.assert_array_equal(in_child(lambda: np.array(ndd.flip(images()))), np.asarray(images())[:, :, ::-1])
    assert ndd.flip(images())._pinned
