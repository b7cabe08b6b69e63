"""Checkpoints: what can be registered, and files that survive crashes and each other."""

import collections
import errno
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import avida
from avida.checkpoint import Checkpoint


class Counter:
    """Keeps its state the way PyTorch's objects do."""

    def __init__(self, count=0):
        self.count = count

    def state_dict(self):
        return {"count": self.count, "more": [1.5, None, "é"]}

    def load_state_dict(self, state):
        assert state["more"] == [1.5, None, "é"]
        self.count = state["count"]


def checkpoint_of(**objects):
    checkpoint = Checkpoint()
    for name, value in objects.items():
        checkpoint.register(value, name)
    checkpoint.collect()
    return checkpoint


def holding(state):
    """A checkpoint without objects."""
    checkpoint = Checkpoint()
    checkpoint.set_state("a", state)
    return checkpoint


def test_reader_and_generators(tmp_path):
    for i in range(10):
        (tmp_path / f"{i}.jpg").write_bytes(bytes([i]))

    def make():
        names = [str(tmp_path / f"{i}.jpg") for i in range(10)]
        return avida.readers.File(files=names, random_shuffle=True), avida.random.RNG(seed=5)

    reader, rng = make()
    avida.random.set_seed(7)
    saved = checkpoint_of(reader=reader, rng=rng)  # before the first item, without any opting in
    iterator = reader.next_epoch(3)
    next(iterator)
    rng(), avida.random.get_default_rng()()
    saved = checkpoint_of(reader=reader, rng=rng, default=avida.random.get_default_rng())
    path = saved.save(tmp_path / "run_{seq}.json")
    expected = [labels.torch().tolist() for _, labels in iterator], rng(), avida.random.get_default_rng()()

    reader, rng = make()
    avida.random.set_seed(0)
    loaded = Checkpoint()
    assert loaded.load(tmp_path / "run_{seq}.json") == path
    loaded.register(reader, "reader")
    loaded.register(rng, "rng")
    loaded.register(avida.random.get_default_rng(), "default")
    found = [labels.torch().tolist() for _, labels in reader.next_epoch(3)]
    assert (found, rng(), avida.random.get_default_rng()()) == expected


def test_state_dicts():
    text = checkpoint_of(counter=Counter(5)).serialize()
    loaded, counter = Checkpoint(), Counter()
    loaded.deserialize(text)
    loaded.register(counter, "counter")
    assert counter.count == 5
    loaded.set_state("counter", {"count": 8, "more": [1.5, None, "é"]})
    loaded.restore()
    assert counter.count == 8


def test_state_dict_that_json_cannot_hold():
    class Bad(Counter):
        def state_dict(self):
            return {"count": object()}

    with pytest.raises(TypeError, match="'bad' cannot be stored as JSON"):
        checkpoint_of(bad=Bad()).serialize()


@pytest.mark.parametrize("bad", [5, None, "text", object(), avida.random.RNG, collections.Counter()])
def test_what_has_no_state_is_refused_at_once(bad):
    checkpoint = Checkpoint()
    with pytest.raises(TypeError, match="expected an object with get_state and set_state"):
        checkpoint.register(bad, "bad")
    assert checkpoint.names == ()


def test_a_name_is_a_text():
    with pytest.raises(TypeError, match="expected a name, got 5"):
        Checkpoint().register(Counter(), 5)


def test_failed_registration_leaves_nothing():
    loaded = Checkpoint()
    loaded.deserialize(checkpoint_of(a=Counter(3)).serialize())
    with pytest.raises(TypeError, match="that of a Counter, got a RNG"):
        loaded.register(avida.random.RNG(), "a")
    counter = Counter()
    loaded.register(counter, "a")
    assert counter.count == 3


def test_types_are_checked_before_anything_is_restored():
    checkpoint, first, second = Checkpoint(), avida.random.RNG(seed=1), Counter()
    checkpoint.register(first, "first")
    checkpoint.register(second, "second")
    before = first.state
    checkpoint.set_state("first", avida.random.RNG(seed=2).state)
    checkpoint.set_state("second", {}, "Other")
    with pytest.raises(TypeError, match="that of a Other, got a Counter"):
        checkpoint.restore()
    assert first.state == before


def test_messages_name_what_is_missing():
    loaded = Checkpoint()
    loaded.deserialize(checkpoint_of(train=Counter(3)).serialize())
    with pytest.raises(KeyError, match="no state for 'valid', only for train"):
        loaded.register(Counter(), "valid")
    with pytest.raises(KeyError, match="in the same order as before"):
        loaded.register(Counter())
    with pytest.raises(RuntimeError, match="none is registered for train"):
        loaded.restore()


def test_one_file(tmp_path):
    """A name without a number is that of one file, which is replaced."""
    path = tmp_path / "new" / "latest.json"
    for i in range(3):
        assert holding(i).save(path) == str(path)
    loaded = Checkpoint()
    assert loaded.load(path) == str(path)
    assert json.loads(loaded.serialize())["states"]["a"]["state"] == "2"
    assert os.listdir(path.parent) == ["latest.json"]
    with pytest.raises(FileNotFoundError):
        loaded.load(tmp_path / "other.json")


