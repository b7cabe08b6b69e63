"""tools/check_layers.py finds what it should find."""

import importlib.util
import pathlib

import pytest

SCRIPT = pathlib.Path(__file__).parent.parent / "tools" / "check_layers.py"


@pytest.fixture
def checker(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("check_layers", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "NATIVE", tmp_path / "native")
    return module


def write(root: pathlib.Path, name: str, text: str = "") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("core/a.h", '#include "runtime/value.h"'),
        ("core/a.h", '#include "value.h"'),
        ("device/a.h", "#include <cmath>"),
        ("device/a.h", '#include "core/dtype.h"'),
        ("ops/image/a.h", "AVIDA_HD\n#include <cmath>"),
        ("ops/image/a.h", 'AVIDA_HD\n#include "operator/declare.h"'),
        ("ops/image/a.h", 'AVIDA_HD\n#include "ops/image/not_marked.h"'),
        ("loops/items/a.h", "AVIDA_HD\n#include <algorithm>"),
        ("ops/image/a.cpp", "#include <mutex>"),
        ("ops/image/a.cpp", '#include "runtime/thread_pool.h"'),
        ("ops/image/a.cpp", '#include "gpu/streams.h"'),
        ("ops/image/a.cpp", "#  include <cuda_runtime.h>"),
        ("loops/items/a.cpp", "#include <nanobind/nanobind.h>"),
        ("runtime/a.cpp", "#include <nvrtc.h>"),
        ("elsewhere/a.cpp", ""),
        ("loops/a.cpp", ""),
        ("loops/items/a.h", '#include "loops/warping/warp.h"'),
        ("codecs/a.h", '#include "codecs/jpeg/jpeg_header.h"'),
        ("readers/numpy/a.h", '#include "loops/moving/window.h"'),
        ("readers/file/a.cpp", "#include <fcntl.h>"),
        ("codecs/video/a.cpp", "#include <fstream>"),
        ("codecs/video/a.cpp", 'auto* file = std::fopen(path, "rb");'),
        ("readers/file/a.cpp", "int number = ::open(path, 0);"),
        ("storage/a.cpp", '#include "readers/source.h"'),
        ("ops/image/a.cpp", "void f() {\n  static const Table table = make();"),
        ("ops/image/a.cpp", "void f() {\n  static const auto tables = [] {"),
        ("ops/image/a.cpp", "void f() {\n  static std::map<int, std::vector<float>> known;"),
        ("ops/image/a.cpp", "void f() {\n  static auto* all = new Tables;"),
        ("ops/image/a.cpp", "void f() {\n  static const char* names[kCount] = {};"),
    ],
)
def test_breach(checker, tmp_path, capsys, name, line):
    write(tmp_path, f"native/{name}", line)
    assert checker.main() == 1
    expected = f"native/{name}:{max(1, len(line.splitlines()))}: "
    assert all(found.startswith(expected) for found in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("core/a.h", '#include <vector>\n#include "device/convert.h"\n#include "core/error.h"'),
        ("device/a.h", "#ifndef __CUDACC_RTC__\n#include <math.h>\n#endif"),
        ("ops/image/a.h", 'AVIDA_HD\n#include "device/body.h"'),
        ("ops/image/a.cpp", '#include <cmath>\n#include "operator/declare.h"\n#include "runtime/memory.h"'),
        ("python/a.cpp", '#include <nanobind/nanobind.h>\n#include "operator/call.h"'),
        ("loops/items/a.cpp", '#include <mutex>\n#include "gpu/streams.h"'),
        ("storage/a.cpp", "#include <fcntl.h>\n#include <filesystem>\nint number = ::open(path, 0);"),
        ("codecs/a.cpp", "auto vorbis = VorbisFile::open(bytes);\nauto file = storage::open(name);"),
    ],
)
def test_in_order(checker, tmp_path, capsys, name, line):
    write(tmp_path, f"native/{name}", line)
    assert checker.main() == 0
    assert capsys.readouterr().out == ""


def test_bodies_include_bodies(checker, tmp_path):
    write(tmp_path, "native/ops/image/a.h", 'AVIDA_HD\n#include "ops/image/b.h"')
    write(tmp_path, "native/ops/image/b.h", "inline void f();  // no AVIDA_HD")
    write(tmp_path, "native/loops/items/family.h", "// AVIDA_HD in a comment\n#include <vector>")
    assert checker.main() == 1
    write(tmp_path, "native/ops/image/b.h", "AVIDA_HD void f();")
    assert checker.main() == 0


def test_crowded_folder(checker, tmp_path, capsys):
    write(tmp_path, "native/core/README.md", "What is here.")
    for i in range(21):
        write(tmp_path, f"native/core/{i}.h")
    assert checker.main() == 1
    assert capsys.readouterr().out.startswith("native/core:1: 21 source files")


def test_full_folder_needs_a_readme(checker, tmp_path, capsys):
    for i in range(7):
        write(tmp_path, f"tests/ops/test_{i}.py")
    assert checker.main() == 1
    assert capsys.readouterr().out.startswith("tests/ops:1: ")
    write(tmp_path, "tests/ops/README.md", "What is here.")
    assert checker.main() == 0


@pytest.mark.parametrize(
    ("second", "problems"),
    [
        ("namespace avida {\nclass Window : Base {", 1),
        ("namespace avida {\nstruct Window {};", 1),
        ("namespace avida {\nstruct Window;", 0),
        ("namespace avida {\nnamespace {\nstruct Window {", 0),
        ("namespace avida::ops {\nstruct Window {", 0),
        ("namespace avida {\nnamespace {\nint x;\n}  // namespace\nstruct Window {", 1),
    ],
)
def test_types_of_one_name(checker, tmp_path, capsys, second, problems):
    write(tmp_path, "native/readers/a.h", "namespace avida {\nclass Window {")
    write(tmp_path, "native/readers/b.cpp", second)
    assert checker.main() == problems
    expected = f"native/readers/b.cpp:{len(second.splitlines())}: native/readers/a.h:2 has another avida::Window"
    assert capsys.readouterr().out.startswith(expected if problems else "")
