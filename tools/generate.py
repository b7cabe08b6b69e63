"""Writes functions of operators, classes of readers and the table of image formats from their native declarations.

python tools/generate.py         writes src/avida/**/_ops.py, **/_readers.py, _core.pyi and the table in docs/formats.md
python tools/generate.py --check fails when they are out of date
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import types
from collections import defaultdict

SOURCE = pathlib.Path(__file__).parent.parent / "src" / "avida"
FORMATS = SOURCE.parent.parent / "docs" / "formats.md"
# The core without the package around it, which imports the files that are to be written.
sys.modules["avida"] = types.ModuleType("avida")
sys.modules["avida"].__path__ = [str(SOURCE)]

from reader_classes import reader_modules  # noqa: E402
from result_types import result_type  # noqa: E402

from avida import _core  # noqa: E402
from avida._scenes.operators import CHANGES_PIXELS, MOVES_PIXELS, SWAP_TEXT, SWAPS  # noqa: E402

# For each type of argument: what all samples share, and what may also be a Batch with a value for each sample.
TYPES = {
    "bool": ("bool", "BoolArg"),
    "int": ("int", "IntArg"),
    "float": ("float", "FloatArg"),
    "dtype": ("DTypeArg", "DTypeArg"),
    "layout": ("str", "str"),
    "str": ("str", "str"),
    "ints": ("FixedInts", "IntsArg"),
    "floats": ("FixedFloats", "FloatsArg"),
}
ENUM_TYPES = {
    "DALIImageType": ("ImageTypeArg", "ImageTypeArg"),
    "DALIInterpType": ("FixedInterpType", "InterpTypeArg"),
}
# The same in a class of arguments: what may be a Batch is a parameter of the class.
VARIES = {
    "BoolArg": "bool | Varies",
    "IntArg": "FixedInts | Varies",
    "FloatArg": "FixedFloats | Varies",
    "IntsArg": "FixedInts | Varies",
    "FloatsArg": "FixedFloats | Varies",
    "InterpTypeArg": "FixedInterpType | Varies",
}
# What stands for one Tensor for sure.
SINGLE = {"TensorLike": "SingleTensor", "TensorLike | PathLike": "str | os.PathLike[str]", "KeyedBy": "FixedKey"}
TYPING = (SOURCE / "_values" / "typing.py").read_text()
ALIASES = re.findall(r"^(?:class )?([A-Z]\w*)(?:: TypeAlias|\(| = TypeVar)", TYPING, re.M)
SHARED = {
    "batch_size": "Makes a Batch of this many samples when no input is one.",
    "device": "Where to run. Default: where the inputs are.",
    "rng": "Where the random numbers come from. Default: this thread's generator.",
    "keyed_by": "Samples that a reader has read: each gets random numbers of its own, the same in any batch. See "
    "`avida.random`; `(samples, name)` names the draw.",
    "like": "Makes a Batch of as many samples as this one has, without waiting for it.",
}
Parameters = dict[str, str]  # name: type and default
SWAP = "Sequence[Sequence[int]] | None = None"


def function(op: dict) -> str:
    name = op["name"].rpartition(".")[2]
    inputs, keywords = input_types(op), keyword_types(op)
    scenes = {first: f"{kind} | Scene" for first, kind in list(inputs.items())[:1] if takes_scenes(op)}
    required = [arg["name"] for arg in op["args"] if arg["required"]]
    missing, given = [f"{each} is _REQUIRED" for each in required], [f"{each}={each}" for each in required]
    own = {name: f"{kind} = _REQUIRED" if name in required else kind for name, kind in keywords.items()}
    passed = [f"*{given['name']}" if given["variadic"] else given["name"] for given in op["inputs"]]
    tuple_of_inputs = f"({', '.join(passed)}{',' if len(passed) == 1 else ''})"
    args = [arg["name"] for arg in op["args"]]
    tuple_of_args = f"({', '.join(args)}{',' if len(args) == 1 else ''})"
    common = "None, None" if op["plain"] else "batch_size, device"
    keyed = ", keyed_by" if op["keyed"] else ", None" if op["takes_like"] else ""
    rng = (", rng" if op["random"] else "") + keyed + (", like" if op["takes_like"] else "")
    swap = (
        f"""if swap is not None:
        return _swapping("{op["name"]}", {passed[0]}, swap, {", ".join(f"{each}={each}" for each in keywords)})
    """
        if op["name"] in SWAPS
        else ""
    )
    own |= {"swap": SWAP} if swap else {}
    return f"""{overloads(op, name, inputs, keywords)}
