"""Files, byte for byte."""

from avida.io.file._ops import *  # noqa: F403
