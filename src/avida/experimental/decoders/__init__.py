"""Older names of `avida.decoders`."""

from avida.decoders import image, image_crop, image_random_crop, image_slice
