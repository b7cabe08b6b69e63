"""Data sets of a million samples and of 100 GiB: little memory, and nothing that has to be read first."""

import subprocess
import sys

import numpy as np
import pytest

from tests.readers.records import example, ints, tfrecord

# Prints the bytes by which making a reader made the process grow, for each sample, and what is read here and there.
MEASURE = """
import resource, sys
import numpy as np
import avida
from avida import tfrecord

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

avida.readers.File(files=[sys.argv[0]], labels=[0])
before = resident()
{make}
print((resident() - before) / len(reader))
{use}
"""


def run(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_million_files(tmp_path, shuffle):
    lines = [f"class_{i % 1000:04d}/image_{i:09d}.jpg {i % 1000}\n" for i in range(1_000_000)]
    (tmp_path / "list.txt").write_text("".join(lines))
    (tmp_path / "class_0005").mkdir()
    for i in (5, 999_005):
        (tmp_path / f"class_0005/image_{i:09d}.jpg").write_bytes(str(i).encode())
    script = MEASURE.format(
        make=f"reader = avida.readers.File(file_list={str(tmp_path / 'list.txt')!r}, random_shuffle={shuffle})",
        use="for i in (5, 999_005): print(bytes(np.asarray(reader[i][0])).decode())\n"
        "print(len(reader.next_epoch(batch_size=64)))",
    )
    size, *rest = run(script)
    assert float(size) < 200
    assert rest == ["5", "999005", "15625"]


def test_records_in_100_gib(tmp_path):
    """The file is a hole but for some records: who reads it all would take minutes."""
    step, count = 100 * 1024, 1 << 20
    path, index = tmp_path / "data.tfrecord", tmp_path / "data.idx"
    with open(path, "wb") as file:
        try:
            file.truncate(step * count)
        except OSError:
            pytest.skip("the file system has no sparse files of 100 GiB")
        for i in (0, 3, count - 1):
            file.seek(i * step)
            file.write(tfrecord(example(label=ints(i % 101))))
    size = len(tfrecord(example(label=ints(0))))
    index.write_text("".join(f"{i * step} {size}\n" for i in range(count)))
    script = MEASURE.format(
        make=f"reader = avida.readers.TFRecord(path={str(path)!r}, index_path={str(index)!r}, "
        "features={'label': tfrecord.FixedLenFeature([1], tfrecord.int64, -1)})",
        use=f"print([int(np.asarray(reader[i]['label'])[0]) for i in (0, 3, {count - 1})])",
    )
    size, read = run(script)
    assert float(size) < 200
    assert read == str([0, 3, (count - 1) % 101])


def test_arrays_of_numbers_are_not_kept(tmp_path):
    """A reader of many small files keeps their names, not what is in them."""
    for i in range(500):
        np.save(tmp_path / f"{i:04d}.npy", np.zeros(10_000))
    script = MEASURE.format(
        make=f"reader = avida.readers.Numpy(file_root={str(tmp_path)!r})",
        use="print(len(list(reader.next_epoch(batch_size=50))))",
    )
    size, batches = run(script)
    assert float(size) < 2000  # pages count as a whole
    assert batches == "10"
