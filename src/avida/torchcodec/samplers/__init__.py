"""Samplers of clips with torchcodec's names."""

from avida.torchcodec.samplers._indices import clips_at_random_indices as clips_at_random_indices
from avida.torchcodec.samplers._indices import clips_at_regular_indices as clips_at_regular_indices
from avida.torchcodec.samplers._timestamps import clips_at_random_timestamps as clips_at_random_timestamps
from avida.torchcodec.samplers._timestamps import clips_at_regular_timestamps as clips_at_regular_timestamps
