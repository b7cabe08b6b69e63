"""Sums, means, extremes and deviations over chosen axes of each sample."""

from avida.reductions._ops import *  # noqa: F403
