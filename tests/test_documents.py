"""What the documents say is true: their code runs, and what they show stands in the sources."""

import doctest
import importlib
import json
import os
import pathlib
import pkgutil
import re
import subprocess
import sys
import tomllib

import numpy as np
import pyarrow.parquet
import pytest
from PIL import Image

import avida
from avida import _core
from avida._values.picture import png
from avida.readers._webdataset import index_webdataset
from tests.annotated_folders import write_folders, write_patterns, write_sounds
from tests.codecs.videos import encoded
from tests.readers.tars import write_tar
from tests.storage.http_server import serving
from tests.storage.hub import hub_of
from tests.storage.stores import objects_in

ROOT = pathlib.Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "skills").rglob("*.md")])
FENCE = re.compile(r"^```(\w*)(?: title=(\S+)| (needs=gpu))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
LANGUAGES = {"cpp", "python", "sh", "text"}
LINK = re.compile(r"\]\(([^)#:]*)(?:#([^):]+))?\)")
HEADING = re.compile(r"^#+ (.*)", re.MULTILINE)
OPERATORS = [op for op in map(_core.describe_op, range(_core.op_count())) if not op["hidden"]]
WRITTEN_BY_HAND = ["avida"] + [
    module.name
    for module in pkgutil.walk_packages(avida.__path__, "avida.")
    if not module.name.endswith(("._ops", "._core", ".as_dali"))  # importing the last one changes what `nvidia.dali` is
]
# Documents whose code runs in a process of its own, since its libraries start threads or processes, and how.
PROGRAMS = {
    "docs/command-line.md": ["-m", "avida", "run"],
    "docs/recipes/ddp.md": ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"],
    "docs/recipes/jax.md": [],
    "docs/recipes/lightning.md": [],
    "docs/recipes/ray.md": [],
}


def train_step(images, labels) -> None:
    """One step of training: labels of a wrong shape or type make it fail, as they would a user's."""
    import torch

    network = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.LazyLinear(10))
    loss = torch.nn.functional.cross_entropy(network.to(images.device)(images), labels)
    loss.backward()
    assert loss.isfinite()


def names() -> dict:
    """What every example finds defined."""
    image = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    return {
        "avida": avida,
        "np": np,
        "image": avida.as_tensor(image, layout="HWC"),
        "batch": avida.as_batch([image, image[:3, :5]], layout="HWC"),
        "train_step": train_step,
    }


def fences(document: pathlib.Path) -> list[tuple[str, str, str, str]]:
    """(language, file that is shown, what it needs, text) of every code block."""
    return FENCE.findall(document.read_text())


def name_of(document: pathlib.Path) -> str:
    return str(document.relative_to(ROOT))


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A current folder with images of two classes under train/, val/ and downloads/, one of the latter being bad."""
    random = np.random.default_rng(0)
    for i in range(12):
        image = random.integers(0, 256, (40 + i, 60 - i, 3), np.uint8)
        for folder in ("train", "val", "downloads"):
            file = tmp_path / folder / ("cats", "dogs")[i % 2] / f"{i}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(png(image))
    (tmp_path / "downloads" / "dogs" / "broken.png").write_bytes(png(image)[:1000])
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def annotated(tmp_path):
    """coco/: five images with boxes, the last one without."""
    random = np.random.default_rng(0)
    (tmp_path / "coco" / "images").mkdir(parents=True)
    images, boxes = [], []
    for i in range(5):
        (tmp_path / "coco" / "images" / f"{i}.png").write_bytes(png(random.integers(0, 256, (60, 80 - i, 3), np.uint8)))
        images.append({"id": i, "file_name": f"{i}.png", "width": 80 - i, "height": 60})
        boxes += [{"image_id": i, "category_id": 1 + k, "bbox": [5 * k, 9, 30, 25]} for k in range(4 - i)]
    classes = [{"id": 1 + k, "name": f"class {k}"} for k in range(4)]
    annotations = {"images": images, "annotations": boxes, "categories": classes}
    (tmp_path / "coco" / "annotations.json").write_text(json.dumps(annotations))


@pytest.fixture
def table(tmp_path, monkeypatch):
    """rows.parquet: twelve encoded images of two classes."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    random = np.random.default_rng(0)
    files = [png(random.integers(0, 256, (40 + i, 60 - i, 3), np.uint8)) for i in range(12)]
    rows = pyarrow.table({"image": files, "label": [i % 2 for i in range(12)]})
    pyarrow.parquet.write_table(rows, tmp_path / "rows.parquet")


