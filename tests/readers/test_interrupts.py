"""Signals are answered while readers look for their samples, and not only when they have found them all."""

import json
import signal

import pytest

import avida


@pytest.fixture
def answered():
    """The times at which a signal that comes every millisecond was answered."""
    answers = []
    before = signal.signal(signal.SIGALRM, lambda *_: answers.append(0))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    yield answers
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def opens(reader, **given):
    return avida._core.ReaderArguments(reader, given, None, False).open, (print,)


def folders(path):
    for i in range(13_000):
        (path / "a").mkdir(exist_ok=True)
        (path / "a" / f"{i}.jpg").symlink_to("nothing")
    (path / "a" / "one.jpg").write_bytes(b"x")
    return opens("File", file_root=path)


def text(path):
    (path / "list.txt").write_text("name.jpg 7\n" * 500_000)
    return opens("File", file_list=path / "list.txt")


def annotations(path):
    images = [{"id": 1, "file_name": "x"}]
    (path / "a.json").write_text(json.dumps({"info": "x" * 80_000_000, "images": images}))
    return opens("COCO", annotations_file=path / "a.json", file_root="")


@pytest.mark.parametrize("make", [folders, text, annotations])
def test_signals_are_answered_during_a_scan(tmp_path, request, make):
    function, arguments = make(tmp_path)
    answers = request.getfixturevalue("answered")
    answers.clear()
    function(*arguments)
    assert len(answers) > 2, "once is when the function has returned"
