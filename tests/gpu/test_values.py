"""Tensors and batches on a GPU: copies, devices, streams, errors."""

import copy
import pickle
import time

import numpy as np
import pytest

import avida as ndd
from avida import _cli


def image(seed=0, shape=(5, 7, 3)):
    return np.random.default_rng(seed).integers(0, 255, shape, np.uint8)


def soon(condition):
    """Calls drop what they held a moment after their result is there."""
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


def test_there_and_back():
    tensor = ndd.tensor(image(), layout="HWC")
    on_gpu = tensor.gpu()
    assert on_gpu.device == ndd.Device("gpu", 0)
    assert (on_gpu.shape, on_gpu.layout, on_gpu.dtype) == (tensor.shape, "HWC", ndd.uint8)
    assert on_gpu.gpu() is on_gpu
    assert on_gpu.cpu().device == ndd.Device("cpu")
    np.testing.assert_array_equal(np.asarray(on_gpu.cpu()), image())
    assert on_gpu.to_device("gpu", force_copy=True)._address != on_gpu._address


@pytest.mark.parametrize("shapes", [[(2, 3), (2, 3)], [(2, 3), (5, 1), (0, 4)], []])
def test_batches(shapes):
    arrays = [np.arange(np.prod(s), dtype=np.float32).reshape(s) for s in shapes]
    batch = ndd.batch(arrays, dtype="float32", device="gpu")
    assert batch.device.device_type == "gpu"
    for a, b in zip(batch.cpu().tensors, arrays, strict=True):
        np.testing.assert_array_equal(np.asarray(a), b)


def test_large_copies():
    big = np.random.default_rng(1).integers(0, 255, 50_000_001, np.uint8)
    np.testing.assert_array_equal(np.asarray(ndd.as_tensor(big).gpu().cpu()), big)


