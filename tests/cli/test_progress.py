"""The progress bar."""

import io

import pytest

from avida.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only when told to."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")
    return now


def test_nothing_is_written_to_a_file():
    file = io.StringIO()
    with Progress("x", total=2, file=file) as bar:
        bar.advance(2)
    assert file.getvalue() == ""


def test_text(clock):
    with Progress("decoding", total=400, file=Terminal()) as bar:
        clock[0] += 10
        bar.advance(100)
        text = bar.text(100)
        assert bar.rate == 10
        assert text.startswith("decoding █")
        assert "░" in text
        assert "100/400  10 images/s  0:10 < 0:30" in text
        bar.advance(0, note="loss 0.5")
        assert bar.text(100).endswith("loss 0.5")
        clock[0] += 4000
        assert "1:06:50" in bar.text(100)


@pytest.mark.parametrize("columns", [10, 20, 40, 60, 200])
@pytest.mark.parametrize("total", [None, 0, 7, 10**9])
def test_text_fits(clock, columns, total):
    bar = Progress("some label", total=total, file=Terminal())
    clock[0] += 3
    for _ in range(3):
        assert len(bar.text(columns)) < columns
        bar.advance(3)


def test_drawing(clock):
    """Not for every step, but at the end; one line, which ends when the block does."""
    file = Terminal()
    with Progress("x", total=1000, file=file) as bar:
        for _ in range(1000):
            clock[0] += 0.01
            bar.advance()
    drawn = file.getvalue()
    assert 50 < drawn.count("\r") < 120
    assert "1,000/1,000" in drawn.split("\r")[-1]
    assert drawn.count("\n") == 1
    assert drawn.endswith("\n")
