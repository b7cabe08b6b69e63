"""The code of documents that needs a GPU runs there."""

import pathlib
import re

import numpy as np
import pytest

import avida as ndd
from avida._values.picture import png

DOCUMENTS = pathlib.Path(__file__).parents[2] / "docs"


def blocks_of(document, kind):
    return re.findall(rf"^```python{kind}\n(.*?)^```", (DOCUMENTS / document).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", blocks_of("gpu.md", " needs=gpu"), ids=lambda code: code.splitlines()[0])
def test_code_with_pytorch_runs(code, tmp_path, is_fake):
    if is_fake:
        pytest.skip("PyTorch cannot read memory of the emulated GPU")
    torch = pytest.importorskip("torch")
    for i in range(4):
        (tmp_path / f"{i}.png").write_bytes(png(np.full((40, 60, 3), i, np.uint8)))
    reader = ndd.readers.File(files=sorted(map(str, tmp_path.glob("*.png"))))
    try:
        exec(compile(code, "docs/gpu.md", "exec"), {"ndd": ndd, "torch": torch, "reader": reader})
        torch.cuda.synchronize()
    finally:
        ndd.set_current_stream(None)
        ndd.set_default_stream(None)


def test_code_with_videos_runs(is_fake):
    """docs/video.md from its start, but for optical flow, which test_optical_flow.py runs where there is an engine."""
    pytest.importorskip("torch")
    scope = {}
    for code in blocks_of("video.md", "(?: needs=gpu)?"):
        if "optical_flow" in code:
            continue
        if is_fake:
            code = code.replace(".torch()", ".cpu().torch()")  # PyTorch cannot read memory of the emulated GPU
        exec(compile(code, "docs/video.md", "exec"), scope)
    assert scope["clips"].device.device_type == "gpu"
    assert scope["batch"].shape == (4, 8, 16, 16, 3)
