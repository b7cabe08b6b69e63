"""Runs a program, and notes all that it can see."""

import collections
import contextlib
import random
import time
import traceback
import warnings
import zlib
from typing import Any

import numpy as np

import avida as ndd

FILE = "<program>"


class Left(Exception):
    """Raised to leave a loop."""


class Failed:
    """What a name holds after the call for it has failed: using it raises the error of the call.

    A call raises at once what it can know by then, and the rest when its result is read. What it can know depends on
    what has been computed, which is not defined. The log has errors when results are read, wherever they come from.
    """

    def __init__(self, error: Exception) -> None:
        self.error = error


class Names(dict):
    """The names of a program."""

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        if isinstance(value, Failed):
            raise value.error
        return value


class Run:
    """What the names in programs mean, and the log of one run."""

    context = ndd.EvalContext(num_threads=1)

    def __init__(self, data: dict[str, list[str]], ahead: int) -> None:
        self.data = data
        self.ahead = ahead
        self.log: list[Any] = []
        self.effects: list[Any] = []
        self.own = ndd.random.RNG(seed=3)
        self.state = ndd.random.RNG(seed=8).state
        self.made: dict[int, Any] = {}
        self.other: Any = iter(())

        def note(array):
            self.effects.append((array.shape, zlib.crc32(array.tobytes())))

        @ndd.operator
        def noting(array):
            note(array)
            return array

        @ndd.operator
        def failing(array):
            note(array)
            if array.sum() % 3 == 0:
                raise ValueError(f"the sum is {array.sum()}")
            return array

        @ndd.operator
        def calling(array):
            note(array)
            return np.asarray(ndd.flip(ndd.tensor(array, layout="HWC")))

        @ndd.operator(pure=True)
        def pure(array, factor=1.0):
            if array.sum() % 7 == 0:
                raise ValueError(f"the sum is {array.sum()}")
            return (array * factor).astype(array.dtype)

        self.functions = {"noting": noting, "failing": failing, "calling": calling, "pure": pure}

    def run(self, text: str) -> list[Any]:
        helpers = {name: getattr(self, name) for name in dir(type(self)) if not name.startswith("_")}
        shared = np.zeros((), np.float32)
        image = ndd.tensor(np.arange(180, dtype=np.uint8).reshape(6, 10, 3), layout="HWC")
        names = Names(
            ahead=self.ahead,
            readers=[],
            later=[],
            x=image,
            y=image,
            p=ndd.tensor(0.5),
            q=ndd.tensor(2.0),
            w=ndd.tensor(1.0),
            own=self.own,
            state=self.state,
            python=random.Random(4),
            small=np.float32([0.5, 1.5, 2.5]),
            wide=np.arange(9000, dtype=np.float32),
            shared=shared,
            view=ndd.as_tensor(shared),
            tensor=ndd.tensor(0.25),
        )
        self.names = names
        ndd.random.set_seed(6)
        globals_ = {"ndd": ndd, "np": np, "Left": Left, "Failed": Failed} | self.functions | helpers
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            exec(compile(text, FILE, "exec"), globals_, names)
        # Axes that look wrong are noticed only if a value has been computed by the time of the call: not defined.
        shown = [(each.lineno, str(each.message)) for each in warned if "looks like channels" not in str(each.message)]
        self.log.append(("warnings", *shown))
        # The error of a failed value refers to frames, and these to the names: the garbage collector cannot see that.
        names.clear()
        self.made.clear()
        self.other = iter(())
        return self.log

    # Readers, whose samples are a file and a label.

    def files(self, kind, **options):
        return self._noted(
            lambda: ndd.readers.File(files=self.data[kind], labels=range(len(self.data[kind])), **options)
        )

    def indexed(self, **options):
        return self._noted(lambda: ndd.ExternalSource(list(self._samples()), 2, **options))

    def generated(self):
        return self._noted(lambda: ndd.ExternalSource(self._samples, 2))

    def in_batches(self):
        def batches():
            samples = list(self._samples())
            for first in range(0, len(samples), 3):
                yield tuple(map(ndd.batch, zip(*samples[first : first + 3], strict=True)))

        return self._noted(lambda: ndd.ExternalSource(batches, 2))

    def called(self):
        """A function that is called in the thread of the loop, and only when the loop asks for an item."""

        def make():
            samples = list(self._samples())
            calls = iter(range(10**6))

            def source():
                number = next(calls) % (len(samples) + 1)
                self.log.append(("called", number))
                if number == len(samples):
                    raise StopIteration
                return samples[number]

            return ndd.ExternalSource(source, 2, prefetch_queue_depth=0)

        return self._noted(make)

    def fails(self):
        class Samples:
            def __init__(self, samples):
                self.samples = samples

            def __len__(self):
                return len(self.samples)

            def __getitem__(self, index):
                if index == 7:
                    raise KeyError("sample 7")
                return self.samples[index]

        return self._noted(lambda: ndd.ExternalSource(Samples(list(self._samples())), 2))

    def again(self, reader):
        return self._noted(self.made[id(reader)][1])

    def _noted(self, make):
        reader = make()
        self.made[id(reader)] = reader, make
        return reader

    def _samples(self):
        for number, path in enumerate(self.data["good"]):
            with open(path, "rb") as file:
                yield np.frombuffer(file.read(), np.uint8), np.int32([number])

    def pull(self):
        """The next item of the second reader, of the next epoch after the last."""
        for _ in range(2):
            for item in self.other:
                return item
            self.other = self.names["readers"][1].next_epoch(batch_size=2, ahead=self.ahead)
        raise RuntimeError("an epoch without items")

    # Arguments.

    def like(self, value):
        return {"like": value} if isinstance(value, ndd.Batch) else {}

    def count(self, value):
        return {"batch_size": value.batch_size} if isinstance(value, ndd.Batch) else {}

    def per_sample(self, value, first):
        if isinstance(value, ndd.Batch):
            return ndd.batch([float(first + i) for i in range(value.batch_size)])
        return float(first)

    def one_of(self, value):
        return value.tensors[0] if isinstance(value, ndd.Batch) else value

    def mean(self, value):
        return float(np.asarray(self.one_of(value).cpu()).mean())

    def relabelled(self, value):
        return (ndd.as_batch if isinstance(value, ndd.Batch) else ndd.as_tensor)(value, layout="HWC")

    def rebuilt(self, value):
        return ndd.as_batch(list(value)) if isinstance(value, ndd.Batch) else ndd.as_tensor(value)

    def write(self, value):
        """Changes a value in its memory."""
        array = np.asarray(self.one_of(value))
        if array.dtype != np.uint8 or array.ndim > 1:
            array[...] = array + 1
        elif bytes(array[:2]) == b"P6":  # a file: another pixel, or no image any more
            array[-1] ^= 255
        else:
            array[0] = 0

    def settle(self):
        """Waits until no call reads memory that the program may write to."""
        ndd.EvalContext.current().evaluate_all()
        self.context.evaluate_all()

    def pause(self):
        """Time to work ahead in."""
        time.sleep(0.002)

    # The log.

    def start(self):
        self.names["saved"] = self.states()

    def states(self):
        readers = [str(reader.get_state()) for reader in self.names["readers"]]
        return [*readers, self.own.state, ndd.random.get_default_rng().state]

    def restore(self, saved):
        for reader, state in zip(self.names["readers"], saved, strict=False):
            reader.set_state(state)
        self.own.state, ndd.random.get_default_rng().state = saved[-2:]

    def note_states(self):
        errors = [[*map(str, getattr(reader, "errors", []))] for reader in self.names["readers"]]
        self.log.append(("states", *self.states(), errors))

    def note_error(self, error):
        self.log.append(("error", described_error(error)))

    def read(self, value):
        self.log.append(described(value))

    def end_epoch(self):
        """What was kept is read after all that came later."""
        later = self.names["later"]
        while later:
            try:
                self.read(later.pop())
            except Exception as error:
                self.note_error(error)
        for name in "xypqwlfg":
            try:
                self.read(self.names[name])
            except KeyError:
                self.log.append(f"no {name}")
            except Exception as error:
                self.note_error(error)
        self.settle()
        self.log.append(("effects", *self.effects))
        self.note_states()


