"""Functions of the core that are there only if it was built with a library."""

from __future__ import annotations

from collections.abc import Callable

from avida import _core


def built_with(library: str, function: str) -> Callable[..., _core.ReaderSource]:
    """The function, or an error that says which library was missing."""
    found = getattr(_core, function, None)
    if found is None:
        raise RuntimeError(f"this build of avida cannot read the format: {library} was missing when it was built")
    return found
