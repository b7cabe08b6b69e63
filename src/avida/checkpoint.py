"""Checkpoints: the states of readers, generators and other objects in a file."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from avida._files.numbered_files import NumberedFiles
from avida._files.reading import read_file

_VERSION = 2  # of the text
_ANONYMOUS = "__op_"


class _State(NamedTuple):
    value: Any
    type_name: str | None  # None: not known, fits any object


class Checkpoint:
    """The states of the objects that are registered with it.

    An object has either ``get_state`` and ``set_state``, where ``set_state`` also takes ``str`` of a state; or
    ``state_dict`` and ``load_state_dict``, with a state that JSON can hold. Readers, generators
    (:func:`avida.random.get_default_rng` too) and much of PyTorch qualify.

    To resume, load a checkpoint and register the new objects in the same way: each gets its state immediately.

    Example:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> rng = avida.random.RNG(seed=42)
        >>> checkpoint = avida.checkpoint.Checkpoint()
        >>> checkpoint.register(rng, "rng")
        'rng'
        >>> checkpoint.collect()
        >>> path = checkpoint.save(folder.name + "/run_{seq:04d}.json")
        >>> expected = rng()

        >>> resumed, rng = avida.checkpoint.Checkpoint(), avida.random.RNG()
        >>> resumed.load(folder.name + "/run_{seq:04d}.json") == path
        True
        >>> _ = resumed.register(rng, "rng")
        >>> rng() == expected
        True
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forgets all objects and states."""
        self._objects: dict[str, Any] = {}
        self._states: dict[str, _State] = {}
        self._pending: set[str] = set()  # states that their objects have yet to take up
        self._complete = False
        self._loaded = False
        self._next_number = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the registered objects."""
        return tuple(self._objects)

    @property
    def is_complete(self) -> bool:
        """Whether the states come from :meth:`collect`."""
        return self._complete

    @property
    def is_loaded(self) -> bool:
        """Whether the states come from :meth:`load` or :meth:`deserialize`."""
        return self._loaded

    def __len__(self) -> int:
        return len(self._objects)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def register(self, op: Any, name: str | None = None) -> str:
        """Adds an object, restores a pending state for it, and returns its name.

        Without a name, objects are told apart by the order in which they are registered, and one that is registered
        already keeps its name. Another object of the same type may take over a name.
        """
        _check_has_state(op)
        known = next((key for key, other in self._objects.items() if other is op), None)
        if name is None:
            key = known or f"{_ANONYMOUS}{len(self._objects)}"
        else:
            key = _check_name(name)
            if known not in (None, key):
                raise RuntimeError(f"expected an object that is not registered yet, got one that is {known!r}")
        self._check_may_register(op, key)
        if key in self._pending:
            self._restore(op, key)
        self._objects[key] = op
        return key

    def _check_may_register(self, op: Any, key: str) -> None:
        if key in self._objects:
            old, new = _type_name(self._objects[key]), _type_name(op)
            if old != new:
                raise TypeError(f"{key!r} is registered as {old}; a {new} cannot take its place")
        elif self._complete:
            raise RuntimeError(f"{key!r} comes after the states were collected; call clear() to start over")
        if self._loaded and key not in self._states:
            order = " (objects without a name must be registered in the same order as before)"
            raise KeyError(
                f"the loaded checkpoint has no state for {key!r}, only for {', '.join(self._states) or 'nothing'}"
                + (order if key.startswith(_ANONYMOUS) else "")
            )

    def collect(self) -> None:
        """Collects the current states of all registered objects."""
        self._check_all_registered()
        self._states = {key: _State(_get(op), _type_name(op)) for key, op in self._objects.items()}
        self._pending.clear()
        self._complete, self._loaded = True, False

    def restore(self) -> None:
        """Restores the pending states of all registered objects.

        Raises:
            RuntimeError: An object has no state, or a state has no object.
            TypeError: The state of an object is that of another class.
        """
        if not self._states:
            return
        self._check_all_registered()
        missing = [key for key in self._objects if key not in self._states]
        if missing:
            raise RuntimeError(f"expected a state for every object, found none for {', '.join(missing)}")
        for key in self._pending:
            self._check_type(self._objects[key], key)
        for key, op in self._objects.items():
            if key in self._pending:
                self._restore(op, key)

    def _restore(self, op: Any, key: str) -> None:
        self._check_type(op, key)
        _set(op, self._states[key].value)
        self._pending.discard(key)

    def _check_type(self, op: Any, key: str) -> None:
        expected, found = self._states[key].type_name, _type_name(op)
        if expected not in (None, found):
            raise TypeError(f"the state of {key!r} is that of a {expected}, got a {found}")

    def _check_all_registered(self) -> None:
        unknown = [key for key in self._states if key not in self._objects]
        if unknown:
            raise RuntimeError(f"expected an object for every state, none is registered for {', '.join(unknown)}")

    def get_state(self, name: str) -> Any:
        """Returns the state of a registered object; ``None`` if there is none yet.

        A state that was loaded is a string.
        """
        if name not in self:
            raise KeyError(f"no object is registered as {name!r}")
        state = self._states.get(name)
        return None if state is None else state.value

    def set_state(self, name: str, value: Any, op_type: type | str | None = None) -> None:
        """Sets the state that :meth:`register` or :meth:`restore` gives to an object.

        Args:
            name: The object's name.
            value: What its ``set_state`` or ``load_state_dict`` takes.
            op_type: The class the object must have, or its name. Default: any.
        """
        if op_type is not None and not isinstance(op_type, type | str):
            raise TypeError(f"op_type must be a class or its name, got {op_type!r}")
        if self._complete and name not in self:
            raise KeyError(f"no object is registered as {name!r}")
        self._states[name] = _State(value, op_type.__qualname__ if isinstance(op_type, type) else op_type)
        self._pending.add(name)

    def serialize(self) -> str:
        """All states as a JSON text."""
        if not self._states:
            raise RuntimeError("there is no state yet; call collect() first")
        states = {
            key: {"state": _text(key, state.value), "type": state.type_name} for key, state in self._states.items()
        }
        return json.dumps({"version": _VERSION, "states": states})

    def deserialize(self, data: str | bytes) -> None:
        """Replaces all states by those of a text that :meth:`serialize` made."""
        self._states = _parse(data)
        self._pending = set(self._states)
        self._complete, self._loaded = False, True

    def save(self, filename: str | os.PathLike[str]) -> str:
        """Writes all states to a file and returns its path.

        A missing folder is made.

        The file appears under its name when it is on the disk as a whole: a crash leaves what was there before, and
        perhaps a temporary file, which the next save into the folder removes.

        Args:
            filename: Where ``{seq}`` or, say, ``{seq:04d}`` stands in it, each call makes a new file, with a number
                above those of all that are there. Without it, the file is replaced.

        Raises:
            NotADirectoryError: A file, or a link that leads nowhere, is where a folder is needed.
        """
        files = NumberedFiles(filename)
        path, number = files.write(self.serialize(), self._next_number)
        self._next_number = number + 1
        return path

    def load(self, filename: str | os.PathLike[str]) -> str:
        """Reads the states from a file and returns its path.

        Of a name with ``{seq}``, the file with the highest number is read.

        Raises:
            FileNotFoundError: There is no such file.
            OSError: It is a device or a pipe.
            ValueError: The file is not a checkpoint of this version.
        """
        path, number = NumberedFiles(filename).newest()
        try:
            self.deserialize(read_file(path))
        except ValueError as error:
            error.add_note(f"in {path}")
            raise
        self._next_number = number + 1
        return path


