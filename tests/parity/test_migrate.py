"""Scripts of pipeline mode and what `avida migrate` makes of them have the same results, on the same data."""

import pathlib
import runpy

import numpy as np
import pytest

from avida import _cli
from avida._cli import notebook
from tests.cli.migrate_data import make_data

ROUNDINGS = 4  # of one unit of 255 each, of a few pixels, in operators that follow one another
SCRIPTS = sorted((pathlib.Path(__file__).parent.parent / "cli" / "migrate").glob("*.[pi]*[yb]"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("data")
    make_data(made)
    return str(made)


def results(script, folder):
    """What the function main of a script returns, or the list that a script without one fills, as arrays."""
    names = {}
    if script.suffix == ".ipynb":
        names[notebook.HELPER] = notebook.Helper(names)
        for cell in notebook.load(str(script)):
            exec(cell, names)
    else:
        names = runpy.run_path(str(script))
    return [np.asarray(result) for result in (names["main"](folder) if "main" in names else names["results"])]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_same_results(script, folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DATA", folder)
    assert _cli.main(["migrate", str(script), "-o", str(tmp_path / script.name)]) == 0, capsys.readouterr().err
    assert "nvidia" not in (tmp_path / script.name).read_text()
    ours, theirs = results(tmp_path / script.name, folder), results(script, folder)
    assert len(ours) == len(theirs) > 1
    for our, their in zip(ours, theirs, strict=True):
        assert (our.dtype, our.shape) == (their.dtype, their.shape)
        difference = np.abs(our.astype(np.float64) - their)
        if our.dtype in (np.uint8, np.float32):
            scale = 255 if our.dtype == np.uint8 or not their.size else max(1, np.ptp(their))
            assert difference.max(initial=0) <= ROUNDINGS / 255 * scale
            assert np.count_nonzero(difference > 1e-4 * scale) <= 0.1 * difference.size
        else:
            assert difference.max(initial=0) == 0
