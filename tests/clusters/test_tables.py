"""Spark and Dask, as their recipe says: what it defines is called here."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import avida as ndd
from avida._values.picture import png

RECIPE = pathlib.Path(__file__).parents[2] / "docs/recipes/spark-dask.md"
ROWS = 12


@pytest.fixture
def expected(tmp_path):
    random = np.random.default_rng(0)
    files = [png(random.integers(0, 200 + i, (40, 60, 3), np.uint8)) for i in range(ROWS)]
    table = pa.table({"image": files, "label": list(range(ROWS))})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=5)
    images = ndd.decoders.image(ndd.batch(files))
    return ndd.reductions.mean(ndd.resize(images, size=[32, 32])).torch().tolist()


def run_recipe(function, folder):
    code = [block.partition("\n```")[0] for block in RECIPE.read_text().split("```python\n")[1:]]
    told = f"print({function}().sort_values('label').to_json(orient='values'))"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([*code, told])],
        cwd=folder,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return eval(done.stdout.splitlines()[-1])


def check(rows, expected):
    assert [label for label, _ in rows] == list(range(ROWS))
    assert np.allclose([value for _, value in rows], expected, rtol=1e-6)


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java: apt-get install default-jre-headless")
def test_spark(tmp_path, expected):
    check(run_recipe("with_spark", tmp_path), expected)


def test_dask(tmp_path, expected):
    check(run_recipe("with_dask", tmp_path), expected)