@pytest.fixture
def masks(tmp_path):
    """voc/: six photos, and masks with a palette: 21 classes, and 255 along their borders."""
    random = np.random.default_rng(0)
    for i in range(6):
        labels = np.kron(random.integers(0, 21, (7, 8)), np.ones((10, 10), int))[: 60 + i, : 80 - i]
        labels = np.where(random.random(labels.shape) < 0.1, 255, labels)
        mask = Image.fromarray(labels.astype(np.uint8), "P")
        palette = np.random.default_rng(1).integers(0, 256, (256, 3), np.uint8)
        mask.putpalette(palette.tobytes())
        photo = Image.fromarray(palette[labels])
        for folder, image, ending in (("JPEGImages", photo, "jpg"), ("SegmentationClass", mask, "png")):
            (tmp_path / "voc" / folder).mkdir(parents=True, exist_ok=True)
            image.save(tmp_path / "voc" / folder / f"{i}.{ending}")


@pytest.fixture
def shapes(request, tmp_path):
    """Folders in YOLO's forms, and sounds, for the recipes that train on them."""
    text = request.getfixturevalue("document").read_text()
    if "losses" in text:
        import torch

        torch.manual_seed(1)  # a loss of random numbers may fall late
        avida.random.set_seed(1)
    if "readers.Annotated" in text:
        write_folders(tmp_path)
    if '"sounds"' in text:
        write_sounds(tmp_path)
    if '"patterns"' in text:
        write_patterns(tmp_path)


@pytest.fixture
def robot(tmp_path):
    """robot/: three episodes as LeRobot has them, with videos of two cameras, one of which begins a second file."""
    cameras, lengths = ("observation.images.front", "observation.images.wrist"), (7, 5, 6)
    starts, place = np.cumsum((0, *lengths)), ((0, 0.0), (0, 7 / 25), (1, 0.0))  # file, beginning
    info = {"fps": 25, "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"}
    info["features"] = {name: {"dtype": "video"} for name in cameras} | {"action": {"dtype": "float32"}}
    rows = [(e, i) for e, n in enumerate(lengths) for i in range(n)]
    pairs = pyarrow.array([[i / 25, e] for e, i in rows], pyarrow.list_(pyarrow.float32(), 2))
    data = {"index": range(len(rows)), "episode_index": [e for e, _ in rows], "observation.state": pairs}
    data["action"] = pairs
    data["timestamp"] = pyarrow.array([i / 25 for _, i in rows], pyarrow.float32())
    episodes = {"episode_index": range(3), "dataset_to_index": starts[1:]}
    for name in cameras:
        episodes |= {f"videos/{name}/chunk_index": [0] * 3, f"videos/{name}/file_index": [file for file, _ in place]}
        episodes[f"videos/{name}/from_timestamp"] = [begin for _, begin in place]
        for file, frames in enumerate((12, 6)):
            path = tmp_path / "robot" / info["video_path"].format(video_key=name, chunk_index=0, file_index=file)
            path.parent.mkdir(parents=True, exist_ok=True)
            encoded("libx264", "mp4", frames=frames, gop=2).tofile(path)
    (tmp_path / "robot/meta").mkdir()
    (tmp_path / "robot/meta/info.json").write_text(json.dumps(info))
    for folder, table in (("data", data), ("meta/episodes", episodes)):
        (tmp_path / "robot" / folder / "chunk-000").mkdir(parents=True)
        pyarrow.parquet.write_table(pyarrow.table(table), tmp_path / "robot" / folder / "chunk-000/file-000.parquet")


@pytest.fixture
def bucket(folders, tmp_path, monkeypatch):
    """An S3 server with val/, and with train/ in three archives with indices."""
    objects = objects_in(tmp_path / "val", "bucket/val")
    files = sorted((tmp_path / "train").rglob("*.png"))
    for shard in range(3):
        path = tmp_path / f"bucket-{shard:03}.tar"
        fields = [
            (f"{i}.{field}", content)
            for i, file in list(enumerate(files))[shard::3]
            for field, content in (("png", file.read_bytes()), ("cls", b"%d" % (file.parent.name == "dogs")))
        ]
        write_tar(path, fields)
        objects[f"bucket/train/{shard:03}.tar"] = path.read_bytes()
        objects[f"bucket/train/{shard:03}.idx"] = index_webdataset(path).encode()
        path.unlink()
    with serving(objects) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        avida.storage.configure("s3://")  # which pages may have configured
        yield
        avida.storage.configure("s3://bucket")
        avida.storage.configure("s3://")


