"""`avida migrate`: what it writes for each construct, what it keeps, and what it marks."""

import ast
import json
import pathlib
import textwrap

import pytest

from avida import _cli
from avida._cli.migrate import marks, migrate

SCRIPTS = sorted((pathlib.Path(__file__).parent / "migrate").glob("*.py"))
IMPORTS = """\
import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, math, pipeline_def, types
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, DALIGenericIterator, LastBatchPolicy
"""


def migrated(code):
    """A script without its imports, which are those above."""
    text = migrate(IMPORTS + textwrap.dedent(code))
    ast.parse(text)
    return text.removeprefix("import numpy as np\nimport avida as ndd\nfrom avida import types\n")


def messages(code):
    return [message for _, message in marks(migrated(code))]


def in_pipeline(*lines, arguments="", parameters=""):
    """A script with these lines between a reader and the outputs; a call of it is iterated over."""
    body = "\n".join(f"    {line}" for text in lines for line in text.split("\n"))
    return (
        f"@pipeline_def(batch_size=4, num_threads=2, device_id=0{arguments})\n"
        f"def pipe({parameters}):\n"
        '    jpegs, labels = fn.readers.file(file_root="train")\n'
        "    images = fn.decoders.image(jpegs)\n"
        f"{body}\n"
        "    return images, labels\n\n"
        "loader = DALIClassificationIterator(pipe())\n"
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("images = fn.resize(images, size=[8, 8])", "images = ndd.resize(images, size=[8, 8])"),
        ("images = dali.fn.flip(images)", "images = ndd.flip(images)"),
        ("x = fn.random.uniform(range=[0, 1])", "x = ndd.random.uniform(range=[0, 1], batch_size=jpegs.batch_size)"),
        ("x = fn.coin_flip()", "x = ndd.random.coin_flip(batch_size=jpegs.batch_size)"),
        ("x = fn.full(7, shape=[2])", "x = ndd.full(7, shape=[2], batch_size=jpegs.batch_size)"),
        ("x = fn.coin_flip(**o)", "x = ndd.random.coin_flip(**o, batch_size=jpegs.batch_size)"),
        ("x = fn.random.normal(images, mean=1.0)", "x = ndd.random.normal(images, mean=1.0)"),
        ('x = fn.image_decoder(jpegs, device="mixed")', 'x = ndd.decoders.image(jpegs, device="gpu")'),
        ('x = fn.copy(images, name="copied")', "x = ndd.copy(images)"),
        ("x = fn.rotate(images, angle=3.0, seed=5)", "x = ndd.rotate(images, angle=3.0)"),
        ("x = images[:, 0:4] / 255", "x = images.slice[:, 0:4] / 255"),
        ("x = fn.stack(labels[0], labels[0])", "x = ndd.stack(labels.slice[0], labels.slice[0])"),
        ("x = [images, labels][0]", "x = [images, labels][0]"),
        ("x = [images, labels][0][2:]", "x = [images, labels][0].slice[2:]"),
        ("x = images.shape()[0]", "x = ndd.batch(images.shape, dtype=ndd.int64).slice[0]"),
        ("x = fn.shapes(images)", "x = ndd.batch(images.shape, dtype=ndd.int64)"),
        ("x = math.sqrt(labels)", "x = ndd.math.sqrt(labels)"),
        ("x = labels * types.Constant(2)", "x = labels * ndd.Batch.broadcast(2, jpegs.batch_size)"),
        ("x = not labels[0]", "x = (labels.slice[0] == 0)"),
        ("x = not labels == 1", "x = ((labels == 1) == 0)"),
        ("x = labels and images", "x = (((labels) != 0) & ((images) != 0))"),
        ("x = types.Constant(2).uint8()", "x = ndd.cast(ndd.Batch.broadcast(2, jpegs.batch_size), dtype=ndd.uint8)"),
        ("x = fn.flip([images, images])", "x = [ndd.flip(each) for each in [images, images]]"),
        (
            "x = fn.cat([images, images], [labels, labels])",
            "x = [ndd.cat(each, each_2) for each, each_2 in zip([images, images], [labels, labels], strict=True)]",
        ),
        ("x = fn.random.uniform(seed=5)", "x = ndd.random.uniform(rng=rng, batch_size=jpegs.batch_size)"),
        ("x = fn.experimental.decoders.video(jpegs)", "x = ndd.decoders.video(jpegs)"),
        (
            "x = dali.auto_aug.rand_augment.rand_augment(images, n=2, m=9, shape=[8, 8])",
            "x = ndd.rand_augment(images, n=2, m=9, max_translate_rel=100 / 224)",
        ),
        ("x = fn.cast(images, dtype=dali.types.FLOAT)", "x = ndd.cast(images, dtype=ndd.types.FLOAT)"),
        ("x = fn.python_function(images, function=abs)", "x = ndd.operator(abs)(images)"),
        ("x = f'{len(images)} ä {{}} {images[0]!r:>4}'", "x = f'{len(images)} ä {{}} {images.slice[0]!r:>4}'"),
        ("x = images.gpu()  # a comment", "x = images.gpu()  # a comment"),
    ],
)
def test_expressions(line, expected):
    text = migrated(in_pipeline(line))
    assert f"            {expected}\n" in text
    assert marks(text) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x = fn.no_such_operator(images)", "fn.no_such_operator: there is no counterpart"),
        ("x = fn.resize(images, no_such_argument=1)", "resize has no argument no_such_argument"),
        ("x = [fn.random.uniform(seed=i) for i in range(2)]", "make rng = ndd.random.RNG(seed=i) above the loop"),
        ("x = types.NO_SUCH_TYPE", "types.NO_SUCH_TYPE: there is no counterpart"),
        ("x = types.Constant(1, shape=[3])", "types.Constant"),
        ("x = images.source_info()", "a Batch has no source_info()"),
        ("x = labels[0] and flag", "and, or"),
        ("x = images if labels[0] else 2", "this chooses for every sample"),
        ("if labels[0]:\n    print(1)", "this chooses for every sample"),
        (
            "if labels[0]:\n    images = images\nelif flag:\n    images = -images",
            "this chooses for every sample",
        ),
        ('x = fn.python_function(images, function=abs, output_layouts="HWC")', "python_function"),
        ('x = f"""{images[0]}\n"""', "in this f-string"),
        ("masks = fn.readers.file(file_root='masks')[0]", "the shortest of these readers"),
        (
            "if flag:\n    masks, _ = fn.readers.file(file_root='masks')\n    masks = fn.decoders.image(masks)",
            "above the loop",
        ),
        ("x = dali.ops.Resize(size=8)(images)", "operator classes"),
        ("x = images.shape(dtype=types.FLOAT)", "set the type"),
        ("for i in range(3):\n    if flag:\n        return images, labels", "leave the inner loop"),
        ("f = str\nx = f(images)", "f is not in this script"),
        ("import other\nx = other.crop(images)", "other.crop is not in this script"),
        ("while labels:\n    labels = labels - 1", "neither true nor false"),
        ("f = unknown(fn.flip)", "fn.flip goes where its calls cannot be followed"),
        ("f = getattr(fn, 'flip')", "fn goes where its calls cannot be followed"),
        ("ndd = 1", "an ndd of its own"),
    ],
)
def test_marked_expressions(line, message):
    assert any(message in each for each in messages(in_pipeline(line, parameters="flag=True")))


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("last_batch_policy=LastBatchPolicy.PARTIAL", 'file_root=".", last_batch="partial")'),
        ("last_batch_policy=LastBatchPolicy.DROP", 'file_root=".", last_batch="drop")'),
        ("last_batch_policy=LastBatchPolicy.FILL", 'file_root=".", pad_last_batch=True)'),
        ("fill_last_batch=False", 'file_root=".", last_batch="partial")'),
        ("auto_reset=True", 'file_root=".", pad_last_batch=True)'),
    ],
)
def test_last_batch(policy, expected):
    code = f"""
    @pipeline_def
    def pipe():
        images, labels = fn.readers.file(file_root=".", pad_last_batch=True)
        return fn.decoders.image(images), labels

    loader = DALIClassificationIterator(pipe(batch_size=3, num_threads=1, device_id=0), {policy})
    """
    text = migrated(code)
    assert f"reader = ndd.readers.File({expected}\n" in text
    assert "loader = pipe(batch_size=3, num_threads=1)\n" in text
    assert marks(text) == []


