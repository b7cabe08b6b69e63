"""The code of docs/gpu.md that needs a GPU and PyTorch runs there."""

import pathlib
import re

import numpy as np
import pytest

import avida as ndd
from avida._values.picture import png

TEXT = (pathlib.Path(__file__).parents[2] / "docs" / "gpu.md").read_text()
BLOCKS = re.findall(r"^```python needs=gpu\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS, ids=lambda code: code.splitlines()[0])
def test_code_runs(code, tmp_path):
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
