"""Enums of the API by the names of their members."""

from enum import IntEnum
from typing import TypeVar

Enum = TypeVar("Enum", bound=IntEnum)

_OTHER_NAMES = {"nearest": "nn", "bilinear": "linear", "bicubic": "cubic", "lanczos": "lanczos3"}


def by_name(enum: type[Enum], name: str) -> Enum | None:
    """The member that ``"linear"`` or ``"INTERP_LINEAR"`` stands for, in small or capital letters."""
    return next((member for member in enum if _short(member.name) == _short(name)), None)


def _short(name: str) -> str:
    short = name.lower().removeprefix("interp_")
    return _OTHER_NAMES.get(short, short)
