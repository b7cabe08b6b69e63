"""Pages of the reference: a page for each operator, from its declaration, and one for each module."""

from __future__ import annotations

import functools
import importlib
import inspect
import pathlib
import re
import textwrap
import types
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import avida
from avida import _core

ROOT = pathlib.Path(__file__).parent.parent.parent
PICTURES = ROOT / "docs" / "gallery"
# AVIDA_OP(name, ..., AVIDA_OP_IN(module, name, ..., AVIDA_OP_NAMED(id, "module.name", ...
DECLARATION = re.compile(
    r'^AVIDA_OP(?:\((?P<plain>\w+)|_IN\((?P<module>\w+),\s*(?P<name>\w+)|_NAMED\(\w+,\s*"(?P<full>[\w.]+)"),',
    re.MULTILINE,
)
FOLDERS = {
    "augment": "Augmentation",
    "bbox": "Boxes",
    "color": "Colour",
    "decode": "Decoders",
    "effects": "Light, weather and looks",
    "filter": "Filters and neighbourhoods",
    "generic": "Arrays",
    "geometry": "Geometry",
    "image": "Images: resize, crop, normalize",
    "math": "Arithmetic",
    "noise": "Noise",
    "paste": "Paste and erase",
    "random": "Random numbers",
    "reductions": "Reductions",
    "segmentation": "Segmentation",
    "sound": "Sound",
    "video": "Video",
}
# Modules with a page of their own, and what it is called.
MODULES = {
    "avida": "Values, execution, and all the rest of avida",
    "avida.readers": "Readers",
    "avida.experimental.readers": "Readers of videos and FITS",
    "avida.tfrecord": "Features of TFRecord",
    "avida.decoders": "Decoders: headers and the cache",
    "avida.storage": "Stores and caches",
    "avida.augment": "Augmentation",
    "avida.augment.presets": "Presets",
    "avida.random": "Random generators",
    "avida.checkpoint": "Checkpoints",
    "avida.distributed": "Processes of a run",
    "avida.pytorch": "PyTorch",
    "avida.pytorch.nodes": "Nodes of torchdata",
    "avida.ray": "Ray Data",
    "avida.progress": "Progress bars",
    "avida.types": "Element types and enumerations",
    "avida.capture": "Names of DALI's capture mode",
    "avida.experimental": "Names that may change, and older ones",
    "avida.experimental.decoders": "Older names of decoders",
}


def pages() -> dict[str, str]:
    """Names of pages below reference/, and their texts."""
    operators = _operators()
    made = {f"{operator['name']}.md": _operator_page(operator, folder) for operator, folder in operators}
    made |= {f"{name}-module.md": _module_page(name) for name in MODULES}
    groups = defaultdict(list)
    for operator, folder in operators:
        groups[FOLDERS.get(folder, folder.capitalize())].append(operator)
    made["operators.md"] = _operators_page(dict(sorted(groups.items())))
    index = toctree(["operators", *(f"{name}-module" for name in MODULES)])
    made["index.md"] = f"# Reference\n\nEvery public name of avida {avida.__version__}.\n\n{index}"
    return made


def _operators() -> list[tuple[dict[str, Any], str]]:
    """All that users can call, and the folder that each is declared in."""
    folders: dict[str, str] = {}
    for file in sorted((ROOT / "native" / "ops").glob("*/*.cpp")):
        for found in DECLARATION.finditer(file.read_text()):
            name = found["plain"] or found["full"] or f"{found['module']}.{found['name']}"
            folders[name] = file.parent.name
    # Macros declare some operators: those are where others of their module are.
    modules = {name.rpartition(".")[0]: folder for name, folder in folders.items()}
    described = (_core.describe_op(i) for i in range(_core.op_count()))
    shown = [operator for operator in described if not operator["hidden"]]
    return [
        (operator, folders.get(operator["name"]) or modules[operator["name"].rpartition(".")[0]])
        for operator in sorted(shown, key=lambda operator: operator["name"])
    ]


