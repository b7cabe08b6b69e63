"""Transforms made of transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from avida.torchvision.transforms.v2._transform import Transform


class _Container(Transform):
    transforms: Any

    def __init__(self, transforms: Any, *kinds: type) -> None:
        super().__init__()
        if not isinstance(transforms, (Sequence, *kinds)):
            raise TypeError("Argument transforms should be a sequence of callables")
        if not transforms:
            raise ValueError("Pass at least one transform")
        self.transforms = transforms

    def _one_after_another(self, transforms: Any, inputs: tuple[Any, ...]) -> Any:
        several = len(inputs) > 1
        outputs: Any = inputs if len(inputs) != 1 else inputs[0]
        for transform in transforms:
            outputs = transform(*outputs) if several else transform(outputs)
        return outputs


class Compose(_Container):
    """Does several transforms, one after another.

    Args:
        transforms: Transforms, or any functions.

    Example:
        >>> import torch
        >>> from avida.torchvision.transforms import v2
        >>> transform = v2.Compose([v2.ToImage(), v2.Resize(32), v2.ToDtype(torch.float32, scale=True)])
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        super().__init__(transforms)

    def forward(self, *inputs: Any) -> Any:
        return self._one_after_another(self.transforms, inputs)

    def extra_repr(self) -> str:
        return "\n".join(f"    {transform}" for transform in self.transforms)


class RandomApply(_Container):
    """Does all of some transforms, with probability p.

    Args:
        transforms: Transforms, or any functions.
        p: How often.
    """

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__(transforms, torch.nn.ModuleList)
        if not 0.0 <= p <= 1.0:
            raise ValueError("`p` should be a floating point value in the interval [0.0, 1.0].")
        self.p = p

    def forward(self, *inputs: Any) -> Any:
        if torch.rand(1) >= self.p:
            return inputs[0] if len(inputs) == 1 else inputs
        return self._one_after_another(self.transforms, inputs)

    def extra_repr(self) -> str:
        return "\n".join(f"    {transform}" for transform in self.transforms)


class RandomChoice(_Container):
    """Does one of some transforms.

    Args:
        transforms: Transforms, or any functions.
        p: How often each is chosen, in proportion; by default all the same.
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]], p: list[float] | None = None) -> None:
        super().__init__(transforms)
        weights = [1.0] * len(transforms) if p is None else p
        if len(weights) != len(transforms):
            raise ValueError(f"Length of p doesn't match the number of transforms: {len(weights)} != {len(transforms)}")
        self.p = [weight / sum(weights) for weight in weights]

    def forward(self, *inputs: Any) -> Any:
        chosen = int(torch.multinomial(torch.tensor(self.p), 1))
        return self.transforms[chosen](*inputs)


class RandomOrder(_Container):
    """Does all of some transforms, in random order.

    Args:
        transforms: Transforms, or any functions.
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        super().__init__(transforms)

    def forward(self, *inputs: Any) -> Any:
        order = torch.randperm(len(self.transforms)).tolist()
        return self._one_after_another([self.transforms[i] for i in order], inputs)
