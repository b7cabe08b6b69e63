"""Stores for the tests: they hold requests back, and note how many are under way."""

import contextlib
import threading
from collections.abc import Mapping

import avida


class HeldStore(Mapping):
    """Answers when `together` requests are under way; without it, at once."""

    def __init__(self, objects, together=1):
        self.objects = objects
        self.under_way = self.most = self.asked = 0
        self._lock = threading.Lock()
        self._together = threading.Barrier(together)

    def __getitem__(self, name):
        with self._lock:
            self.asked += 1
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        try:
            self._together.wait(timeout=300)
            return self.objects[name]
        finally:
            with self._lock:
                self.under_way -= 1

    def __iter__(self):
        return iter(self.objects)

    def __len__(self):
        return len(self.objects)


@contextlib.contextmanager
def registered(store, scheme="held", **options):
    avida.storage.register(scheme, store, **options)
    try:
        yield store
    finally:
        avida.storage.unregister(scheme)


def objects_in(folder, name="data"):
    """The files in a folder and below it, by the names that they have in a folder of this name."""
    return {f"{name}/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}
