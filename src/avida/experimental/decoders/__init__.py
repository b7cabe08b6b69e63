"""Older names of `avida.decoders`."""

from avida.decoders import image as image
from avida.decoders import image_crop as image_crop
from avida.decoders import image_random_crop as image_random_crop
from avida.decoders import image_slice as image_slice
