"""Decoders of images and sound."""

from avida.decoders._ops import *  # noqa: F403
