"""Checks the rules that keep the sources in order, and prints what breaks them as file:line.

The rules: native folders include only what stands above them in LAYERS; what NVRTC compiles includes nothing else;
nanobind stays in native/python; operators know nothing of CUDA, threads or Python; a folder with more than six
source files explains itself in a README.
"""

import pathlib
import re
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parent.parent
NATIVE = ROOT / "native"
# From the top down: a folder includes itself and the rows above its own.
LAYERS = [["kernel"], ["core"], ["runtime"], ["cuda", "codecs"], ["op"], ["ops"], ["readers"], ["python"]]
RANK = {folder: rank for rank, row in enumerate(LAYERS) for folder in row}
THREADS = re.compile(
    r"(atomic|barrier|condition_variable|future|latch|mutex|pthread\.h|semaphore|shared_mutex|stop_token|thread)"
    r"|runtime/(context|executor|fork|thread_pool)\.h"
)
PYTHON = re.compile(r"nanobind/.*|Python\.h|pybind11/.*")
CUDA = re.compile(r"cuda[^/]*\.h|nv(rtc|jpeg|imgcodec)[^/]*\.h")
HOST_ONLY = re.compile(r"#\s*ifndef __CUDACC_RTC__")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^">]+)')
MOST_WITHOUT_README = 6
SOURCE_SUFFIXES = {".h", ".cpp", ".cu", ".py"}


def read_by_nvrtc(path: pathlib.Path) -> bool:
    """Whether a file is device code: all of kernel, and headers whose functions are marked for the device."""
    folder = path.relative_to(NATIVE).parts[0]
    marked = path.suffix == ".h" and path.exists() and re.search(r"^[^/\n]*\bAVIDA_HD\b", path.read_text(), re.M)
    return folder == "kernel" or bool(marked)


def problems_of_file(path: pathlib.Path) -> Iterator[tuple[int, str]]:
    folder = path.relative_to(NATIVE).parts[0]
    text = path.read_text()
    if folder not in RANK:
        yield 1, f'"native/{folder}" has no place in the layers of tools/check_layers.py'
        return
    device_code = read_by_nvrtc(path)
    conditions: list[bool] = []  # of the #if blocks around a line: whether each hides it from NVRTC
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"#\s*if", line):
            conditions.append(bool(HOST_ONLY.match(line)))
        elif re.match(r"#\s*endif", line):
            conditions.pop()
        found = INCLUDE.match(line)
        if not found:
            continue
        bracket, header = found.groups()
        target = header.split("/")[0]
        own = bracket == '"'
        if own and target not in RANK:
            yield number, f'"{header}" is not under native; give its path from there'
        elif own and target != folder and RANK[target] >= RANK[folder]:
            yield number, f'native/{folder} must not include "{header}": {target} does not stand above it'
        if device_code and not any(conditions) and not (own and read_by_nvrtc(NATIVE / header)):
            yield number, f"{header} in a file that NVRTC compiles: only kernel/ and headers of bodies may be included"
        if PYTHON.fullmatch(header) and folder != "python":
            yield number, f"<{header}>: only native/python knows Python"
        if CUDA.fullmatch(header) and folder != "cuda":
            yield number, f"<{header}>: only native/cuda knows CUDA"
        if folder == "ops" and target == "cuda":
            yield number, f'"{header}": operators leave CUDA to the loop families in native/op'
        if folder == "ops" and THREADS.fullmatch(header):
            yield number, f"<{header}>: operators leave threads to the loop families in native/op"


def folders_without_readme() -> Iterator[pathlib.Path]:
    for top in ("native", "src", "tests", "tools", "examples", "benchmarks"):
        for folder in [ROOT / top, *(ROOT / top).rglob("*")]:
            if not folder.is_dir() or folder.name == "__pycache__":
                continue
            sources = [file for file in folder.iterdir() if file.suffix in SOURCE_SUFFIXES]
            if len(sources) > MOST_WITHOUT_README and not (folder / "README.md").exists():
                yield folder


def main() -> int:
    problems = []
    for path in sorted(NATIVE.rglob("*")):
        if path.suffix in SOURCE_SUFFIXES:
            problems += [f"{path.relative_to(ROOT)}:{line}: {text}" for line, text in problems_of_file(path)]
    for folder in sorted(folders_without_readme()):
        problems.append(f"{folder.relative_to(ROOT)}:1: more than {MOST_WITHOUT_README} source files and no README.md")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
