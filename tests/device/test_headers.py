"""Every header that device code includes is read by the CUDA compiler."""

import runpy

import pytest

from .nvrtc import ARCHITECTURES, NATIVE, CompileError, compile_cuda

read_by_nvrtc = runpy.run_path(str(NATIVE.parent / "tools" / "check_layers.py"))["read_by_nvrtc"]
HEADERS = sorted(str(path.relative_to(NATIVE)) for path in NATIVE.rglob("*.h") if read_by_nvrtc(path))


@pytest.mark.parametrize("header", HEADERS)
def test_read_alone(header):
    compile_cuda(f'#include "{header}"', ARCHITECTURES[0])


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_read_together(arch):
    source = "".join(f'#include "{header}"\n' for header in HEADERS)
    code = compile_cuda(source + 'extern "C" __global__ void nothing() {}', arch)
    assert b"nothing" in code


def test_errors_are_found():
    with pytest.raises(CompileError, match="std"):
        compile_cuda("__device__ int f() { return std::max(1, 2); }", ARCHITECTURES[0])
