"""A new operator costs three files: what `make operator` writes passes checks and suites, and leaves no trace."""

import pathlib
import sys

import pytest

from tests.source_tree import Tree, needs_a_build
from tests.test_documents import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import new_operator

NAME = "fade_to_gray"
FILES = {f"native/ops/image/{NAME}.h", f"native/ops/image/{NAME}.cpp", f"tests/ops/test_{NAME}.py"}
GENERATED = {"src/avida/_ops.py", "docs/gallery.md", f"docs/gallery/{NAME}.jpg"}
GENERATED |= {"native/ops/image/README.md", "tests/ops/README.md"}
# Those that take their operators from the registry, or tables of them.
SUITES = [f"tests/ops/test_{NAME}.py", "tests/every_op", "tests/test_documents.py", "tests/test_gallery.py"]
SUITES += ["tests/api/test_enums.py", "tests/api/test_huge_integers.py", "tests/device/test_headers.py"]
SUITES += ["tests/parity/test_surface.py", "tests/parity/test_every_image_op.py"]


@needs_a_build
def test_what_the_scaffold_writes_passes_everything(tmp_path):
    """The steps of CONTRIBUTING in a copy of the sources: written, generated, checked, tested, deleted."""
    tree = Tree(tmp_path / "avida")
    tree.make("operator", f"NAME={NAME}")
    assert tree.changed() == FILES
    tree.build(f"native/ops/image/{NAME}.cpp")
    tree.make("generate")
    assert tree.changed() == FILES | GENERATED

    tree.check(*[name for name in FILES if name.startswith("native")])

    tree.test(*SUITES, "-k", f"{NAME} or has_a_case or page_is_written or operator_is_there or missing or tables")
    tree.test(
        "tests/gpu/test_every_op.py", "tests/gpu/test_fallbacks.py", "-k", f"{NAME} or fallbacks", AVIDA_FAKE_GPU="2"
    )

    for name in FILES:
        (tree.root / name).unlink()
    tree.restore_core()
    tree.make("generate")
    assert tree.changed() == set()


@pytest.mark.parametrize(
    ("name", "folder", "module", "message"),
    [
        ("Fade", "native/ops/image", "", "got 'Fade'"),
        ("", "native/ops/image", "", "got ''"),
        ("class", "native/ops/image", "", "got 'class'"),
        ("flip", "native/ops/image", "", "exists already"),
        ("scale", "native/ops/image", "", "has a 'class ScalePlan' already"),
        ("fade", "native/loops/pixels", "", "got 'native/loops/pixels'"),
        ("fade", "native/ops/image", "nowhere", "got 'nowhere'"),
    ],
)
def test_names_that_cannot_be_used(name, folder, module, message):
    assert message in new_operator.problem(name, pathlib.Path(folder), module)
