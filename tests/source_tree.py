"""A copy of the sources, in which a test follows the steps of CONTRIBUTING and compiles only what it adds."""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

import pytest

import avida
from tests.test_documents import ROOT

SUFFIXES = {".h", ".cpp", ".py", ".pyi", ".md", ".jpg", ".toml", ".json", ".txt"}
BIN = pathlib.Path(sys.executable).parent
CORE = pathlib.Path(avida._core.__file__)
BUILDS = [file.parent for file in ROOT.glob("build/*/build.ninja") if str(CORE) in file.read_text()]
NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", "build", "dist", "__pycache__", ".*_cache", ".hypothesis", "*.so")

needs_a_build = pytest.mark.skipif(not BUILDS, reason="avida is installed: no build here made it")


class Tree:
    def __init__(self, root: pathlib.Path):
        self.root = root
        shutil.copytree(ROOT, root, ignore=NOT_COPIED)
        (root / "build").mkdir()
        self.core = root / CORE.relative_to(ROOT)
        self.restore_core()

    def restore_core(self) -> None:
        """Forgets what build() linked."""
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

    def check(self, *native: str) -> None:
        """What `make check` does, without type checkers; of native files, those that are given are looked at."""
        self.run(BIN / "ruff", "check", "--no-cache")
        self.run(BIN / "ruff", "format", "--check", "--no-cache")
        self.run(BIN / "clang-format", "--dry-run", "--Werror", *native)
        for tool in ("check_layers.py", "file_tables.py", "generate.py"):
            self.run(sys.executable, f"tools/{tool}", "--check")

    def build(self, *sources: str) -> None:
        """Configures the copy; compiles new files and the list of headers. Other objects are those of the build."""
        folder = self.root / "build" / "dev"
        vectors = next(
            line for line in (BUILDS[0] / "CMakeCache.txt").read_text().splitlines() if "AVIDA_VECTORS:" in line
        )
        output = f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={self.core.parent}"
        self.run("tools/configure.sh", BIN, folder, f"-D{vectors}", output)
        self.run(sys.executable, "tools/embed_headers.py", "build/headers.cpp")
        listed = subprocess.run(
            [BIN / "ninja", "-t", "commands"], cwd=folder, capture_output=True, text=True, check=True
        )
        *compilations, link = listed.stdout.replace(str(folder), str(BUILDS[0])).splitlines()
        linked = shlex.split(link.partition("&& ")[2].rpartition(" &&")[0])
        for source in (*sources, "build/headers.cpp"):
            name = source if source in sources else "headers.cpp"
            command = next(line for line in compilations if " -c " in line and line.endswith(f"/{name}"))
            place = next(i for i, word in enumerate(linked) if word.endswith(f".dir/{name}.o"))
            linked[place] = self._compile(command, source)
        subprocess.run(linked, cwd=BUILDS[0], check=True)

    def _compile(self, command: str, source: str) -> str:
        """Returns the object."""
        words = shlex.split(command)
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
