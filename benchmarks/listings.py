"""Measures how a data set of a million objects begins: listed for the first time, and with a listing that is kept.

    python benchmarks/listings.py [--folders 1000] [--files 1000] [--rounds 3]

A server in another process makes up the pages of the listing, and objects of 100 bytes. Each round is a process of its
own: the seconds from the making of the reader to its first batch, CPU seconds, and the memory that it takes beyond what
the process had with avida imported.
"""

import argparse
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

CLIENT = """
import json, resource, sys, time
import avida

endpoint, index = sys.argv[1:]
avida.storage.configure("s3://", endpoint=endpoint, anonymous=True)

def memory():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1000

before, cpu, start = memory(), time.process_time(), time.perf_counter()
reader = avida.readers.File(file_root="s3://data", index_path=index or None, random_shuffle=True)
next(reader.next_epoch(batch_size=64))[0].evaluate()
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
print(json.dumps({"files": len(reader), "seconds": seconds, "cpu": cpu, "megabytes": memory() - before}))
"""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    folders = files = 0

    def log_message(self, format, *_):
        pass

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        content, status, headers = bytes(100), 200, {}
        if "list-type" in query:
            content = self.page(query).encode()
        elif wanted := self.headers.get("Range"):
            first, last = map(int, wanted.removeprefix("bytes=").split("-"))
            content = content[first : last + 1]
            status, headers = 206, {"Content-Range": f"bytes {first}-{first + len(content) - 1}/100"}
        self.send_response(status)
        for name, value in {"Content-Length": len(content), "ETag": '"one"', **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(content)

    def page(self, query: dict[str, str]) -> str:
        """A thousand names, from the number that the token says."""
        prefix, first = query.get("prefix", ""), int(query.get("continuation-token", 0))
        if "delimiter" in query and not prefix:
            rows = [f"<CommonPrefixes><Prefix>{k:06}/</Prefix></CommonPrefixes>" for k in range(self.folders)]
        elif prefix:
            rows = [f"<Contents><Key>{prefix}image_{i:08}.jpg</Key></Contents>" for i in range(self.files)]
        else:
            numbers = (divmod(i, self.files) for i in range(first, min(first + 1000, self.folders * self.files)))
            rows = [f"<Contents><Key>{k:06}/image_{i:08}.jpg</Key></Contents>" for k, i in numbers]
            first = 0 if len(rows) == 1000 else len(rows)
        page, rest = rows[first : first + 1000], rows[first + 1000 :]
        more = bool(rest) or (not prefix and "delimiter" not in query and len(rows) == 1000)
        token = int(query.get("continuation-token", 0)) + 1000
        after = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>" if more else ""
        return f"<ListBucketResult>{''.join(page)}{after}</ListBucketResult>"


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True

    def handle_error(self, request, client_address) -> None:
        pass  # clients that are done go away


def serve(folders: int, files: int) -> None:
    Handler.folders, Handler.files = folders, files
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


def measure(endpoint: str, index: str) -> dict[str, float]:
    command = [sys.executable, "-c", CLIENT, endpoint, index]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folders", type=int, default=1000)
    parser.add_argument("--files", type=int, default=1000, help="in each folder")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.folders, options.files)
    own = [sys.executable, __file__, "--serve", "--folders", str(options.folders), "--files", str(options.files)]
    with subprocess.Popen(own, stdout=subprocess.PIPE, text=True) as server, tempfile.TemporaryDirectory() as folder:
        try:
            assert server.stdout
            endpoint = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            index = pathlib.Path(folder, "listing")
            print(f"{options.folders * options.files:,} objects, load {os.getloadavg()[0]:.1f}")
            print("| | seconds to the first batch | CPU seconds | MB |\n|---|---|---|---|")
            for i in range(1 + options.rounds):
                result = measure(endpoint, str(index))
                what = "listed, and kept" if i == 0 else f"kept listing, round {i}"
                print(f"| {what} | {result['seconds']:.2f} | {result['cpu']:.2f} | {result['megabytes']:.0f} |")
            print(f"the file has {index.stat().st_size / 1e6:.1f} MB")
        finally:
            server.terminate()
    return None


if __name__ == "__main__":
    main()
