"""Integers from the user, checked before native code gets them."""

from __future__ import annotations

import operator
from typing import SupportsIndex

LARGEST = 2**53
"""More than any count, offset or extent, and little enough for 64 bits when some of them are added up."""


def integer_within(name: str, value: SupportsIndex, least: int, most: int = LARGEST) -> int:
    """The integer, or a ``ValueError`` that says what was expected."""
    number = operator.index(value)
    if not least <= number <= most:
        raise ValueError(f"{name} must be from {least} to {most}, got {number}")
    return number
