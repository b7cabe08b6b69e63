"""The rules of checkpoints, the names and texts of their files, and torchdata nodes are those of the real library."""

import json
import os
import threading

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida


class Box:
    """Something with a state, and what was done to it."""

    def __init__(self, value=0):
        self.value = value
        self.given = []

    def get_state(self, cuda_stream=None):
        return self.value

    def set_state(self, value):
        self.value = value
        self.given.append(value)


class Other(Box):
    pass


def what_happens(library, steps):
    """The result of each step: a value, or the type of an exception."""
    found = []
    for step in steps:
        try:
            found.append(step(library))
        except Exception as error:
            found.append(type(error))
    return found


def assert_same(make_steps):
    ours, theirs = (what_happens(library, make_steps(library.checkpoint.Checkpoint())) for library in (avida, dali))
    assert ours == theirs


def seen(c):
    return c.names, len(c), c.is_complete, c.is_loaded


def test_registering():
    def steps(c):
        a, b = Box(), Box()
        return [
            lambda lib: seen(c),
            lambda lib: (c.register(a), c.register(a), c.register(b)),
            lambda lib: c.register(a, "x"),
            lambda lib: (c.register(Box(), "x"), c.register(Box(), "x"), c.register(Box())),
            lambda lib: c.register(Other(), "x"),
            lambda lib: c.register(Box(), ""),
            lambda lib: c.register(Box(), "__op_7"),
            lambda lib: c.register(Box(), "__opx"),
            lambda lib: ("x" in c, "y" in c, 5 in c),
            lambda lib: c.get_state("x"),
            lambda lib: c.get_state("y"),
            lambda lib: seen(c),
            lambda lib: (c.clear(), seen(c), c.register(Box())),
        ]

    assert_same(steps)


def test_collecting():
    def steps(c):
        a, new = Box(4), Box(8)
        return [
            lambda lib: c.serialize(),
            lambda lib: c.restore(),
            lambda lib: c.register(a, "a"),
            lambda lib: c.register(lib.random.RNG(seed=5), "rng"),
            lambda lib: c.restore(),
            lambda lib: (c.collect(), seen(c), c.serialize()),
            lambda lib: c.register(Box(), "late"),
            lambda lib: c.register(Box()),
            lambda lib: c.set_state("late", 1),
            lambda lib: (c.set_state("a", 5), a.value, seen(c), c.serialize()),
            lambda lib: (c.restore(), a.value, a.given, seen(c)),
            lambda lib: (c.restore(), a.given),
            lambda lib: (c.register(new, "a"), new.given, c.is_complete, c.serialize()),
            lambda lib: (c.collect(), c.serialize()),
        ]

    assert_same(steps)


def test_collecting_nothing():
    assert_same(lambda c: [lambda lib: (c.collect(), seen(c)), lambda lib: c.serialize()])


def text(**states):
    return json.dumps({"version": 2, "states": {k: {"state": v, "type": "Box"} for k, v in states.items()}})


def test_loading():
    def steps(c):
        a, b, c2 = Box(), Box(), Box()
        return [
            lambda lib: (c.deserialize(text(a="1", b="2")), seen(c), "a" in c),
            lambda lib: c.get_state("a"),
            lambda lib: c.register(Box(), "unknown"),
            lambda lib: c.register(Box()),
            lambda lib: (c.register(a, "a"), a.given, c.get_state("a")),
            lambda lib: c.restore(),
            lambda lib: c.collect(),
            lambda lib: c.serialize(),
            lambda lib: (c.register(a, "a"), a.given, c.register(c2, "a"), c2.given),
            lambda lib: (c.register(b, "b"), b.given, seen(c)),
            lambda lib: (c.set_state("new", 3), c.register(Box(), "new")),
            lambda lib: (c.restore(), c.collect(), seen(c)),
            lambda lib: (c.deserialize(text(a="7")), seen(c)),
            lambda lib: c.restore(),
        ]

    assert_same(steps)


