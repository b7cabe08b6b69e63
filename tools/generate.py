"""Writes the Python functions of all operators from their native declarations.

python tools/generate.py          writes src/avida/**/_ops.py and src/avida/_core.pyi
python tools/generate.py --check  fails when they are out of date
"""

import pathlib
import subprocess
import sys
import tempfile
import textwrap
import types
from collections import defaultdict

SOURCE = pathlib.Path(__file__).parent.parent / "src" / "avida"
# The core without the package around it, which imports the files that are to be written.
sys.modules["avida"] = types.ModuleType("avida")
sys.modules["avida"].__path__ = [str(SOURCE)]

from avida import _core  # noqa: E402

TYPES = {
    "bool": ("bool", "BoolArg"),
    "int": ("int", "IntArg"),
    "float": ("float", "FloatArg"),
    "dtype": ("DTypeArg", "DTypeArg"),
    "layout": ("str", "str"),
    "str": ("str", "str"),
    "ints": ("int | Sequence[int]", "IntsArg"),
    "floats": ("float | Sequence[float]", "FloatsArg"),
}
ARGUMENT_TYPES = ["BoolArg", "DTypeArg", "FloatArg", "FloatsArg", "IntArg", "IntsArg", "KeyedBy", "TensorLike"]
# The arguments that every operator has.
COMMON = [
    ("batch_size", "int | None", "Makes a Batch of that many samples when no input is one."),
    ("device", "Any", "Where to run; by default where the inputs are."),
]
RNG_DOC = "Where the random numbers come from; by default this thread's generator."
KEYED_DOC = (
    "Samples that came from a reader: each gets numbers of its own, the same in any batch. See `avida.random`; "
    "`(samples, name)` names the draw."
)
LIKE_DOC = "Makes a Batch of as many samples as this one has, without waiting for it."


def takes_like(op: dict) -> bool:
    """Whether the numbers drawn are what the operator is called for, so that a Batch can tell how many."""
    return op["random"] and (not op["inputs"] or op["name"].startswith("random."))


def function(op: dict) -> str:
    name = op["name"].rpartition(".")[2]
    positional, passed = [], []
    for given in op["inputs"]:
        if given["variadic"]:
            positional.append(f"*{given['name']}: TensorLike")
            passed.append(f"*{given['name']}")
        else:
            default = " | None = None" if given["optional"] else ""
            positional.append(f"{given['name']}: TensorLike{default}")
            passed.append(given["name"])
    variadic = any(given["variadic"] for given in op["inputs"])
    if positional and not op["plain"]:
        positional.insert(len(positional) - variadic, "/")
    keywords = [] if op["plain"] else [f"{n}: {t} = None" for n, t, _ in COMMON]
    keywords += [keyword(arg) for arg in op["args"]]
    keywords += ["rng: RNG | None = None"] if op["random"] else []
    keywords += ["keyed_by: KeyedBy | None = None"] if op["keyed"] else []
    keywords += ["like: Batch | None = None"] if takes_like(op) else []
    star = [] if variadic or not keywords else ["*"]
    parameters = [*positional, *star, *keywords]
    signature = ",\n    ".join(parameters)
    tuple_of_inputs = f"({', '.join(passed)}{',' if len(passed) == 1 else ''})"
    args = [arg["name"] for arg in op["args"]]
    tuple_of_args = f"({', '.join(args)}{',' if len(args) == 1 else ''})"
    common = "None, None" if op["plain"] else "batch_size, device"
    keyed = ", keyed_by" if op["keyed"] else ", None" if takes_like(op) else ""
    rng = (", rng" if op["random"] else "") + keyed + (", like" if takes_like(op) else "")
    return f"""{overloads(name, parameters) if op["inputs"] and op["outputs"] == 1 else ""}
def {name}(
    {signature},
) -> Any:
{textwrap.indent(docstring(op), "    ")}
    return _call(_{op_id_name(op)}, {tuple_of_inputs}, {common}, {tuple_of_args}{rng})
"""


