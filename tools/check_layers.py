"""Checks the rules that keep the sources in order, and prints what breaks them as file:line.

The rules: a native folder includes only itself and what stands above it in LAYERS; readers include nothing of
operators; what NVRTC compiles includes nothing else; nanobind stays in native/python; native/storage alone opens the
files that data is read from; operators know nothing of CUDA, threads or Python; no function has a static variable that
is made at its first use; no two files have types of one name in a namespace, which would be one type to the linker; a
folder has at most twenty source files, and with more than six it explains itself in a README.
"""

import pathlib
import re
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parent.parent
NATIVE = ROOT / "native"
# From the top down. A folder that is not listed belongs to the one above it.
LAYERS = [
    "device",
    "core",
    "arguments",
    "runtime",
    "storage",
    "gpu",
    "codecs",
    "codecs/audio",
    "codecs/formats",
    "codecs/jpeg",
    "operator",
    "ahead",
    "loops/items",
    "loops/moving",
    "loops/elementwise",
    "loops/pixels",
    "loops/reducing",
    "loops/neighbours",
    "loops/resampling",
    "loops/spectral",
    "loops/warping",
    "loops/decoding",
    "loops/flow",
    "ops",
    "readers",
    "python",
]
RANK = {folder: rank for rank, folder in enumerate(LAYERS)}
OF_OPERATORS = ("operator", "ahead", "loops", "ops")  # what readers do without
THREADS = re.compile(
    r"(atomic|barrier|condition_variable|future|latch|mutex|pthread\.h|semaphore|shared_mutex|stop_token|thread)"
    r"|runtime/(completion|context|executor|fork|thread_pool)\.h"
)
PYTHON = re.compile(r"nanobind/.*|Python\.h|pybind11/.*")
CUDA = re.compile(r"cuda[^/]*\.h|nv(rtc|jpeg|imgcodec)[^/]*\.h")
FILES = re.compile(r"(dirent|fcntl|sys/mman|sys/stat|unistd)\.h|filesystem|fstream")
OF_DATA = ("codecs", "operator", "ahead", "loops", "ops", "readers", "python/readers")  # which leave files to storage
OPENS = re.compile(r"\b(fopen|fdopen|freopen|opendir|mmap)\(|[\s=(]::open\(")  # by headers that all may include
WRITES_FILES = ("readers/coco/coco_folder.cpp", "ops/image/dump_image.cpp")
# A variable, and not a member: those end in an underscore. Parentheses would be those of a function.
LOCKED_STATIC = re.compile(
    r"\s+(const )?static (?!(inline |thread_local |constexpr |constinit ))(const )?"
    r"[\w:]+(<[^;={]*>)?[\s*&]+(const )?(\w*[^\W_])(\[\w*\])?\s*[={;]"
)
# clang-format indents nothing in namespaces, and names them where they end.
NAMESPACE = re.compile(r"namespace ?([\w:]*) ?\{$|\}  // namespace")
TYPE = re.compile(r"(?:struct|class|union|enum(?: class)?) (?:\[\[\w+\]\] |alignas\(.*?\) )?(\w+)( final)?( :.*)? \{")
HOST_ONLY = re.compile(r"#\s*ifndef __CUDACC_RTC__")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^">]+)')
MOST_WITHOUT_README, MOST_FILES = 6, 20
WRITTEN_BY_CMAKE = "machine.h"  # into the build folder
MAY_BE_FULL = ("native/ops", "tests")  # one file or two for each operator, one for each subject
SOURCE_SUFFIXES = {".h", ".cpp", ".cu", ".py"}


def layer_of(file: pathlib.PurePath) -> str | None:
    """The layer of a file whose path starts in native; None when it is in none."""
    return next((str(folder) for folder in file.parents if str(folder) in RANK), None)


def read_by_nvrtc(path: pathlib.Path) -> bool:
    """Whether a file is device code: all of device, and headers whose functions are marked for the device."""
    folder = path.relative_to(NATIVE).parts[0]
    mark = r"^[^/\n]*\bAVIDA_(HD|KERNEL_INLINE)\b"
    marked = path.suffix == ".h" and path.exists() and re.search(mark, path.read_text(), re.M)
    return folder == "device" or bool(marked)


