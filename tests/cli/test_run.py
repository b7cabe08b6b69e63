"""`python -m avida run script.py`: the script is unchanged, and finds avida under the name it asks for."""

import subprocess
import sys
import textwrap

import pytest

from avida import types


def run(tmp_path, code, *arguments, name="script.py"):
    script = tmp_path / name
    script.write_text(textwrap.dedent(code))
    command = [sys.executable, "-m", "avida", "run", str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


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
        [sys.executable, "-m", "avida", "run", str(tmp_path / "none.py")], capture_output=True, text=True, timeout=60
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
                print(pool.map_async(work, [1, 2]).get(timeout=50))
        """,
    )
    assert done.stdout == "[('avida', 2), ('avida', 3)]\n", done.stderr


def test_types():
    assert types.to_numpy_type(types.FLOAT).__name__ == "float32"
    assert types.to_dali_type("uint8") is types.UINT8
    assert types.to_dali_type(types.to_numpy_type(types.BOOL)) is types.BOOL
    with pytest.raises(TypeError, match="complex"):
        types.to_dali_type(complex)