def test_loading_over_registered_objects():
    def steps(c):
        a, b = Box(), Box()
        return [
            lambda lib: (c.register(a, "a"), c.register(b, "b")),
            lambda lib: (c.deserialize(text(a="1")), a.value),
            lambda lib: c.restore(),
            lambda lib: a.given,
            lambda lib: (c.deserialize(text(a="1", b="2")), c.restore(), a.given, b.given),
        ]

    assert_same(steps)


def test_anonymous_objects_by_their_order():
    def steps(c):
        x, y = Box(), Box()
        c.deserialize(text(__op_0="1", __op_1="2"))
        return [
            lambda lib: (c.register(x), x.given, c.register(y), y.given),
            lambda lib: c.register(Box()),
            lambda lib: seen(c),
        ]

    assert_same(steps)


@pytest.mark.parametrize("op_type", [Box, "Box", None, "Other", Other, 5, b"Box"])
def test_type_tags(op_type):
    def steps(c):
        a = Box()
        return [
            lambda lib: (c.set_state("a", 7, op_type), c.serialize(), seen(c)),
            lambda lib: (c.register(a, "a"), a.given),
        ]

    assert_same(steps)


ENTRIES = ['"4"', "{}", '{"state": "4"}', '{"type": "Box"}', '{"state": 4}', '{"state": null, "type": "Box"}']
ENTRIES += ['{"state": "4", "type": 5}', '{"state": "4", "type": null}', '{"state": "4", "more": 1}', "[1]", "null"]
TEXTS = ["", "{", "[]", "5", "{}", "null", '{"version": 2}', '{"states": {}}', '{"version": 2, "states": {}}']
TEXTS += [f'{{"version": {v}, "states": {{}}}}' for v in ("1", "3", '"2"', "2.0", "true", "null")]
TEXTS += ['{"version": 2, "states": []}', '{"version": 2, "states": null}']
TEXTS += [f'{{"version": 2, "states": {{"a": {entry}}}}}' for entry in ENTRIES]


@pytest.mark.parametrize("content", [*TEXTS, None, 5, {}, b"{}"])
def test_texts(content):
    def steps(c):
        a = Box()
        c.deserialize(text(old="1"))
        return [lambda lib: c.deserialize(content), lambda lib: seen(c), lambda lib: (c.register(a, "a"), a.given)]

    assert_same(steps)


def test_texts_are_interchangeable():
    """Ours is theirs: the same characters, and the state of a generator goes on in the other library."""
    rngs = [library.random.RNG(seed=99) for library in (avida, dali)]
    for rng in rngs:
        rng.advance(13)
    texts = []
    for library, rng in zip((avida, dali), rngs, strict=True):
        c = library.checkpoint.Checkpoint()
        c.register(rng, "rng")
        c.collect()
        texts.append(c.serialize())
    assert texts[0] == texts[1]
    c, rng = avida.checkpoint.Checkpoint(), avida.random.RNG()
    c.deserialize(texts[1])
    c.register(rng, "rng")
    assert [rng() for _ in range(5)] == [rngs[1]() for _ in range(5)]


def test_names_of_files(tmp_path):
    def steps(c, folder):
        def listing(_):
            return sorted(os.path.relpath(os.path.join(a, f), folder) for a, _, files in os.walk(folder) for f in files)

        def put(*names):
            for name in names:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text(a=name))

        def save(pattern):
            return lambda lib: os.path.relpath(c.save(f"{folder}/{pattern}"), folder)

        def load(pattern):
            return lambda lib: os.path.relpath(c.load(f"{folder}/{pattern}"), folder)

        c.set_state("a", 1)
        put("k_0.json", "k_5.json", "k_x.json", "xk_9.json", "k_9.json.bak", "k_-7.json", "l_0007.json", "l_12.json")
        put("[q]_1.json", "d_1/x.json", "d_3/x.json")
        return [
            save("k_{seq}.json"),
            save("k_{seq:04d}.json"),
            save("other_{seq}.json"),
            save("new/folder/{seq}.json"),
            save("d_{seq}/x.json"),
            save("b_{{x}}_{seq}.json"),
            load("l_{seq:04d}.json"),
            save("l_{seq:04d}.json"),
            save("l_{seq}.json"),
            load("[q]_{seq}.json"),
            load("d_{seq}/x.json"),
            load("nothing_{seq}.json"),
            load("l_{x}.json"),
            load("l_{}.json"),
            load("{seq}_{seq}.json"),
            lambda lib: (c.clear(), c.set_state("a", 1)),
            save("fresh_{seq}.json"),
            listing,
        ]

    found = []
    for library in (avida, dali):
        folder = tmp_path / library.__name__
        folder.mkdir()
        found.append(what_happens(library, steps(library.checkpoint.Checkpoint(), folder)))
    assert found[0] == found[1]


