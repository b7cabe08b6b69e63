"""Drawing the numbers of an augmentation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from avida._values.batch import Batch
from avida._values.typing import KeyedBy
from avida.augment._checks import shown
from avida.random._rng import RNG


def draw(
    name: str,
    operator: Callable[..., Any],
    like: Batch | None,
    rng: RNG | None,
    keyed_by: KeyedBy | None,
    **arguments: Any,
) -> Any:
    """What a random operator draws for the augmentation ``name``, which errors name instead of the operator."""
    if rng is not None and not isinstance(rng, RNG):
        raise ValueError(f"{name}: expected an avida.random.RNG as rng, got {shown(rng)}")
    try:
        return operator(**arguments, like=like, rng=rng, keyed_by=keyed_by)
    except (TypeError, ValueError) as error:
        speaker, _, text = str(error).partition(": ")
        if speaker == f"random.{operator.__name__}":
            error.args = (f"{name}: {text}",)
        raise