def toctree(pages: Sequence[str], caption: str = "", hidden: bool = False) -> str:
    """What makes pages part of the navigation."""
    options = [":maxdepth: 1", *([f":caption: {caption}"] if caption else []), *([":hidden:"] if hidden else [])]
    return "\n".join(["```{toctree}", *options, "", *pages, "```", ""])


def _operators_page(groups: dict[str, list[dict[str, Any]]]) -> str:
    parts = ["# Operators", "", "Functions of Tensors and Batches. Those marked CPU copy there and back on a GPU.", ""]
    for group, operators in groups.items():
        parts += [f"## {group}", "", "| | | |", "|---|---|---|"]
        parts += [f"| [{each['name']}]({each['name']}.md) | {_summary(each)} | {_device(each)} |" for each in operators]
        parts += ["", toctree([each["name"] for each in operators], hidden=True)]
    return "\n".join(parts)


def _summary(operator: dict[str, Any]) -> str:
    return _table_text(re.split(r"(?<=\.)\s", operator["doc"].partition("Returns: ")[0].strip(), maxsplit=1)[0])


def _device(operator: dict[str, Any]) -> str:
    return "GPU" if operator["gpu_only"] else "CPU, GPU" if operator["on_gpu"] else "CPU"


def _table_text(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _operator_page(operator: dict[str, Any], folder: str) -> str:
    text, _, returned = operator["doc"].partition("Returns: ")
    parts = [f"# {operator['name']}", "", text.strip(), "", *_example(operator)]
    parts += [
        "## Signature",
        "",
        "```python",
        _signature(operator),
        "```",
        "",
        *_inputs(operator),
        *_arguments(operator),
    ]
    parts += ["## Result", "", _result(operator, returned.strip()), ""]
    if operator["raises"]:
        parts += ["## Errors", "", operator["raises"], ""]
    runs = {"CPU": "Runs on the CPU; values on a GPU are copied there and back.", "GPU": "Runs on GPUs alone."}
    parts += ["## Device", "", runs.get(_device(operator), "Runs on the CPU and on [GPUs](../docs/gpu.md)."), ""]
    return "\n".join([*parts, f"[All operators](operators.md). Declared in `native/ops/{folder}`.", ""])


def _signature(operator: dict[str, Any]) -> str:
    """Without what is ignored, and with the declared defaults."""
    function: Any = avida
    for part in operator["name"].split("."):
        function = getattr(function, part)
    declared = {arg["name"]: arg for arg in operator["args"]}
    names, is_named = [], False
    for name, parameter in inspect.signature(function).parameters.items():
        arg = declared.get(name, {"default": "", "deprecated": False})
        is_variadic = parameter.kind == parameter.VAR_POSITIONAL
        if parameter.kind == parameter.KEYWORD_ONLY and not is_named:
            names.append("*")
        is_named |= is_variadic or parameter.kind == parameter.KEYWORD_ONLY
        default = "" if parameter.default is parameter.empty else f"={arg['default'] or None}"
        if not arg["deprecated"]:
            names.append(f"{'*' if is_variadic else ''}{name}{default}")
    line = f"avida.{operator['name']}({', '.join(names)})"
    return textwrap.fill(line, 88, subsequent_indent="    ", break_long_words=False)


def _inputs(operator: dict[str, Any]) -> list[str]:
    if not operator["inputs"]:
        return []
    rows = [
        f"| `{'*' if each['variadic'] else ''}{each['name']}`{', optional' if each['optional'] else ''} | "
        f"{_table_text(each['doc'])} | {', '.join(each['layouts']) or 'any'} |"
        for each in operator["inputs"]
    ]
    return ["## Inputs", "", "| name | what | layouts |", "|---|---|---|", *rows, ""]


def _arguments(operator: dict[str, Any]) -> list[str]:
    own = [arg for arg in operator["args"] if not arg["deprecated"]]
    ignored = [f"`{arg['name']}`" for arg in operator["args"] if arg["deprecated"]]
    parts = []
    if own:
        parts += ["## Arguments", "", "| name | what | type | default | per sample |", "|---|---|---|---|---|"]
        parts += [_argument(arg) for arg in sorted(own, key=lambda arg: not arg["required"])]
        parts.append("")
    if ignored:
        parts += [f"Accepted for compatibility and ignored: {', '.join(ignored)}.", ""]
    return parts


def _argument(arg: dict[str, Any]) -> str:
    kind = " ".join(f'`"{choice}"`' for choice in arg["choices"]) or arg["enumeration"] or arg["type"]
    default = "required" if arg["required"] else f"`{arg['default']}`" if arg["default"] else ""
    return (
        f"| `{arg['name']}` | {_table_text(arg['doc'])} | {kind} | {default} | {'yes' if arg['per_sample'] else ''} |"
    )


def _result(operator: dict[str, Any], returned: str) -> str:
    many = {1: "One value", -1: "One value or several"}.get(operator["outputs"], f"{operator['outputs']} values")
    return " ".join(filter(None, [f"{many}: Batches where an input or an argument is one, else Tensors.", returned]))


def _example(operator: dict[str, Any]) -> list[str]:
    name, code = operator["name"], operator["example"]
    if not code:
        return []
    parts = ["```python", code, "```", ""]
    if (PICTURES / f"{name}.jpg").exists():
        parts += [f"![What {name} makes of a photo of a landscape](../docs/gallery/{name}.jpg)", ""]
        parts += ["The picture is of the [gallery](../docs/gallery.md), which has its line of code.", ""]
    return parts


def _module_page(name: str) -> str:
    module = importlib.import_module(name)
    parts = [f"# {MODULES[name]}", "", f"`{name}`. {(module.__doc__ or '').strip() if name != 'avida' else ''}", ""]
    members = list(_members(module))
    for kind, directive in (("Classes", "autoclass"), ("Functions", "autofunction")):
        shown = [member for member, is_class in members if is_class == (kind == "Classes")]
        if shown:
            parts += [f"## {kind}", ""]
        for member in shown:
            parts += [f"### {member}", "", "```{eval-rst}", f".. {directive}:: {name}.{member}", "```", ""]
    if aliases := [
        (member, other) for member, other in _operators_in(module) if f"{name}.{member}" != f"avida.{other}"
    ]:
        rows = [f"| `{member}` | [{other}]({other}.md) |" for member, other in aliases]
        parts += ["## Other names", "", "| here | the operator |", "|---|---|", *rows, ""]
    return "\n".join(parts)


def _public(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """The names of a module and what they are; of one whose package is missing, nothing."""
    for member in sorted(getattr(module, "__all__", None) or dir(module), key=str.lower):
        try:
            value = getattr(module, member)
        except ModuleNotFoundError:
            if module.__name__ != "avida.ray":
                raise
            return
        own = getattr(value, "__module__", "") or ""
        if member[0] != "_" and not inspect.ismodule(value) and own.startswith("avida"):
            yield member, value


def _operator_name(value: Any) -> str | None:
    """What the operator is called that a function calls, if it is one."""
    name = f"{value.__module__}.{getattr(value, '__name__', '')}".removeprefix("avida.").replace("_ops.", "")
    is_operator = inspect.isfunction(value) and value.__module__.endswith("._ops") and name in _operator_names()
    return name if is_operator else None


@functools.cache
def _operator_names() -> set[str]:
    return {_core.describe_op(i)["name"] for i in range(_core.op_count())}


def _operators_in(module: types.ModuleType) -> Iterator[tuple[str, str]]:
    for member, value in _public(module):
        if name := _operator_name(value):
            yield member, name


def _members(module: types.ModuleType) -> Iterator[tuple[str, bool]]:
    """The public classes and functions that are not operators, and whether each is a class."""
    for member, value in _public(module):
        if (inspect.isclass(value) or inspect.isfunction(value)) and not _operator_name(value):
            yield member, inspect.isclass(value)