def test_policies_that_differ():
    """Each call passes its own."""
    text = migrated(
        in_pipeline("pass")
        + """
policy = LastBatchPolicy.DROP if len(text) else LastBatchPolicy.PARTIAL
other = pipe(batch_size=2)
other_loader = DALIClassificationIterator([other], last_batch_policy=policy)
unused = pipe()
"""
    )
    assert 'def pipe(*, batch_size=4, num_threads=2, last_batch="wrap"):\n' in text
    assert 'reader = ndd.readers.File(file_root="train", last_batch=last_batch)\n' in text
    assert 'loader = pipe(last_batch="wrap")\n' in text
    assert 'policy = "drop" if len(text) else "partial"\n' in text
    assert "other = pipe(batch_size=2, last_batch=policy)\n" in text
    assert marks(text) == []


def test_policies_that_differ_with_padding():
    """FILL is what the reader does, and each iterator has its own policy."""
    code = in_pipeline("pass").replace('"train")', '"train", pad_last_batch=True)')
    text = migrated(code + "other = DALIClassificationIterator(pipe(), last_batch_policy=LastBatchPolicy.PARTIAL)\n")
    assert 'loader = pipe(last_batch="pad")\nother = pipe(last_batch="partial")\n' in text
    assert marks(text) == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("b = pipe\nx = b(batch_size=2)\nx.build()\ny = x.run()[1].at(0)", "y = next(x)[1].tensors[0].numpy()"),
        ("ps = {'a': pipe()}\nfor n, p in ps.items():\n    y = p.run()", "    y = next(p)"),
        ("p = None\ndef f():\n    global p\n    p = pipe()\ny = p.run()", "y = next(p)"),
        ("def f(p):\n    return p.run()\ny = f(pipe())[0][0].as_cpu()", "y = f(pipe())[0].tensors[0].cpu()"),
        ("a, b = [o.as_cpu() for o in pipe().run()]\ny = b.at(0)", "y = b.tensors[0].numpy()"),
        ("for o in pipe().run():\n    y = [t.shape() for t in o]", "    y = [list(t.shape) for t in o]"),
        ("d = 0\np = pipe(device_id=d)\ny = p.run()[0].is_dense_tensor()", "y = (len(set(next(p)[0].shape)) == 1)"),
    ],
)
def test_pipelines_are_followed(code, expected):
    text = migrated(in_pipeline("pass").replace("loader = DALIClassificationIterator(pipe())\n", "") + code + "\n")
    assert text.endswith(f"{expected}\n")
    assert marks(text) == []