def overloads(name: str, parameters: list[str]) -> str:
    """A Batch in is a Batch out; otherwise it depends on the other arguments."""
    of_batch = [parameters[0].replace("TensorLike", "Batch", 1), *parameters[1:]]
    forms = ((of_batch, "Batch"), (parameters, "Any"))
    return "\n".join(f"\n@overload\ndef {name}({', '.join(form)}) -> {result}: ..." for form, result in forms)


def op_id_name(op: dict) -> str:
    return op["name"].replace(".", "_").upper()


def keyword(arg: dict) -> str:
    fixed, per_sample = TYPES[arg["type"]]
    kind = per_sample if arg["per_sample"] else fixed
    return f"{arg['name']}: {kind}" if arg["required"] else f"{arg['name']}: {kind} | None = None"


def docstring(op: dict) -> str:
    lines = [f'"""{op["doc"]}', "", "Args:"]

    def entry(name: str, text: str) -> None:
        lines.extend(textwrap.wrap(f"{name}: {text}", 108, initial_indent="    ", subsequent_indent="        "))

    for given in op["inputs"]:
        layouts = f" Layouts: {', '.join(given['layouts'])}." if given["layouts"] else ""
        entry(given["name"], given["doc"] + layouts)
    for name, _, text in [] if op["plain"] else COMMON:
        entry(name, text)
    for arg in op["args"]:
        notes = []
        if arg["deprecated"]:
            notes.append("Accepted for old code, without effect.")
        elif arg["required"]:
            notes.append("Required.")
        elif arg["default"]:
            notes.append(f"Default: ``{arg['default']}``.")
        if arg["per_sample"] and not arg["deprecated"]:
            notes.append("Can differ between samples.")
        entry(arg["name"], " ".join([arg["doc"], *notes]))
    if op["random"]:
        entry("rng", RNG_DOC)
    if op["keyed"]:
        entry("keyed_by", KEYED_DOC)
    if takes_like(op):
        entry("like", LIKE_DOC)
    if op["example"]:
        lines += ["", "Example:"] + [f"    {line}" for line in example_lines(op["example"])]
    lines.append('"""')
    return "\n".join(lines)


def example_lines(code: str) -> list[str]:
    return [line if line.startswith((">>>", "...")) else f">>> {line}" for line in code.splitlines()]


def module_text(ops: list[dict]) -> str:
    functions = "\n".join(function(op) for op in ops)
    names = sorted(op["name"].rpartition(".")[2] for op in ops)
    used = [name for name in ARGUMENT_TYPES if name in functions]
    batch = "from avida._batch import Batch\n" if ": Batch" in functions else ""
    sequence = "from collections.abc import Sequence\n" if "Sequence[" in functions else ""
    rng = "\nif TYPE_CHECKING:\n    from avida.random import RNG\n" if "rng: RNG" in functions else ""
    typing = ("TYPE_CHECKING, " if rng else "") + "Any" + (", overload" if "@overload" in functions else "")
    ids = "\n".join(f'_{op_id_name(op)} = _find("{op["name"]}")' for op in ops)
    return f"""# Generated by tools/generate.py from the operators' declarations. Do not edit.

from __future__ import annotations

{sequence}from typing import {typing}

{batch}from avida._core import call as _call
from avida._core import find_op as _find
from avida._typing import {", ".join(used)}
{rng}
__all__ = {names!r}

{ids}

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
    return files


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


def is_stale(path: pathlib.Path, text: str) -> bool:
    return not path.exists() or path.read_text() != text


def main() -> int:
    files = generate()
    check = "--check" in sys.argv[1:]
    if not check:
        for path, text in files.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    stub = core_stub()  # imports the package, so what it imports must have been written
    if not check:
        (SOURCE / "_core.pyi").write_text(stub)
        return 0
    stale = [path for path, text in (files | {SOURCE / "_core.pyi": stub}).items() if is_stale(path, text)]
    for path in stale:
        print(f"{path.relative_to(SOURCE.parent.parent)} is out of date; run `make generate`")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
