"""Arguments whose numbers have names: which they are, and what the names stand for."""

from enum import IntEnum
from typing import TypeVar

from avida.types import DALIImageType, DALIInterpType

Enum = TypeVar("Enum", bound=IntEnum)

ENUMS: dict[str, type[IntEnum]] = {
    "image_type": DALIImageType,
    "interp": DALIInterpType,
    "interp_type": DALIInterpType,
    "mag_filter": DALIInterpType,
    "min_filter": DALIInterpType,
    "output_type": DALIImageType,
}


def number_of(argument: str, name: str) -> int:
    """The number that a name stands for, as that argument."""
    if argument not in ENUMS:
        raise TypeError(f"expected an integer, got {name!r}")
    enum = ENUMS[argument]
    found = by_name(enum, name)
    if found is None:
        raise ValueError(f"expected one of {', '.join(repr(short_name(member)) for member in enum)}, got {name!r}")
    return int(found)


def by_name(enum: type[Enum], name: str) -> Enum | None:
    """The member that ``"linear"`` or ``"INTERP_LINEAR"`` stands for, in small or capital letters."""
    return next((member for member in enum if _short(member.name) == _short(name)), None)


def short_name(member: IntEnum) -> str:
    """The name as documents write it: ``"linear"``."""
    return _short(member.name)


def _short(name: str) -> str:
    return name.lower().removeprefix("interp_")
