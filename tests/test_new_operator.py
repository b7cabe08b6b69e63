"""A new operator costs three files: what `make operator` writes passes checks and suites, and leaves no trace."""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

import pytest

import avida
from tests.test_documents import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import new_operator

NAME = "fade_to_gray"
FILES = {f"native/ops/image/{NAME}.h", f"native/ops/image/{NAME}.cpp", f"tests/ops/test_{NAME}.py"}
GENERATED = {"src/avida/_ops.py", "docs/gallery.md", f"docs/gallery/{NAME}.jpg"}
GENERATED |= {"native/ops/image/README.md", "tests/ops/README.md"}
SUFFIXES = {".h", ".cpp", ".py", ".pyi", ".md", ".jpg", ".toml", ".json"}
# Those that take their operators from the registry, or tables of them.
SUITES = [f"tests/ops/test_{NAME}.py", "tests/every_op", "tests/test_documents.py", "tests/test_gallery.py"]
SUITES += ["tests/api/test_enums.py", "tests/api/test_huge_integers.py", "tests/device/test_headers.py"]
SUITES += ["tests/parity/test_surface.py", "tests/parity/test_every_image_op.py"]
BIN = pathlib.Path(sys.executable).parent
CORE = pathlib.Path(avida._core.__file__)
BUILDS = [file.parent for file in ROOT.glob("build/*/build.ninja") if str(CORE) in file.read_text()]
NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", "build", "dist", "__pycache__", ".*_cache", ".hypothesis", "*.so")


class Tree:
    """A copy of the sources."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        shutil.copytree(ROOT, root, ignore=NOT_COPIED)
        (root / "build").mkdir()
        self.core = root / CORE.relative_to(ROOT)
        shutil.copy(CORE, self.core)

    def run(self, *command: str | pathlib.Path, **variables: str) -> None:
        environment = os.environ | {"PYTHONPATH": str(self.root / "src")} | variables
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}"

    def make(self, *arguments: str) -> None:
        """make with the installed tools, and without a build."""
        venv = BIN.parent
        installed = [f"{venv}/{name}" for name in ("pyvenv.cfg", "check.stamp", "demo.stamp")]
        old = [f"--old-file={name}" for name in ("build", *installed)]
        self.run("make", f"VENV={venv}", *old, *arguments, MAKEFLAGS="")  # not those of a make that runs the tests

    def test(self, *arguments: str, **variables: str) -> None:
        self.run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments, **variables)

    def build(self) -> None:
        """Compiles the operator and the list of headers, and links them with the objects of the build."""
        listed = subprocess.run(
            [BIN / "ninja", "-t", "commands"], cwd=BUILDS[0], capture_output=True, text=True, check=True
        )
        *compilations, link = listed.stdout.splitlines()
        self.run(sys.executable, "tools/embed_headers.py", "build/headers.cpp")
        command = next(command for command in compilations if command.endswith("/flip.cpp"))
        operator, headers = (
            self.compile(command, file) for file in (f"native/ops/image/{NAME}.cpp", "build/headers.cpp")
        )
        words = [word for word in shlex.split(link) if word not in (":", "&&")]
        words[words.index("-o") + 1] = str(self.core)
        words[next(i for i, word in enumerate(words) if word.endswith("/headers.cpp.o"))] = headers
        words.insert(words.index(headers), operator)
        subprocess.run(words, cwd=BUILDS[0], check=True)

    def compile(self, command: str, source: str) -> str:
        """Compiles a file of the copy as `command` does another one; returns the object."""
        words = shlex.split(command.replace(f"-I{ROOT}/native", f"-I{self.root}/native"))
        out = f"{self.root}/{source}.o"
        for option, value in (("-MF", f"{out}.d"), ("-o", out), ("-c", f"{self.root}/{source}")):
            words[words.index(option) + 1] = value
        subprocess.run(words, cwd=BUILDS[0], check=True)
        return out

    def changed(self) -> set[str]:
        """The files that differ from the original, and those that are new."""
        made = [path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file()]
        kept = [path for path in made if path.suffix in SUFFIXES and path.parts[0] != "build"]
        return {
            str(p) for p in kept if not (ROOT / p).exists() or (ROOT / p).read_bytes() != (self.root / p).read_bytes()
        }


@pytest.mark.skipif(not BUILDS, reason="avida is installed: no build here made it")
def test_what_the_scaffold_writes_passes_everything(tmp_path):
    """The steps of CONTRIBUTING in a copy of the sources: written, generated, checked, tested, deleted."""
    tree = Tree(tmp_path / "avida")
    tree.make("operator", f"NAME={NAME}")
    assert tree.changed() == FILES
    tree.build()
    tree.make("generate")
    assert tree.changed() == FILES | GENERATED

    tree.run(BIN / "ruff", "check", "--no-cache")
    tree.run(BIN / "ruff", "format", "--check", "--no-cache")
    tree.run(BIN / "clang-format", "--dry-run", "--Werror", *[name for name in FILES if name.startswith("native")])
    for tool in ("check_layers.py", "file_tables.py", "generate.py"):
        tree.run(sys.executable, f"tools/{tool}", "--check")

    tree.test(*SUITES, "-k", f"{NAME} or has_a_case or page_is_written or operator_is_there or missing or tables")
    tree.test(
        "tests/gpu/test_every_op.py", "tests/gpu/test_fallbacks.py", "-k", f"{NAME} or fallbacks", AVIDA_FAKE_GPU="2"
    )

    for name in FILES:
        (tree.root / name).unlink()
    shutil.copy(CORE, tree.core)
    tree.make("generate")
    assert tree.changed() == set()


@pytest.mark.parametrize(
    ("name", "folder", "module", "message"),
    [
        ("Fade", "native/ops/image", "", "got 'Fade'"),
        ("", "native/ops/image", "", "got ''"),
        ("class", "native/ops/image", "", "got 'class'"),
        ("flip", "native/ops/image", "", "exists already"),
        ("scale", "native/ops/image", "", "has a 'struct Scale' already"),
        ("fade", "native/loops/pixels", "", "got 'native/loops/pixels'"),
        ("fade", "native/ops/image", "nowhere", "got 'nowhere'"),
    ],
)
def test_names_that_cannot_be_used(name, folder, module, message):
    assert message in new_operator.problem(name, pathlib.Path(folder), module)
