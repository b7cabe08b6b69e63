"""Functions that do with an input what its type asks for: a kernel for each type."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from avida.torchvision import _theirs, tv_tensors

Kernel = Callable[..., Any]
_KERNELS: dict[Any, dict[type, Kernel]] = {}
_BUILT_IN = (tv_tensors.TVTensor, tv_tensors.Image, tv_tensors.Video, tv_tensors.Mask)
_BUILT_IN = (*_BUILT_IN, tv_tensors.BoundingBoxes, tv_tensors.KeyPoints)
OF_VALUES: dict[type, Kernel] = {}  # what is done with avida's own values: called with the function first
IMAGES = (torch.Tensor, tv_tensors.Image, tv_tensors.Video)  # whose kernels are the same


def is_pure_tensor(inpt: Any) -> bool:
    """Whether something is a tensor, and none of `tv_tensors`."""
    return isinstance(inpt, torch.Tensor) and not isinstance(inpt, tv_tensors.TVTensor)


def functional(declaration: Any) -> Any:
    """Makes a function of a signature: what it does stands in the kernels."""

    name = f"{declaration.__module__}.{declaration.__name__}"

    @functools.wraps(declaration)
    def dispatch(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        torch._C._log_api_usage_once(name)  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
        return kernel_for(dispatch, type(inpt))(inpt, *args, **kwargs)

    _KERNELS[dispatch] = {}
    return dispatch


def their_functional(name: str, why: str = "avida's operators cannot be scripted") -> Any:
    """A function of torchvision's `transforms.v2.functional`."""
    return _theirs.from_torchvision(f"transforms.v2.functional.{name}", why)


def kernel(of: Any, *types: type, unwrapped: bool = True) -> Callable[[Kernel], Kernel]:
    """Decorates what a function does with some types; tv_tensors come to it as tensors, and go back, if `unwrapped`."""

    def register(made: Kernel) -> Kernel:
        for each in types:
            wraps = unwrapped and issubclass(each, tv_tensors.TVTensor)
            _KERNELS[of][each] = _unwrapped(made) if wraps else made
        return made

    return register


def _unwrapped(made: Kernel) -> Kernel:
    @functools.wraps(made)
    def run(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        output = made(inpt.as_subclass(torch.Tensor), *args, **kwargs)
        if isinstance(output, (tuple, list)):  # of five_crop
            return type(output)(tv_tensors.wrap(each, like=inpt) for each in output)
        return tv_tensors.wrap(output, like=inpt)

    return run


def kernel_for(of: Any, input_type: type, *, pass_through: bool = False) -> Kernel:
    """What a function does with inputs of a type: avida's kernel, else nothing (`pass_through`), else an error."""
    kernels = _KERNELS.get(of)
    if kernels is None:
        raise ValueError(f"No kernel registered for functional {getattr(of, '__name__', of)}.")
    for each in input_type.__mro__:
        if each in kernels:
            return kernels[each]
        if each in OF_VALUES:
            return functools.partial(OF_VALUES[each], of)
        if each is tv_tensors.TVTensor:
            break  # a class that nobody knows is no image
    if pass_through:
        return _unchanged
    raise TypeError(
        f"Functional F.{of.__name__} supports inputs of type {list(kernels)}, but got {input_type} instead."
    )


def _unchanged(inpt: Any, *args: Any, **kwargs: Any) -> Any:
    return inpt


def register_kernel(functional: Any, tv_tensor_cls: type) -> Callable[[Kernel], Kernel]:
    """Decorates what a function does with inputs of a class of your own.

    Args:
        functional: The function, or its name.
        tv_tensor_cls: Your subclass of `tv_tensors.TVTensor`. The kernel gets its instances and makes what is returned.
    """
    if isinstance(functional, str):
        found = next((each for each in _KERNELS if each.__name__ == functional), None)
        if found is None:
            raise ValueError(f"Could not find functional with name '{functional}' in the functional namespace.")
        functional = found
    elif functional not in _KERNELS:
        raise ValueError(f"Kernels can only be registered on functionals of this namespace, but got {functional}.")
    if not (isinstance(tv_tensor_cls, type) and issubclass(tv_tensor_cls, tv_tensors.TVTensor)):
        raise ValueError(f"Kernels can only be registered for subclasses of TVTensor, but got {tv_tensor_cls}.")
    if tv_tensor_cls in _BUILT_IN:
        raise ValueError(f"Kernels cannot be registered for the builtin tv_tensor classes, but got {tv_tensor_cls}")
    if tv_tensor_cls in _KERNELS[functional]:
        raise ValueError(f"Functional {functional} already has a kernel registered for type {tv_tensor_cls}.")
    return kernel(functional, tv_tensor_cls, unwrapped=False)
