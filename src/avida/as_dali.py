"""``import avida.as_dali`` makes ``nvidia.dali.experimental.dynamic`` another name of avida in this process.

For notebooks and libraries that import DALI's names. It does not matter whether DALI is installed,
nor whether it was imported before: modules that have it keep it, and every later import gives avida. The modules
``nvidia.dali.types`` and ``nvidia.dali.tfrecord`` come along; pipeline mode does not. ``avida run`` does the same for a
script or a notebook that is not to be changed.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Sequence

from avida._missing import MIGRATION, PIPELINE_MODE

_PACKAGE = "nvidia.dali"
_DYNAMIC = "nvidia.dali.experimental.dynamic"
_BESIDE = {"nvidia.dali.types": "avida.types", "nvidia.dali.tfrecord": "avida.tfrecord"}


def _missing(name: str) -> str:
    part = name.removeprefix(_PACKAGE + ".").partition(".")[0]
    if part in PIPELINE_MODE:
        what = "pipeline mode is no part of avida, which stands in for dynamic mode"
        return f"{name} is not there: {what}; `avida migrate` rewrites such scripts; {MIGRATION}"
    return f"{name} is not there: avida stands in for {_DYNAMIC}, {' and '.join(_BESIDE)} only"


class _Frame(types.ModuleType):
    """A package that holds nothing but the aliases."""

    __version__ = "2.4.0"  # whose API avida follows

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(_missing(f"{self.__name__}.{name}"))


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name == "nvidia":  # other packages live under that name too
            found = importlib.machinery.PathFinder.find_spec(name)
            return found or importlib.machinery.ModuleSpec(name, self, is_package=True)
        if name in (_PACKAGE, "nvidia.dali.experimental"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if name in _BESIDE or name == _DYNAMIC or name.startswith(_DYNAMIC + "."):
            if importlib.util.find_spec(_avida_name(name)) is None:
                return None
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if name.startswith(_PACKAGE + "."):
            raise ModuleNotFoundError(_missing(name), name=_PACKAGE)  # with its own name, `from` would drop the message
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        if spec.name in ("nvidia", _PACKAGE, "nvidia.dali.experimental"):
            return _Frame(spec.name)
        module = importlib.import_module(_avida_name(spec.name))
        spec.loader_state = module.__spec__  # importing under a second name replaces it for a moment
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__spec__ is not None and module.__spec__.loader_state is not None:
            module.__spec__ = module.__spec__.loader_state


def _avida_name(name: str) -> str:
    return _BESIDE.get(name) or "avida" + name.removeprefix(_DYNAMIC)


for _name in [name for name in sys.modules if name == _PACKAGE or name.startswith(_PACKAGE + ".")]:
    del sys.modules[_name]
sys.meta_path.insert(0, _Finder())
