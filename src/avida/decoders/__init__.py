"""Decoders of images."""

from avida.decoders._ops import *  # noqa: F403
