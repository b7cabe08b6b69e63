"""Bodies of operators, compiled without the loops around them: for GPUs, and for the host, to be compared with the
operators.

A test names a body and gives its parameters in order: numbers of ctypes types (an int is a long, a float a double),
arrays for pointers, tuples for structs.
"""

import ctypes
import functools
import os
import pathlib
import subprocess
import tempfile
from typing import Any

import numpy as np

from .nvrtc import ARCHITECTURES, NATIVE, compile_cuda

HOST_OPTIONS = ["-std=c++20", "-O1", "-fPIC", "-shared", "-ffp-contract=off", f"-I{NATIVE}"]
C_TYPES = {"uint8": "unsigned char", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long"}
C_TYPES |= {"uint16": "unsigned short", "uint32": "unsigned", "uint64": "unsigned long", "bool": "bool"}
C_TYPES |= {"float16": "float16", "float32": "float", "float64": "double"}
# The numbers of the types, for elements whose type is known at run time only.
TYPE_NUMBERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
TYPE_NUMBERS += ["float16", "float32", "float64", "bool", "bfloat16"]


def type_numbers(*names: str) -> tuple[ctypes.c_int, ...]:
    return tuple(ctypes.c_int(TYPE_NUMBERS.index(name)) for name in names)


DEVICE_LOOP = """extern "C" __global__ void run(Body::Params params, long n) {
  for (long i = blockIdx.x * long(blockDim.x) + threadIdx.x; i < n; i += long(gridDim.x) * blockDim.x)
    Body::run(params, i);
}"""
HOST_LOOP = """extern "C" void run(const Body::Params& params, long n) {
  for (long i = 0; i < n; i++) Body::run(params, i);
}"""


@functools.cache
def _compiled(header: str, body: str) -> Any:
    """The loop of the host; that of the device must compile too."""
    names = f'#include "{header}"\nnamespace avida::ops {{ using Body = {body}; }}\nusing avida::ops::Body;\n'
    for arch in ARCHITECTURES:
        compile_cuda(names + DEVICE_LOOP, arch)
    with tempfile.TemporaryDirectory() as folder:
        code = pathlib.Path(folder) / "body.cpp"
        library = code.with_suffix(".so")
        code.write_text(names + HOST_LOOP)
        subprocess.run([os.environ.get("CXX", "c++"), *HOST_OPTIONS, str(code), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library)).run


def _member(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    if isinstance(value, tuple):
        members = [_member(each) for each in value]
        fields = [(f"member{i}", type(each)) for i, each in enumerate(members)]
        return type("Struct", (ctypes.Structure,), {"_fields_": fields})(*members)
    if isinstance(value, bool | int | float):
        return {bool: ctypes.c_bool, int: ctypes.c_long, float: ctypes.c_double}[type(value)](value)
    return value


def run_body(header: str, body: str, items: int, *params: Any) -> None:
    """Makes all items of a body that `header` has."""
    _compiled(header, body)(ctypes.byref(_member(params)), ctypes.c_long(items))