@pytest.mark.parametrize("pattern", ["", "{}", "{x}_{seq}", "{seq}{seq}", "{seq", "{seq:x}", "{seq:>5}", "{seq.real}"])
def test_patterns(pattern, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError):  # noqa: PT011
        holding(1).save(pattern)
    with pytest.raises(ValueError):  # noqa: PT011
        Checkpoint().load(pattern)
    assert os.listdir() == []


def test_the_last_one_saved_is_the_one_loaded(tmp_path):
    """Also when somebody else saved in between, or a folder is in the way."""
    pattern = str(tmp_path / "run_{seq:03d}.json")
    mine, other = holding("mine"), holding("other")
    paths = [saver.save(pattern) for saver in (mine, mine, other, other, mine)]
    (tmp_path / "run_900.json").mkdir()
    assert [path[-8:-5] for path in paths] == ["000", "001", "002", "003", "004"]
    assert Checkpoint().load(pattern) == paths[-1]
    (tmp_path / "run_2000.json").write_text(other.serialize())
    assert mine.save(pattern).endswith("run_2001.json")


def test_numbers_above_the_width(tmp_path):
    pattern = str(tmp_path / "{seq:02d}")
    for i in (8, 99, 100):
        (tmp_path / f"{i:02d}").write_text(holding(i).serialize())
    assert Checkpoint().load(pattern) == str(tmp_path / "100")


def test_damaged_file_is_named(tmp_path):
    (tmp_path / "run_3.json").write_text('{"version": 2, "sta')
    checkpoint = holding("kept")
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        checkpoint.load(tmp_path / "run_{seq}.json")
    assert "run_3.json" in caught.value.__notes__[0]
    assert "kept" in checkpoint.serialize()


def test_without_hard_links(tmp_path, monkeypatch):
    """Some file systems have none."""

    def link(*_):
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", link)
    pattern = str(tmp_path / "run_{seq}.json")
    assert [holding(i).save(pattern)[-6:-5] for i in range(3)] == ["0", "1", "2"]
    assert sorted(os.listdir(tmp_path)) == ["run_0.json", "run_1.json", "run_2.json"]


def test_failed_save_leaves_no_trace(tmp_path, monkeypatch):
    holding(1).save(tmp_path / "latest.json")

    def fsync(_):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match=r"no space left: .*latest\.json'"):
        holding(2).save(tmp_path / "latest.json")
    assert os.listdir(tmp_path) == ["latest.json"]


def run(code, folder):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(folder)], capture_output=True, text=True, timeout=600
    )
    assert done.stdout.strip() == "fine", done.stderr


@pytest.mark.parametrize("name", ["run_{seq:04d}.json", "latest.json"])
def test_crash_before_any_step(name, tmp_path):
    """The process dies just before the first, second, ... call to the system: the file before it is still there."""
    run(
        f"""
        import os, sys, avida
        pattern = sys.argv[1] + "/{name}"

        def save(number):
            checkpoint = avida.checkpoint.Checkpoint()
            checkpoint.set_state("a", str(number) * 1000)
            checkpoint.save(pattern)

        def die_before(step):
            calls = 0
            def wrap(call):
                def wrapped(*args, **kwargs):
                    nonlocal calls
                    calls += 1
                    if calls == step:
                        os._exit(9)
                    return call(*args, **kwargs)
                return wrapped
            for name in ("fsync", "link", "replace", "unlink", "open"):
                setattr(os, name, wrap(getattr(os, name)))

        save(1)
        died = 0
        for step in range(1, 20):
            child = os.fork()
            if not child:
                die_before(step)
                save(2)
                os._exit(0)
            died += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
            checkpoint = avida.checkpoint.Checkpoint()
            checkpoint.load(pattern)
            assert any(str(n) * 1000 in checkpoint.serialize() for n in (1, 2)), step
        assert 4 <= died < 19, died
        print("fine")
        """,
        tmp_path,
    )


def test_killed_at_any_moment(tmp_path):
    """SIGKILL while files are written one after another: the newest is whole, and nothing was lost that was saved."""
    run(
        """
        import json, os, random, signal, sys, time, avida
        pattern = sys.argv[1] + "/run_{seq}.json"
        choose = random.Random(0)
        def number_of(path):
            return int(path.rpartition("_")[2].partition(".")[0])
        for round in range(60):
            told, tell = os.pipe()
            child = os.fork()
            if not child:
                checkpoint = avida.checkpoint.Checkpoint()
                while True:
                    number = choose.randrange(10)
                    checkpoint.set_state("a", str(number) * 100_000)
                    path = checkpoint.save(pattern)
                    os.write(tell, path.encode() + b"\\n")
            os.close(tell)
            time.sleep(choose.random() * 0.02)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            saved = os.read(told, 1 << 20).decode().splitlines()
            os.close(told)
            if saved:
                checkpoint = avida.checkpoint.Checkpoint()
                newest = checkpoint.load(pattern)
                assert number_of(newest) >= number_of(saved[-1]), (newest, saved)
                state = json.loads(checkpoint.serialize())["states"]["a"]["state"]
                assert len(state) == 100_000 and len(set(state)) == 1
                for name in os.listdir(sys.argv[1])[:-1]:
                    os.remove(os.path.join(sys.argv[1], name))
        print("fine")
        """,
        tmp_path,
    )