def current() -> Checkpoint:
    """Returns the checkpoint of the current :class:`avida.EvalContext`.

    Outside any context, each thread has a checkpoint of its own.
    """
    from avida._running.eval import EvalContext  # which imports this module

    return EvalContext.current().checkpoint


def _check_name(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"expected a name, got {name!r}")
    if not name or name.startswith(_ANONYMOUS):
        raise ValueError(f"a name must not be empty and not start with {_ANONYMOUS!r}, got {name!r}")
    return name


def _type_name(op: Any) -> str:
    return type(op).__qualname__


def _check_has_state(op: Any) -> None:
    if isinstance(op, type) or not (_has(op, "get_state", "set_state") or _has(op, "state_dict", "load_state_dict")):
        raise TypeError(
            "expected an object with get_state and set_state, or with state_dict and load_state_dict, got "
            + (f"the class {op.__qualname__}" if isinstance(op, type) else f"a {_type_name(op)}")
        )


def _has(op: Any, *methods: str) -> bool:
    return all(callable(getattr(op, method, None)) for method in methods)


def _get(op: Any) -> Any:
    return op.get_state() if _has(op, "get_state", "set_state") else op.state_dict()


def _set(op: Any, value: Any) -> None:
    if _has(op, "get_state", "set_state"):
        op.set_state(value)
    else:
        op.load_state_dict(json.loads(value) if isinstance(value, str) else value)


def _text(key: str, value: Any) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise TypeError(f"the state of {key!r} cannot be stored as JSON: its bytes are not UTF-8 text") from error
    if not isinstance(value, dict):
        return str(value)
    try:
        return json.dumps(value)
    except TypeError as error:
        raise TypeError(f"the state of {key!r} cannot be stored as JSON: {error}") from error


def _parse(data: str | bytes) -> dict[str, _State]:
    content = json.loads(data)
    if not isinstance(content, dict) or "states" not in content:
        raise ValueError("expected the text of a checkpoint, with version and states")
    if content.get("version") != _VERSION:
        raise ValueError(f"expected version {_VERSION} of a checkpoint's text, got {content.get('version')!r}")
    if not isinstance(content["states"], dict):
        raise ValueError(f"expected states by name, got {content['states']!r:.100}")
    return {key: _parse_state(key, entry) for key, entry in content["states"].items()}


def _parse_state(key: str, entry: Any) -> _State:
    if not isinstance(entry, dict) or "state" not in entry:
        raise ValueError(f"expected state and type of {key!r}, got {entry!r:.100}")
    type_name = entry.get("type")
    if type_name is not None and not isinstance(type_name, str):
        raise ValueError(f"the type of {key!r} must be a name, got {type_name!r:.100}")
    return _State(_text(key, entry["state"]), type_name)
