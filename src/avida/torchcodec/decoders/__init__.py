"""Decoders with torchcodec's names."""

from avida.torchcodec.decoders._audio import AudioDecoder as AudioDecoder
from avida.torchcodec.decoders._images import decode_gif as decode_gif
from avida.torchcodec.decoders._images import decode_image as decode_image
from avida.torchcodec.decoders._images import decode_jpeg as decode_jpeg
from avida.torchcodec.decoders._images import decode_png as decode_png
from avida.torchcodec.decoders._images import decode_webp as decode_webp
from avida.torchcodec.decoders._metadata import AudioStreamMetadata as AudioStreamMetadata
from avida.torchcodec.decoders._metadata import VideoStreamMetadata as VideoStreamMetadata
from avida.torchcodec.decoders._video import CpuFallbackStatus as CpuFallbackStatus
from avida.torchcodec.decoders._video import VideoDecoder as VideoDecoder
