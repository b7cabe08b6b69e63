"""Compiles CUDA code with NVRTC, from its wheel on PyPI. No GPU and no driver are needed."""

import ctypes
import functools
import importlib.metadata
import pathlib

NATIVE = pathlib.Path(__file__).parents[2] / "native"
ARCHITECTURES = ["sm_80", "sm_90"]
# As the core is compiled for the host: C++20, and no multiplication and addition fused into one.
OPTIONS = ["--std=c++20", "--Ofast-compile=max", "--fmad=false", "--device-int128", f"--include-path={NATIVE}"]
OPTIONS.append("--device-as-default-execution-space")  # lambdas have no annotations


class CompileError(Exception):
    """What NVRTC said of code that it could not compile."""


@functools.cache
def _library() -> ctypes.CDLL:
    files = importlib.metadata.files("nvidia-cuda-nvrtc") or []
    return ctypes.CDLL(str(next(file.locate() for file in files if file.name.startswith("libnvrtc.so"))))


def _read(program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    getattr(_library(), f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(_library(), f"nvrtcGet{what}")(program, buffer)
    return buffer.raw


def compile_cuda(source: str, arch: str) -> bytes:
    """The machine code of `source` for `arch`, such as "sm_90". Includes are searched in native/."""
    nvrtc = _library()
    program = ctypes.c_void_p()
    status = nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"source.cu", 0, None, None)
    if status:
        raise RuntimeError(f"NVRTC cannot make a program: status {status}")
    try:
        options = [option.encode() for option in (f"--gpu-architecture={arch}", *OPTIONS)]
        if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)):
            raise CompileError(_read(program, "ProgramLog").decode(errors="replace").rstrip("\0"))
        return _read(program, "CUBIN")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
