"""Functions of Batches as stages of Ray Data."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import ray

from avida._running.eval import get_num_threads, set_num_threads
from avida._values.integers import integer_within
from avida.random import get_default_rng
from avida.ray._columns import batches_of, table_of
from avida.ray._rows import SOURCE, known_as, rows_of


class Stage:
    """A function of Batches for ``map_batches`` of Ray Data, with ``batch_format="pyarrow"``.

    The parameters of the function name the columns that it takes, as Batches which lie where Ray has them. It returns a
    dictionary of columns: Batches, what makes Batches, lists of texts, or columns of Arrow. Columns that it does not
    take stay as they are, and those that it takes are left out unless it returns them; ``**columns`` takes all others
    but the key. Samples of various shapes become Ray's tensors of various shapes, and ``uint8`` with one axis becomes
    bytes.

    ``ds.map_batches(Stage(function), batch_format="pyarrow")`` runs as tasks of Ray. Actors make the stage themselves:
    ``ds.map_batches(Stage, fn_constructor_args=[function], batch_format="pyarrow", compute=ActorPoolStrategy(size=2))``
    A class in place of the function is made once in each actor, and is called.

    Errors are those of the operators: they name the row, and the line of the function. They are ordinary exceptions,
    to which Ray's own rules apply (``DataContext.max_errored_blocks``, ``retried_map_errors``). A function may run
    again for the same rows; where rows are known, all its draws are the same then, in whichever process, and keyed
    draws also for other batches.

    Args:
        function: The function, or a class of callable objects.
        key: The column that identifies rows, for ``keyed_by`` and messages: numbers from 0, or texts such as paths.
            Default: ``source``, if :func:`read` has made it.
        seed: The seed of random operators. Stages that draw need one each.
        epoch: The pass over the data, for draws that differ from those of the pass before. The rows of :func:`read`
            know theirs.
        num_threads: The number of threads. Default: the number of CPUs that Ray has given to the task or actor.
        warm_up: A table of some rows, for which an actor calls the function when it begins, before it gets any others.

    Example:
        >>> import pyarrow
        >>> def double(image):
        ...     return {"image": image * 2}
        >>> stage = avida.ray.Stage(double)
        >>> stage(pyarrow.table({"image": [[1, 2], [3]], "label": [5, 6]})).column_names
        ['image', 'label']
    """

    def __init__(
        self,
        function: Callable[..., Mapping[str, Any]] | type,
        *,
        key: str | None = None,
        seed: int = 0,
        epoch: int = 0,
        num_threads: int | None = None,
        warm_up: pa.Table | None = None,
    ) -> None:
        if not callable(function):
            raise TypeError(f"expected a function, got {type(function).__name__}")
        self._function: Callable[..., Any] = function() if isinstance(function, type) else function
        self._key = key
        self._seed = integer_within("seed", seed, 0, 2**64 - 1)
        self._epoch = integer_within("epoch", epoch, 0)
        self._threads = None if num_threads is None else integer_within("num_threads", num_threads, 1, 1024)
        self._parameters = _parameters_of(self._function)
        self.__name__ = _name_of(self._function)  # which Ray shows
        if warm_up is not None and _is_in_actor():
            self(warm_up)

    def __call__(self, table: pa.Table) -> pa.Table:
        _use_threads(self._threads or _threads_given())
        taken = self._taken(table)
        batches = batches_of(table, taken)
        rows = rows_of(table, self._key, self._epoch)
        if rows:
            batches = known_as(batches, rows)
        with self._draws(rows.position() if rows else None):
            made = self._function(**batches)
        if not isinstance(made, Mapping):
            raise TypeError(f"{self.__name__}: expected a dictionary of columns, got {type(made).__name__}")
        made = {
            str(name): table.column(name) if column is batches.get(name) else column for name, column in made.items()
        }
        return self._beside_others(table, taken, table_of(made), rows and rows.places_in(made.values()))

    def _beside_others(self, table: pa.Table, taken: list[str], made: pa.Table, places: list[int] | None) -> pa.Table:
        """The results, with the columns that the function did not take."""
        others = [name for name in table.column_names if name not in taken and name not in made.column_names]
        kept = table.select(others)
        if others and made.num_rows != table.num_rows:
            if places is None or len(places) != made.num_rows:
                raise ValueError(
                    f"{self.__name__}: expected {table.num_rows} rows, as the columns {', '.join(others)} have that it "
                    f"does not take, got {made.num_rows}; rows may be left out of Batches, by avida.drop_failed or "
                    "batch.tensors[...], where key= names a column that identifies rows"
                )
            kept = kept.take(places)
        for name in others:
            made = made.append_column(kept.schema.field(name), kept.column(name))
        return made

    def _taken(self, table: pa.Table) -> list[str]:
        """The columns that the function takes."""
        required, optional, takes_all = self._parameters
        if missing := [name for name in required if name not in table.column_names]:
            raise TypeError(
                f"{self.__name__}: expected the columns {', '.join(required)}, by its parameters, and {missing[0]} is "
                f"not among {', '.join(table.column_names)}"
            )
        named = {*required, *optional}
        return [name for name in table.column_names if name in named or (takes_all and name not in (SOURCE, self._key))]

    @contextlib.contextmanager
    def _draws(self, position: int | None) -> Iterator[None]:
        """Numbers that follow from the rows, where these are known."""
        if position is None:
            yield
            return
        rng = get_default_rng()
        before = rng.state
        rng.state = f"Philox_{self._seed:016X}_{position:016X}:{0:016X}_0"
        try:
            yield
        finally:
            rng.state = before

    def __repr__(self) -> str:
        return f"Stage({self.__name__})"


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _parameters_of(function: Callable[..., Any]) -> tuple[list[str], list[str], bool]:
    """The names that a function needs, those that it may get, and whether it takes all others."""
    required, optional, takes_all = [], [], False
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise TypeError(
                f"{_name_of(function)}: expected parameters that are names of columns, or **columns, got {parameter}"
            )
        if parameter.kind == parameter.VAR_KEYWORD:
            takes_all = True
        else:
            (required if parameter.default is parameter.empty else optional).append(name)
    return required, optional, takes_all


def _is_in_actor() -> bool:
    return ray.is_initialized() and ray.get_runtime_context().get_actor_id() is not None


def _threads_given() -> int | None:
    """The CPUs of this task or actor; None outside of both."""
    if not ray.is_initialized():
        return None
    context = ray.get_runtime_context()
    if context.get_task_id() is None and context.get_actor_id() is None:
        return None
    return max(1, int(context.get_assigned_resources().get("CPU", 1)))


def _use_threads(count: int | None) -> None:
    if count is not None and count != get_num_threads():
        set_num_threads(count)
