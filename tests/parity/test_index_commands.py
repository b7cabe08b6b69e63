"""tfrecord2idx and wds2idx write what the real commands write. The real rec2idx needs MXNet."""

import pathlib
import subprocess
import sys
import tarfile

import pytest

from avida._cli.index_commands import tfrecord2idx, wds2idx
from tests.readers.records import example, ints, write_tfrecords


@pytest.mark.parametrize("command", [tfrecord2idx, wds2idx])
def test_the_same_index(command, tmp_path):
    file = tmp_path / "file"
    if command is tfrecord2idx:
        write_tfrecords(file, [example(number=ints(*range(i))) for i in range(5)])
    else:
        with tarfile.open(file, "w") as tar:
            for name in ("a.jpg", "a.txt", "b.jpg", "sub/c.jpg"):
                tar.add(__file__, name)
    real = pathlib.Path(sys.executable).parent / command.__name__
    subprocess.run([sys.executable, real, file, tmp_path / "real"], check=True, capture_output=True, timeout=600)
    assert command([str(file), str(tmp_path / "ours")]) == 0
    ours, theirs = ([line.split() for line in (tmp_path / name).read_text().splitlines()] for name in ("ours", "real"))
    assert ours == theirs
