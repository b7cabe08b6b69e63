"""File systems of fsspec and stores of obstore: the same samples, listings, versions, and processes that fork."""

import os

import fsspec
import numpy as np
import obstore
import pytest
from obstore.store import LocalStore, MemoryStore

import avida
from tests.storage import test_readers
from tests.storage.stores import registered

SCHEME = "lent"


@pytest.fixture(params=["fsspec", "obstore"])
def store(request):
    """An object of another package, and how something is put into it."""
    if request.param == "fsspec":
        files = fsspec.filesystem("memory")
        files.store.clear()
        yield files, files.pipe
        files.store.clear()
    else:
        made = MemoryStore()
        yield made, lambda name, content: obstore.put(made, name, content)


@pytest.mark.parametrize("make", test_readers.MAKERS)
@pytest.mark.parametrize(
    "lent", [lambda: fsspec.filesystem("file"), lambda: LocalStore("/")], ids=["fsspec", "obstore"]
)
def test_the_same_samples(tmp_path, make, lent):
    made = make(tmp_path)
    expected = test_readers.samples(made(tmp_path))
    with registered(lent(), SCHEME):
        assert test_readers.samples(made(f"{SCHEME}://{tmp_path}")) == expected


def test_listings_and_objects(store):
    lent, put = store
    for name in ("a/1", "a/2", "a/b/3", "c"):
        put(name, name.encode())
    with registered(lent, SCHEME):
        assert avida.storage.ls(f"{SCHEME}://") == ["a/", "c"]
        assert avida.storage.ls(f"{SCHEME}://a") == avida.storage.ls(f"{SCHEME}://a/") == ["1", "2", "b/"]
        assert avida.storage.ls(f"{SCHEME}://", deep=True) == ["a/1", "a/2", "a/b/3", "c"]
        assert avida.storage.read(f"{SCHEME}://a/b/3") == b"a/b/3"
        assert avida.storage.exists(f"{SCHEME}://c")
        assert not avida.storage.exists(f"{SCHEME}://d")
        with pytest.raises(RuntimeError, match="no object of this name"):
            avida.storage.read(f"{SCHEME}://d")


def test_empty_objects(store):
    lent, put = store
    put("empty.rec", b"")
    with registered(lent, SCHEME):
        assert avida.storage.read(f"{SCHEME}://empty.rec") == b""
        with pytest.raises(RuntimeError, match="got 0 from path"):
            avida.readers.MXNet(path=f"{SCHEME}://empty.rec")


def test_an_object_that_changes(store, tmp_path):
    lent, put = store
    made = test_readers.mxnet(tmp_path)
    content = (tmp_path / "a.rec").read_bytes()
    put("a.rec", content)
    with registered(lent, SCHEME):
        reader = made(f"{SCHEME}:/")
        put("a.rec", content[:-1] + b"x")
        with pytest.raises(RuntimeError, match="changed after it was opened"):
            test_readers.samples(reader)


class Broken(fsspec.AbstractFileSystem):
    def info(self, path, **_):
        return {"size": None, "name": path, "type": "file"}

    def cat_file(self, path, start=None, end=None, **_):
        raise PermissionError("not for you")


def test_errors_are_those_of_the_object():
    with registered(Broken(), SCHEME):
        with pytest.raises(RuntimeError, match="PermissionError: not for you"):
            avida.storage.read(f"{SCHEME}://a")
        with pytest.raises(RuntimeError, match="does not say how many bytes"):
            avida.storage.exists(f"{SCHEME}://a")


def test_a_child_does_not_hang(store):
    """fsspec's memory works in children; obstore would wait for ever there."""
    lent, put = store
    put("a", b"content")
    with registered(lent, SCHEME):
        assert avida.storage.read(f"{SCHEME}://a") == b"content"
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if avida.storage.read(f"{SCHEME}://a") == b"content" else 1)
            except RuntimeError as error:
                os._exit(2 if "start processes by spawn" in str(error) else 3)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code == (2 if isinstance(lent, MemoryStore) else 0)


def test_what_is_none_of_these():
    with pytest.raises(TypeError, match=r"a file system of fsspec or a store of obstore, got int"):
        avida.storage.register(SCHEME, 5)
    with pytest.raises(ValueError, match="at_once=0"):
        avida.storage.register(SCHEME, fsspec.filesystem("memory"), at_once=0)


def test_images_and_files(store):
    lent, put = store
    put("a.ppm", b"P6 1 1 255 abc")
    with registered(lent, SCHEME):
        assert np.asarray(avida.imread(f"{SCHEME}://a.ppm")).tolist() == [[[97, 98, 99]]]
