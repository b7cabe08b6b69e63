"""Runs code on every instruction set of this machine for which there is vector code."""

from collections.abc import Callable

from avida import _core

INSTRUCTION_SETS = _core.testing.vector_targets()


def on_every_instruction_set(make: Callable[[], bytes]) -> list[bytes]:
    """What make() returns on each of them, the best one first."""
    found = []
    try:
        for name in INSTRUCTION_SETS:
            _core.testing.use_vectors(name)
            found.append(make())
    finally:
        _core.testing.use_vectors(INSTRUCTION_SETS[0])
    return found
