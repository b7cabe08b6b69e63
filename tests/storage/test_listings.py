"""Listings: of many folders at the same time, and those that files keep for the next run and for other processes."""

import os
import pathlib
import random
import re
import shutil
import threading

import numpy as np
import pytest

import avida
from tests.storage import test_readers
from tests.storage.http_server import serving
from tests.storage.stores import objects_in, registered

CLASSES, FILES = 4, 5


@pytest.fixture
def server(monkeypatch):
    for name in os.environ:
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    objects = {f"data/{k}/{i}.jpg": f"{k} {i}".encode() for k in range(CLASSES) for i in range(FILES)}
    with serving(objects) as server:
        avida.storage.configure("s3://", endpoint=server.url, anonymous=True)
        try:
            yield server
        finally:
            avida.storage.configure("s3://")


def listings(server):
    return [path for path, _ in server.asked if "list-type" in path]


def test_folders_are_listed_at_the_same_time(server):
    """None is answered before all are asked for."""
    server.page = 2
    together = threading.Barrier(CLASSES)

    def fault(handler, _):
        if re.search(r"&prefix=\d%2F", handler.path) and "continuation-token" not in handler.path:
            together.wait(timeout=300)
        return False

    server.fault = fault
    names = sorted(name.removeprefix("data/") for name in server.objects)
    assert avida.storage.ls("s3://data", deep=True) == names


@pytest.mark.parametrize("page", [1, 4, 1000])
def test_trees_of_all_shapes(server, page):
    choose = random.Random(page)
    server.page = page
    for _ in range(2):
        folders = ["", "a/", "a/b/", "a/b/c d/", "e//", "f/g/", *(f"h/{i}/" for i in range(12))]
        names = {choose.choice(folders) + f"{choose.randrange(50)}.jpg" for _ in range(60)}
        objects = names | {"e/", "a/b/", "z"}  # what stands for folders, too
        server.objects = {f"data/{name}": b"" for name in objects}
        assert avida.storage.ls("s3://data", deep=True) == sorted(names | {"z"})
        assert avida.storage.ls("s3://data/a", deep=True) == sorted(
            name.removeprefix("a/") for name in names if name.startswith("a/")
        )


def test_small_folders_take_no_requests_of_their_own(server):
    server.objects = {f"data/{i:03}/a.jpg": b"" for i in range(100)}
    server.page = 50
    assert len(avida.storage.ls("s3://data", deep=True)) == 100
    assert len(server.asked) == 2


def files(reader):
    """The contents of all files, and their labels."""
    return [(bytes(np.asarray(file)), label.item()) for file, label in reader.next_epoch()]


def test_a_second_reader_lists_nothing(server, tmp_path):
    index = tmp_path / "new" / "index"
    expected = files(avida.readers.File(file_root="s3://data"))
    assert len(expected) == CLASSES * FILES
    server.asked.clear()
    assert files(avida.readers.File(file_root="s3://data", index_path=index)) == expected
    assert len(listings(server)) == 1
    server.asked.clear()
    for root in ("s3://data", "s3://data/"):
        reader = avida.readers.File(file_root=root, index_path=index)
        assert files(reader) == expected
        assert reader.classes == [str(k) for k in range(CLASSES)]
    chosen = avida.readers.File(file_root="s3://data", index_path=f"file://{index}", file_filters=["*3.jpg"])
    assert files(chosen) == [each for each in expected if each[0].endswith(b"3")]
    assert not listings(server)
    assert os.listdir(index.parent) == ["index"], "there are no locks behind it"


def test_a_listing_has_what_was_there(server, tmp_path):
    """An object that came is not noticed, one that went is an error, until the file is removed."""
    index = tmp_path / "index"
    avida.readers.File(file_root="s3://data", index_path=index)
    server.objects["data/0/9.jpg"] = server.objects.pop("data/0/4.jpg")
    reader = avida.readers.File(file_root="s3://data", index_path=index, on_error="skip")
    assert len(files(reader)) == CLASSES * FILES - 1
    assert [error.source for error in reader.errors] == ["s3://data/0/4.jpg"]
    index.unlink()
    assert (b"0 4", 0) in files(avida.readers.File(file_root="s3://data", index_path=index))


