"""Hand-over to and from other libraries on a GPU: PyTorch, CuPy, JAX, each with streams of its own."""

import subprocess
import sys

import numpy as np
import pytest

import avida as ndd

IMAGE = np.random.default_rng(2).integers(0, 255, (480, 640, 3), np.uint8)


def batch(n=16):
    return ndd.batch([IMAGE] * n, layout="HWC").gpu()


def test_torch_reads_ours():
    torch = pytest.importorskip("torch")
    tensor = ndd.flip(batch()).torch()
    assert tensor.device.type == "cuda"
    assert tensor.shape == (16, 480, 640, 3)
    np.testing.assert_array_equal(tensor[3].cpu().numpy(), IMAGE[:, ::-1])
    assert torch.equal(tensor[0], tensor[15])


def test_torch_in_a_stream_of_its_own():
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    for _ in range(50):
        flipped = ndd.flip(ndd.flip(batch(4)))
        with torch.cuda.stream(stream):
            total = flipped.torch().sum(dtype=torch.int64)
            del flipped
            assert int(total) == 4 * int(IMAGE.sum(dtype=np.int64))


def test_we_read_torch():
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    for _ in range(50):
        with torch.cuda.stream(stream):
            made = torch.from_numpy(IMAGE).cuda() + 1
            tensor = ndd.as_tensor(made, layout="HWC")
        flipped = ndd.flip(tensor)
        del made, tensor
        np.testing.assert_array_equal(np.asarray(flipped.cpu()), (IMAGE + 1)[:, ::-1])


def test_our_work_in_the_stream_of_torch():
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    with ndd.EvalContext(cuda_stream=stream), torch.cuda.stream(stream):
        out = ndd.flip(ndd.as_tensor(torch.from_numpy(IMAGE).cuda(), layout="HWC")).torch()
        np.testing.assert_array_equal(out.cpu().numpy(), IMAGE[:, ::-1])


def test_cupy():
    cupy = pytest.importorskip("cupy")
    array = cupy.asarray(IMAGE)
    flipped = ndd.flip(ndd.as_tensor(array, layout="HWC"))
    np.testing.assert_array_equal(cupy.asnumpy(cupy.from_dlpack(flipped)), IMAGE[:, ::-1])
    np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(flipped)), IMAGE[:, ::-1])


def test_jax():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no GPU here")
    flipped = ndd.flip(ndd.tensor(IMAGE, device="gpu", layout="HWC"))
    np.testing.assert_array_equal(np.asarray(jax.dlpack.from_dlpack(flipped)), IMAGE[:, ::-1])
    again = ndd.flip(ndd.as_tensor(jax.numpy.asarray(IMAGE), layout="HWC"))
    np.testing.assert_array_equal(np.asarray(again.cpu()), IMAGE[:, ::-1])


FAILING_KERNEL = """
import avida as ndd

class Nowhere:
    __cuda_array_interface__ = {"shape": (64, 64, 3), "typestr": "|u1", "data": (0x10000, False), "version": 3}

with ndd.EvalMode.sync_full:
    image = ndd.as_tensor(Nowhere(), layout="HWC")
    try:
        ndd.flip(image)
    except RuntimeError as error:
        print(error)
"""


def test_a_kernel_that_fails_names_its_operator():
    run = subprocess.run([sys.executable, "-c", FAILING_KERNEL], capture_output=True, text=True, timeout=120)
    assert run.stdout.startswith("flip: "), run.stdout + run.stderr
    assert "illegal" in run.stdout
