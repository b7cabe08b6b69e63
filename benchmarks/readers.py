"""Measures reading from the page cache in every format: avida, the real library, and readers from PyPI.

    python benchmarks/readers.py [--samples 4096] [--bytes 40000] [--rounds 5] [--only File TFRecord]

Writes a data set in every format into a temporary folder, then reads whole epochs of it. Every contestant runs in its
own process on the same cores, and the contestants take turns in each round: one epoch to warm up, then epochs for a
second. Prints samples per second, the median of all rounds, and writes readers.json to --output. Needs the extras
`test`, `bench` and `parity`. Also measures the time from the constructor to the first batch for a million files and for
a million records in 100 GiB, with an index.
"""

import argparse
import io
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import wave
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

# The contestants come with extras, and not all have types.
# pyright: reportMissingImports=false, reportPrivateImportUsage=false, reportAttributeAccessIssue=false

SECONDS = 1.0  # at least, of whole epochs


# --- writing: each returns the keyword arguments of the reader ---


def payloads(folder: pathlib.Path) -> Iterable[bytes]:
    settings = json.loads((folder / "settings.json").read_text())
    generator = np.random.default_rng(0)
    for _ in range(settings["samples"]):
        yield generator.bytes(int(generator.integers(settings["bytes"] // 2, settings["bytes"] * 3 // 2)))


def write_files(folder: pathlib.Path) -> dict[str, Any]:
    for i, payload in enumerate(payloads(folder)):
        path = folder / f"{i % 10}" / f"{i:06d}.jpg"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(payload)
    return {"file_root": str(folder)}


def write_arrays(folder: pathlib.Path, fortran: bool = False) -> dict[str, Any]:
    for i, payload in enumerate(payloads(folder)):
        array = np.frombuffer(payload[: len(payload) // 300 * 300], np.uint8).reshape(-1, 100, 3)
        np.save(folder / f"{i:06d}.npy", np.asfortranarray(array) if fortran else array)
    return {"file_root": str(folder)}


def write_fortran_arrays(folder: pathlib.Path) -> dict[str, Any]:
    return write_arrays(folder, fortran=True)


def write_tfrecord(folder: pathlib.Path) -> dict[str, Any]:
    import tfrecord

    writer = tfrecord.TFRecordWriter(str(folder / "data.tfrecord"))
    for i, payload in enumerate(payloads(folder)):
        writer.write({"image": (payload, "byte"), "label": (i, "int")})
    writer.close()
    with open(folder / "data.tfrecord", "rb") as file, open(folder / "data.idx", "w") as index:
        while header := file.read(8):
            start, size = file.tell() - 8, struct.unpack("<Q", header)[0]
            file.seek(4 + size + 4, 1)
            index.write(f"{start} {file.tell() - start}\n")
    return {"path": str(folder / "data.tfrecord"), "index_path": str(folder / "data.idx")}


def write_webdataset(folder: pathlib.Path) -> dict[str, Any]:
    with tarfile.open(folder / "data.tar", "w") as tar:
        for i, payload in enumerate(payloads(folder)):
            for name, content in ((f"{i:06d}.jpg", payload), (f"{i:06d}.cls", str(i).encode())):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return {"paths": str(folder / "data.tar"), "ext": ["jpg", "cls"], "missing_component_behavior": "error"}


def write_recordio(folder: pathlib.Path) -> dict[str, Any]:
    with open(folder / "data.rec", "wb") as file, open(folder / "data.idx", "w") as index:
        for i, payload in enumerate(payloads(folder)):
            index.write(f"{i}\t{file.tell()}\n")
            record = struct.pack("<IfQQ", 0, float(i), i, 0) + payload
            file.write(struct.pack("<II", 0xCED7230A, len(record)) + record + bytes(-len(record) % 4))
    return {"path": [str(folder / "data.rec")], "index_path": [str(folder / "data.idx")]}


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def write_lmdb(folder: pathlib.Path) -> dict[str, Any]:
    import lmdb

    with lmdb.open(str(folder), map_size=1 << 36) as database, database.begin(write=True) as transaction:
        for i, payload in enumerate(payloads(folder)):
            datum = b"\x22" + varint(len(payload)) + payload + b"\x28" + varint(i % 1000)
            transaction.put(f"{i:08d}".encode(), datum)
    return {"path": str(folder)}


def write_coco(folder: pathlib.Path) -> dict[str, Any]:
    images, annotations = [], []
    (folder / "images").mkdir()
    for i, payload in enumerate(payloads(folder)):
        (folder / "images" / f"{i:06d}.jpg").write_bytes(payload)
        images.append({"id": i, "file_name": f"{i:06d}.jpg", "width": 640, "height": 480})
        annotations += [
            {"id": 7 * i + k, "image_id": i, "category_id": k + 1, "bbox": [k, k, 50, 60], "area": 3000, "iscrowd": 0}
            for k in range(7)
        ]
    categories = [{"id": k, "name": f"class {k}"} for k in range(1, 8)]
    text = json.dumps({"images": images, "annotations": annotations, "categories": categories})
    (folder / "annotations.json").write_text(text)
    return {"file_root": str(folder / "images"), "annotations_file": str(folder / "annotations.json")}


def write_manifest(folder: pathlib.Path) -> dict[str, Any]:
    lines = []
    for i, payload in enumerate(payloads(folder)):
        with wave.open(str(folder / f"{i:06d}.wav"), "wb") as file:
            file.setparams((1, 2, 16000, 0, "NONE", ""))
            file.writeframes(payload[: len(payload) // 2 * 2])
        path, duration = str(folder / f"{i:06d}.wav"), len(payload) / 32000
        lines.append(json.dumps({"audio_filepath": path, "duration": duration, "text": f"sample {i}"}))
    (folder / "manifest.json").write_text("\n".join(lines) + "\n")
    return {"manifest_filepaths": [str(folder / "manifest.json")]}


def write_fits(folder: pathlib.Path) -> dict[str, Any]:
    from astropy.io import fits

    for i, payload in enumerate(payloads(folder)):
        array = np.frombuffer(payload[: len(payload) // 100 * 100], np.uint8).reshape(-1, 100)
        fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(array)]).writeto(folder / f"{i:06d}.fits")
    return {"file_root": str(folder)}


FORMATS: dict[str, tuple[str, Callable[[pathlib.Path], dict[str, Any]]]] = {
    "File": ("readers.File", write_files),
    "Numpy": ("readers.Numpy", write_arrays),
    "Numpy, Fortran order": ("readers.Numpy", write_fortran_arrays),
    "TFRecord": ("readers.TFRecord", write_tfrecord),
    "Webdataset": ("readers.Webdataset", write_webdataset),
    "MXNet": ("readers.MXNet", write_recordio),
    "Caffe": ("readers.Caffe", write_lmdb),
    "COCO": ("readers.COCO", write_coco),
    "NemoAsr": ("readers.NemoAsr", write_manifest),
    "Fits": ("experimental.readers.Fits", write_fits),
}


def write_many_names(folder: pathlib.Path) -> dict[str, Any]:
    """A million names; only the files of the first batch exist."""
    (folder / "list.txt").write_text("".join(f"class_{i % 1000:04d}/{i:09d}.jpg {i}\n" for i in range(1_000_000)))
    for i in range(1000):
        (folder / f"class_{i:04d}").mkdir()
        (folder / f"class_{i:04d}" / f"{i:09d}.jpg").write_bytes(bytes(1000))
    return {"file_root": str(folder), "file_list": str(folder / "list.txt")}


def write_many_records(folder: pathlib.Path) -> dict[str, Any]:
    """A million records in a sparse file of 100 GiB; only the first batch has data."""
    import tfrecord

    writer = tfrecord.TFRecordWriter(str(folder / "data.tfrecord"))
    writer.write({"image": (bytes(1000), "byte"), "label": (1, "int")})
    writer.close()
    record, step = (folder / "data.tfrecord").read_bytes(), 100_000
    with open(folder / "data.tfrecord", "wb") as file:
        file.truncate(step * 1_000_000 + len(record))
        for i in range(1000):
            file.seek(i * step)
            file.write(record)
    (folder / "data.idx").write_text("".join(f"{i * step} {len(record)}\n" for i in range(1_000_000)))
    return {"path": str(folder / "data.tfrecord"), "index_path": str(folder / "data.idx")}


STARTS = {"File": write_many_names, "TFRecord": write_many_records}


# --- reading: each reads one epoch and returns its number of samples ---

Epoch = Callable[..., int]


def dynamic(library: Any, tfrecord: Any, name: str, arguments: dict[str, Any], batch_size: int) -> Epoch:
    reader_class = library
    for part in FORMATS[name][0].split("."):
        reader_class = getattr(reader_class, part)
    if name == "TFRecord":
        features = {
            "image": tfrecord.FixedLenFeature((), tfrecord.string, ""),
            "label": tfrecord.FixedLenFeature([1], tfrecord.int64, 0),
        }
        arguments = arguments | {"features": features}
    reader = reader_class(**arguments)

    def epoch(most: int | None = None) -> int:
        count = 0
        for item in reader.next_epoch(batch_size=batch_size):
            values = [value.evaluate() for value in (item.values() if isinstance(item, dict) else item)]
            count += values[0].batch_size
            if count == most:
                break
        return count

    return epoch


def avida(name: str, arguments: dict[str, Any], batch_size: int) -> Epoch:
    import avida

    return dynamic(avida, getattr(avida, "tfrecord", None), name, arguments, batch_size)


def dali(name: str, arguments: dict[str, Any], batch_size: int) -> Epoch:
    import nvidia.dali.experimental.dynamic as ndd
    import nvidia.dali.tfrecord as tfrecord

    return dynamic(ndd, tfrecord, name, arguments, batch_size)


def webdataset(name: str, arguments: dict[str, Any], batch_size: int) -> Epoch:
    import webdataset

    data = webdataset.WebDataset(arguments["paths"], shardshuffle=False).to_tuple("jpg", "cls").batched(batch_size)
    return lambda: sum(len(batch[0]) for batch in data)


def tfrecord(name: str, arguments: dict[str, Any], batch_size: int) -> Epoch:
    import tfrecord

    kinds = {"image": "byte", "label": "int"}
    return lambda: sum(1 for _ in tfrecord.tfrecord_loader(arguments["path"], arguments["index_path"], kinds))


CONTESTANTS = {"avida": avida, "DALI dynamic": dali, "PyPI webdataset": webdataset, "PyPI tfrecord": tfrecord}
ONLY_FOR = {"PyPI webdataset": "Webdataset", "PyPI tfrecord": "TFRecord"}


def measure(contestant: str, name: str, folder: pathlib.Path, batch_size: int) -> dict[str, float]:
    """Runs in its own process: samples per second, and the seconds from the call to the first batch."""
    arguments = json.loads((folder / "arguments.json").read_text())
    epoch = CONTESTANTS[contestant](name, arguments, batch_size)
    epoch()
    count, start, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() < start + SECONDS:
        count += epoch()
    seconds = time.perf_counter() - start
    return {"rate": count / seconds, "cpu_us": (time.process_time() - cpu) / count * 1e6}


def measure_start(contestant: str, name: str, folder: pathlib.Path, batch_size: int) -> dict[str, float]:
    """Runs in its own process: the seconds to the first batch, once the library is imported."""
    arguments = json.loads((folder / "arguments.json").read_text())
    if contestant == "avida":
        import avida as _
    else:
        import nvidia.dali.experimental.dynamic as _  # noqa: F401
    start = time.perf_counter()
    CONTESTANTS[contestant](name, arguments, batch_size)(batch_size)
    return {"seconds": time.perf_counter() - start}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--bytes", type=int, default=40_000, help="of a sample, on average")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=FORMATS, default=list(FORMATS), metavar="FORMAT")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        what, contestant, name, folder = options.measure
        function = measure_start if what == "start" else measure
        print(json.dumps(function(contestant, name, pathlib.Path(folder), options.batch)), flush=True)
        os._exit(0)  # without waiting for prefetched batches

    results: dict[str, dict[str, dict[str, Any]]] = {}
    for name in options.only:
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            (folder / "settings.json").write_text(json.dumps({"samples": options.samples, "bytes": options.bytes}))
            (folder / "arguments.json").write_text(json.dumps(FORMATS[name][1](folder)))
            results[name] = run_format(name, folder, options)
        print(line(name, results[name]), flush=True)
    starts = {name: run_start(name, options) for name in STARTS if name in options.only}
    options.output.mkdir(parents=True, exist_ok=True)
    about = {key: getattr(options, key) for key in ("samples", "bytes", "batch", "rounds")}
    about["cores"] = len(os.sched_getaffinity(0))
    (options.output / "readers.json").write_text(
        json.dumps({**about, "formats": results, "starts": starts}, indent=2) + "\n"
    )


def run_format(name: str, folder: pathlib.Path, options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    names = [contestant for contestant in CONTESTANTS if ONLY_FOR.get(contestant, name) == name]
    rounds: dict[str, list[dict[str, float]]] = {contestant: [] for contestant in names}
    for i in range(options.rounds):
        for contestant in list(rounds):
            print(f"{name}: round {i + 1} of {options.rounds}, {contestant:<20}", end="\r", file=sys.stderr, flush=True)
            try:
                rounds[contestant].append(run("epochs", contestant, name, folder, options.batch))
            except subprocess.CalledProcessError as error:
                if contestant == "avida":
                    sys.exit(f"avida failed to read {name}:\n{error.stderr}")
                del rounds[contestant]  # DALI reads some formats only with a GPU
    return {
        contestant: {
            "samples_per_second": statistics.median(r["rate"] for r in measured),
            "cpu_us_per_sample": statistics.median(r["cpu_us"] for r in measured),
            "rounds": [r["rate"] for r in measured],
        }
        for contestant, measured in rounds.items()
    }


def run_start(name: str, options: argparse.Namespace) -> dict[str, float]:
    """Seconds to the first of a million samples, the median of all rounds."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "arguments.json").write_text(json.dumps(STARTS[name](folder)))
        rounds = [
            {contestant: run("start", contestant, name, folder, options.batch)["seconds"] for contestant in both}
            for both in [["avida", "DALI dynamic"]] * options.rounds
        ]
    medians = {contestant: statistics.median(r[contestant] for r in rounds) for contestant in rounds[0]}
    print(f"{name}, start with a million samples: " + ", ".join(f"{c} {s:.2f} s" for c, s in medians.items()))
    return medians


def run(what: str, contestant: str, name: str, folder: pathlib.Path, batch_size: int) -> dict[str, float]:
    """Measures in its own process."""
    command = [sys.executable, __file__, "--batch", str(batch_size), "--measure", what, contestant, name, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def line(name: str, measured: dict[str, dict[str, Any]]) -> str:
    """A row of a Markdown table."""
    own = measured["avida"]["samples_per_second"]
    cells = [f"{name}"]
    for contestant, result in measured.items():
        rate, cpu = result["samples_per_second"], result["cpu_us_per_sample"]
        ratio = "" if contestant == "avida" else f", avida is {own / rate:.2f} x"
        cells.append(f"{contestant} {rate:,.0f}/s ({cpu:.0f} us CPU{ratio})")
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
