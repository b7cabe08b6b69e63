"""Older names of operators that have moved."""

from avida._ops import peek_image_shape
from avida.experimental import decoders
