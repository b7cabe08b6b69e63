"""torchcodec's names on avida's decoders: a script changes its import, and gets the colours that it had.

``from avida.torchcodec.decoders import VideoDecoder`` in place of ``from torchcodec.decoders import VideoDecoder``. It
needs PyTorch.
"""

from avida.torchcodec import decoders as decoders
from avida.torchcodec import samplers as samplers
from avida.torchcodec._frame import AudioSamples as AudioSamples
from avida.torchcodec._frame import Frame as Frame
from avida.torchcodec._frame import FrameBatch as FrameBatch
