"""Shows what this build can do on this machine: version, instruction sets, formats, threads, memory, GPU.

With the name of a data set, shows what that has: format, samples, bytes, columns, classes, sizes of images.
"""

from __future__ import annotations

import argparse
import pathlib
import platform
import textwrap
from collections.abc import Iterable

import numpy as np

import avida
from avida import _core
from avida._cli import ls
from avida._cli.rewriting.described import facts_of

# The levels of the x86-64 ABI that avida is compiled for, best first, and what each asks of the CPU beyond the next.
LEVELS = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", nargs="?", metavar="URL", help="a data set: a folder or archives, here or in a store")
    ls.add_store_arguments(parser)


def run(options: argparse.Namespace) -> int:
    ls.configure_store(options, options.url)
    for name, text in (facts_of(options.url) if options.url else facts()).items():
        print("\n".join(textwrap.wrap(f"{name:<13} {text}", 110, subsequent_indent=" " * 14, break_long_words=False)))
    return 0


def facts() -> dict[str, str]:
    """What there is to know, one line each."""
    budget = avida.memory_use().budget or 0
    return {
        "avida": f"{avida.__version__}, {pathlib.Path(avida.__file__).parent}",
        "build": f"{_core.compiler}, for {platform.machine()} and Python {platform.python_version()}",
        "numpy": np.__version__,
        "CPU": f"{cpu_name()}; {_core.available_cpus()} usable",
        "instructions": instructions(cpu_flags()),
        "threads": f"{avida.get_num_threads()} (AVIDA_NUM_THREADS or set_num_threads() changes it)",
        "memory": f"budget {_size(budget)} (AVIDA_MEMORY_BUDGET or set_memory_budget() changes it)",
        "images": by_library((name, library) for name, _, library, *_ in _core.image_formats()),
        "sound": by_library(_core.sound_formats()),
        "video": video(),
        "GPU": gpu(),
        "kernels": kernels(),
    }


def by_library(codecs: Iterable[tuple[str, str]]) -> str:
    """Names of formats, with the library that reads them."""
    names: dict[str, list[str]] = {}
    for name, library in codecs:
        names.setdefault(library, []).append(name)
    return "; ".join(f"{', '.join(formats)} ({library})" for library, formats in names.items()) or "none"


def video() -> str:
    """The codecs of videos that the CPU decodes, or why there are none."""
    if not hasattr(_core, "video_codecs"):
        return "none: FFmpeg was missing when avida was built"
    return by_library(_core.video_codecs())


def cpu_flags() -> set[str]:
    return set(_cpuinfo("flags").split())


def cpu_name() -> str:
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def instructions(flags: set[str]) -> str:
    """The compiled variant that this CPU runs, and the extensions by which it was chosen."""
    if platform.machine() != "x86_64":
        return f"{platform.machine()}, one variant"
    level = "x86-64"
    for name, needed in reversed(LEVELS.items()):
        if not needed <= flags:
            break
        level = name
    shown = [name for name in ("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw") if name in flags]
    return f"{level} variant in use; the CPU has {' '.join(shown) or 'none of the extensions'}"


def gpu() -> str:
    """The GPUs, or why there are none."""
    count = _core.gpu_count()
    if count == 0:
        return f"none: {_core.gpu_missing()}"
    names = "; ".join(f"{i}: {_core.gpu_name(i)} ({_core.gpu_architecture(i)})" for i in range(count))
    major, minor = _core.gpu_driver()
    return f"{names}; the driver is for CUDA {major}.{minor}" if major else names


def kernels() -> str:
    """What kernels for GPUs are compiled with, and where they are kept."""
    if not _core.gpu_count():
        return "none without a GPU"
    avida.Device("gpu")  # finds NVRTC in its wheel
    compiler = _core.kernel_compiler()
    known = f"NVRTC {compiler}" if compiler[0].isdecimal() else compiler
    folder, problem = _core.kernel_cache()
    if problem:
        return f"{known}; not kept in {folder}: {problem} (AVIDA_CACHE_DIR changes it)"
    sizes = [file.stat().st_size for file in pathlib.Path(folder).glob("*.cubin")]
    return f"{known}; {len(sizes)} kept in {folder}, {_size(sum(sizes))} (AVIDA_CACHE_DIR changes it)"


def _cpuinfo(field: str) -> str:
    """The first value of a field, empty where the system does not tell."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(field)), "")


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"