@_suggests
def {name}({signature(op, inputs | scenes, own, "**unknown: Never")},) -> Any:
{textwrap.indent(docstring(op), "    ")}
    if {" or ".join(["unknown", *missing])}:
        raise _wrong_arguments({", ".join([f'globals()["{name}"]', "unknown", *given])})
    {swap}return _call(_{constant(op)}, {tuple_of_inputs}, {common}, {tuple_of_args}{rng})
"""


def takes_scenes(op: dict) -> bool:
    return op["name"] in CHANGES_PIXELS + MOVES_PIXELS


def input_types(op: dict) -> Parameters:
    accepted = "TensorLike | PathLike" if op["input_kind"] == "paths" else "TensorLike"
    return {
        given["name"]: f"{accepted} | None = None" if given["optional"] and not given["variadic"] else accepted
        for given in op["inputs"]
    }


def keyword_types(op: dict) -> Parameters:
    """In the order of the real library."""
    before = {} if op["plain"] else {"batch_size": "int | None = None", "device": "DeviceArg | None = None"}
    after = {"rng": "RNG | None = None"} if op["random"] else {}
    after |= {"keyed_by": "KeyedBy | None = None"} if op["keyed"] else {}
    after |= {"like": "Batch | None = None"} if op["takes_like"] else {}
    return before | {arg["name"]: argument_type(arg) for arg in op["args"]} | after


def argument_type(arg: dict) -> str:
    literal = f"Literal[{', '.join(map(repr, arg['choices']))}]"
    special = {"choice": (literal, literal), "enumeration": ENUM_TYPES.get(arg["enumeration"])}
    fixed, per_sample = special.get(arg["type"]) or TYPES[arg["type"]]
    kind = per_sample if arg["per_sample"] else fixed
    return kind if arg["required"] else f"{kind} | None = None"


def signature(op: dict, inputs: Parameters, keywords: Parameters, others: str) -> str:
    variadic = [given["name"] for given in op["inputs"] if given["variadic"]]
    positional = [f"{'*' if name in variadic else ''}{name}: {kind}" for name, kind in inputs.items()]
    if positional and not op["plain"]:
        positional.insert(len(positional) - len(variadic), "/")
    given = by_position(op) & keywords.keys()
    positional += [f"{name}: {keywords[name]}" for name in given]
    named = [f"{name}: {kind}" for name, kind in keywords.items() if name not in given]
    star = ["*"] if named and not variadic else []
    return ", ".join([*positional, *star, *named, *filter(None, [others])])


def by_position(op: dict) -> set[str]:
    """The strength of an augmentation, where it has one: `solarize(images, 128)`."""
    alone = op["name"].startswith("augment.") and len(op["args"]) == 1
    return {op["args"][0]["name"]} if alone else set()


def overloads(op: dict, name: str, inputs: Parameters, keywords: Parameters) -> str:
    """A Batch in gives a Batch, Tensors and numbers give a Tensor; of the rest, the values decide."""
    extra = next((arg["name"] for arg in op["args"] if arg["adds_output"]), None)
    always_many = op["least_outputs"] > 1
    if op["outputs"] < 1 and not (extra or always_many):
        return ""
    declared, arguments, varies = class_of_arguments(op, name, extra)
    known = {name: keywords[name] for name in ("batch_size", "keyed_by", "like", *by_position(op)) if name in keywords}
    one_output = {extra: "Literal[False] | None = None"} if extra else {}
    forms = []
    if inputs:
        first = next(iter(inputs))
        forms.append(("Batch", {**inputs, first: "Batch"}, known | one_output, "Array"))
        if takes_scenes(op):
            swap = {"swap": SWAP} if op["name"] in SWAPS else {}
            forms.append(("Scene", {**inputs, first: "Scene"}, known | one_output | swap, "Array"))
    if all(given["optional"] for given in op["inputs"]):
        sizes = {"batch_size": "int"} | ({"like": "Batch"} if op["takes_like"] else {})
        forms += [("Batch", inputs, {**known, **one_output, size: kind}, "Array") for size, kind in sizes.items()]
    unsized = {size: "None = None" for size in ("batch_size", "like") if size in known}
    single = {name: single_type(kind) for name, kind in (known | one_output).items()} | unsized
    forms.append(("Tensor", {name: single_type(kind) for name, kind in inputs.items()}, single, "Never"))
    forms.append(("Any", inputs, known | ({extra: keywords[extra]} if extra else {}), "Array"))
    lines = [declared] if declared else []
    for value, of_inputs, of_keywords, varying in forms:
        alone = value in ("Any", "Scene")
        result = value if alone or op["outputs"] in (1, -1) else f"tuple[{', '.join([value] * op['outputs'])}]"
        result = f"tuple[{value}, ...]" if op["outputs"] == -1 and always_many and value != "Scene" else result
        taken = f"{arguments}[{varying}]" if varies else arguments
        others = f"**arguments: Unpack[{taken}]" if arguments else ""
        lines.append(f"@overload\ndef {name}({signature(op, of_inputs, of_keywords, others)}) -> {result}: ...")
    return "\nif TYPE_CHECKING:\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


def class_of_arguments(op: dict, name: str, extra: str | None) -> tuple[str, str, bool]:
    """The class of the keywords that all forms of the function share, its name, and whether it has a parameter."""
    base = "" if op["plain"] else "DrawnAnywhere" if op["random"] else "Placed"
    kinds = {}
    for arg in op["args"]:
        if arg["name"] == extra or arg["name"] in by_position(op):
            continue
        accepted, bar, _ = argument_type(arg).partition(" | None")
        kind = VARIES.get(accepted, accepted)
        kinds[arg["name"]] = f"{kind}{bar}" if bar else f"Required[{kind}]"
    if not kinds:
        return "", base, False
    own = "".join(part.capitalize() for part in name.split("_")) + "Arguments"
    varies = any("Varies" in kind for kind in kinds.values())
    bases = ", ".join(filter(None, [base or "TypedDict", "Generic[Varies]" if varies else ""]))
    fields = "\n".join(f"    {name}: {kind}" for name, kind in kinds.items())
    return f"class {own}({bases}, total=False):\n{fields}\n", own, varies


def single_type(kind: str) -> str:
    accepted, bar, none = kind.partition(" | None = None")
    return SINGLE.get(accepted, accepted) + bar + none


def constant(op: dict) -> str:
    return op["name"].replace(".", "_").upper()


def docstring(op: dict) -> str:
    summary, details, returned = sections(op["doc"])
    lines = [f'"""{summary}']
    if details:
        lines += ["", *textwrap.wrap(details, 112)]
    lines += ["", "Args:"]

    def entry(name: str, text: str) -> None:
        lines.extend(textwrap.wrap(f"{name}: {text}", 108, initial_indent="    ", subsequent_indent="        "))

    for given in op["inputs"]:
        layouts = f" Layouts: {', '.join(given['layouts'])}." if given["layouts"] else ""
        entry(given["name"], given["doc"] + layouts)
    effective = [arg for arg in op["args"] if not arg["deprecated"]]
    for arg in sorted(effective, key=lambda arg: not arg["required"]):
        entry(arg["name"], argument_text(arg))
    args = [arg["name"] for arg in op["args"]]
    for name in keyword_types(op):
        if name not in args:
            entry(name, SHARED[name])
    if op["name"] in SWAPS:
        entry("swap", SWAP_TEXT)
    ignored = [arg["name"] for arg in op["args"] if arg["deprecated"]]
    if ignored:
        entry("Ignored, accepted for compatibility", ", ".join(ignored) + ".")
    result = " ".join(filter(None, [result_text(op), result_type(op), returned]))
    lines += ["", "Returns:", *textwrap.wrap(result, 108, initial_indent="    ", subsequent_indent="    ")]
    if op["raises"]:
        lines += ["", "Raises:", *textwrap.wrap(op["raises"], 108, initial_indent="    ", subsequent_indent="        ")]
    if op["example"]:
        lines += ["", "Example:"] + [f"    {line}" for line in example_lines(op["example"])]
    lines.append('"""')
    return "\n".join(lines)