ENTRIES = [
    '{"a": {"state": "STATE", "type": null}}',
    '{"a": {"state": "STATE"}}',
    '{"a": {"state": "STATE", "type": "RNG"}}',
    '{"a": {"state": "STATE", "type": "File"}}',
    '{"a": {"state": "STATE", "type": 3}}',
    '{"a": {"state": null, "type": null}}',
    '{"a": {"type": null}}',
    '{"a": null}',
    '{"a": "STATE"}',
    "null",
    "{}",
]


@pytest.mark.parametrize("entries", ENTRIES)
def test_entries_of_a_text(entries):
    """Types may be null or missing, and are then not compared; a wrong one is an error."""
    state = "Philox_0000000000000003_0000000000000000:0000000000000001_0"
    text = f'{{"version": 2, "states": {entries.replace("STATE", state)}}}'

    def steps(c):
        rng = (avida if isinstance(c, avida.checkpoint.Checkpoint) else dali).random.RNG(seed=1)
        return [
            lambda lib: c.deserialize(text),
            lambda lib: c.serialize(),
            lambda lib: c.register(rng, "a"),
            lambda lib: str(rng.get_state()),
        ]

    assert_same(steps)


def test_states_without_a_type():
    def steps(c):
        box = Box()
        return [
            lambda lib: c.set_state("a", "1"),
            lambda lib: c.serialize(),
            lambda lib: (c.register(box, "a"), box.given),
            lambda lib: c.serialize(),
            lambda lib: (c.collect(), json.loads(c.serialize())["states"]["a"]["type"]),
        ]

    assert_same(steps)


def test_contexts():
    found = []
    for library in (avida, dali):
        current, context = library.checkpoint.current, library.EvalContext()
        same = [current() is library.EvalContext.current().checkpoint is library.EvalContext.default().checkpoint]
        with context:
            same += [current() is context.checkpoint, current() is library.EvalContext.default().checkpoint]
        same.append(current() is context.checkpoint)
        thread = threading.Thread(target=lambda current=current, same=same: same.append(current()))
        thread.start()
        thread.join()
        same[-1] = same[-1] is current()
        found.append(same)
    assert found[0] == found[1] == [True, True, False, False, False]


def test_nodes(tmp_path):
    import torchdata.nodes as tn

    for i in range(5):
        (tmp_path / f"{i}.jpg").write_bytes(bytes([i]))
    files = [str(tmp_path / f"{i}.jpg") for i in range(5)]

    def run(library):
        nodes = library.pytorch.nodes

        def values(node):
            return [{k: [np.asarray(t).tolist() for t in v.tensors] for k, v in item.items()} for item in node]

        def reader(**options):
            return nodes.Reader(library.readers.File, **{"batch_size": 2, "files": files} | options)

        node, mapped = reader(), nodes.DictMapper(reader(), lambda x: x + 1, "label")
        loader = tn.Loader(nodes.ToTorch(reader()))
        return what_happens(
            library,
            [
                lambda lib: (values(node), node.reset(), values(node)),
                lambda lib: next(node),
                lambda lib: dict(reader().get_metadata()),
                lambda lib: values(reader(output_names="xy")),
                lambda lib: next(reader(output_names="x")),
                lambda lib: nodes.Reader(library.readers.File, files=files),
                lambda lib: nodes.Reader(int, batch_size=2),
                lambda lib: reader(nonsense=1),
                lambda lib: values(mapped),
                lambda lib: [[[x.tolist() for x in item] for item in loader] for _ in range(2)],
            ],
        )

    assert run(avida) == run(dali)
