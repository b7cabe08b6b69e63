"""Items of a Python function: made in a background thread, and handed over one by one."""

from __future__ import annotations

import functools
import signal
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from avida import _core


def run_in_background(function: Callable[[], Any], depth: int) -> _core.Background:
    """Calls ``function()`` in a thread of its own, until ``depth`` results wait to be taken.

    With ``depth=0`` there is no thread: whoever takes an item calls the function. What the function raises is raised
    where its item would be taken, as the same object with its own traceback; after an error the next call continues,
    after ``StopIteration`` none does. The thread ends when what this function returns is dropped, once ``function``
    returns.
    """
    return _core.Background(function, depth)


class HandedOver:
    """An iterator over the items of a feed, of which no exception loses one.

    The exception may be that of a signal handler and come at any moment: the next call returns the item.
    """

    def __iter__(self) -> Any:
        return self

    if TYPE_CHECKING:

        def __next__(self) -> Any: ...
    else:
        __next__ = _core.as_method(_core.next_item)

    def _feed(self) -> _core.Feed:
        """Where the items come from; begins with them at the first call."""
        raise NotImplementedError

    def _make(self, item: Any) -> Any:
        """What users get for an item; None: nothing, the next item follows.

        It has no effect, since it is called again for the same item after a signal handler has raised an exception.
        """
        return item

    def _commit(self, item: Any, made: Any) -> None:
        """Notes that an item is given out; ``made`` is None when :meth:`_make` has failed for it.

        Attributes are stored last, without a call or a loop in between, so that either all are stored or none.
        """

    def _end(self) -> bool:
        """Notes that there are no more items. True: :meth:`_feed` has new ones. It may be called again."""
        return False


def raised_by_signal_handler(error: BaseException) -> bool:
    """Whether an exception comes from a signal handler: it then says nothing about the work that it ended."""
    codes = {_code_of(handler) for handler in map(signal.getsignal, signal.valid_signals()) if callable(handler)}
    return any(frame.f_code in codes for frame, _ in traceback.walk_tb(error.__traceback__))


def _code_of(handler: Any) -> Any:
    while isinstance(handler, functools.partial):
        handler = handler.func
    function = handler if hasattr(handler, "__code__") else type(handler).__call__
    return getattr(function, "__code__", None)  # None: written in C