def sections(doc: str) -> tuple[str, str, str]:
    """The first sentence of a declaration's text, what follows it, and what comes behind "Returns:"."""
    text, _, returned = doc.partition("Returns: ")
    summary, *details = re.split(r"(?<=\.)\s+", text.strip(), maxsplit=1)
    return summary, " ".join(details), returned


def argument_text(arg: dict) -> str:
    notes = []
    if arg["required"]:
        notes.append("Required.")
    elif arg["default"]:
        notes.append(f"Default: ``{arg['default']}``.")
    if arg["per_sample"]:
        notes.append("Can differ between samples.")
    return " ".join([arg["doc"], *notes])


def result_text(op: dict) -> str:
    batches = ["an input"] if op["inputs"] else []
    batches += ["an argument"] if any(arg["per_sample"] for arg in op["args"]) else []
    sized = [f"`{name}`" for name in ("batch_size", "like") if name in keyword_types(op)]
    given = f"{' or '.join(batches)} is one" if batches else f"{' or '.join(sized)} is given"
    scene = "A Scene of a Scene. " if takes_scenes(op) else ""
    if op["outputs"] == 1:
        return f"{scene}A Batch when {given}, else a Tensor."
    some = (
        f"A tuple of at least {op['least_outputs']}" if op["least_outputs"] > 1 else "One result, or a tuple of several"
    )
    many = f"A tuple of {op['outputs']}" if op["outputs"] > 1 else some
    return f"{scene}{many}: Batches when {given}, else Tensors."