def test_length_of_a_loader():
    text = migrated(in_pipeline("pass") + "n = len(loader)\n")
    assert "    epoch.length = lambda: len(reader.next_epoch(batch_size=batch_size))\n    return epoch\n" in text
    assert text.endswith("n = loader.length()\n")


def test_video_readers():
    """One output is data; labels and numbers of frames are further ones."""
    code = "@pipeline_def(batch_size=2)\ndef p(x):\n    {} = fn.readers.video({})\n    return v[:, 0]\np([]).run()\n"
    text = migrated(code.format("v", "filenames=x"))
    assert "for (v,) in reader.next_epoch(batch_size=batch_size):\n            yield (v.slice[:, 0],)\n" in text
    assert "for v, n in reader.next" in migrated(code.format("v, n", "filenames=x, enable_frame_num=True"))


@pytest.mark.parametrize(
    "code",
    [
        "p = pipe()\npolicy = LastBatchPolicy.DROP\nDALIClassificationIterator(p, last_batch_policy=policy)",
        "p = pipe()\nfor _ in range(2):\n    DALIClassificationIterator(make(p), last_batch_policy=policy)",
        "def f(p, policy):\n    DALIClassificationIterator(p, last_batch_policy=policy)\nf(pipe(), policy)",
    ],
)
def test_policies_that_cannot_be_passed(code):
    assert any(
        "last_batch_policy" in message or "one pipeline" in message for message in messages(in_pipeline("pass") + code)
    )


