"""torchvision's private names for its table of kernels, which programs import from a module of this name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from avida.torchvision.transforms.v2.functional._dispatch import _KERNELS as _KERNEL_REGISTRY
from avida.torchvision.transforms.v2.functional._dispatch import Kernel, kernel, kernel_for
from avida.torchvision.transforms.v2.functional._dispatch import is_pure_tensor as is_pure_tensor


def _get_kernel(functional: Any, input_type: type, *, allow_passthrough: bool = False) -> Kernel:
    return kernel_for(functional, input_type, pass_through=allow_passthrough)


def _register_kernel_internal(
    functional: Any, input_type: type, *, tv_tensor_wrapper: bool = True
) -> Callable[[Kernel], Kernel]:
    if input_type in _KERNEL_REGISTRY.setdefault(functional, {}):
        raise ValueError(f"Functional {functional} already has a kernel registered for type {input_type}.")
    return kernel(functional, input_type, unwrapped=tv_tensor_wrapper)
