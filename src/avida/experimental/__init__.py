"""Operators whose names are not settled, and older names of operators that have moved."""

from avida._ops import peek_image_shape, resize
from avida.experimental import decoders, readers
from avida.experimental._ops import *  # noqa: F403
