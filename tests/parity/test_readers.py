"""readers.File of both libraries over the same folders: files, labels, batches, shards, padding, metadata, errors.

Orders of shuffles differ, by design: there, the two agree on which samples an epoch has.
"""

import inspect
import os

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Odd names, links, an empty folder, files that are no images. Each file holds its own name."""
    folder = tmp_path_factory.mktemp("files")
    names = "b/1.jpg b/10.jpg b/2.JPG a/x.png a/y.txt a/sub/z.jpg Z/k.webp top.jpg a/a.jpeg b/B.jpg"
    for name in [*names.split(), "c d/sp ace.wav", "é/ü.tiff"]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    (folder / "empty").mkdir()
    (folder / "a" / "folder.jpg").mkdir()
    (folder / "a" / "link.jpg").symlink_to(folder / "b" / "1.jpg")
    (folder / "linked").symlink_to(folder / "b")
    return str(folder)


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    """Ten files in one folder, each with its number as its only byte."""
    folder = tmp_path_factory.mktemp("numbered")
    (folder / "a").mkdir()
    for i in range(10):
        (folder / "a" / f"{i}.jpg").write_bytes(bytes([i]))
    return str(folder)


def items_of(epoch):
    """Per batch (or sample): bytes and label of every sample, with types and shapes."""
    out = []
    for files, labels in epoch:
        one = type(files).__name__ == "Tensor"
        pairs = zip([files] if one else files, [labels] if one else labels, strict=True)
        out.append(
            (
                type(files).__name__,
                str(files.dtype),
                str(labels.dtype),
                [(bytes(np.asarray(f)), tuple(label.shape), int(np.asarray(label)[0])) for f, label in pairs],
            )
        )
    return out


def read(library, batch_size=20, epochs=1, **arguments):
    reader = library.readers.File(**arguments)
    size = {} if batch_size is None else {"batch_size": batch_size}
    read = [items_of(reader.next_epoch(**size)) for _ in range(epochs)]
    return read, reader.get_metadata()


def both(**arguments):
    """The same epochs and metadata, or exceptions of one type."""
    try:
        theirs = read(dali, **arguments)
    except Exception as error:
        with pytest.raises(type(error)):
            read(avida, **arguments)
        return
    assert read(avida, **arguments) == theirs


FOLDERS = [
    {},
    {"case_sensitive_filter": True},
    {"file_filters": ["*.txt", "1*"]},
    {"file_filters": ["?.jpg", "[ab].*", "*b*"]},
    {"file_filters": "*.png"},
    {"file_filters": ["*"]},
    {"dir_filters": ["a", "B"]},
    {"dir_filters": ["a", "B"], "case_sensitive_filter": True},
    {"dir_filters": "?"},
    {"file_filters": []},
    {"dir_filters": []},
    {"file_filters": ["*.none"]},
    {"lazy_init": True, "skip_cached_images": True, "read_ahead": True, "dont_use_mmap": True, "initial_fill": 2},
]


@pytest.mark.parametrize("arguments", FOLDERS, ids=str)
def test_folders(root, arguments):
    both(file_root=root, **arguments)


def test_hidden_names_where_they_are_asked_for(tmp_path):
    for name in ("a/1.jpg", "a/._1.jpg", ".b/2.jpg", "c/.hidden"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    chosen = {"file_filters": ["*.jpg", ".*.jpg"], "dir_filters": ["*", ".*"]}
    assert read(avida, file_root=tmp_path, **chosen) == read(dali, file_root=str(tmp_path))


def test_a_class_without_a_file_that_is_read(tmp_path):
    for name in ("a/1.none", "b/1.jpg", "d/1.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "c").mkdir()
    with pytest.warns(UserWarning, match=r"a \(label 0\)"):
        both(file_root=str(tmp_path))


def test_slash_at_the_end(root):
    both(file_root=root + "/")


@pytest.mark.parametrize("where", ["nowhere", "top.jpg", "empty", "b"])
def test_folders_without_files(root, where):
    both(file_root=f"{root}/{where}")


LISTS = [
    "b/1.jpg 3\na/x.png 4\n",
    "b/1.jpg 3\n\n  \na/x.png 4",
    "b/1.jpg\t3\na/x.png   04  ",
    "b/1.jpg 3\r\na/x.png 4\r\n",
    "c d/sp ace.wav 3\n",
    "b/1.jpg\na/x.png 4\n",
    "b/1.jpg x\n",
    "b/1.jpg 3.7\n",
    "b/1.jpg 1\n5\n",
    "  b/1.jpg 3\n",
    "nope.jpg 3\n",
    "",
]


@pytest.mark.parametrize("text", LISTS)
@pytest.mark.parametrize("with_root", [False, True])
def test_lists(root, tmp_path, text, with_root):
    path = (tmp_path if with_root else type(tmp_path)(root)) / "list.txt"
    path.write_text(text)
    both(file_list=str(path), **({"file_root": root} if with_root else {}))


def test_absolute_names_in_lists(root, tmp_path):
    (tmp_path / "list.txt").write_text(f"{root}/b/1.jpg 3\n")
    both(file_list=str(tmp_path / "list.txt"))
    both(file_list=str(tmp_path / "list.txt"), file_root="/usr")
    both(file_list=str(tmp_path / "no list"))


NAMES = [
    {"files": ["b/1.jpg", "a/x.png"]},
    {"files": ["b/1.jpg", "a/x.png"], "labels": [7, -9]},
    {"files": ("a/x.png", "a/x.png"), "labels": (7, 7)},
    {"files": "b/1.jpg"},
    {"files": ["b/1.jpg"], "labels": [2.7]},
    {"files": ["b/1.jpg"], "labels": np.array([3])},
    {"files": ["b/1.jpg", "a/y.txt"], "file_filters": ["*.png"]},
    {"files": ["b/1.jpg", "a/x.png"], "labels": [7]},
    {"files": []},
    {"labels": [1]},
    {"files": ["a"], "file_list": "x"},
]


@pytest.mark.parametrize("arguments", NAMES, ids=str)
def test_names(root, arguments):
    both(file_root=root, **arguments)


def test_names_without_a_root(root):
    both(files=[f"{root}/b/1.jpg"])
    both()


@pytest.mark.parametrize("batch_size", [None, 1, 2, 3, 4, 7, 10, 13])
@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("stick", [False, True])
@pytest.mark.parametrize(("shards", "shard"), [(1, 0), (3, 0), (3, 1), (3, 2), (4, 3), (10, 5)])
def test_batches_of_shards(numbered, batch_size, pad, stick, shards, shard):
    both(
        file_root=numbered,
        batch_size=batch_size,
        epochs=5,
        num_shards=shards,
        shard_id=shard,
        pad_last_batch=pad,
        stick_to_shard=stick,
    )


@pytest.mark.parametrize("shuffle", [{"random_shuffle": True}, {"shuffle_after_epoch": True}])
@pytest.mark.parametrize("batch_size", [None, 5])
def test_shuffled_epochs_have_all_samples(numbered, shuffle, batch_size):
    epochs = {}
    for library in (avida, dali):
        read_epochs, metadata = read(library, batch_size, 3, file_root=numbered, seed=5, **shuffle)
        orders = [[sample for batch in epoch for sample in batch[3]] for epoch in read_epochs]
        assert len({tuple(order) for order in orders}) == 3
        epochs[library] = [sorted(order) for order in orders], metadata
    assert epochs[avida] == epochs[dali]


# Without padding, the real library counts the batches of another shard than the one that shuffle_after_epoch sticks to.
@pytest.mark.parametrize(
    ("shuffle", "pad"), [("random_shuffle", False), ("random_shuffle", True), ("shuffle_after_epoch", True)]
)
def test_shuffled_batches_of_shards_are_as_many(numbered, shuffle, pad):
    for shard in range(3):
        counts = []
        for library in (avida, dali):
            reader = library.readers.File(
                file_root=numbered, num_shards=3, shard_id=shard, pad_last_batch=pad, **{shuffle: True}
            )
            counts.append([len(list(reader.next_epoch(batch_size=3))) for _ in range(4)])
        assert counts[0] == counts[1]


BAD = [
    {"num_shards": 0},
    {"num_shards": 2, "shard_id": 2},
    {"shard_id": -1},
    {"num_shards": 11},
    {"num_shards": 11, "pad_last_batch": True},
    {"prefetch_queue_depth": 0},
    {"shuffle_after_epoch": True, "random_shuffle": True},
    {"shuffle_after_epoch": True, "stick_to_shard": True},
    {"device": "nowhere"},
    {"filez": 1},
    {"batch_size": 0},
    {"batch_size": -1},
    {"batch_size": 4, "max_batch_size": 3},
    {"batch_size": 3, "max_batch_size": 3},
    {"seed": "x"},
]


@pytest.mark.parametrize("arguments", BAD, ids=str)
def test_bad_arguments(numbered, arguments):
    both(file_root=numbered, **arguments)


# Arguments of avida's own; the real library has those for all shuffled epochs in some readers only.
ADDED = {
    "cache",
    "classes",
    "color_matrix",
    "confine",
    "decode",
    "index_path",
    "inside_only",
    "instance_masks",
    "iscrowd",
    "keypoints",
    "last_batch",
    "on_error",
    "scene",
    "shards",
    "shuffle_after_epoch",
    "shuffle_after_epoch_seed",
    "size_rounding",
    "times",
}
# Index files, and lengths where times are given, can be done without here.
OPTIONAL = {"index_path", "sequence_length"}
OURS = {"Annotated", "HuggingFace", "MDS", "Mix", "Parquet"}  # readers that are not there
READERS = [
    name
    for name, value in vars(avida.readers).items()
    if name not in OURS
    and isinstance(value, type)
    and issubclass(value, avida.readers.Reader)
    and value is not avida.readers.Reader
]


@pytest.mark.parametrize("name", READERS)
def test_signature(name):
    ours, theirs = (inspect.signature(getattr(library.readers, name)).parameters for library in (avida, dali))
    expected = [(n, p.kind, p.default) for n, p in theirs.items() if not n.startswith("_")]
    got = [
        (n, p.kind, theirs[n].default if n in OPTIONAL else p.default)
        for n, p in ours.items()
        if n in theirs or n not in ADDED
    ]
    assert got == expected


def test_next_epoch_signature():
    ours, theirs = (inspect.signature(library.readers.File.next_epoch).parameters for library in (avida, dali))
    added = {"indices", "compile", "ahead"}
    assert [(n, p.default) for n, p in ours.items() if n not in added] == [(n, p.default) for n, p in theirs.items()]


def test_what_only_avida_allows(numbered):
    """There: an error, or an epoch that starts in the middle."""
    reader = avida.readers.File(file_root=numbered)
    for size in (4, 5, None):
        assert len(list(reader.next_epoch(batch_size=size))) == {4: 3, 5: 2, None: 10}[size]
    theirs = dali.readers.File(file_root=numbered)
    list(theirs.next_epoch(batch_size=4))
    with pytest.raises(ValueError, match="different"):
        list(theirs.next_epoch(batch_size=5))


def test_missing_files(numbered, tmp_path):
    """There: other files move up, or the whole epoch is lost. Here: one batch fails."""
    names = [f"{numbered}/a/0.jpg", os.fspath(tmp_path / "missing.jpg"), f"{numbered}/a/1.jpg"]
    with pytest.raises(RuntimeError):
        read(dali, batch_size=1, files=names)
    batches = list(avida.readers.File(files=names).next_epoch(batch_size=1))
    with pytest.raises(RuntimeError, match=r"missing\.jpg"):
        batches[1][0].evaluate()
    assert items_of([batches[2]])[0][3][0][0] == b"\x01"


@pytest.mark.parametrize("options", [{}, {"pad_last_batch": True}, {"num_shards": 3, "shard_id": 1}])
@pytest.mark.parametrize("batch_size", [None, 4])
def test_calls(numbered, batch_size, options):
    """reader() gives sample after sample, and batch after batch, across epochs."""

    def run(library):
        reader = library.readers.File(file_root=numbered, max_batch_size=batch_size or 1, **options)
        items = [reader(batch_size=batch_size) for _ in range(40)]
        lists = [[np.asarray(t).tolist() for t in ([x] if batch_size is None else x.tensors)] for x, _ in items]
        return lists, dict(reader.get_metadata(batch_size=batch_size))

    assert run(avida) == run(dali)


@pytest.mark.parametrize("shuffle", ["random_shuffle", "shuffle_after_epoch"])
@pytest.mark.parametrize("form", [str, lambda state: str(state).encode(), lambda state: state])
def test_state_carries_the_seed(numbered, shuffle, form):
    """A reader without a seed continues in the order of the one that the state is of."""
    seed = {"random_shuffle": "seed", "shuffle_after_epoch": "shuffle_after_epoch_seed"}[shuffle]

    def run(library):
        options = {"file_root": numbered, shuffle: True, "enable_checkpointing": True}
        reader, again = library.readers.File(**options, **{seed: 5}), library.readers.File(**options)
        running = reader.next_epoch(batch_size=2)
        next(running)
        again.set_state(form(reader.get_state()))
        rest = [[np.asarray(t).tolist() for t in x.tensors] for x, _ in running]
        resumed = [[np.asarray(t).tolist() for t in x.tensors] for x, _ in again.next_epoch(batch_size=2)]
        return resumed[: len(rest)] == rest  # there, an epoch after a state has as many batches as any

    assert run(avida)
    assert run(dali) or shuffle == "shuffle_after_epoch"  # whose state lacks the seed there
