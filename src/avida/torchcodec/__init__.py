"""torchcodec's names on avida's decoders, with torchcodec's times and colours.

A script changes its import: ``from avida.torchcodec.decoders import VideoDecoder`` in place of
``from torchcodec.decoders import VideoDecoder``. It needs PyTorch.
"""

from avida.torchcodec import decoders as decoders
from avida.torchcodec import samplers as samplers
from avida.torchcodec._frame import AudioSamples as AudioSamples
from avida.torchcodec._frame import Frame as Frame
from avida.torchcodec._frame import FrameBatch as FrameBatch
