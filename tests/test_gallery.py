"""The gallery shows every image operator, and its lines of code do what they did when the pictures were made."""

import sys
import tomllib

import numpy as np
import pytest

import avida
from tests.test_documents import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import gallery

ROWS = gallery.rows()


def test_page_is_written_from_these_lines():
    assert gallery.PAGE.read_text() == gallery.page(), "docs/gallery.md is stale: make generate"


def test_every_image_operator_is_there():
    missing = set(gallery.image_operators()) - {row.name for row in ROWS}
    assert not missing
    assert len(gallery.image_operators()) > 20


def test_pictures_show_what_the_lines_make():
    shown = gallery.pictures()
    assert set(gallery.PICTURES.glob("*.jpg")) == set(shown), "make generate"
    assert [file.name for file in shown if not gallery.is_current(file, shown[file])] == [], "make generate"
    assert sum(file.stat().st_size for file in gallery.PICTURES.iterdir()) < 1_500_000


def test_lines_name_what_exists():
    for name in tomllib.loads(gallery.LINES.read_text()):
        target = avida
        for part in name.split("."):
            target = getattr(target, part)
        assert callable(target)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_line_makes_another_picture(row):
    assert f"{row.name}(" in row.code
    before, after = gallery.run(row)
    for picture in (before, after):
        assert picture.dtype == np.uint8
        assert picture.ndim == 3
        assert min(picture.shape[:2]) >= 60  # large enough to be looked at
    assert after.std() > 5  # not of one colour
    assert before.shape != after.shape or (before != after).mean() > 0.05
