"""Files are written as a whole, and take the place of files only: devices, pipes and links stay what they are."""

import gc
import os
import socket
import stat
import subprocess
import sys

import pytest

import avida
from avida._files.atomic import replaced_files, write_file
from tests.test_documents import ROOT


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


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))


def interrupted_at(step, action):
    """Runs the action, with an interrupt at its n-th instruction inside of the package; whether it got so far."""
    left = step

    def trace(frame, event, arg):
        nonlocal left
        if not frame.f_code.co_filename.startswith(os.path.dirname(avida.__file__)):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            left -= 1
            if left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def check_interrupted_writers(folder):
    """In a process of its own: an exception of a trace function may leave its thread in the midst of another one."""
    path = os.path.join(folder, "new", "file")

    def write():
        write_file(path, "text")

    def write_set():
        with replaced_files(folder, "last") as made:
            write_file(os.path.join(made, "last"), "text")

    for action in (write, write_set):
        action()
        before, step = open_descriptors(), 1
        while interrupted_at(step, action):
            step += 1
        gc.collect()
        assert step > 100
        assert open_descriptors() == before


def test_interrupted_writers_lose_no_descriptor(tmp_path):
    """As Ctrl-C would, which Python raises between any two instructions."""
    code = f"from tests.runtime import test_files; test_files.check_interrupted_writers({str(tmp_path)!r})"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("kind", ["pipe", "device", "socket", "folder"])
def test_only_files_are_read(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
        os.mkfifo("pipe")
        os.mkdir("folder")
        path = "/dev/zero" if kind == "device" else kind
        checkpoint = avida.checkpoint.Checkpoint()
        with pytest.raises(OSError, match="Is a directory" if kind == "folder" else f"found a {kind}: '{path}'"):
            checkpoint.load(path)
        with pytest.raises(OSError, match="Is a directory" if kind == "folder" else f"found a {kind}: '{path}'"):
            avida.readers.Video(filenames=["x.mp4"], index_path=path, sequence_length=1)