@pytest.fixture
def hub(tmp_path, table):
    """owner/name on the Hub, as it has converted it: the rows of rows.parquet."""
    rows = pyarrow.parquet.read_table(tmp_path / "rows.parquet")
    files = [{"bytes": content, "path": f"{i}.png"} for i, content in enumerate(rows["image"].to_pylist())]
    features = {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}
    about = {"huggingface": json.dumps({"info": {"features": features}})}
    converted = pyarrow.table({"image": files, "label": rows["label"]}).replace_schema_metadata(about)
    path = tmp_path / "hub" / "refs" / "convert" / "parquet" / "default" / "train" / "0000.parquet"
    path.parent.mkdir(parents=True)
    pyarrow.parquet.write_table(converted, path, row_group_size=5)
    with hub_of(tmp_path / "hub"):
        yield


@pytest.mark.usefixtures("annotated", "shapes", "table", "masks", "robot", "bucket", "hub")
@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_code_runs(document, folders, tmp_path):
    """The Python blocks of a document run one after another, as a reader would run them."""
    blocks = [code for language, shown, needs, code in fences(document) if language == "python" and not shown + needs]
    if name_of(document) in PROGRAMS:
        script = tmp_path / "program.py"
        if name_of(document) == "docs/recipes/ddp.md":
            blocks += ["import os", "os._exit(0)"]  # the page says why PyTorch may abort at the end of the interpreter
        script.write_text("\n".join(blocks))
        alone = os.environ | {"RAY_ADDRESS": "local"}  # not in the Ray of a test that runs at the same time
        subprocess.run([sys.executable, *PROGRAMS[name_of(document)], script], check=True, timeout=600, env=alone)
        return
    scope = names()
    for code in blocks:
        exec(compile(code, name_of(document), "exec"), scope)
    avida.EvalContext.current().evaluate_all()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_block_says_what_it_is(document):
    """So that no code is left out: `test_code_runs` runs Python, `test_commands_run` commands of the shell.

    What needs a GPU is run by tests/gpu/test_documents.py.
    """
    lines = [line for line in document.read_text().splitlines() if line.lstrip().startswith(("```", "~~~"))]
    assert len(lines) == 2 * len(fences(document)), "a block is indented, or its first line has another form"
    assert {language for language, *_ in fences(document)} <= LANGUAGES


COMMANDS = [
    (document, line.partition("  #")[0])
    for document in DOCUMENTS
    for language, _, _, code in fences(document)
    if language == "sh"
    for line in code.splitlines()
]


@pytest.mark.parametrize(
    ("document", "command"), COMMANDS, ids=lambda value: name_of(value) if value in DOCUMENTS else value
)
def test_commands_run(document, command, folders, tmp_path):
    """Those of avida run, beside a script that they are given; targets of make have to exist."""
    (tmp_path / "train.py").write_text(
        "import nvidia.dali.experimental.dynamic as ndd; assert ndd.flip.__module__ == 'avida._ops'"
    )
    words = command.removeprefix("python -m ").split()
    if words[0] == "avida":
        subprocess.run([sys.executable, "-m", *words], check=True, timeout=600)
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    elif words[:2] == ["pip", "install"]:
        assert words[2] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"]
    else:
        assert words[:2] == ["git", "clone"], f"{name_of(document)} has a command that nothing checks"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_what_is_shown_is_there(document):
    """A block with title=FILE shows consecutive lines of that file; a link leads somewhere."""
    for _, shown, _, code in fences(document):
        if shown:
            assert code in (ROOT / shown).read_text(), f"{shown} has changed, {name_of(document)} has not"
    for target, anchor in LINK.findall(FENCE.sub("", document.read_text())):
        page = document.parent / target if target else document
        assert page.exists(), f"{name_of(document)} links to {target}, which is not there"
        if anchor:
            headings = {anchor_of(heading) for heading in HEADING.findall(FENCE.sub("", page.read_text()))}
            assert anchor in headings, f"{name_of(document)} links to {target}#{anchor}, which is not there"


def anchor_of(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda op: op["name"])
def test_operator_example(operator):
    if operator["gpu_only"] and not _core.gpu_count():
        pytest.skip("there is no GPU")
    lines = operator["example"].splitlines()
    assert lines, f"{operator['name']} has no example"
    code = "\n".join(line.removeprefix(">>> ").removeprefix("... ") for line in lines)
    with avida.EvalMode.sync_cpu:  # errors surface at the call
        exec(compile(code, f"the example of {operator['name']}", "exec"), names())


@pytest.mark.parametrize("module", WRITTEN_BY_HAND)
def test_docstrings(module):
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    for case in finder.find(importlib.import_module(module), extraglobs=names()):
        runner.run(case, out=report.append)
    assert not report, "\n".join(report)


def test_lengths():
    """Short enough to be read."""
    assert len((ROOT / "README.md").read_text().splitlines()) <= 60
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 230  # with its picture
