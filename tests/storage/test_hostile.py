"""Servers that mean harm: listings without end, answers that are too large or too slow, and fishing for secrets."""

import base64
import contextlib
import gzip
import itertools
import json
import os
import resource
import subprocess
import sys
import threading
import urllib.parse

import pytest

import avida
from tests.storage.http_server import serving

STORES = {
    "s3": ("s3://bucket", {"key": "a key", "secret": "a secret"}),
    "gs": ("gs://bucket", {"token": "a token"}),
    "az": ("az://bucket", {"secret": base64.b64encode(b"a secret").decode()}),
    "hf": ("hf://datasets/owner/name", {"token": "a token"}),
}
SHORT = {"deadline": 0.5, "timeout": 1}


@pytest.fixture(params=STORES)
def store(request):
    """A server, the root of its names, and its protocol."""
    root, credentials = STORES[request.param]
    with serving({}) as server:
        prefix = f"{request.param}://"
        avida.storage.configure(
            prefix, endpoint=server.url, account="account", credentials=credentials, region="us-east-1", **SHORT
        )
        try:
            yield server, root, request.param
        finally:
            avida.storage.configure(prefix)


def send_page(handler, protocol, names, following):
    """A page of a listing, and where the next one begins."""
    headers = {}
    if protocol == "s3":
        keys = "".join(f"<Contents><Key>{name}</Key></Contents>" for name in names)
        token = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{following}</NextContinuationToken>"
        text = f"<ListBucketResult>{keys}{token}</ListBucketResult>"
    elif protocol == "gs":
        text = json.dumps({"items": [{"name": name} for name in names], "nextPageToken": following})
    elif protocol == "az":
        blobs = "".join(f"<Blob><Name>{name}</Name></Blob>" for name in names)
        text = f"<EnumerationResults><Blobs>{blobs}</Blobs><NextMarker>{following}</NextMarker></EnumerationResults>"
    else:
        text = json.dumps([{"path": name, "type": "file"} for name in names])
        url = f"{handler.server.url}{urllib.parse.urlsplit(handler.path).path}?cursor={following}"
        headers["Link"] = f'<{url}>; rel="next"'
    handler.send(200, text.encode(), headers)
    return True


@pytest.mark.parametrize("length", [1, 2, 7])
def test_listings_that_go_in_a_circle(store, length):
    server, root, protocol = store
    pages = itertools.count()

    def fault(handler, _):
        page = next(pages)
        return send_page(handler, protocol, [f"{page}.jpg"], f"at{page % length}")

    server.fault = fault
    with pytest.raises(RuntimeError, match=r"goes in a circle: it comes back to .*at"):
        avida.storage.ls(root)
    assert len(server.asked) < 40


def test_listings_of_nothing_without_end(store):
    server, root, protocol = store
    pages = itertools.count()
    server.fault = lambda handler, _: send_page(handler, protocol, [], f"at{next(pages)}")
    with pytest.raises(RuntimeError, match="its last 1000 pages had no names"):
        avida.storage.ls(root)


@pytest.mark.parametrize(
    ("headers", "error"),
    [
        (b"Content-Length: 1000000000000\r\n", "said to have 1000000000000 bytes, expected at most 67108864"),
        (b"", "sent more than 67108864 bytes, and does not say how many"),
        (b"Transfer-Encoding: chunked\r\n", "sent more than 67108864 bytes, and does not say how many"),
    ],
)
def test_pages_that_are_too_large(headers, error):
    def fault(handler, _):
        piece = b"<ListBucketResult>".ljust(1 << 20)
        if b"chunked" in headers:
            piece = b"100000\r\n" + piece + b"\r\n"
        with contextlib.suppress(OSError):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n")
            while True:
                handler.wfile.write(piece)
        handler.close_connection = True
        return True

    with serving({}) as server:
        avida.storage.configure("s3://", endpoint=server.url, anonymous=True, **SHORT)
        server.fault = fault
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            with pytest.raises(RuntimeError, match=error):
                avida.storage.ls("s3://bucket")
        finally:
            avida.storage.configure("s3://")
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000, "KiB"


def bombs():
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 40))
    bomb = f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "ha">{entities}]>'
    end = "</ListBucketResult>"
    return {
        "entities": f"{bomb}<ListBucketResult><Contents><Key>&e39;</Key></Contents>{end}",
        "ampersands": f"<ListBucketResult><Contents><Key>{'&' * (16 << 20)}</Key></Contents>{end}",
        "open elements": f"<ListBucketResult>{'<Contents' * (2 << 20)}{end}",
        "elements without end": f"<ListBucketResult>{'<Contents>' * (2 << 20)}{end}",
        "depth": f"<ListBucketResult>{'<a>' * (4 << 20)}{end}",
    }


