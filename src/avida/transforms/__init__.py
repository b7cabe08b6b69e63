"""Matrices of affine maps, for `warp_affine` and `coord_transform`."""

from avida.transforms._ops import *  # noqa: F403