def example_lines(code: str) -> list[str]:
    return [line if line.startswith((">>>", "...")) else f">>> {line}" for line in code.splitlines()]


def names_of_args(op: dict) -> str:
    return " ".join(arg["name"] for arg in op["args"])


def module_text(ops: list[dict]) -> str:
    functions = "\n".join(function(op) for op in ops)
    names = sorted(op["name"].rpartition(".")[2] for op in ops)
    used = [name for name in sorted(ALIASES, key=str.lower) if re.search(rf"\b{name}\b", functions)]
    values = "".join(
        f"from avida._values.{name.lower()} import {name}\n"
        for name in ("Batch", "Tensor")
        if re.search(rf"(: |-> |\[){name}\b", functions)
    )
    only_types = [
        *(["from avida._scenes.scene import Scene"] if "-> Scene" in functions else []),
        *(["from avida.random import RNG"] if "rng: RNG" in functions else []),
    ]
    types_only = "\nif TYPE_CHECKING:\n" + "".join(f"    {line}\n" for line in only_types) if only_types else ""
    path = "import os\n" if "os.PathLike" in functions else ""
    path += "from collections.abc import Sequence\n" if "Sequence[" in functions else ""
    swapping = "from avida._scenes.swap import swapping as _swapping\n" if "_swapping(" in functions else ""
    special = ("Generic", "Literal", "Required", "TypedDict", "Unpack")
    checked = ["Any", *(name for name in special if re.search(rf"\b{name}[\[,)]", functions)), "Never"]
    missing = "from avida._missing import REQUIRED as _REQUIRED\n" if "_REQUIRED" in functions else ""
    constants = "\n".join(f'_{constant(op)} = _op("{op["name"]}", "{names_of_args(op)}")' for op in ops)
    return f"""# Generated by tools/generate.py from the operators' declarations. Do not edit.

from __future__ import annotations

{path}from typing import TYPE_CHECKING, {", ".join(sorted(checked))}, overload

from avida._core import call as _call
from avida._core import op_with_args as _op
{missing}from avida._missing import suggests as _suggests
from avida._missing import wrong_arguments as _wrong_arguments
{swapping}{values}from avida._values.typing import {", ".join(used)}
{types_only}
__all__ = {names!r}

{constants}

{functions}"""


