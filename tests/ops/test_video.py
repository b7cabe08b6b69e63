"""decoders.video in every mode and form; its codecs and containers are in tests/codecs/test_video.py."""

import numpy as np

from tests.codecs.videos import decoded, encoded
from tests.op_case import op_case

FILES = [[encoded(frames=frames, size=size)] for frames, size in ((5, (48, 64)), (9, (32, 40)), (4, (17, 18)))]


@op_case(
    "decoders.video",
    inputs=FILES,
    start_frame=[0, 2],
    sequence_length=[1, 3],
    on_error=["raise", "placeholder"],
    atol=1,
)
def video(file, start_frame, sequence_length, on_error):
    whole = decoded(file)
    padded = np.concatenate([whole, np.zeros_like(whole[:2])])  # black frames beyond the end
    return padded[start_frame : start_frame + sequence_length]