def test_the_device_follows_from_the_inputs():
    x = ndd.tensor(image(), device="gpu", layout="HWC")
    assert ndd.flip(x).device.device_type == "gpu"
    assert (x + 1).device.device_type == "gpu"
    np.testing.assert_array_equal(np.asarray((x // 2).cpu()), image() // 2)
    with pytest.raises(ValueError, match="device"):
        ndd.flip(x, device="cpu")


def test_operators_without_inputs():
    assert ndd.zeros(shape=[3], device="gpu").device.device_type == "gpu"
    with ndd.Device("gpu"):
        assert ndd.zeros(shape=[3]).device.device_type == "gpu"
    assert ndd.zeros(shape=[3]).device.device_type == "cpu"


def test_arguments_may_be_on_the_gpu():
    x = ndd.batch([image(), image(1)], layout="HWC")
    angles = ndd.batch([np.float32(10), np.float32(20)])
    expected = ndd.rotate(x, angle=angles)
    got = ndd.rotate(x.gpu(), angle=angles.gpu())
    for a, b in zip(got.cpu().tensors, expected.tensors, strict=True):
        assert np.abs(np.asarray(a).astype(int) - np.asarray(b)).max() <= 1


def test_views_share_memory():
    x = ndd.tensor(image(), device="gpu")
    assert ndd.reshape(x, shape=[105])._address == x._address


def test_modes():
    x = ndd.batch([image(), image(1)], layout="HWC").gpu()
    for mode in ndd.EvalMode:
        with mode:
            np.testing.assert_array_equal(np.asarray(ndd.flip(x).cpu().tensors[1]), image(1)[:, ::-1])


def test_pickle_and_copy():
    x = ndd.tensor(image(), device="gpu", layout="HWC")
    for again in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert again.device == x.device
        np.testing.assert_array_equal(np.asarray(again.cpu()), image())


def test_text():
    assert 'device="gpu:0"' in repr(ndd.tensor([1, 2], device="gpu"))


def test_numpy_needs_the_cpu():
    with pytest.raises(TypeError, match=r"\.cpu\(\)"):
        np.asarray(ndd.tensor([1, 2], device="gpu"))
    assert ndd.tensor([7], device="gpu").item() == 7


class Foreign:
    """A stream of another library."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


def test_streams():
    stream = ndd.stream(device_id=0)
    assert isinstance(stream, ndd.Stream)
    with ndd.EvalContext(cuda_stream=stream) as context:
        assert context.cuda_stream is ndd.EvalContext.current().cuda_stream is stream
        x = ndd.tensor(image(), device="gpu", layout="HWC")
        flipped = ndd.flip(x)
    again = ndd.flip(flipped)  # in another stream, after the first
    np.testing.assert_array_equal(np.asarray(again.cpu()), image())
    ndd.set_current_stream(stream)
    assert ndd.get_current_stream() is ndd.EvalContext.current().cuda_stream is stream
    assert ndd.EvalContext().cuda_stream is stream, "of contexts that are made later"
    ndd.set_current_stream(None)
    assert ndd.get_current_stream() == ndd.get_default_stream() != stream
    ndd.set_default_stream(stream)
    assert ndd.get_default_stream() is ndd.EvalContext.current().cuda_stream is stream
    ndd.set_default_stream(None)
    assert ndd.get_default_stream() != stream
    stream.synchronize()


def test_equal_streams():
    stream, other = ndd.stream(device_id=0), ndd.stream(device_id=0)
    assert stream == stream.handle
    assert stream.handle == stream
    assert hash(stream) == hash(stream.handle)
    assert stream == Foreign(cuda_stream=stream.handle, device_index=0)  # PyTorch
    assert stream == Foreign(__cuda_stream__=lambda: (0, stream.handle))
    assert stream == ndd.Stream(stream=stream)
    assert ndd.stream(stream=stream) is stream
    for wrong in (other, other.handle, Foreign(cuda_stream=other.handle, device_index=0), None, "stream"):
        assert stream != wrong
    assert stream != Foreign(cuda_stream=stream.handle, device_index=1)


def test_current_device():
    assert ndd.Device.current() == ndd.Device("gpu")
    assert ndd.zeros(shape=[1]).device == ndd.random.uniform().device == ndd.Device.CPU
    with ndd.Device("cpu"):
        assert ndd.Device.current() == ndd.Device.CPU
    with ndd.Device("gpu"):
        assert ndd.zeros(shape=[1]).device == ndd.Device.current() == ndd.Device("gpu")


@pytest.mark.skipif(ndd._core.gpu_count() < 2, reason="needs two GPUs")
def test_current_device_is_that_of_the_context():
    with ndd.EvalContext(device_id=1):
        assert ndd.Device.current() == ndd.Device("gpu", 1)
        with ndd.Device("gpu:0"):
            assert ndd.Device.current().device_id == 0
    assert ndd.Device.current().device_id == 0


class WithoutDlpack:
    """An array of a library whose ``__dlpack__`` does not take this one."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **arguments):
        raise TypeError("not this one")


def test_arrays_whose_dlpack_fails():
    pixels = np.stack([image()] * 2)
    array = WithoutDlpack(ndd.tensor(pixels, device="gpu"))
    for batch in (ndd.as_batch(array), ndd.batch(array), ndd.as_batch(Foreign(**vars(array)))):
        assert (batch.batch_size, batch.device) == (2, ndd.Device("gpu"))
        np.testing.assert_array_equal(np.asarray(batch.cpu()), pixels)
    np.testing.assert_array_equal(np.asarray(ndd.as_tensor(array).cpu()), pixels)
    del array.__cuda_array_interface__
    with pytest.raises(TypeError, match="not this one"):
        ndd.as_batch(array)


@pytest.mark.parametrize(
    "arguments",
    [("gpu:0", 0), ("gpu:0", 1), ("cpu:0",), ("cpu", 0), ("gpu:x",), ("gpu:",), ("gpu:-1",), ("gpu", -1), ("GPU",)],
)
def test_names_that_are_no_device(arguments):
    with pytest.raises(ValueError, match=r"device|GPU"):
        ndd.Device(*arguments)
    with pytest.raises(ValueError, match=r"device|GPU"):
        ndd.device(*arguments)


def test_numbers_of_gpus():
    with pytest.raises(ValueError, match="out of range"):
        ndd.tensor([1]).gpu(99)
    with pytest.raises(ValueError, match="mixed"):
        ndd.Device("mixed")


def test_memory_is_reused():
    x = ndd.batch([image(i, (64, 64, 3)) for i in range(8)], layout="HWC").gpu()
    for _ in range(20):
        ndd.flip(x).evaluate()
    before = ndd.memory_use("gpu")
    for _ in range(500):
        ndd.flip(x).evaluate()
    now = ndd.memory_use("gpu")
    assert now.in_use + now.kept <= (before.in_use + before.kept) * 1.1


def test_ten_thousand_batches_keep_memory_flat():
    """Of changing sizes."""
    rng = np.random.default_rng(1)
    images = [ndd.tensor(image(i, (8 + 5 * i, 64 - 3 * i, 3)), layout="HWC") for i in range(16)]

    def run(batches):
        for _ in range(batches):
            chosen = [images[i] for i in rng.integers(0, 16, 4)]
            x = ndd.resize(ndd.batch(chosen).gpu(), size=[16, 16])
            ndd.crop_mirror_normalize(x, mean=[1.0, 2.0, 3.0], dtype=ndd.float32).evaluate()

    run(500)
    in_use, kept, _ = ndd.memory_use("gpu")
    run(9_500)
    soon(lambda: ndd.memory_use("gpu").in_use <= in_use * 1.1)
    in_use_now, kept_now, _ = ndd.memory_use("gpu")
    assert kept_now + in_use_now <= (kept + in_use) * 1.25


def test_a_budget_limits_what_is_kept():
    try:
        x = ndd.zeros(shape=[1 << 20], dtype=ndd.uint8, device="gpu").evaluate()
        del x
        soon(lambda: ndd.memory_use("gpu").kept >= 1 << 20)
        assert ndd.memory_use("gpu").budget is None
        ndd.set_memory_budget(300_000, "gpu")
        assert ndd.memory_use("gpu").kept <= 300_000
        assert ndd.memory_use("gpu").budget == 300_000
        held = [ndd.zeros(shape=[100_000], dtype=ndd.uint8, device="gpu").evaluate() for _ in range(9)]
        in_use = ndd.memory_use("gpu").in_use
        del held
        soon(lambda: in_use - ndd.memory_use("gpu").in_use >= 900_000)
        assert 0 < ndd.memory_use("gpu").kept <= 300_000
        ndd.set_memory_budget(0, "gpu")
        assert ndd.memory_use("gpu").kept == 0
        np.testing.assert_array_equal(
            np.asarray(ndd.flip(ndd.tensor(image(), layout="HWC").gpu()).cpu()), image()[:, ::-1]
        )
        assert ndd.memory_use("gpu").kept == 0
        with pytest.raises(ValueError, match="memory budget must be from 0 to"):
            ndd.set_memory_budget(-1, "gpu")
    finally:
        ndd.set_memory_budget(None, "gpu")
    assert ndd.memory_use("gpu").budget is None


def test_out_of_memory_is_an_exception():
    one = ndd.tensor(np.zeros(1, np.uint8), device="gpu")
    with pytest.raises(MemoryError, match="GPU 0"):
        ndd.math.max(
            ndd.zeros(shape=[1 << 22, 1], device="gpu"), ndd.zeros(shape=[1, 1 << 22], device="gpu")
        ).evaluate()
    np.testing.assert_array_equal(np.asarray((one + 1).cpu()), [1])


@pytest.mark.skipif(ndd._core.gpu_count() < 2, reason="needs two GPUs")
def test_a_context_says_which_gpu_is_meant():
    with ndd.EvalContext(device_id=1) as context:
        assert context.device_id == 1
        assert ndd.tensor([1]).gpu().device == ndd.Device("gpu", 1)
        with ndd.Device("gpu:0"):
            assert ndd.zeros(shape=[1], device="gpu").device.device_id == 0
    stream = ndd.stream(device_id=1)
    ndd.set_current_stream(stream)
    assert ndd.EvalContext.default().device_id == 1
    assert ndd.get_current_stream() == stream
    ndd.set_current_stream(None)
    assert ndd.EvalContext.default().device_id == ndd.Device("gpu").device_id == 0


def test_numbers_may_be_those_of_numpy():
    assert ndd.Device("gpu", np.int64(0)) == ndd.Device("gpu:0")
    for wrong in (True, 0.0, "0"):
        with pytest.raises(TypeError, match="number of a GPU"):
            ndd.Device("gpu", wrong)


def test_streams_of_other_libraries():
    own = ndd.stream()
    handle = own.handle
    for foreign in (
        handle,
        own,
        Foreign(__cuda_stream__=lambda: (0, handle)),
        Foreign(cuda_stream=handle, device_index=0),  # PyTorch
        Foreign(ptr=handle, device_id=0),  # CuPy
        Foreign(ptr=handle, device_id=-1),  # its streams that all GPUs have
        Foreign(handle=Foreign(value=handle)),  # Numba
    ):
        assert ndd.stream(stream=foreign) == own
    assert ndd.stream(stream=Foreign(handle=Foreign(value=None))).handle == 0
    with pytest.raises(TypeError, match="stream"):
        ndd.stream(stream=Foreign())
    with pytest.raises(ValueError, match="GPU 0"):
        ndd.Stream(stream=Foreign(ptr=handle, device_id=0), device_id=1)


def test_a_copy_for_the_cpu_can_be_asked_for():
    x = ndd.tensor(image(), device="gpu")
    np.testing.assert_array_equal(np.from_dlpack(x, device="cpu"), image())
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(1, 0), copy=False)


def test_use_of_memory():
    before = ndd.memory_use("gpu")
    kept = ndd.zeros(shape=[1 << 20], dtype=ndd.uint8, device="gpu").evaluate()
    assert ndd.memory_use(kept.device).in_use - before.in_use >= 1 << 20
    assert before.budget is None


def test_info(capsys):
    assert _cli.main(["info"]) == 0
    shown = capsys.readouterr().out
    for text in (ndd._core.gpu_name(0), "NVRTC", "AVIDA_CACHE_DIR"):
        assert text in shown


def test_samples_of_several_streams():
    samples = []
    for seed in range(3):
        with ndd.EvalContext(cuda_stream=ndd.stream(device_id=0)):
            samples.append(ndd.flip(ndd.tensor(image(seed), device="gpu", layout="HWC")))
    batch = ndd.flip(ndd.as_batch(samples))
    del samples
    for seed, sample in enumerate(batch.cpu()):
        np.testing.assert_array_equal(np.asarray(sample), image(seed))


def test_readers_place_what_they_read(tmp_path):
    np.save(tmp_path / "a.npy", image())
    for source in (
        ndd.readers.Numpy(file_root=str(tmp_path), file_filter="*.npy", device="gpu"),
        ndd.ExternalSource([image()], device="gpu"),
    ):
        (output,) = next(source.next_epoch(batch_size=1))
        assert output.device == ndd.Device("gpu", 0)
        np.testing.assert_array_equal(np.asarray(output.cpu().tensors[0]), image())


def test_operators_in_python():
    @ndd.operator
    def inverted(x):
        assert isinstance(x, np.ndarray)
        return 255 - x

    x = ndd.batch([image(), image(1)], layout="HWC").gpu()
    made = inverted(x)
    assert made.device == x.device
    np.testing.assert_array_equal(np.asarray(ndd.flip(made).cpu().tensors[1]), 255 - image(1)[:, ::-1])


def test_random_augmentation():
    x = ndd.batch([image(i, (16, 20, 3)) for i in range(24)], layout="HWC")
    labels = ndd.batch([i % 3 for i in range(24)])
    for augment in (
        lambda x, rng: ndd.rand_augment(x, rng=rng),
        lambda x, rng: ndd.auto_augment(x, rng=rng),
        lambda x, rng: ndd.trivial_augment(x, rng=rng),
        lambda x, rng: ndd.mixup(x, labels.to_device(x.device), num_classes=3, rng=rng)[0],
        lambda x, rng: ndd.cutmix(x, labels.to_device(x.device), num_classes=3, rng=rng)[0],
        lambda x, rng: ndd.mosaic(x, output_size=[24, 24], rng=rng),
    ):
        expected = augment(x, ndd.random.RNG(5))
        made = augment(x.gpu(), ndd.random.RNG(5))
        assert made.device.device_type == "gpu"
        for a, b in zip(made.cpu(), expected, strict=True):
            assert np.abs(np.asarray(a, np.float32) - np.asarray(b, np.float32)).max() <= 1
