"""Masks that divide images into objects."""

from avida.segmentation._ops import *  # noqa: F403
