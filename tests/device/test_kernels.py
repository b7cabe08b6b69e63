"""Every body that an operator can launch becomes machine code: the kernels that the registry lists, no list by hand."""

import collections

import pytest

import avida

from .nvrtc import ARCHITECTURES, compile_cuda

KERNELS = avida._core.kernels()


def by_headers():
    """The bodies of one set of headers are compiled together."""
    groups = collections.defaultdict(list)
    for body, headers, in_blocks in KERNELS:
        groups[tuple(headers)].append((body, "run_blocks" if in_blocks else "run_items"))
    return groups


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("headers", by_headers(), ids=lambda headers: headers[-1])
def test_compiles(headers, arch):
    includes = "".join(f'#include "{header}"\n' for header in (*headers, "device/launch.h"))
    bodies = "".join(
        f"template __global__ void {run}<{body}>(const Items<{body}>*);\n" for body, run in by_headers()[headers]
    )
    code = compile_cuda(includes + "namespace avida {\n" + bodies + "}\n", arch)
    assert all(run.encode() in code for _, run in by_headers()[headers])


def test_the_families_are_there():
    names = " ".join(body for body, *_ in KERNELS)
    for family in ("ElementwiseItem", "PixelItem", "GaussianNoise", "Erase", "LookUp"):
        assert family in names