@pytest.mark.parametrize("make", [test_readers.files, test_readers.arrays, test_readers.fits])
def test_folders_of_this_machine(tmp_path, make):
    """The samples are the same, and a folder may be moved with the file beside it."""
    folder = tmp_path / "here" / "data"
    folder.mkdir(parents=True)
    expected = test_readers.samples(make(folder)(str(folder)))
    reader = {
        test_readers.files: avida.readers.File,
        test_readers.arrays: avida.readers.Numpy,
        test_readers.fits: lambda **options: avida.experimental.readers.Fits(hdu_indices=[1], **options),
    }[make]
    for place in (tmp_path / "here", tmp_path / "here", tmp_path / "there"):
        if not place.exists():
            shutil.move(tmp_path / "here", place)
        assert test_readers.samples(reader(file_root=place / "data", index_path=place / "index")) == expected
    with registered(objects_in(tmp_path / "there" / "data"), "toys"):
        assert test_readers.samples(reader(file_root="toys://data", index_path=tmp_path / "other")) == expected


def test_names_that_are_no_text(tmp_path):
    name = b"data/a/\xff\n.jpg"
    os.makedirs(os.fsencode(tmp_path) + b"/data/a")
    pathlib.Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"odd")
    for _ in range(2):
        assert files(avida.readers.File(file_root=tmp_path / "data", index_path=tmp_path / "index")) == [(b"odd", 0)]


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (lambda _: b"0/1.jpg 0\n", "expected a listing of s3://data, found another file"),
        (lambda _: b"", "expected a listing of s3://data, found another file"),
        (lambda content: content[:-9] + b"x" + content[-8:], "the listing is damaged"),
        (lambda content: content[:20], "the listing is damaged"),
        (lambda content: content[: len(b"avida listing 1\n")], "the listing is damaged"),
    ],
)
def test_other_files(server, tmp_path, damage, error):
    """They are not replaced."""
    index = tmp_path / "index"
    avida.readers.File(file_root="s3://data", index_path=index)
    index.write_bytes(damage(index.read_bytes()))
    found = index.read_bytes()
    with pytest.raises(RuntimeError, match=error):
        avida.readers.File(file_root="s3://data", index_path=index)
    assert index.read_bytes() == found


def test_the_listing_of_another_folder(server, tmp_path):
    index = tmp_path / "index"
    avida.readers.File(file_root="s3://data", index_path=index)
    with pytest.raises(RuntimeError, match=r"expected the listing of s3://data/0, found that of s3://data\. "):
        avida.readers.Numpy(file_root="s3://data/0", index_path=index)


def test_a_listing_of_another_version_is_made_again(server, tmp_path):
    index = tmp_path / "index"
    avida.readers.File(file_root="s3://data", index_path=index)
    content = index.read_bytes()
    index.write_bytes(content.replace(b"avida listing 1\n", b"avida listing 0\n"))
    avida.readers.File(file_root="s3://data", index_path=index)
    assert index.read_bytes() == content


def test_one_process_lists_for_all(server, tmp_path):
    """And of those that were killed, nothing is left that others would wait for."""
    index = tmp_path / "index"
    (tmp_path / ".avida-index.lock").touch()
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            found = 0
            try:
                found = len(files(avida.readers.File(file_root="s3://data", index_path=index)))
            finally:
                os._exit(0 if found == CLASSES * FILES else 1)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    assert len(listings(server)) == 1
    assert os.listdir(tmp_path) == ["index"]


def test_a_place_that_cannot_be_written_to(server, tmp_path):
    (tmp_path / "file").touch()
    with pytest.warns(UserWarning, match="the listing of s3://data is not kept: .*expected a folder, found a file"):
        reader = avida.readers.File(file_root="s3://data", index_path=tmp_path / "file" / "index")
    assert len(files(reader)) == CLASSES * FILES


def test_a_listing_in_a_store(server, tmp_path):
    index = tmp_path / "index"
    with pytest.raises(RuntimeError, match=r"there is no listing of s3://data at s3://data/index: .*index_path=FILE"):
        avida.readers.File(file_root="s3://data", index_path="s3://data/index")
    expected = files(avida.readers.File(file_root="s3://data", index_path=index))
    server.objects["data/index"] = index.read_bytes()
    server.asked.clear()
    assert files(avida.readers.File(file_root="s3://data", index_path="s3://data/index")) == expected
    assert not listings(server)


def test_only_folders_have_listings(tmp_path):
    with pytest.raises(RuntimeError, match="index_path needs file_root alone"):
        avida.readers.File(files=["a.jpg"], index_path=tmp_path / "index")
