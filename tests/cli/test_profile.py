"""`avida profile script.py`: the script runs as it would, and what was measured follows."""

import json
import subprocess
import sys
import textwrap

CODE = """
import sys
import nvidia.dali.experimental.dynamic as ndd
import numpy as np

batch = ndd.batch([np.zeros((8, 9, 3), np.uint8)] * 4, layout="HWC")
for i in range(3):
    x = ndd.flip(batch)
    x.evaluate()
print("arguments:", sys.argv[1:])
"""


def profile(tmp_path, code, *arguments, options=()):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    command = [sys.executable, "-m", "avida", "profile", *options, str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=tmp_path)


def test_report(tmp_path):
    done = profile(tmp_path, CODE, "--epochs", "3", options=["--trace", "trace.json"])
    assert done.stderr == ""
    assert done.returncode == 0
    first, rest = done.stdout.split("\n", 1)
    assert first == "arguments: ['--epochs', '3']"
    assert "script.py\nline  operator  calls" in rest
    assert "\n   8  flip          3  " in rest
    assert "x = ndd.flip(batch)" in rest
    names = {event["name"] for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]}
    assert "flip" in names


def test_exit_code(tmp_path):
    done = profile(tmp_path, CODE + "sys.exit(7)\n")
    assert done.returncode == 7
    assert "flip" in done.stdout


def test_error(tmp_path):
    """The report comes in any case; the traceback is the script's."""
    done = profile(tmp_path, CODE + "1 / 0\n")
    assert done.returncode == 1
    assert "flip" in done.stdout
    assert "ZeroDivisionError" in done.stderr
    assert "avida/_cli" not in done.stderr


def test_nothing_to_run(tmp_path):
    command = [sys.executable, "-m", "avida", "profile", str(tmp_path / "none.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "avida profile: cannot read" in done.stderr


def test_script_without_calls(tmp_path):
    done = profile(tmp_path, "print('nothing')")
    assert done.stdout == "nothing\n"
    assert done.returncode == 0
