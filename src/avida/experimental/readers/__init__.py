"""Readers whose names are not settled."""

from avida.experimental.readers._readers import *  # noqa: F403
