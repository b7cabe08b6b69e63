"""An HTTP server for the tests, which answers like S3: ranges, ETags, listings in pages, signatures, and faults."""

import contextlib
import functools
import hashlib
import hmac
import http.server
import pathlib
import socket
import ssl
import struct
import threading
import urllib.parse
from typing import Any
from xml.sax.saxutils import escape

# A key that everybody has, and a certificate for 127.0.0.1 that it has signed itself.
CERTIFICATE = pathlib.Path(__file__).parent / "localhost.pem"
KEY, SECRET = "a key", "a secret/of+40=letters"


@functools.lru_cache(1000)
def etag(content):
    return f'"{hashlib.md5(content).hexdigest()}"'


def signature(method, target, headers, secret):
    """What AWS Signature Version 4 is for a request, by its own description of what it has signed."""
    fields = dict(part.split("=", 1) for part in headers["Authorization"].split(" ", 1)[1].split(", "))
    _, day, region, service, end = fields["Credential"].rsplit("/", 4)
    path, _, query = target.partition("?")
    query = "&".join(sorted(query.split("&"))) if query else ""
    names = fields["SignedHeaders"].split(";")
    signed = "".join(f"{name}:{headers[name].strip()}\n" for name in names)
    request = "\n".join((method, path, query, signed, ";".join(names), headers["x-amz-content-sha256"]))
    scope = f"{day}/{region}/{service}/{end}"
    digest = hashlib.sha256(request.encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{headers['x-amz-date']}\n{scope}\n{digest}"
    key = b"AWS4" + secret.encode()
    for part in (day, region, service, end):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex(), fields["Signature"]


class Handler(http.server.BaseHTTPRequestHandler):
    server: Any
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    ends_early = False  # sends half of each body

    def log_message(self, format, *_):
        pass

    def do_GET(self):
        server = self.server
        with server.lock:
            server.asked.append((self.path, dict(self.headers.items())))
            number = len(server.asked)
        if server.fault is None or not server.fault(self, number):
            self.answer_as_s3()

    def answer_as_s3(self):
        if self.server.secret is not None:
            if "Authorization" not in self.headers:
                return self.refuse(403, "AccessDenied")
            expected, found = signature(self.command, self.path, self.headers, self.server.secret)
            if not hmac.compare_digest(expected, found):
                return self.refuse(403, "SignatureDoesNotMatch")
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        name = urllib.parse.unquote(url.path)[1:]
        if "list-type" in query:
            return self.list(name.rstrip("/"), query)
        content = self.server.objects.get(name)
        if content is None:
            return self.refuse(404, "NoSuchKey")
        return self.send_object(content)

    def send_object(self, content):
        if self.headers.get("If-Match", etag(content)) != etag(content):
            return self.refuse(412, "PreconditionFailed")
        status, headers = 200, {"ETag": etag(content)}
        if wanted := self.headers.get("Range"):
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            if int(first) >= len(content):
                return self.send(416, b"", {"Content-Range": f"bytes */{len(content)}"})
            part = content[int(first) : int(last) + 1 if last else None]
            headers["Content-Range"] = f"bytes {first}-{int(first) + len(part) - 1}/{len(content)}"
            status, content = 206, part
        return self.send(status, content, headers)

    def list(self, bucket, query):
        prefix, start = query["prefix"], query.get("continuation-token", "")
        entries = {}
        for name in self.server.objects:
            key = name.removeprefix(f"{bucket}/")
            if key == name or not key.startswith(prefix):
                continue
            head, slash, _ = key[len(prefix) :].partition(query.get("delimiter", "\0"))
            entries[prefix + head + slash] = bool(slash)
        left = sorted(name for name in entries if name > start)
        page, rest = left[: self.server.page], left[self.server.page :]
        text = "<?xml version='1.0'?><ListBucketResult><EncodingType>url</EncodingType>"
        for name in page:
            encoded = escape(urllib.parse.quote_plus(name, safe="/"))
            kind = (
                "<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>"
                if entries[name]
                else ("<Contents><Key>{}</Key><Size>1</Size></Contents>")
            )
            text += kind.format(encoded)
        text += f"<IsTruncated>{'true' if rest else 'false'}</IsTruncated>"
        if rest:
            text += f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>"
        self.send(200, f"{text}</ListBucketResult>".encode())

    def refuse(self, status, code):
        self.send(status, f"<Error><Code>{code}</Code></Error>".encode())

    def send(self, status, content, headers=None):
        self.send_response(status)
        for name, value in {"Content-Length": len(content), **(headers or {})}.items():
            self.send_header(name, str(value))
        self.end_headers()
        content = content[: len(content) // 2] if self.ends_early else content
        with self.server.lock:
            self.server.sent += len(content)
        self.wfile.write(content)
        self.close_connection |= self.ends_early

    def send_raw(self, content):
        """And nothing behind it."""
        with contextlib.suppress(OSError):
            self.wfile.write(content)
        self.close_connection = True

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, objects, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.objects = dict(objects)
        self.asked = []  # paths and headers of all requests
        self.sent = 0  # bytes of contents
        self.page = 1000
        self.secret: str | None = None  # requests are not signed
        self.fault: Any = None  # called with the handler and the number of the request; true if it has answered
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        pass  # clients that go away


@contextlib.contextmanager
def serving(objects, tls=False, port=0):
    with Server(objects, port) as server:
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            server.url = server.url.replace("http:", "https:")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