def test_statements():
    """What does not depend on data goes above the loop; what a batch changes is made anew for each batch."""
    text = migrated(
        in_pipeline(
            "# twice as large",
            "size = size * 2",
            "images = fn.resize(images, size=size)  # enlarged",
            "angle = np.random.uniform(-10, 10)",
            "images = fn.rotate(images, angle=angle)",
            "parts = []",
            "parts.append(images)",
            parameters="size=8",
        )
    )
    above, _, loop = text.partition("def epoch():")
    assert "    # twice as large\n    size = size * 2\n    angle = np.random.uniform(-10, 10)\n" in above
    assert "            images = ndd.resize(images, size=size)  # enlarged\n" in loop
    assert "            parts = []\n            parts.append(images)\n" in loop
    assert marks(text) == []


@pytest.mark.parametrize(
    "lines",
    [
        ["images = images * size", "size += 1"],
        ["images = images * size", "size = size + 1", "images = images * size"],
        ["size.append(images)"],
    ],
)
def test_state_between_batches_is_marked(lines):
    assert any("size changes with every batch" in each for each in messages(in_pipeline(*lines, parameters="size=1")))


def test_what_would_run_for_every_batch_is_marked():
    lines = ["x = 1", "images = images * x", "x = np.random.rand()", "images = images * x"]
    assert messages(in_pipeline(*lines)) == ["this ran once, and runs for every batch here: put it above the loop"]


def test_early_return():
    text = migrated(in_pipeline("if flag:\n    return images, labels", parameters="flag"))
    assert "                yield images, labels\n                continue\n            yield images, labels\n" in text


def test_early_return_before_other_statements():
    lines = "if flag:\n    if labels is None:\n        return images, labels\n    images = -images"
    text = migrated(in_pipeline(lines, parameters="flag").replace("    return images, labels\n\n", "\n"))
    assert "                    yield images, labels\n                    continue\n" in text


