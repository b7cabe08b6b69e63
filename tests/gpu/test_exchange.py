"""Hand-over to and from other libraries on a GPU: PyTorch, CuPy, JAX, each with streams of its own."""

import subprocess
import sys

import numpy as np
import pytest

import avida as ndd

IMAGE = np.random.default_rng(2).integers(0, 255, (480, 640, 3), np.uint8)


@pytest.fixture(scope="module")
def torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no GPU here")
    torch.cuda.init()  # making a stream does not do it, and before it memory of others does not count as pinned
    return torch


def batch(n=16):
    return ndd.batch([IMAGE] * n, layout="HWC").gpu()


def test_torch_reads_ours(torch):
    tensor = ndd.flip(batch()).torch()
    assert tensor.device.type == "cuda"
    assert tensor.shape == (16, 480, 640, 3)
    np.testing.assert_array_equal(tensor[3].cpu().numpy(), IMAGE[:, ::-1])
    assert torch.equal(tensor[0], tensor[15])


def test_torch_in_a_stream_of_its_own(torch):
    stream = torch.cuda.Stream()
    for _ in range(50):
        flipped = ndd.flip(ndd.flip(batch(4)))
        with torch.cuda.stream(stream):
            total = flipped.torch().sum(dtype=torch.int64)
            del flipped
            assert int(total) == 4 * int(IMAGE.sum(dtype=np.int64))


def test_we_read_torch(torch):
    stream = torch.cuda.Stream()
    for _ in range(50):
        with torch.cuda.stream(stream):
            made = torch.from_numpy(IMAGE).cuda() + 1
            tensor = ndd.as_tensor(made, layout="HWC")
        flipped = ndd.flip(tensor)
        del made, tensor
        np.testing.assert_array_equal(np.asarray(flipped.cpu()), (IMAGE + 1)[:, ::-1])


def test_our_work_in_the_stream_of_torch(torch):
    stream = torch.cuda.Stream()
    with ndd.EvalContext(cuda_stream=stream), torch.cuda.stream(stream):
        out = ndd.flip(ndd.as_tensor(torch.from_numpy(IMAGE).cuda(), layout="HWC")).torch()
        np.testing.assert_array_equal(out.cpu().numpy(), IMAGE[:, ::-1])


def test_streams_of_torch_are_equal(torch):
    stream = torch.cuda.Stream()
    assert ndd.stream(stream=stream) == stream
    assert ndd.stream(stream=stream) == stream.cuda_stream
    assert ndd.stream() != stream
    with ndd.EvalContext(cuda_stream=stream) as context:
        assert context.cuda_stream == stream


EXPORTS = {
    "torch()": lambda torch, batch: batch.torch(),
    "torch(pin_memory=True, copy=True)": lambda torch, batch: batch.torch(pin_memory=True, copy=True),
    "NumPy": lambda torch, batch: torch.from_numpy(np.asarray(batch)),
}


@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize("in_own_stream", [False, True])
def test_torch_copies_from_pinned_memory_that_is_dropped_at_once(torch, in_own_stream, export):
    """PyTorch queues copies behind other work and does not say so: the memory must not be used again before them."""
    stream = torch.cuda.Stream() if in_own_stream else torch.cuda.default_stream()
    zeros = ndd.zeros(shape=[128, 128, 3], batch_size=8, dtype=ndd.float32)
    copies = []
    with ndd.EvalContext(pin_memory=True) as context:
        for i in range(64):
            on_cpu = EXPORTS[export](torch, zeros + float(i))
            assert on_cpu.is_pinned()
            with torch.cuda.stream(stream):
                torch.cuda._sleep(40_000_000)  # 20 ms or more
                copies.append(on_cpu.cuda(non_blocking=True))
            del on_cpu
        assert not stream.query()  # none of the copies has waited
        context.evaluate_all()
    torch.cuda.synchronize()
    for i, copy in enumerate(copies):
        assert bool((copy == i).all()), f"copy {i} has {copy.unique().tolist()}"


def test_pinned_memory_and_captured_graphs(torch):
    """Calls that run in the background do not break into the capture of a CUDA graph."""
    zeros = ndd.zeros(shape=[64, 64, 3], batch_size=8, dtype=ndd.float32)
    static = torch.zeros(8, 64, 64, 3, device="cuda")
    with ndd.EvalContext(pin_memory=True):
        for i in range(8):
            on_cpu = (zeros + float(i)).torch()
            ahead = [zeros * float(k) for k in range(50)]  # run while the graph is captured
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                doubled = static * 2
            static.copy_(on_cpu, non_blocking=True)
            graph.replay()
            assert bool((doubled == 2 * i).all())
            del on_cpu, ahead


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
    run = subprocess.run([sys.executable, "-c", FAILING_KERNEL], capture_output=True, text=True, timeout=600)
    assert run.stdout.startswith("flip: "), run.stdout + run.stderr
    assert "illegal" in run.stdout