@pytest.mark.parametrize("bomb", bombs())
def test_bombs_in_xml(bomb):
    """What takes an amount of time or memory that grows faster than the text would not end here."""
    code = """
import resource, sys
import avida
avida.storage.configure("s3://", endpoint=sys.argv[1], anonymous=True)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
names = avida.storage.ls("s3://bucket", deep=True)
assert sum(map(len, names)) <= 16 << 20
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000
"""
    with serving({}) as server:
        text = bombs()[bomb].encode()
        server.fault = lambda handler, _: handler.send(200, text) or True
        subprocess.run([sys.executable, "-c", code, server.url], check=True, timeout=300)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"items": [' + "[" * 2000, "no json", ""])
def test_bombs_in_json(text):
    with serving({}) as server:
        avida.storage.configure("gs://", endpoint=server.url, anonymous=True, **SHORT)
        server.fault = lambda handler, _: handler.send(200, text.encode()) or True
        try:
            with pytest.raises(RuntimeError, match="expected a listing in JSON"):
                avida.storage.ls("gs://bucket")
        finally:
            avida.storage.configure("gs://")


def test_packed_answers_stay_packed():
    """Nothing is unpacked on the way: a bomb has the size that was sent, and an object the bytes that it has."""
    packed = gzip.compress(bytes(64 << 20))
    with serving({}) as server:
        server.fault = lambda handler, _: handler.send(200, packed, {"Content-Encoding": "gzip"}) or True
        assert avida.storage.read(f"{server.url}/data/a") == packed
        assert "Accept-Encoding" not in server.asked[0][1]


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.1 100 Continue\r\n\r\n"] * 10_000,
        [b"HTTP/1.1 200 OK\r\n", *[b"X-%d: x\r\n" % i for i in range(10_000)]],
    ],
    ids=["informative answers", "headers"],
)
def test_headers_without_end(pieces):
    def fault(handler, _):
        with contextlib.suppress(OSError):
            for piece in pieces:
                handler.wfile.write(piece)
        handler.close_connection = True
        return True

    with serving({}) as server:
        avida.storage.configure("http://127.0.0.1", **SHORT)
        server.fault = fault
        try:
            with pytest.raises(RuntimeError, match="more than 64 KiB of headers"):
                avida.storage.read(f"{server.url}/data/a")
        finally:
            avida.storage.configure("http://127.0.0.1")


@pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"], ids=["head", "body"])
def test_answers_that_trickle(beginning):
    over = threading.Event()

    def fault(handler, _):
        with contextlib.suppress(OSError):
            handler.wfile.write(beginning)
            while not over.wait(0.05):
                handler.wfile.write(b"H")
        handler.close_connection = True
        return True

    with serving({}) as server:
        avida.storage.configure("http://127.0.0.1", **SHORT)
        server.fault = fault
        try:
            with pytest.raises(RuntimeError, match=r"gave up after \d tr|Unsupported HTTP|HTTP/0.9"):
                avida.storage.read(f"{server.url}/data/a")
        finally:
            over.set()
            avida.storage.configure("http://127.0.0.1")


def test_redirections_carry_nothing_to_other_hosts(store):
    server, root, protocol = store
    with serving({"data/a": b"content"}) as other:
        server.fault = lambda handler, _: handler.send(307, b"", {"Location": f"{other.url}/data/a"}) or True
        if protocol == "hf":
            assert avida.storage.read(f"{root}/a") == b"content"
        else:
            with pytest.raises(RuntimeError, match="the server answered 307"):
                avida.storage.read(f"{root}/a")
            assert not other.asked
        assert "Authorization" in server.asked[0][1]
        for _, headers in other.asked:
            assert not {"authorization", "x-amz-security-token", "cookie"} & {name.lower() for name in headers}


def test_what_a_server_says_of_itself_is_no_terminal_code():
    with serving({}) as server:
        avida.storage.configure("s3://", endpoint=server.url, anonymous=True, **SHORT)
        text = b"<Error><Code>\x1b[2Jevil\r\n</Code></Error>"
        server.fault = lambda handler, _: handler.send(400, text, {"x-amz-bucket-region": "x" * 5000}) or True
        try:
            with pytest.raises(RuntimeError) as raised:
                avida.storage.read("s3://bucket/a")
        finally:
            avida.storage.configure("s3://")
        assert "evil" in str(raised.value)
        assert str(raised.value).isprintable()
        assert len(str(raised.value)) < 500


