"""Operators whose names may change, and older names of operators that moved."""

from avida._ops import peek_image_shape as peek_image_shape
from avida._ops import resize as resize
from avida.experimental import decoders as decoders
from avida.experimental import readers as readers
from avida.experimental._ops import *  # noqa: F403
