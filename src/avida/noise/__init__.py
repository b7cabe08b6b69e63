"""Noise added to images and other data."""

from avida.noise._ops import *  # noqa: F403
