"""tools/count_lines.py adds up the lines of each room, and fails where there are more than its budget."""

import subprocess
import sys

import pytest

from tests.test_documents import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import count_lines


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A tree with three lines in native/core, two of them in a folder of it, and one outside of all rooms."""
    monkeypatch.setattr(count_lines, "ROOT", tmp_path)
    monkeypatch.setattr(count_lines, "BUDGET", tmp_path / "tools" / "line_budget.toml")
    monkeypatch.setattr(sys, "argv", ["count_lines.py"])
    files = {
        "native/core/a.h": "a\n",
        "native/core/deep/b.cpp": "b\nc\n",
        "setup.py": "d\n",
        "src/_ops.py": "e\n" * 1000,
        "tools/line_budget.toml": '"." = 1\n"native" = 0\n"native/core" = 3\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def test_counts_each_file_once_in_the_innermost_room(tree, capsys):
    assert count_lines.main() == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        [".", "1", "of", "1"],
        ["native", "0", "of", "0"],
        ["native/core", "3", "of", "3"],
        ["all", "4", "of", "4"],
    ]


def test_fails_beyond_a_budget(tree, capsys):
    (tree / "native" / "core" / "new.h").write_text("f\n")
    assert count_lines.main() == 1
    assert "native/core has 4 lines, expected at most 3" in capsys.readouterr().err


def test_writes_what_is_there(tree, monkeypatch):
    (tree / "native" / "core" / "new.h").write_text("f\n" * 20)
    monkeypatch.setattr(sys, "argv", ["count_lines.py", "--write"])
    assert count_lines.main() == 0
    assert count_lines.BUDGET.read_text().splitlines()[1:] == ['"." = 10', '"native" = 0', '"native/core" = 30']