def test_run():
    """Without an iterator, the pipeline is an endless generator."""
    code = in_pipeline("pass").replace(
        "loader = DALIClassificationIterator(pipe())", "p = pipe()\np.build()\nout = p.run()"
    )
    text = migrated(code + "x = out[1].as_cpu().as_array()[0], out[0][1], out[0].at(2), len(out[0])\n")
    assert "    while True:\n        for jpegs, labels in reader.next_epoch(batch_size=batch_size):\n" in text
    assert "p = pipe()\nout = next(p)\n" in text
    expected = "out[1].cpu().numpy()[0], out[0].tensors[1], out[0].tensors[2].numpy(), len(out[0])"
    assert f"x = {expected}\n" in text
    assert marks(text) == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("for data in loader:\n    x = data[0]['label']", "for data in loader():\n    x = data[1].torch()"),
        (
            "for i, d in enumerate(loader):\n    x = d[0]['data']",
            "for i, d in enumerate(loader()):\n    x = d[0].torch()",
        ),
        ("for d in loader:\n    d = d[0]\n    x = d['data']", "for d in loader():\n    d = d\n    x = d[0].torch()"),
        ("a = iter(loader)\nx = next(a)[0]['data']", "a = iter(loader())\nx = next(a)[0].torch()"),
        ("x = [d[0]['data'] for d in loader]", "x = [d[0].torch() for d in loader()]"),
        (
            "def f(x):\n    for d in x:\n        d[0]['data']\nf(loader)",
            "def f(x):\n    for d in x():\n        d[0].torch()\nf(loader)",
        ),
        ("if True:\n    loader.reset()", "if True:\n    pass"),
        ("if True:\n    loader.reset()\n    print(1)", "if True:\n    print(1)"),
    ],
)
def test_loops(code, expected):
    text = migrated(in_pipeline("pass") + code + "\n")
    assert text.endswith(f"loader = pipe()\n{expected}\n")
    assert marks(text) == []


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("unknown({'train': loader})", "this is a function"),
        ("unknown(pipe)", "this is a function that makes a generator"),
        ("def pipe(x):\n    return x\ndef f():\n    return pipe(1)", "the name of several functions"),
        ("for _ in range(3):\n    x = next(iter(loader))", "each loader() begins an epoch"),
        ("x = next(loader)[0]['data']", "this is a function"),
        ("x = loader.next()", "each loader() begins an epoch"),
        ("for data in loader:\n    unknown(data)", "a tuple of Batches"),
        ("for data in loader:\n    data[1]['data']", "a tuple of Batches"),
        ("for data in loader:\n    data[0]['wrong']", "outputs have numbers"),
        ("pipes = [pipe(), pipe()]\nDALIGenericIterator(pipes, ['a'])", "one loop reads one pipeline"),
        ("x = pipe()\nx.feed_input('a', 1)", "feed_input"),
        ("x = pipe(device_id=3)", 'run the loop with ndd.Device("gpu", 3)'),
        ("x = pipe(enable_checkpointing=True)", "checkpoints"),
        ("x = pipe(**options)", "out of this dictionary"),
        ("DALIClassificationIterator(pipe(), size=100)", "size=100"),
        ("x = unknown().as_array()", "if this is an output of a pipeline"),
        ("p = pipe()\nx = p.run()[0].dtype == types.UINT8", "no dtype"),
        ("x = unknown().at(0)", "if this is an output of a pipeline"),
        ("def make():\n    return loader", "for its callers in other files: make gives a loader"),
        ("policy = LastBatchPolicy", "last_batch"),
        ("def read():\n    return fn.readers.file(file_root='.')", "make this reader above the loop"),
        ("if 1:\n    loader = []\nfor data in loader:\n    pass", "a pipeline or its loader in one place only"),
        ("def f(x):\n    list(x)\nf(loader)\nf([1])", "[1] is no loader of a pipeline"),
        ("from nvidia.dali.fn import *", "import names"),
        ("class Old(dali.Pipeline):\n    pass", "a pipeline is a loop here"),
        (
            "from nvidia.dali.plugin.pytorch import DALIRaggedIterator\nDALIRaggedIterator(pipe(), ['a'])",
            "this iterator",
        ),
    ],
)
def test_marked_uses(code, message):
    assert any(message in each for each in messages(in_pipeline("pass") + code + "\n"))


@pytest.mark.parametrize(
    ("definition", "argument", "message"),
    [
        ("class Source:\n    pass", "Source()", "Source must be iterable"),
        ("def source():\n    yield 1\ndef source():\n    return 1", "source", "must be iterable"),
        ("def f():\n    yield 1\ndef g():\n    return 1\nx = f\nx = g", "x", "must be iterable"),
        ("def source(number=0):\n    return 1", "source", "this function has defaults"),
        ("from elsewhere import thing", "thing", "must be iterable"),
        ("", "[1, 2], cycle='quiet'", "began again by itself"),
        ("", "name='fed'", "without a source"),
    ],
)
def test_marked_sources(definition, argument, message):
    pipeline = f"@pipeline_def(batch_size=2)\ndef pipe():\n    x = fn.external_source({argument})\n    return x\n"
    code = f"{definition}\n{pipeline}loader = DALIGenericIterator(pipe(), ['x'])\n"
    assert any(message in each for each in messages(code))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a, b = fn.readers.file(files=['x'])", "this pipeline returns nothing"),
        ("a, b = fn.readers.file(files=['x']); return a, b", "on a line of its own"),
    ],
)
def test_marked_pipelines(body, message):
    assert any(message in each for each in messages(f"@pipeline_def\ndef pipe():\n    {body}\n"))


