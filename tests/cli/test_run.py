"""`avida run` of scripts and notebooks, and `import avida.as_dali`: code finds avida under the name it asks for."""

import json
import subprocess
import sys
import textwrap

import pytest

from avida import types


def run(tmp_path, code, *arguments, name="script.py"):
    script = tmp_path / name
    script.write_text(textwrap.dedent(code))
    command = [sys.executable, "-m", "avida", "run", str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def test_names(tmp_path):
    (tmp_path / "neighbour.py").write_text("here = True")
    done = run(
        tmp_path,
        """
        import sys
        import nvidia.dali.experimental.dynamic as ndd
        import nvidia.dali.experimental.dynamic.math as math
        import nvidia.dali.types as types
        import nvidia.dali.tfrecord as tfrecord
        import nvidia.dali
        from nvidia.dali import types as the_same
        from nvidia.dali.experimental import dynamic
        from nvidia.dali.experimental.dynamic import random
        from nvidia.dali.types import DALIImageType
        import neighbour, avida
        assert tfrecord is avida.tfrecord
        assert ndd is dynamic is nvidia.dali.experimental.dynamic is avida
        assert math is avida.math and random is avida.random
        assert types is the_same is avida.types and DALIImageType.RGB == types.RGB == 0
        assert avida.__name__ == avida.__spec__.name == "avida"  # not changed by its other name
        assert __name__ == "__main__" and sys.modules["__main__"].ndd is ndd
        print(sys.argv[1:], __file__ == sys.argv[0], ndd.tensor([1, 2]) + 1)
        """,
        "--epochs",
        "3",
        "-o",
        "x",
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.startswith("['--epochs', '3', '-o', 'x'] True Tensor(")


@pytest.mark.parametrize(
    "statement",
    [
        "from nvidia.dali import pipeline_def",
        "from nvidia.dali import fn",
        "import nvidia.dali.fn as fn",
        "from nvidia.dali.plugin.pytorch import DALIGenericIterator",
        "import nvidia.dali as dali; dali.pipeline_def",
    ],
)
def test_what_is_missing(tmp_path, statement):
    done = run(tmp_path, f"# a script\n{statement}\n")
    assert done.returncode == 1
    assert "pipeline mode is no part of avida" in done.stderr
    assert "docs/migration.md" in done.stderr
    assert "script.py" in done.stderr
    assert statement in done.stderr, "the line is shown"


def test_error(tmp_path):
    """The traceback begins with the script's line, and shows nothing of what ran it."""
    done = run(tmp_path, "def fails():\n    return 1 / 0\n\nfails()\n")
    assert done.returncode == 1
    first, at, *rest = done.stderr.splitlines()
    assert first == "Traceback (most recent call last):"
    assert at.endswith('script.py", line 4, in <module>')
    assert rest[-1] == "ZeroDivisionError: division by zero"
    assert "_cli" not in done.stderr


@pytest.mark.parametrize(
    ("code", "status"),
    [("import sys; sys.exit(7)", 7), ("import sys; sys.exit('why')", 1), ("raise KeyboardInterrupt", 130), ("x = ", 1)],
)
def test_exit_code(tmp_path, code, status):
    assert run(tmp_path, code).returncode == status


def test_no_script(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "avida", "run", str(tmp_path / "none.py")], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 2
    assert "none.py" in done.stderr
    assert "Traceback" not in done.stderr


def test_worker_processes(tmp_path):
    """Workers that are not forked import the script anew, and find the same names."""
    done = run(
        tmp_path,
        """
        import multiprocessing
        import nvidia.dali.experimental.dynamic as ndd

        def work(x):
            return ndd.__name__, int(ndd.tensor(x) + 1)

        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map_async(work, [1, 2]).get(timeout=500))
        """,
    )
    assert done.stdout == "[('avida', 2), ('avida', 3)]\n", done.stderr


def test_types():
    assert types.to_numpy_type(types.FLOAT).__name__ == "float32"
    assert types.to_dali_type("uint8") is types.UINT8
    assert types.to_dali_type(types.to_numpy_type(types.BOOL)) is types.BOOL
    with pytest.raises(TypeError, match="complex"):
        types.to_dali_type(complex)


def notebook(*cells):
    """The text of a notebook, the first cell of which is not code."""
    first = {"cell_type": "markdown", "metadata": {}, "source": ["# A notebook"]}
    code = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell.splitlines(True)}
        for cell in map(textwrap.dedent, cells)
    ]
    return json.dumps({"cells": [first, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_notebook(tmp_path):
    (tmp_path / "neighbour.py").write_text("here = True")
    done = run(
        tmp_path,
        notebook(
            """
            import sys, neighbour
            import nvidia.dali.experimental.dynamic as ndd
            """,
            """
            x = ndd.tensor([1, 2])
            (x + 1).shape
            """,
            "x + 1;",
            "print(ndd.__name__, __name__, sys.argv[1:])",
            "'the last value of a cell is shown'",
        ),
        "--epochs",
        "3",
        name="notebook.ipynb",
    )
    assert done.stderr == ""
    assert done.stdout == "(2,)\navida __main__ ['--epochs', '3']\n'the last value of a cell is shown'\n"


def test_notebook_with_what_is_not_python(tmp_path):
    done = run(
        tmp_path,
        notebook(
            "%matplotlib inline\nword = 'hello'\n!echo {word} $word {other}",
            "%%time\nif word:\n    %timeit word = 'again'\n    !echo $word",
            "%%html\n<b>word</b>",
            "%%bash\nfor i in 1 2; do echo $i; done",
            "text = '''\n%not magic\n!nor this'''\nprint(len(text) \\\n% 7)",
        ),
        name="notebook.ipynb",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "hello hello {other}\nagain\n1\n2\n0\n"
    assert [line.partition(": ")[2] for line in done.stderr.splitlines()] == [
        f"{tmp_path}/notebook.ipynb, cell 1: %matplotlib was left out: it belongs to IPython",
        f"{tmp_path}/notebook.ipynb, cell 3: %%html was left out: it belongs to IPython",
    ]


def test_error_in_a_notebook(tmp_path):
    """The traceback names the cell and shows the line; the cells after it do not run."""
    done = run(tmp_path, notebook("x = 0", "y = 2\n1 / x", "print('no')"), name="notebook.ipynb")
    assert (done.returncode, done.stdout) == (1, "")
    _, at, line, *rest = done.stderr.splitlines()
    assert at.endswith('notebook.ipynb, cell 2", line 2, in <module>')
    assert line.strip() == "1 / x"
    assert rest[-1] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize("text", ["", "{}", '{"cells": [{}]}', "[1]", '{"cells": 3}'])
def test_no_notebook(tmp_path, text):
    done = run(tmp_path, text, name="notebook.ipynb")
    assert done.returncode == 1
    assert "expected a notebook" in done.stderr


WITHOUT_THE_REAL_LIBRARY = """
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name.startswith("nvidia") else find(name, *rest)
"""
IMPORTED_BEFORE = "import nvidia.dali.experimental.dynamic as real, nvidia.dali.fn\n"


@pytest.mark.parametrize("before", ["", WITHOUT_THE_REAL_LIBRARY, IMPORTED_BEFORE], ids=["there", "hidden", "imported"])
def test_import_as_dali(before):
    """Whether the real library is there or not, or even in use."""
    code = f"""
{before}
import avida.as_dali
import nvidia.dali.experimental.dynamic as ndd
import nvidia.dali.types as types
from nvidia.dali import types as the_same
from nvidia.dali.experimental.dynamic import random, readers
import avida, importlib.util, nvidia.dali, pickle
assert ndd is avida and types is the_same is avida.types and random is avida.random and readers is avida.readers
assert nvidia.dali.__version__ == "2.4.0" and not hasattr(nvidia.dali, "fn")
assert pickle.loads(pickle.dumps(ndd.resize)) is avida.resize and avida.__spec__.name == "avida"
try:
    from nvidia.dali import fn
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.stderr == ""
    assert "pipeline mode is no part of avida" in done.stdout


def test_a_library_that_imports_the_real_name(tmp_path):
    (tmp_path / "library.py").write_text("import nvidia.dali.experimental.dynamic as ndd\nname = ndd.__name__\n")
    code = "import avida.as_dali, library; import avida.as_dali; print(library.name)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert done.stdout == "avida\n", done.stderr