def generate() -> dict[pathlib.Path, str]:
    modules: dict[str, list[dict]] = defaultdict(list)
    ops = [_core.describe_op(i) for i in range(_core.op_count())]
    for op in sorted(ops, key=lambda op: op["name"]):
        if not op["hidden"]:
            modules[op["name"].rpartition(".")[0]].append(op)
    files = {}
    for module, members in modules.items():
        folder = SOURCE / pathlib.Path(*module.split(".")) if module else SOURCE
        files[folder / "_ops.py"] = ruff(module_text(members), "_ops.py")
    classes = reader_modules(_core.describe_readers(), _core.describe_common_reader_args(), reader_args(ops), SOURCE)
    return files | {path: ruff(text, path.name) for path, text in classes.items()}


def formats_page() -> str:
    """docs/formats.md with the formats of this build."""
    rows = ["| format | endings | decoded by | its licence | can do |\n|---|---|---|---|---|\n"]
    for name, endings, library, license, abilities in sorted(_core.image_formats(), key=lambda row: row[0].lower()):
        files = " ".join(f"`{ending}`" for ending in endings)
        rows.append(f"| {name} | {files} | {library.split()[0]} | {license or '-'} | {', '.join(abilities)} |\n")
    return re.sub(r"^\| format \|.*\n(\|.*\n)*", lambda _: "".join(rows), FORMATS.read_text(), flags=re.MULTILINE)


def reader_args(ops: list[dict]) -> dict[str, list[dict]]:
    """The arguments of operators as readers have them that pass them on."""
    facts = {"required": False, "locates": False, "positional": False, "last": False, "type": "python"}
    return {
        op["name"]: [
            {**facts, "name": arg["name"], "doc": argument_text(arg), "default": "", "ignored": arg["deprecated"]}
            | {"annotation": argument_type(arg)}
            for arg in op["args"]
            if not arg["adds_output"]
        ]
        for op in ops
    }


def core_stub() -> str:
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "_core.pyi"
        run = [sys.executable, "-m", "nanobind.stubgen", "-q", "--include-private", "-m", "avida._core", "-o", out]
        subprocess.run(run, check=True)
        text = out.read_text()
    # What nanobind cannot tell: objects that the core returns are avida's own classes, and tensors have a buffer.
    text = text.replace("-> object:", "-> Any:").replace("import Annotated", "import Annotated, Any")
    buffer = "class TensorBase:\n    def __buffer__(self, flags: int, /) -> memoryview: ...\n"
    return ruff(text.replace("class TensorBase:\n", buffer), "_core.pyi")


def ruff(text: str, name: str) -> str:
    run = [sys.executable, "-m", "ruff", "format", "--line-length", "120", "--stdin-filename", name, "-"]
    return subprocess.run(run, input=text, capture_output=True, text=True, check=True).stdout


def main() -> int:
    files = generate() | {FORMATS: formats_page()}
    write = "--check" not in sys.argv[1:]
    # The stub last: making it imports the package, which needs the functions of this core.
    return 1 if update(files, write) or update({SOURCE / "_core.pyi": core_stub()}, write) else 0


def update(files: dict[pathlib.Path, str], write: bool) -> bool:
    """Writes the files, or tells which are out of date and whether there are any."""
    stale = {path: text for path, text in files.items() if not path.exists() or path.read_text() != text}
    for path, text in stale.items():
        if write:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        else:
            print(f"{path.relative_to(SOURCE.parent.parent)} is out of date; run `make generate`")
    return bool(stale) and not write


if __name__ == "__main__":
    sys.exit(main())