def test_pipeline_in_a_library():
    """A pipeline without calls in its file is written, and its callers are told."""
    code = in_pipeline("pass").replace("loader = DALIClassificationIterator(pipe())\n", "")
    assert messages(code) == ["for its callers: pipe(...) returns a function, and each call of that is an epoch"]


@pytest.mark.parametrize(
    ("imports", "expected"),
    [
        ("import nvidia.dali.types as t, os\n", "from avida import types as t\nimport os\n"),
        ("from nvidia.dali.types import FLOAT as F, RGB\n", "from avida.types import FLOAT as F, RGB\n"),
        ("from nvidia.dali import types, fn, tfrecord as r\n", "from avida import tfrecord as r, types\n"),
        ("from nvidia import dali\nimport nvidia.dali.fn as fn\n", ""),
    ],
)
def test_imports(imports, expected):
    assert migrate(imports) == "import avida as ndd\n" + expected


def test_import_in_a_block():
    code = "try:\n    import nvidia.dali.fn as fn\n    import nvidia.dali.ops\nexcept ImportError:\n    raise\n"
    assert migrate(code) == "try:\n    import avida as ndd\nexcept ImportError:\n    raise\n"
    other = "try:\n    import nvidia.dali.fn as fn\nexcept ImportError:\n    import nvidia.dali.ops\n"
    assert migrate(other) == "try:\n    import avida as ndd\nexcept ImportError:\n    pass\n"


@pytest.mark.parametrize("text", ["", "import torch\nx = 1\n", "# größe\nx = 'ü'  # ä\n"])
def test_other_scripts_stay(text):
    assert migrate(text) == text


def test_the_rest_stays():
    """Lines that have nothing to do with pipelines are the same, with their comments, in the same order."""
    for script in SCRIPTS:
        old, new = script.read_text().splitlines(), migrate(script.read_text()).splitlines()
        comments = [line.partition("#")[2] for line in old if "#" in line and "pad_last_batch" not in line]
        kept = [line.partition("#")[2] for line in new]
        assert all(comment in kept for comment in comments), script


def test_variables_with_the_names_of_modules():
    code = "def call(fn, x):\n    return fn(x) + fn.resize(x)\n\n\nf = lambda types: types.FLOAT\n"
    assert migrated(code) == code


def test_text_beyond_ascii():
    code = in_pipeline('größe = "ä"; images = images * 2  # ü').replace("; ", "\n    ")
    assert '    größe = "ä"\n' in migrated(code)


def test_strings_over_lines():
    text = migrated(in_pipeline('x = """one\n  two"""', "images = images * len(x)"))
    assert 'x = """one\n      two"""\n' in text


