"""Memory that others can write to: a call has read it when it returns, and who gets memory waits for its readers."""

import contextlib
import pickle
import threading

import numpy as np
import pytest

import avida as ndd
from tests.runtime.test_chains import FILES, PIXELS, held_up

torch = pytest.importorskip("torch")
ASYNCHRONOUS = [ndd.EvalMode.eager, ndd.EvalMode.deferred]
SMALL, LARGE = (4, 6, 3), (200, 300, 3)  # copied by the call; read before it returns


@pytest.fixture(autouse=True)
def two_threads():
    with ndd.EvalContext(num_threads=2):
        yield


def numbers(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def read(value):
    return [np.array(sample) for sample in value] if isinstance(value, ndd.Batch) else [np.array(value)]


@contextlib.contextmanager
def held_up_for_a_while():
    """Whoever waits for the executor waits for this long."""
    ready = threading.Event()
    timer = threading.Timer(0.2, ready.set)
    with ndd.EvalMode.eager:
        ndd.operator(lambda x: ready.wait() and x)(ndd.tensor([0]))
    timer.start()
    try:
        yield
    finally:
        ready.set()
        timer.cancel()


def tensors_of(buffers):
    return ndd.as_tensor(buffers[0], layout="HWC")


def list_of_arrays(buffers):
    return ndd.as_batch(list(buffers), layout="HWC")


def split_array(buffers):
    return ndd.as_batch(buffers, layout="HWC")


def list_of_tensors(buffers):
    return ndd.as_batch([ndd.as_tensor(buffer) for buffer in buffers], layout="HWC")


def selected(buffers):
    return list_of_arrays(buffers).tensors[[1, 0]]


def joined(buffers):
    return ndd.as_tensor(ndd.as_batch(buffers, layout="HWC"), layout="FHWC")


def reshaped(buffers):
    _, height, width, channels = buffers.shape
    return ndd.reshape(ndd.as_batch(buffers), shape=[width, height, channels], layout="HWC")


def from_torch(buffers):
    return ndd.as_batch(list(torch.from_numpy(buffers)), layout="HWC")


def from_array_interface(buffers):
    class Array:
        owner = buffers  # whoever has the array keeps its memory
        __array_interface__ = buffers[0].__array_interface__

    return ndd.as_tensor(Array(), layout="HWC")


def read_only_view(buffers):
    view = buffers[0]
    view.flags.writeable = False
    return ndd.as_tensor(view, layout="HWC")


def exported(buffers):
    value = ndd.tensor(buffers[0], layout="HWC")
    return value, value.numpy()


def exported_by_dlpack(buffers):
    value = ndd.batch(buffers, layout="HWC")
    return value, value.torch()


FORMS = [
    tensors_of,
    list_of_arrays,
    split_array,
    list_of_tensors,
    selected,
    joined,
    reshaped,
    from_torch,
    from_array_interface,
    read_only_view,
]


@pytest.mark.parametrize("mode", ASYNCHRONOUS)
@pytest.mark.parametrize("shape", [SMALL, LARGE])
@pytest.mark.parametrize("borrow", FORMS)
def test_a_call_has_read_borrowed_memory_when_it_returns(mode, shape, borrow):
    buffers = numbers((2, *shape))
    expected = read(ndd.flip(borrow(buffers.copy())))
    with mode, held_up():
        given = borrow(buffers)
        made = ndd.flip(given)
        buffers[:] = 0
    for sample, wanted in zip(read(made), expected, strict=True):
        np.testing.assert_array_equal(sample, wanted)


@pytest.mark.parametrize("mode", ASYNCHRONOUS)
@pytest.mark.parametrize("shape", [SMALL, LARGE])
@pytest.mark.parametrize("export", [exported, exported_by_dlpack])
def test_a_call_has_read_exported_memory_when_it_returns(mode, shape, export):
    value, memory = export(numbers((2, *shape)))
    expected = read(ndd.flip(value))
    with mode, held_up():
        made = ndd.flip(value)
        memory[:] = 0
    for sample, wanted in zip(read(made), expected, strict=True):
        np.testing.assert_array_equal(sample, wanted)


@pytest.mark.parametrize("mode", ASYNCHRONOUS)
def test_a_loop_that_fills_one_buffer_again(mode):
    buffers, made = np.zeros((4, 100, 100, 3), np.uint8), []
    with mode:
        for number in range(10, 70, 10):
            buffers[:] = number
            made.append(ndd.resize(ndd.as_batch(buffers, layout="HWC"), size=[5, 5]))
    assert [int(np.asarray(value)[0, 0, 0, 0]) for value in made] == [10, 20, 30, 40, 50, 60]


@pytest.mark.parametrize("mode", ASYNCHRONOUS)
def test_arguments_and_inputs_of_python_operators(mode):
    size, image = np.array([7, 9], np.float32), numbers(LARGE)
    before = image.copy()

    @ndd.operator
    def inverted(x):
        return 255 - x

    with mode:
        with held_up():
            resized = ndd.resize(ndd.tensor(image, layout="HWC"), size=ndd.as_tensor(size))
            size[:] = 3
        made = inverted(ndd.as_tensor(image))
        image[:] = 0
    assert resized.shape == (7, 9, 3)
    np.testing.assert_array_equal(made, 255 - before)


def test_python_operators_stay_in_order():
    seen, image = [], np.full(LARGE, 3, np.uint8)

    @ndd.operator
    def note(x):
        seen.append(int(x.flat[0]))
        return x

    with held_up_for_a_while():
        for number in (1, 2):
            note(ndd.tensor(number))
        note(ndd.as_tensor(image))
        image[:] = 0
    assert seen == [1, 2, 3]


def test_decoders_of_borrowed_files_still_form_chains():
    files = [file.copy() for file in FILES]
    expected = read(ndd.resize(ndd.decoders.image(ndd.batch(FILES)), size=[16, 20]))
    before = ndd._core.testing.chained_calls()
    with held_up():
        images = ndd.decoders.image(ndd.as_batch(files))
        made = ndd.resize(images, size=[16, 20])
        for file in files:
            file[:] = 0
    for sample, wanted in zip(read(made), expected, strict=True):
        np.testing.assert_array_equal(sample, wanted)
    assert ndd._core.testing.chained_calls() - before == 2
    assert images.shape[0] == PIXELS[0].shape


@pytest.mark.parametrize("mode", ASYNCHRONOUS)
def test_what_nobody_can_write_to_stays_asynchronous(mode):
    image = numbers(LARGE)
    frozen = image.copy()
    frozen.flags.writeable = False
    own = ndd.tensor(image, layout="HWC")
    np.asarray(own).sum()  # the array has ended
    listed = ndd.as_tensor(image.tolist(), layout="HWC")
    with mode, held_up():
        made = [
            ndd.flip(value)
            for value in (
                own,
                listed,
                ndd.as_tensor(frozen, layout="HWC"),
                ndd.reshape(ndd.as_tensor(image.tobytes()), shape=LARGE, layout="HWC"),
            )
        ]
        assert all(value._pending() for value in made)


# Memory that is given away


def write_by_numpy(value):
    value.numpy()[...] = 0


def write_by_torch(value):
    value.torch().zero_()


def write_by_a_view(value):
    first = value.tensors[0] if isinstance(value, ndd.Batch) else ndd.reshape(value, shape=[-1])
    first.numpy()[...] = 0


def blurred(value):
    return ndd.gaussian_blur(value, sigma=2.0)


def blurred_view(value):
    same = ndd.reshape(value, rel_shape=[1.0, 1.0, 1.0], layout="HWC")
    return ndd.gaussian_blur(same, sigma=2.0)


@pytest.mark.parametrize("mode", ASYNCHRONOUS)
@pytest.mark.parametrize("write", [write_by_numpy, write_by_torch, write_by_a_view])
@pytest.mark.parametrize("use", [blurred, blurred_view])
@pytest.mark.parametrize("make", [ndd.tensor, ndd.batch])
def test_who_gets_memory_waits_for_the_calls_that_read_it(mode, write, use, make):
    pixels = numbers(LARGE) if make is ndd.tensor else numbers((3, *LARGE))
    expected = read(use(make(pixels, layout="HWC")))
    value = make(pixels, layout="HWC")
    with mode, held_up_for_a_while():
        made = use(value)
        write(value)
    for sample, wanted in zip(read(made), expected, strict=True):
        np.testing.assert_array_equal(sample, wanted)


def test_who_gets_memory_does_not_wait_for_others():
    mine, other = ndd.tensor(numbers(LARGE), layout="HWC"), ndd.tensor(numbers(LARGE), layout="HWC")
    with held_up():
        made = ndd.flip(other)
        mine.numpy()[...] = 0
        mine.torch().zero_()
        for read_all in (repr, bytes, pickle.dumps, ndd.Tensor._repr_html_):
            read_all(other)
        assert made._pending()


def test_an_operator_that_reads_what_its_own_result_is_joined_with():
    value = ndd.tensor(numbers(LARGE))

    @ndd.operator
    def total(x):
        return np.asarray(value).sum(dtype=np.int64)  # `value` is an input of a call that needs this result

    with held_up():
        both = value + ndd.cast(total(value) * 0, dtype=ndd.uint8)
    np.testing.assert_array_equal(both, value)
