"""Vector code and plain loops of the colour operators give the same bits."""

import os
import subprocess
import sys

import numpy as np

import avida as ndd

CODE = """
import hashlib, numpy as np, avida as ndd
rng = np.random.default_rng(3)
digest = hashlib.sha256()

def add(result):
    digest.update(np.asarray(result).tobytes())

for height, width in (1, 1), (3, 5), (5, 16), (48, 64), (37, 61):
    for layout in "HWC", "CHW":
        x = rng.integers(0, 256, (height, width, 3)).astype(np.uint8)
        x = ndd.tensor(x if layout == "HWC" else np.ascontiguousarray(x.transpose(2, 0, 1)), layout=layout)
        for factor in 0.0, 0.3, 1.7, -4.0, 1e30, float("inf"):
            add(ndd.brightness_contrast(x, brightness=factor, contrast=0.7, brightness_shift=0.1))
            add(ndd.color_twist(x, brightness=factor, hue=40, saturation=1.4))
        for to in range(4):
            add(ndd.color_space_conversion(x, image_type=0, output_type=to))
            add(ndd.color_space_conversion(x, image_type=3, output_type=to))
    gray = ndd.tensor(rng.integers(0, 256, (height, width, 1)).astype(np.uint8), layout="HWC")
    add(ndd.color_space_conversion(gray, image_type=2, output_type=3))
for width in 4, 64, 130, 600:
    sensor = rng.integers(0, 256, (6, width)).astype(np.uint8)
    for algorithm in "bilinear_ocv", "edgeaware_ocv":
        add(ndd.debayer(sensor, blue_position=[0, 1], algorithm=algorithm))
for n in 1, 63, 64, 1000:
    x = rng.integers(0, 256, (n, 3)).astype(np.uint8)
    add(ndd.lookup_table(x, keys=list(range(256)), values=rng.integers(0, 256, 256).tolist(), dtype=ndd.uint8))
    add(ndd.equalize(ndd.tensor(x, layout="HW")))
print(digest.hexdigest())
"""


def test_vectors_and_loops_give_the_same_bits():
    found = set()
    for vbmi in "on", "off":
        env = os.environ | {"AVIDA_VBMI": vbmi}
        found.add(subprocess.run([sys.executable, "-c", CODE], env=env, check=True, capture_output=True).stdout)
    assert len(found) == 1


def test_every_width_is_done_to_its_end():
    for width in range(1, 70):
        x = np.random.default_rng(width).integers(0, 256, (1, width, 3)).astype(np.uint8)
        made = ndd.hue(ndd.tensor(x, layout="HWC"), hue=0)
        np.testing.assert_allclose(np.asarray(made), x, atol=1)
