"""Files are written as a whole, and take the place of files only: devices, pipes and links stay what they are."""

import os
import socket
import stat

import pytest

import avida
from avida._files.atomic import replaced_files, write_file


@pytest.mark.parametrize("content", ["größe\n", b"\x00\xff"])
def test_written(tmp_path, content):
    path = tmp_path / "new" / "file"
    for _ in range(2):
        write_file(path, content)
        assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert os.listdir(path.parent) == ["file"]
    with pytest.raises(FileExistsError):
        write_file(path, content, replace=False)


def test_links_stay(tmp_path):
    target = tmp_path / "elsewhere" / "file"
    target.parent.mkdir()
    link = tmp_path / "link"
    link.symlink_to(target)
    for text in ("first", "second"):  # the link leads nowhere before the first
        write_file(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
        assert os.listdir(target.parent) == ["file"]
    with pytest.raises(FileExistsError):
        write_file(link, "third", replace=False)


@pytest.fixture
def null(tmp_path):
    """A device of our own where it may be made; else the one of the system, which only root could destroy."""
    path = tmp_path / "null"
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        with path.open("wb"):
            return path
    except OSError:  # an ordinary user, or a file system without devices
        path.unlink(missing_ok=True)
        return None if os.geteuid() == 0 else "/dev/null"


def test_devices_stay(null):
    if null is None:
        pytest.skip("root, and no device that a test may lose")
    write_file(null, "text")
    assert stat.S_ISCHR(os.stat(null).st_mode)
    checkpoint = avida.checkpoint.Checkpoint()
    checkpoint.set_state("a", 1)
    checkpoint.save(null)
    assert stat.S_ISCHR(os.stat(null).st_mode)


def test_pipes_are_written_to(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="a pipe that nobody reads"):
        write_file(path, "text")
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_file(path, "text")
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_open_pipes_are_written_to():
    """As /dev/stdout is in a command of a shell."""
    reader, writer = os.pipe()
    try:
        write_file(f"/dev/fd/{writer}", "text")
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
        os.close(writer)


def test_sockets_and_folders_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
        with pytest.raises(FileExistsError, match="found a socket: 'socket'"):
            write_file("socket", "text")
    os.mkdir("folder")
    with pytest.raises(IsADirectoryError):
        write_file("folder", "text")
    assert sorted(os.listdir()) == ["folder", "socket"]


def test_sets_of_files_replace_no_pipe(tmp_path):
    (tmp_path / "last").write_text("old")
    os.mkfifo(tmp_path / "first")
    with pytest.raises(FileExistsError, match=r"a device or a pipe: .*first'"):
        write_set(tmp_path, "first", "last")
    assert (tmp_path / "last").read_text() == "old"
    assert stat.S_ISFIFO((tmp_path / "first").stat().st_mode)


def write_set(folder, *names):
    with replaced_files(folder, names[-1]) as made:
        for name in names:
            write_file(os.path.join(made, name), "new")
