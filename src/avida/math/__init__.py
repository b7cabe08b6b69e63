"""Mathematical functions, element by element."""

from avida.math._ops import *  # noqa: F403
