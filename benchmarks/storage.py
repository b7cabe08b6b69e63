"""Measures reading from S3: avida against local files, s3torchconnector, MosaicML Streaming and LitData.

    python benchmarks/storage.py [--samples 10000] [--rounds 5] [--data DIR] [--only objects] [--venvs DIR]

nginx stands for the service, on a core of its own; every contestant runs in its own process on another one, and they
take turns in each round. Writes made photos of about 110 KB (or those in --data, repeated) as objects, tar archives,
MDS and LitData's chunks. avida and s3torchconnector read an epoch before the one that is measured, the others one with
an empty cache. Prints the medians of all rounds, with the CPU seconds for each GB, and the ratios that matter; writes
storage.json to --output. Needs nginx with the echo module (Debian: nginx-light libnginx-mod-http-echo); the other
libraries are installed into environments of their own under --venvs.
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from contestants.storage import AT_ONCE, CONTESTANTS
from PIL import Image

from avida.readers._webdataset import index_webdataset

HERE = pathlib.Path(__file__).parent
PACKAGES = {"s3torchconnector": "s3torchconnector", "MosaicML": "mosaicml-streaming", "LitData": "litdata"}
DISTINCT = 128
KB = 110_000  # bytes of a photo
LATENCY = 0.030
# What is compared: which contestant with which, and the least ratio that is wanted.
RATIOS = [
    ("photos from S3", "photos, local files", 0.7),
    ("tars from S3, decoded", "tars, local, decoded", 0.9),
    ("avida, objects", "s3torchconnector, 64 threads", 1.0),
    ("avida, objects", "s3torchconnector, 4 workers", 1.0),
    ("avida, MDS in blocks", "MosaicML Streaming", 1.5),
    ("avida, tars in blocks", "LitData", 1.5),
]
NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log; {user}
load_module /usr/lib/nginx/modules/ngx_http_echo_module.so;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; tcp_nopush on; etag on; open_file_cache max=20000 inactive=1h;
  keepalive_timeout 1h; keepalive_requests 1000000000; root {folder};
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port} backlog=1024; }}
  server {{
    listen 127.0.0.1:{slow_port} backlog=1024;
    location / {{ echo_sleep {latency}; echo_exec @files; }}
    location @files {{ }}
  }}
}}
"""


# --- data ---


def made_photo(rng: np.random.Generator) -> bytes:
    """Noise of all sizes, as photos have it, in a JPEG file of about 110 KB."""
    pixels = np.zeros((450, 600, 3))
    for octave in range(8):
        size = (600 >> octave) + 1, (450 >> octave) + 1
        noise = rng.normal(128, 128, (size[1], size[0], 3)).clip(0, 255).astype(np.uint8)
        scaled = Image.fromarray(noise).resize((600, 450), Image.Resampling.BICUBIC)
        pixels += (np.asarray(scaled) - 128.0) * 1.7**octave / 60
    image = Image.fromarray((pixels + 128).clip(0, 255).astype(np.uint8))
    best = b""
    for quality in range(30, 100, 3):
        out = io.BytesIO()
        image.save(out, "JPEG", quality=quality)
        if abs(len(out.getvalue()) - KB) < abs(len(best) - KB):
            best = out.getvalue()
    return best


