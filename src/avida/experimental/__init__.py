"""Operators whose names are not settled."""

from avida.experimental._ops import *  # noqa: F403