def test_savers_do_not_clash(tmp_path):
    """Several processes under one pattern: each file is somebody's, none is overwritten."""
    run(
        """
        import os, sys, avida
        children = []
        for saver in range(4):
            child = os.fork()
            if not child:
                checkpoint = avida.checkpoint.Checkpoint()
                for i in range(25):
                    checkpoint.set_state("a", f"{saver}-{i}.")
                    checkpoint.save(sys.argv[1] + "/run_{seq}.json")
                os._exit(0)
            children.append(child)
        for child in children:
            assert os.waitpid(child, 0)[1] == 0
        print("fine")
        """,
        tmp_path,
    )
    assert sorted(os.listdir(tmp_path)) == sorted(f"run_{i}.json" for i in range(100))
    texts = {pathlib.Path(tmp_path, name).read_text() for name in os.listdir(tmp_path)}
    assert len(texts) == 100


@pytest.mark.parametrize("name", ["run_{seq}.json", "latest.json", "deep/er/run_{seq}.json", "run_{seq}/state.json"])
@pytest.mark.parametrize("obstacle", ["file", "link", "loop"])
def test_what_is_in_the_way_of_a_folder_is_named(tmp_path, obstacle, name):
    """In a process of its own: a save that never returns is a failure too."""
    if obstacle == "file":
        (tmp_path / "in_the_way").touch()
    else:
        (tmp_path / "in_the_way").symlink_to("nothing" if obstacle == "link" else "in_the_way")
    run(
        f"""
        import sys, avida
        checkpoint = avida.checkpoint.Checkpoint()
        checkpoint.set_state("a", 1)
        try:
            checkpoint.save(sys.argv[1] + "/in_the_way/{name}")
        except NotADirectoryError as error:
            assert "expected a folder, found" in str(error), error
            assert error.filename == sys.argv[1] + "/in_the_way", error
            print("fine")
        """,
        tmp_path,
    )
    assert os.listdir(tmp_path) == ["in_the_way"]


def test_what_is_in_the_way_of_a_numbered_folder_is_named(tmp_path):
    (tmp_path / "run_0").touch()
    with pytest.raises(NotADirectoryError, match=r"expected a folder, found a file: .*run_0'"):
        holding(1).save(tmp_path / "run_{seq}" / "state.json")


def test_what_killed_savers_left_is_removed(tmp_path):
    """But not the temporary file of one that is still writing, nor the files of others."""
    run(
        """
        import os, signal, sys, avida
        folder = sys.argv[1]

        def save(during_fsync):
            told, tell = os.pipe()
            child = os.fork()
            if not child:
                os.fsync = lambda _: (os.write(tell, b"."), during_fsync())
                checkpoint = avida.checkpoint.Checkpoint()
                checkpoint.set_state("a", "child")
                checkpoint.save(folder + "/child.json")
                os._exit(0)
            os.read(told, 1)
            return child

        def temporaries():
            return [name for name in os.listdir(folder) if name.startswith(".avida-")]

        open(folder + "/.others.tmp", "x").close()
        waits, proceed = os.pipe()
        killed = [save(lambda: os.read(waits, 1)) for _ in range(3)]
        for child in killed:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        assert len(temporaries()) == 3, temporaries()
        living = save(lambda: os.read(waits, 1))
        checkpoint = avida.checkpoint.Checkpoint()
        checkpoint.set_state("a", "parent")
        checkpoint.save(folder + "/parent.json")
        assert len(temporaries()) == 1, temporaries()
        os.write(proceed, b"....")
        assert os.waitpid(living, 0)[1] == 0
        assert sorted(os.listdir(folder)) == [".others.tmp", "child.json", "parent.json"], os.listdir(folder)
        print("fine")
        """,
        tmp_path,
    )


def test_states_as_bytes():
    """What users read from a file opened in binary mode; the text of a checkpoint holds the text of it."""
    state = avida.random.RNG(seed=5).state
    checkpoint, rng = holding(state.encode()), avida.random.RNG()
    assert json.loads(checkpoint.serialize())["states"]["a"] == {"state": state, "type": None}
    checkpoint.register(rng, "a")
    assert rng.state == state
    loaded = Checkpoint()
    loaded.deserialize(checkpoint.serialize().encode())
    assert loaded.register(avida.random.RNG(), "a") == "a"
    with pytest.raises(TypeError, match="'a' cannot be stored"):
        holding(b"\xff").serialize()
