"""Operators whose names may change, and older names of operators that moved."""

from avida._ops import peek_image_shape, resize
from avida.experimental import decoders, readers
from avida.experimental._ops import *  # noqa: F403
