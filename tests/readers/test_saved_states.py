"""States that were saved when ReaderState was a class of Python resume where their runs stood, with any shards."""

import base64
import itertools
import json
import pathlib
import pickle

import pytest

import avida
from tests.readers.numbered import make_files, numbers, reader_of

SAVED = json.loads(pathlib.Path(__file__).with_name("saved_states.json").read_text())
"""For each kind of order: a state after three numbers of shards and batch sizes, as text and pickled; and the next
three batches of 3 samples that each shard read from there in the rest of the epoch, by the number of shards."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("numbered"), 50)


def rest(files, state, shards, options):
    found = []
    for i in range(shards):
        reader = reader_of(files, **options, num_shards=shards, shard_id=i)
        reader.set_state(state)
        found.append([numbers(batch) for batch, _ in itertools.islice(reader.next_epoch(3), 3)])
    return found


@pytest.mark.parametrize("form", ["text", "bytes", "dictionary", "pickle"])
@pytest.mark.parametrize("saved", SAVED, ids=lambda saved: repr(saved["options"]))
def test_states_of_the_version_before(files, saved, form):
    text = saved["text"]
    forms = {
        "text": lambda: text,
        "bytes": text.encode,
        "dictionary": lambda: avida.readers.ReaderState.parse(text).to_dict(),
        "pickle": lambda: pickle.loads(base64.b64decode(saved["pickled"])),
    }
    for shards, batches in saved["rest"].items():
        assert rest(files, forms[form](), int(shards), saved["options"]) == batches


def test_a_state_without_stretches(files):
    """The first version: they are not known, and not needed by one number of shards."""
    text = (
        '{"version":1,"epoch":1,"done":8,"base":0,"taken":60,"shards":1,"batch_size":4,"history":[],"samples":50,'
        '"seed":5,"order":"no shuffling, last_batch=\\"wrap\\"","own_order":0}'
    )
    assert rest(files, text, 1, {}) == [[[10, 11, 12], [13, 14, 15], [16, 17, 18]]]


def test_members_and_copies():
    state = avida.readers.ReaderState.parse(SAVED[0]["text"])
    assert (state.epoch, state.done, state.shards, state.batch_size) == (1, 7, 2, 2)
    assert [(s.epoch, s.done, s.batch_size) for s in state.stretches] == [(1, 0, 5), (1, 5, 2)]
    assert [(phase.shards, phase.done) for phase in state.history] == [(3, 8)]
    assert pickle.loads(pickle.dumps(state)) == state == eval(repr(state), {"ReaderState": avida.readers.ReaderState})
    assert state == pickle.loads(base64.b64decode(SAVED[0]["pickled"]))
    assert {state: 1}[avida.readers.ReaderState.of(str(state))] == 1
    assert state != avida.readers.ReaderState.of(state.to_dict() | {"done": 8})
    with pytest.raises(AttributeError):
        setattr(state, "epoch", 3)  # noqa: B010