TELLS_ALL = """
import json, logging, pathlib, pickle, sys, traceback
import avida

logging.basicConfig(level=logging.DEBUG)
root, folder, where = sys.argv[1:]
if where == "configured":
    secrets = json.loads(sys.stdin.read())
    avida.storage.configure(root, credentials=lambda: secrets)

def tell(function):
    try:
        print(repr(function()))
    except Exception as error:
        traceback.print_exc()
        print(repr(error), str(error), getattr(error, "__notes__", None))
        for frame, _ in traceback.walk_tb(error.__traceback__):
            print(sorted(map(str, frame.f_locals)), frame.f_code)

reader = avida.readers.File(file_root=root, name="files", on_error="skip")
with avida.profile() as profile:
    epoch = reader.next_epoch(batch_size=2)
    tell(lambda: next(epoch))
print(profile)
tell(lambda: profile.__dict__)
for each in (reader, epoch, reader.get_state(), avida.storage, profile):
    print(repr(each), str(each))
tell(lambda: pickle.dumps(reader))
tell(lambda: pickle.dumps(reader.get_state()))
checkpoint = avida.checkpoint.Checkpoint()
checkpoint.register(reader, "reader")
checkpoint.collect()
checkpoint.save(folder + "/state.json")
print(pathlib.Path(folder, "state.json").read_text())
print(reader.errors)
for name in ("forbidden", "missing", "overloaded", "away", "list/"):
    tell(lambda: avida.storage.read(f"{root}/{name}"))
    tell(lambda: avida.readers.File(files=[f"{root}/{name}"])[0])
tell(lambda: avida.storage.ls(f"{root}/broken"))
tell(lambda: avida.storage.exists(f"{root}/forbidden"))
"""
SECRETS = {
    "s3": {"AWS_ACCESS_KEY_ID": "KEY", "AWS_SECRET_ACCESS_KEY": "Sesame+Open/1", "AWS_SESSION_TOKEN": "Sesame+Token/2"},
    "gs": {},
    "az": {"AZURE_STORAGE_ACCOUNT_KEY": base64.b64encode(b"Sesame of all").decode()},
    "hf": {"HF_TOKEN": "Sesame_hf_3"},
}
CONFIGURED = {
    "s3": {"key": "KEY", "secret": "Sesame+Open/1", "token": "Sesame+Token/2"},
    "gs": {"token": "Sesame_gs_4"},
    "az": {"key": "sas", "token": "sv=1&sig=Sesame%2Bsas"},
    "hf": {"token": "Sesame_hf_3"},
}


@pytest.mark.parametrize("where", ["environment", "configured"])
@pytest.mark.parametrize("protocol", STORES)
def test_no_secret_is_told(tmp_path, protocol, where):
    """Errors, logs, tracebacks, representations, states, pickles, checkpoints and profiles are searched."""
    root, _ = STORES[protocol]
    given = SECRETS[protocol] if where == "environment" else CONFIGURED[protocol]
    secrets = {value for name, value in given.items() if name not in ("key", "AWS_ACCESS_KEY_ID")}
    seen = []

    def fault(handler, _):
        seen.append(str(handler.headers.items()) + handler.path)
        if "overloaded" in handler.path:
            handler.refuse(503, "SlowDown")
        elif "forbidden" in handler.path:
            echo = f"<Error><Code>AccessDenied</Code><Message>{seen[-1]}</Message></Error>"
            handler.send(403, echo.encode())
        elif "away" in handler.path:
            handler.send(302, b"", {"Location": "ftp://127.0.0.1/" + "a" * 50})
        elif "missing" in handler.path:
            handler.refuse(404, "NoSuchKey")
        elif "broken" in handler.path or ("prefix" not in handler.path and "tree" not in handler.path):
            handler.reset()
        else:
            send_last_page(handler, protocol)
        return True

    with serving({}) as server:
        server.fault = fault
        names = {"s3": "AWS_ENDPOINT_URL", "gs": "STORAGE_EMULATOR_HOST", "hf": "HF_ENDPOINT"}
        others = ("AWS_", "AZURE_", "HF_")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        environment = {**clean, **(given if where == "environment" else {}), names.get(protocol, "UNUSED"): server.url}
        environment |= {"AZURE_STORAGE_ACCOUNT_NAME": "account"}
        program = TELLS_ALL.replace(
            "logging.basicConfig",
            f'avida.storage.configure("{protocol}://", deadline=0.3'
            + (f', endpoint="{server.url}"' if protocol == "az" else "")
            + ")\nlogging.basicConfig",
        )
        command = [sys.executable, "-X", "dev", "-c", program, root, str(tmp_path), where]
        done = subprocess.run(
            command, input=json.dumps(given), capture_output=True, text=True, timeout=300, env=environment
        )
    assert done.returncode == 0, done.stderr
    told = done.stdout + done.stderr
    assert "access denied" in told
    assert "SlowDown" in told or "503" in told
    for secret in secrets:
        for form in (secret, urllib.parse.quote(secret, safe=""), base64.b64encode(secret.encode()).decode()):
            assert form not in told
    assert "Sesame" not in told
    if protocol in ("gs", "hf") and secrets:
        assert any(secret in each for secret in secrets for each in seen), "it was used"


def send_last_page(handler, protocol):
    name = "train/a.jpg"
    if protocol == "s3":
        text = f"<ListBucketResult><Contents><Key>{name}</Key></Contents></ListBucketResult>"
    elif protocol == "az":
        text = f"<EnumerationResults><Blobs><Blob><Name>{name}</Name></Blob></Blobs></EnumerationResults>"
    elif protocol == "gs":
        text = json.dumps({"items": [{"name": name}]})
    else:
        text = json.dumps([{"path": name, "type": "file"}])
    handler.send(200, text.encode())
