"""tools/file_tables.py describes files by what they say of themselves, and finds stale tables."""

import re
import sys

import pytest

from tests.test_documents import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import check_layers
import file_tables


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A README with a table by hand, in a tree of its own."""
    monkeypatch.setattr(check_layers, "ROOT", tmp_path)
    monkeypatch.setattr(file_tables, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["file_tables.py"])
    folder = tmp_path / "native" / "core"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("# native/core: data\n\n| file | x |\n|---|---|\n| ghost | |\n\n## Decisions\n")
    return folder


def table(folder):
    return dict(file_tables.rows(folder))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.h", "// Shapes of\n// samples. More.\n#pragma once\n", "Shapes of samples."),
        ("a.h", "// The declaration of x.h files:\n//\n//   code\n", "The declaration of x.h files."),
        ("a.cpp", "#include <a>\n", ""),
        ("a.cpp", 'AVIDA_OP(a, Args) {\n  op.doc(\n      "Mirrors "\n      "images. More.")\n', "Mirrors images."),
        ("a.cpp", 'AVIDA_OP_IN(noise, shot, Args) {\n  op.doc("Adds noise.")\n', "`noise.shot`: Adds noise."),
        ("a.cpp", "AVIDA_OP(b, Args) {\nAVIDA_OP_IN(m, c, Args) {\n", "`b`, `m.c`."),
        ("a.py", '"""What is\nsaid. More.\n"""\n', "What is said."),
        ("a.py", '@op_case("flip", x=[1])\n@op_case(\n    "noise.shot")\ndef f(): ...\n', "`flip`, `noise.shot`."),
        ("a.sh", "#!/bin/bash\n# Builds a|b.\n# usage: a\n", "Builds a|b."),
    ],
)
def test_description(folder, name, text, expected):
    (folder / name).write_text(text)
    assert table(folder) == {name: expected}


def test_header_and_source_are_one_row(folder):
    (folder / "a.h").write_text("// Of the header.\n")
    (folder / "a.cpp").write_text("// Of the source.\n")
    (folder / "inner").mkdir()
    (folder / "inner" / "README.md").write_text("# native/core/inner: what is inside\n")
    assert table(folder) == {"a": "Of the header.", "inner/": "What is inside."}


def test_stale_tables_are_found_and_written(folder, monkeypatch, capsys):
    (folder / "a.h").write_text("// Either | or.\n")
    monkeypatch.setattr(sys, "argv", ["file_tables.py", "--check"])
    assert file_tables.main() == 1
    assert capsys.readouterr().out == "native/core/README.md: the table of files is stale; run `make tables`\n"
    monkeypatch.setattr(sys, "argv", ["file_tables.py"])
    assert file_tables.main() == 0
    written = (folder / "README.md").read_text()
    rows = "| file | what |\n|---|---|\n| `a.h` | Either \\| or. |\n"
    assert written == f"# native/core: data\n\n{file_tables.NOTE}\n{rows}\n## Decisions\n"
    monkeypatch.setattr(sys, "argv", ["file_tables.py", "--check"])
    assert file_tables.main() == 0


def test_files_that_say_nothing_are_named(folder, capsys):
    (folder / "a.h").write_text("#pragma once\n")
    assert file_tables.main() == 1
    assert capsys.readouterr().out == "native/core/a.h: no sentence on it at its beginning\n"


def test_full_folders_get_a_table(folder):
    (folder / "README.md").write_text("# native/core: data\n\nText.\n\n## Decisions\n")
    for i in range(7):
        (folder / f"{i}.h").write_text("// One.\n")
    assert file_tables.main() == 0
    assert "Text.\n\n<!--" in (folder / "README.md").read_text()
    assert "| `6.h` | One. |\n\n## Decisions\n" in (folder / "README.md").read_text()


def test_links_of_readmes():
    """What the READMEs of folders link to is there; docs are looked at by test_documents.py."""
    for folder in check_layers.source_folders():
        readme = folder / "README.md"
        text = re.sub(r"^```.*?^```|`[^`]*`", "", readme.read_text() if readme.exists() else "", flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (folder / target).exists(), f"{readme} links to {target}"
