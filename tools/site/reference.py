"""Pages of the reference: a page for each operator, from its declaration, and one for each module."""

from __future__ import annotations

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
DECLARATION = re.compile(r"^AVIDA_OP(?:_IN)?\((?:\w+, )?(\w+), \w+\)", re.MULTILINE)
FOLDERS = {
    "bbox": "Boxes",
    "color": "Colour",
    "decode": "Decoders",
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
    "avida.storage": "Stores and caches",
    "avida.augment": "Augmentation",
    "avida.random": "Random generators",
    "avida.checkpoint": "Checkpoints",
    "avida.distributed": "Processes of a run",
    "avida.pytorch": "PyTorch",
    "avida.progress": "Progress bars",
    "avida.types": "Element types and enumerations",
}


def pages() -> dict[str, str]:
    """Names of pages below reference/, and their texts."""
    operators = _operators()
    made = {f"{operator['name']}.md": _operator_page(operator, folder) for operator, folder in operators}
    modules = [name for name in MODULES if inspect.ismodule(_module(name))]
    made |= {f"{name}-module.md": _module_page(name) for name in modules}
    groups = defaultdict(list)
    for operator, folder in operators:
        groups[FOLDERS.get(folder, folder.capitalize())].append(operator)
    made["operators.md"] = _operators_page(dict(sorted(groups.items())))
    index = toctree(["operators", *(f"{name}-module" for name in modules)])
    made["index.md"] = f"# Reference\n\nEvery public name of avida {avida.__version__}.\n\n{index}"
    return made


def _operators() -> list[tuple[dict[str, Any], str]]:
    """All that users can call, and the folder that each is declared in."""
    folders: dict[str, str] = {}
    for file in sorted((ROOT / "native" / "ops").glob("*/*.cpp")):
        folders.update(dict.fromkeys(DECLARATION.findall(file.read_text()), f"{file.parent.name}/{file.name}"))
    described = (_core.describe_op(i) for i in range(_core.op_count()))
    shown = [operator for operator in described if not operator["hidden"]]
    return [
        (operator, folders.get(operator["name"].rpartition(".")[2], "generic/").partition("/")[0])
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


def _module(name: str) -> Any:
    module: Any = avida
    for part in name.split(".")[1:]:
        module = getattr(module, part, None)
    return module


def _module_page(name: str) -> str:
    module = _module(name)
    parts = [f"# {MODULES[name]}", "", f"`{name}`. {(module.__doc__ or '').strip() if name != 'avida' else ''}", ""]
    for kind, directive in (("Classes", "autoclass"), ("Functions", "autofunction")):
        members = [member for member, is_class in _members(module) if is_class == (kind == "Classes")]
        if members:
            parts += [f"## {kind}", ""]
        for member in members:
            parts += [f"### {member}", "", "```{eval-rst}", f".. {directive}:: {name}.{member}", "```", ""]
    return "\n".join(parts)


def _members(module: types.ModuleType) -> Iterator[tuple[str, bool]]:
    """The public classes and functions that are not operators, and whether each is a class."""
    prefix = module.__name__.removeprefix("avida").lstrip(".")
    described = (_core.describe_op(i)["name"] for i in range(_core.op_count()))
    operators = {each for each in described}
    for member in sorted(dir(module), key=str.lower):
        value = getattr(module, member)
        own = getattr(value, "__module__", "") or ""
        if member[0] == "_" or inspect.ismodule(value) or not own.startswith("avida"):
            continue
        if f"{prefix}.{member}".lstrip(".") in operators:
            continue
        if inspect.isclass(value) or inspect.isfunction(value):
            yield member, inspect.isclass(value)
