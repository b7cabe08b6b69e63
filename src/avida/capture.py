"""Names of DALI's capture mode: accepted, and free of its rules."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def invariant(value: T) -> T:
    """Returns the value itself.

    In DALI it promises that a value does not change between the iterations of a captured loop. Here no
    promise is needed: a call whose arguments have changed is simply made with the new ones.

    Example:
        >>> avida.capture.invariant([224, 224])
        [224, 224]
    """
    return value
