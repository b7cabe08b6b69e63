"""The suites of the GPU. They run on one, or with AVIDA_FAKE_GPU=2 on the CPU.

FAIL_WITHOUT_GPU=1 insists on a real one.
"""

import os

import pytest

import avida as ndd

if os.environ.get("FAIL_WITHOUT_GPU") and (ndd._core.gpu_count() == 0 or os.environ.get("AVIDA_FAKE_GPU")):
    raise RuntimeError(f"no GPU: {ndd._core.gpu_missing() or 'AVIDA_FAKE_GPU is set'}")

collect_ignore_glob = [] if ndd._core.gpu_count() else ["test_*.py"]
if os.environ.get("AVIDA_FAKE_GPU"):
    collect_ignore_glob += ["test_exchange.py"]  # other libraries cannot read memory of the emulated GPU


@pytest.fixture
def is_fake() -> bool:
    """Whether the GPU is emulated by the CPU."""
    return bool(os.environ.get("AVIDA_FAKE_GPU"))