def write_data(folder: pathlib.Path, options: argparse.Namespace) -> dict[str, Any]:
    if options.data:
        distinct = [path.read_bytes() for path in sorted(options.data.rglob("*.jp*g"))]
    else:
        rng = np.random.default_rng(0)
        distinct = [made_photo(rng) for _ in range(min(DISTINCT, options.samples))]
    names = [f"{i:06}.jpg" for i in range(options.samples)]
    (folder / "photos").mkdir(parents=True)
    (folder / "tars").mkdir()
    for i, name in enumerate(names):
        (folder / "photos" / name).write_bytes(distinct[i % len(distinct)])
    per_shard = 1000
    for shard, first in enumerate(range(0, len(names), per_shard)):
        path = folder / "tars" / f"{shard:03}.tar"
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
            for name in names[first : first + per_shard]:
                tar.add(folder / "photos" / name, name)
        path.with_suffix(".idx").write_text(index_webdataset(path))
    return {"names": names, "shards": -(-len(names) // per_shard)}


# --- the server ---


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def serving(folder: pathlib.Path, core: int) -> Iterator[dict[str, str]]:
    port, slow_port = free_port(), free_port()
    user = "user root;" if os.geteuid() == 0 else ""
    text = NGINX.format(folder=folder, port=port, slow_port=slow_port, latency=LATENCY, user=user)
    (folder / "nginx.conf").write_text(text)
    command = ["taskset", "-c", str(core), "nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    nginx = subprocess.Popen(command)
    try:
        while nginx.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            time.sleep(0.1)
        else:
            sys.exit("nginx has ended; it needs the echo module")
        yield {"endpoint": f"http://127.0.0.1:{port}", "slow_endpoint": f"http://127.0.0.1:{slow_port}"}
    finally:
        nginx.terminate()
        nginx.wait()


# --- contestants ---


def python_of(name: str, venvs: pathlib.Path) -> str:
    package = next((package for word, package in PACKAGES.items() if word.lower() in name.lower()), None)
    if package is None:
        return sys.executable
    home = venvs / package
    if not (home / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        subprocess.run([home / "bin" / "pip", "install", "-qq", package, "torch", "boto3"], check=True)
    return str(home / "bin" / "python")


def run(name: str, python: str, settings: pathlib.Path, core: int) -> dict[str, float]:
    environment = os.environ if python == sys.executable else {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = ["taskset", "-c", str(core), python, str(HERE / "contestants" / "storage.py"), name, str(settings)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=1800)
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else {}


def measure(settings: dict[str, Any], folder: pathlib.Path, options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    file = folder / "settings.json"
    file.write_text(json.dumps(settings))
    names = [name for name in CONTESTANTS if not options.only or any(part in name for part in options.only)]
    pythons = {name: python_of(name, options.venvs) for name in names}
    for writer, reader in (("write MDS", "MosaicML Streaming"), ("write LitData", "LitData")):
        if any(word in name for name in names for word in writer.split()[1:] + reader.split()):
            run(writer, python_of(reader, options.venvs), file, options.client)
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for i in range(options.rounds):
        for name in names:
            print(f"round {i + 1} of {options.rounds}, {name:<32}", end="\r", file=sys.stderr, flush=True)
            rounds[name].append(run(name, pythons[name], file, options.client))
    return {name: summary(measured) for name, measured in rounds.items()}


def summary(rounds: list[dict[str, float]]) -> dict[str, Any]:
    return {
        "samples_per_second": statistics.median(each["samples"] / each["seconds"] for each in rounds),
        "samples_per_cpu_second": statistics.median(each["samples"] / each["cpu"] for each in rounds),
        "rounds": rounds,
    }


# --- results ---


def table(results: dict[str, dict[str, Any]], bytes_of_sample: float) -> str:
    lines = ["| contestant | samples/s | MB/s | CPU s per GB |", "|---|---|---|---|"]
    for name, result in results.items():
        rate = result["samples_per_second"]
        per_gb = 1e9 / bytes_of_sample / result["samples_per_cpu_second"]
        megabytes = rate * bytes_of_sample / 1e6
        lines.append(f"| {name} | {rate:,.0f} | {megabytes:,.0f} | {per_gb:.2f} |")
    return "\n".join(lines)


def ratios(results: dict[str, dict[str, Any]]) -> str:
    lines = ["| ratio | is | by CPU time | wanted |", "|---|---|---|---|"]

    def add(what: str, rate: float, cpu: str, wanted: str) -> None:
        lines.append(f"| {what} | {rate:.2f} | {cpu} | {wanted} |")

    for one, other, least in RATIOS:
        if one in results and other in results:
            rate, cpu = (
                results[one][key] / results[other][key] for key in ("samples_per_second", "samples_per_cpu_second")
            )
            add(f"{one} / {other}", rate, f"{cpu:.2f}", f"at least {least}")
    if slow := results.get("avida, objects, 30 ms"):
        ideal = AT_ONCE / LATENCY
        add(
            f"30 ms: requests per second / ({AT_ONCE} / 30 ms)", slow["samples_per_second"] / ideal, "", "at least 0.95"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=pathlib.Path, help="a folder of JPEG files; made ones without it")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="contestants whose names contain it")
    parser.add_argument("--client", type=int, default=0, help="the core of the contestants")
    parser.add_argument("--server", type=int, default=1, help="the core of the server")
    parser.add_argument("--venvs", type=pathlib.Path, default=pathlib.Path("build/venvs"))
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    options = parser.parse_args()
    if not shutil.which("nginx"):
        sys.exit("this needs nginx: apt-get install nginx-light libnginx-mod-http-echo")

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        settings: dict[str, Any] = write_data(folder / "bucket", options)
        settings |= {"folder": str(folder), "batch": options.batch, "cache": str(folder / "cache")}
        size = sum(path.stat().st_size for path in (folder / "bucket" / "photos").iterdir()) / options.samples
        with serving(folder, options.server) as endpoints:
            results = measure(settings | endpoints, folder, options)
    print(
        f"\n{options.samples:,} photos of {size:,.0f} bytes, batches of {options.batch}, {options.rounds} rounds, ",
        end="",
    )
    print(f"load {os.getloadavg()[0]:.1f}\n\n{table(results, size)}\n\n{ratios(results)}")
    options.output.mkdir(parents=True, exist_ok=True)
    about = {name: getattr(options, name) for name in ("samples", "batch", "rounds")} | {"bytes_of_sample": size}
    (options.output / "storage.json").write_text(json.dumps({**about, "contestants": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()
