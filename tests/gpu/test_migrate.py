"""A script that decodes on the GPU, as `avida migrate` writes it, has the results of the CPU."""

import pathlib
import runpy

import numpy as np
import pytest

from avida._cli.migrate import marks, migrate

pytest.importorskip("soundfile", reason="soundfile makes the data")
from tests.cli.migrate_data import make_data

SCRIPT = pathlib.Path(__file__).parent.parent / "cli" / "migrate" / "colour_spaces.py"


def test_decoding_on_the_gpu(tmp_path):
    make_data(tmp_path)
    results = []
    for device in ("cpu", "mixed"):
        migrated = migrate(SCRIPT.read_text().replace('device="cpu"', f'device="{device}"').replace("None", "0"))
        assert marks(migrated) == []
        assert ('device="gpu"' in migrated) == (device == "mixed")
        (tmp_path / "script.py").write_text(migrated)
        results.append(runpy.run_path(str(tmp_path / "script.py"))["main"](str(tmp_path)))
    on_cpu, on_gpu = results
    assert len(on_cpu) == 18
    for theirs, ours in zip(on_cpu, on_gpu, strict=True):
        assert np.abs(ours.astype(int) - theirs).max() <= 2