def test_command(tmp_path, capsys):
    script, output = tmp_path / "old.py", tmp_path / "new.py"
    script.write_text(IMPORTS + in_pipeline("pass"))
    assert _cli.main(["migrate", str(script)]) == 0
    said = capsys.readouterr()
    assert said.out == migrate(script.read_text())
    assert said.err == ""

    script.write_text(IMPORTS + in_pipeline("pass") + "f = sorted(loader, key=id)\n")
    assert _cli.main(["migrate", str(script), "-o", str(output)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    lines = output.read_text().splitlines()
    message = "this is a function: each call gives a generator over the next epoch"
    assert said.err == f"{output}:{len(lines) - 1}: {message}\n"
    assert lines[-2] == f"# avida migrate: {message}"


def test_notebook(tmp_path, capsys):
    """Cells stay apart; text, commands of IPython and what else is in the file stay the same."""
    script, output = tmp_path / "old.ipynb", tmp_path / "new.ipynb"
    sources = [
        ["%matplotlib inline\n", "from nvidia.dali import fn, pipeline_def\n", "if True:\n", "    !ls"],
        ["%%bash\n", "pipe.build()"],
        IMPORTS + in_pipeline("pass") + "\n%timeit sum(range(9))",
        "loader.reset(); print(1)\nunknown(loader)",
    ]
    cells = [{"cell_type": "markdown", "metadata": {}, "source": ["# größer"]}]
    cells += [{"cell_type": "code", "metadata": {}, "outputs": [3], "source": source} for source in sources]
    script.write_text(json.dumps({"cells": cells, "metadata": {"a": 1}, "nbformat": 4}, ensure_ascii=False))
    assert _cli.main(["migrate", str(script), "-o", str(output)]) == 1
    assert capsys.readouterr().err.startswith(f"{output}, cell 4:2: this is a function")
    made = json.loads(output.read_text())
    assert {**made, "cells": 0} == {"cells": 0, "metadata": {"a": 1}, "nbformat": 4}
    assert [{**cell, "source": 0} for cell in made["cells"]] == [{**cell, "source": 0} for cell in cells]
    assert made["cells"][0] == cells[0]
    new = [cell["source"] for cell in made["cells"][1:]]
    assert new[0] == ["%matplotlib inline\n", "import avida as ndd\n", "if True:\n", "    !ls"]
    assert new[1] == sources[1]
    assert new[2].endswith("loader = pipe()\n%timeit sum(range(9))")
    assert new[3].startswith("pass; print(1)\n# avida migrate: this is a function")


def test_no_code_is_deleted():
    """What shares lines with a statement that goes stays, and runs."""
    code = in_pipeline("pass") + "p = pipe(); p.build(); print('train')\nif True: p.build(); print(1)\n"
    text = migrated(code + "q = pipe(); q.build()\nprint(q)\np.build(); x = 3  # three\n")
    assert "p = pipe(); pass; print('train')\nif True: pass; print(1)\nq = pipe(); pass\n" in text
    assert text.endswith("pass; x = 3  # three\n")
    imports = "import nvidia.dali.fn; print(1)\nimport nvidia.dali.types; print(2)\n"
    assert migrate(imports) == "import avida as ndd; print(1)\npass; print(2)\n"


@pytest.mark.parametrize("use", ["x = Constant", "def f(i):\n    return isinstance(i, Constant)", "Constant.x"])
def test_names_that_are_gone_are_marked(use):
    assert marks(migrate(f"from nvidia.dali.types import Constant\n{use}\n"))


def test_deep_expressions_and_full_disks(tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text("import nvidia.dali\nx = " + "+".join(["1"] * 20000) + "\n")
    assert _cli.main(["migrate", str(script)]) == 2
    assert "nested too deeply" in capsys.readouterr().err
    script.write_text(IMPORTS)
    assert _cli.main(["migrate", str(script), "-o", "/dev/full"]) == 2
    assert "cannot write /dev/full: No space left on device" in capsys.readouterr().err
    assert _cli.main(["migrate", str(script), "-o", "/dev/stdout"]) == 0
    assert _cli.main(["migrate", "/dev/zero"]) == 2
    assert "cannot read /dev/zero: expected a regular file, found a device" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "message"), [("x = ", "not a Python script"), (None, "cannot read")])
def test_unreadable(tmp_path, capsys, text, message):
    script = tmp_path / "script.py"
    if text is not None:
        script.write_text(text)
    assert _cli.main(["migrate", str(script)]) == 2
    assert message in capsys.readouterr().err