Value = collections.namedtuple("Value", "batch dtype layout shape sources errors device data")


def described(value):
    """All that can be read of a value."""
    is_batch = isinstance(value, ndd.Batch)
    samples = list(value) if is_batch else [value]
    sources = value.sources if is_batch else [value.source]
    errors = value.errors if is_batch else value.error
    data = [np.asarray(sample.cpu()).tobytes() for sample in samples]
    shape, device = [sample.shape for sample in samples], str(value.device)
    return Value(is_batch, value.dtype.name, value.layout, shape, sources, errors, device, data)


def described_error(error):
    """Type, text and notes. Errors of calls are given the line that they have when they are raised later."""
    notes = list(getattr(error, "__notes__", []))
    if not any("called at " in note for note in notes):
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
        notes.append(f"called at {FILE}:{lines[0] if lines else '?'}")
    return type(error).__name__, str(error), notes


def difference(logs):
    """Where the logs begin to differ, for people."""
    expected, *others = logs.items()
    for ahead, log in others:
        for number in range(max(len(log), len(expected[1]))):
            pair = [each[number] if number < len(each) else "nothing" for each in (expected[1], log)]
            if pair[0] != pair[1]:
                with contextlib.suppress(AttributeError):
                    names = [name for name in Value._fields if getattr(pair[0], name) != getattr(pair[1], name)]
                    pair = [{name: getattr(each, name) for name in names} for each in pair]
                shown = [repr(each)[:1500] for each in pair]
                return f"entry {number} of the log:\nahead={expected[0]}: {shown[0]}\nahead={ahead}: {shown[1]}"
    return ""