def problems_of_file(path: pathlib.Path) -> Iterator[tuple[int, str]]:
    folder = path.relative_to(NATIVE).parts[0]
    text = path.read_text()
    layer = layer_of(path.relative_to(NATIVE))
    if layer is None:
        yield 1, f'"{path.parent.relative_to(ROOT)}" has no place in the layers of tools/check_layers.py'
        return
    device_code = read_by_nvrtc(path)
    conditions: list[bool] = []  # of the #if blocks around a line: whether each hides it from NVRTC
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"#\s*if", line):
            conditions.append(bool(HOST_ONLY.match(line)))
        elif re.match(r"#\s*endif", line):
            conditions.pop()
        if folder != "python" and (variable := LOCKED_STATIC.match(line)):  # a fork of Python's holds the GIL
            yield (
                number,
                (
                    f"static {variable[6]}: a child that is forked while a thread makes it would wait for ever; use "
                    "static constinit MadeOnce of core/made_once.h, or constexpr"
                ),
            )
        name = path.relative_to(NATIVE).as_posix()
        of_data = name.startswith(OF_DATA) and name not in WRITES_FILES
        if of_data and (call := OPENS.search(line)):
            yield number, f"{call[0].strip()}: only native/storage opens and lists the files that data is read from"
        found = INCLUDE.match(line)
        if not found:
            continue
        bracket, header = found.groups()
        own = bracket == '"'
        target = layer_of(pathlib.PurePath(header)) if own else None
        if own and target is None and header != WRITTEN_BY_CMAKE:
            yield number, f'"{header}" is not under native; give its path from there'
        elif target and RANK[target] > RANK[layer]:
            yield number, f'native/{layer} must not include "{header}": {target} does not stand above it'
        if folder == "readers" and header.startswith(OF_OPERATORS):
            yield number, f'"{header}": readers do without operators'
        if device_code and not any(conditions) and not (own and read_by_nvrtc(NATIVE / header)):
            yield number, f"{header} in a file that NVRTC compiles: only device/ and headers of bodies may be included"
        if PYTHON.fullmatch(header) and folder != "python":
            yield number, f"<{header}>: only native/python knows Python"
        if CUDA.fullmatch(header) and folder != "gpu":
            yield number, f"<{header}>: only native/gpu knows CUDA"
        if FILES.fullmatch(header) and of_data:
            yield number, f"<{header}>: only native/storage opens and lists the files that data is read from"
        if folder == "ops" and target == "gpu":
            yield number, f'"{header}": operators leave CUDA to the loop families in native/loops'
        if folder == "ops" and THREADS.fullmatch(header):
            yield number, f"<{header}>: operators leave threads to the loop families in native/loops"


def types_of_file(path: pathlib.Path) -> Iterator[tuple[int, str]]:
    """The types that a file defines in namespaces with names: the line and the full name of each."""
    around: list[str] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if namespace := NAMESPACE.match(line):
            around.append(namespace[1] or "") if line.startswith("namespace") else around.pop()
        elif (found := TYPE.match(line)) and all(around):
            yield number, "::".join([*around, found[1]])


def problems_of_types(paths: list[pathlib.Path]) -> Iterator[str]:
    first: dict[str, str] = {}
    for path in paths:
        for line, name in types_of_file(path):
            place = f"{path.relative_to(ROOT)}:{line}"
            if name in first:
                yield f"{place}: {first[name]} has another {name}: the linker takes them for one, rename one of them"
            first.setdefault(name, place)


def source_folders() -> Iterator[pathlib.Path]:
    for top in ("native", "src", "tests", "tools", "examples", "benchmarks"):
        for folder in sorted([ROOT / top, *(ROOT / top).rglob("*")]):
            if folder.is_dir() and folder.name != "__pycache__":
                yield folder


def problems_of_folders() -> Iterator[str]:
    for folder in source_folders():
        name = str(folder.relative_to(ROOT))
        files = sum(file.suffix in SOURCE_SUFFIXES for file in folder.iterdir())
        if files > MOST_WITHOUT_README and not (folder / "README.md").exists():
            yield f"{name}:1: more than {MOST_WITHOUT_README} source files and no README.md"
        if files > MOST_FILES and not name.startswith(MAY_BE_FULL):
            yield f"{name}:1: {files} source files; more than {MOST_FILES} belong into folders of their own"


def main() -> int:
    problems = []
    paths = [path for path in sorted(NATIVE.rglob("*")) if path.suffix in SOURCE_SUFFIXES]
    for path in paths:
        problems += [f"{path.relative_to(ROOT)}:{line}: {text}" for line, text in problems_of_file(path)]
    problems += problems_of_types(paths)
    problems += problems_of_folders()
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
