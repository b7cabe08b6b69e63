"""Stores over HTTP: the same samples as from files, tries after faults, and servers that lie."""

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import avida
from tests.storage import test_readers
from tests.storage.http_server import CERTIFICATE, KEY, SECRET, serving
from tests.storage.stores import objects_in

WITHOUT_LISTING = [
    *(test_readers.listed_files, test_readers.named_files, test_readers.braced_files, test_readers.coco),
    test_readers.indexed_tfrecords,
    *(test_readers.indexed_mxnet, test_readers.indexed_webdataset, test_readers.speech, test_readers.videos),
    *(test_readers.saved_coco, test_readers.listed_videos, test_readers.resized_videos),
]
OBJECTS = {f"data/{i % 3}/{i:02}.jpg": np.random.default_rng(i).bytes(1 + 997 * i) for i in range(60)}


@pytest.fixture(autouse=True)
def without_settings_of_others(monkeypatch):
    for name in os.environ:
        if name.startswith("AWS_") or name.lower() in ("http_proxy", "all_proxy"):
            monkeypatch.delenv(name)
    yield
    for prefix in ("s3://", "http://127.0.0.1"):
        avida.storage.configure(prefix)


def configure_s3(server, **options):
    avida.storage.configure("s3://", **{"endpoint": server.url, "anonymous": True, "deadline": 60, **options})


@contextlib.contextmanager
def serving_s3(objects=OBJECTS, **options):
    with serving(objects) as server:
        configure_s3(server, **options)
        yield server


def files(root="s3://data", **options):
    return test_readers.samples(avida.readers.File(file_root=root, **options))


def expected_files():
    return [(OBJECTS[name], np.int32(name.split("/")[1]).tobytes()) for name in sorted(OBJECTS)]


@pytest.mark.parametrize("make", test_readers.MAKERS)
def test_the_same_samples_from_s3(tmp_path, make):
    made = make(tmp_path)
    expected = test_readers.samples(made(tmp_path))
    with serving_s3(objects_in(tmp_path)):
        assert test_readers.samples(made("s3://data")) == expected


@pytest.mark.parametrize("make", WITHOUT_LISTING)
def test_the_same_samples_from_the_web(tmp_path, make):
    made = make(tmp_path)
    expected = test_readers.samples(made(tmp_path))
    with serving(objects_in(tmp_path)) as server:
        assert test_readers.samples(made(f"{server.url}/data")) == expected


def test_listings_in_pages():
    names = ["a b+c%20&<d>.jpg", "e/f.jpg", "e/g.jpg", "ä/h.jpg", "z1.jpg", "z2.jpg"]
    with serving_s3({f"data/{name}": name.encode() for name in names}) as server:
        server.page = 1
        assert avida.storage.ls("s3://data") == ["a b+c%20&<d>.jpg", "e/", "z1.jpg", "z2.jpg", "ä/"]
        assert avida.storage.ls("s3://data", deep=True) == sorted(names)
        assert avida.storage.ls("s3://data/e") == ["f.jpg", "g.jpg"]
        assert {avida.storage.read(f"s3://data/{name}") for name in names} == {name.encode() for name in names}


def test_a_listing_that_does_not_go_on():
    page = b"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"
    with serving_s3() as server:
        server.fault = lambda handler, _: handler.send(200, page) or True
        with pytest.raises(RuntimeError, match="listing of the store is not complete"):
            avida.storage.ls("s3://data")


def test_the_web_has_no_listings():
    with pytest.raises(RuntimeError, match=r"cannot list http://127.0.0.1/data: HTTP has no listings"):
        avida.readers.File(file_root="http://127.0.0.1/data")


def test_empty_objects():
    with serving_s3({"data/a": b""}) as server:
        for name in ("s3://data/a", f"{server.url}/data/a"):
            assert avida.storage.read(name) == b""
            assert avida.storage.exists(name)


def test_whether_an_object_exists():
    with serving_s3(deadline=1) as server:
        assert avida.storage.exists("s3://data/0/00.jpg")
        assert not avida.storage.exists("s3://data/0/none.jpg")
        server.fault = lambda handler, _: handler.refuse(403, "AccessDenied") or True
        with pytest.raises(RuntimeError, match=r"s3://data/0/none.jpg: the server answered 403: access denied"):
            avida.storage.exists("s3://data/0/none.jpg")
        server.fault = lambda handler, _: handler.refuse(503, "SlowDown") or True
        with pytest.raises(RuntimeError, match="the server answered 503"):
            avida.storage.exists("s3://data/0/none.jpg")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        avida.storage.configure("s3://", endpoint=f"http://127.0.0.1:{nobody.getsockname()[1]}", deadline=1)
        with pytest.raises(RuntimeError, match=r"connect.*gave up after [1-9] tr"):
            avida.storage.exists("s3://data/0/none.jpg")
    assert not avida.storage.exists("memory://test/none")


def test_faults_that_pass():
    """Some of the answers are overload, resets and bodies that end early: the samples are the same, in their order."""

    def fault(handler, number):
        if number % 20 == 3:
            handler.refuse(503, "SlowDown")
        elif number % 20 == 7:
            handler.reset()
        elif number % 20 == 11:
            handler.send_raw(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf")
        return number % 20 in (3, 7, 11)

    with serving_s3() as server:
        server.fault = fault
        server.page = 7
        for _ in range(2):
            assert files() == expected_files()
        assert len(server.asked) > 130


def test_all_is_overload():
    with serving_s3(deadline=1) as server:
        server.fault = lambda handler, _: handler.refuse(503, "SlowDown") or True
        with pytest.raises(RuntimeError, match=r"s3://data/x.*answered 503 \(SlowDown\); gave up after [2-9] tries in"):
            test_readers.samples(avida.readers.File(files=["s3://data/x"]))


def test_a_server_says_when_to_come_back():
    with serving_s3(deadline=30) as server:

        def fault(handler, number):
            if number == 1:
                handler.send(429, b"", {"Retry-After": "1"})
            return number == 1

        server.fault = fault
        began = time.monotonic()
        assert avida.storage.read("s3://data/1/01.jpg") == OBJECTS["data/1/01.jpg"]
        assert time.monotonic() - began >= 1


def test_samples_that_cannot_be_read_are_skipped():
    with serving_s3(deadline=1) as server:

        def fault(handler, _):
            if handler.path == "/data/0/03.jpg":
                handler.refuse(403, "AccessDenied")
            return handler.path == "/data/0/03.jpg"

        server.fault = fault
        assert len(files(on_error="skip")) == len(OBJECTS) - 1


def test_an_object_that_changes(tmp_path):
    make = test_readers.mxnet(tmp_path)
    with serving_s3(objects_in(tmp_path)) as server:
        reader = make("s3://data")
        assert test_readers.samples(reader) == test_readers.samples(make(tmp_path))
        server.objects["data/a.rec"] = server.objects["data/a.rec"][:-1] + b"x"
        with pytest.raises(RuntimeError, match=r"s3://data/a.rec.*changed after it was opened"):
            test_readers.samples(reader)


@pytest.mark.parametrize("matches", [True, False])
def test_an_object_that_changes_between_requests(tmp_path, matches):
    """Whether the server compares the versions, or leaves that to the client."""
    content = iter([b"one " * 1000, b"two " * 1000])
    with serving_s3() as server:

        def fault(handler, _):
            if not matches:
                del handler.headers["If-Match"]
            handler.send_object(next(content))
            return True

        server.fault = fault
        with pytest.raises(RuntimeError, match=r"s3://data/a.rec.*changed after it was opened"):
            avida.readers.MXNet(path="s3://data/a.rec").next_epoch()


def test_signatures():
    with serving_s3(anonymous=False, credentials={"key": KEY, "secret": SECRET}, region="eu-central-1") as server:
        server.secret = SECRET
        server.objects["data/a b+c%20ä=1.jpg"] = b"content"
        assert avida.storage.read("s3://data/a b+c%20ä=1.jpg") == b"content"
        assert "data/a b+c%20ä=1.jpg".removeprefix("data/") in avida.storage.ls("s3://data")
        assert f"{KEY}/" in server.asked[0][1]["Authorization"]
        assert "/eu-central-1/s3/aws4_request" in server.asked[0][1]["Authorization"]
        configure_s3(server, anonymous=False, credentials={"key": KEY, "secret": SECRET, "token": "of a session"})
        assert avida.storage.read("s3://data/1/01.jpg") == OBJECTS["data/1/01.jpg"]
        assert server.asked[-1][1]["x-amz-security-token"] == "of a session"
        assert "x-amz-security-token" in server.asked[-1][1]["Authorization"]
        configure_s3(server, anonymous=False, credentials={"key": KEY, "secret": "another one"})
        with pytest.raises(RuntimeError, match=r"answered 403: access denied.*\(SignatureDoesNotMatch\)"):
            avida.storage.read("s3://data/1/01.jpg")


def test_credentials_of_the_environment(monkeypatch):
    with serving_s3(anonymous=None) as server:
        server.secret = SECRET
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        avida.storage.configure("s3://")
        assert avida.storage.read("s3://data/1/01.jpg") == OBJECTS["data/1/01.jpg"]


def test_credentials_are_renewed():
    given = []

    def credentials():
        given.append({"key": KEY, "secret": SECRET, "expires": time.time() + (3600 if len(given) % 2 else -1)})
        return given[-1]

    with serving_s3(anonymous=False, credentials=credentials) as server:
        server.secret = SECRET
        for _ in range(4):
            avida.storage.read("s3://data/1/01.jpg")
        assert len(given) == 2, "the first ones had expired, the second ones have not"

        def fault(handler, _):
            refused = len(given) == 2
            if refused:
                handler.refuse(403, "AccessDenied")
            return refused

        server.fault = fault
        avida.storage.read("s3://data/1/01.jpg")
        assert len(given) > 2, "refused ones are asked for again"


def test_credentials_are_not_told():
    secrets = ("the-secret-of-all", "the-token-of-all")

    def credentials():
        return {"key": KEY, "secret": secrets[0], "token": secrets[1]}

    with serving_s3(anonymous=False, credentials=credentials) as server:
        reader = avida.readers.File(file_root="s3://data", name="files")
        next(reader.next_epoch(batch_size=2))
        told = repr(reader) + repr(reader.get_state()) + repr(pickle.dumps(reader))
        server.secret = "another one"
        with pytest.raises(RuntimeError) as raised:
            avida.storage.read("s3://data/1/01.jpg")
        told += str(raised.value)

    def broken():
        raise ValueError(secrets[0])

    avida.storage.configure("s3://", endpoint=server.url, credentials=broken)
    with pytest.raises(RuntimeError, match="the function that gives credentials raised ValueError") as raised:
        avida.storage.read("s3://data/1/01.jpg")
    told += str(raised.value)
    assert not any(secret in told for secret in secrets)


def test_certificates_are_verified():
    with serving({"data/a": b"content"}, tls=True) as server:
        avida.storage.configure("https://", deadline=1)
        try:
            with pytest.raises(RuntimeError, match="certificate"):
                avida.storage.read(f"{server.url}/data/a")
            avida.storage.configure("https://", deadline=1, certificates=CERTIFICATE)
            assert avida.storage.read(f"{server.url}/data/a") == b"content"
            with pytest.raises(RuntimeError, match="localhost"):
                avida.storage.read(f"{server.url}/data/a".replace("127.0.0.1", "localhost"))
        finally:
            avida.storage.configure("https://")
        assert len(server.asked) == 1, "nothing is sent to a server that is not trusted"


def test_redirections_keep_credentials_at_home():
    with serving({"data/a": b"content"}) as other, serving({}) as server:
        avida.storage.configure("http://127.0.0.1", credentials={"token": "of the first host"})

        def fault(handler, _):
            handler.send(302, b"", {"Location": f"{other.url}/data/a"})
            return True

        server.fault = fault
        assert avida.storage.read(f"{server.url}/x") == b"content"
        assert server.asked[0][1]["Authorization"] == "Bearer of the first host"
        assert all("Authorization" not in headers for _, headers in other.asked)


def hostile(answer):
    def fault(handler, _):
        handler.send_raw(answer)
        return True

    return fault


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n", "file"),
        (b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n", "redirect"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000\r\n\r\nshort", "said to have 9000000000000000 bytes"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\nshort", "said to have 1000000000000 bytes"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 500000000\r\n\r\nshort", "gave up after"),
        (
            b"HTTP/1.1 200 OK\r\n" + b"X-Bomb: " + b"x" * 60_000 + b"\r\nX-More: " + b"x" * 60_000 + b"\r\n",
            "64 KiB of headers",
        ),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nthis is no number\r\nab\r\n", "chunk"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", "gave up after"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "ended in the middle of its headers; gave up after"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
            "sent more than 1 bytes, which is its own Content-Length",
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "the server answered 204"),
        (b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 9-11/50\r\nContent-Length: 3\r\n\r\nabc", "asked for"),
        (b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-2/2\r\nContent-Length: 3\r\n\r\nabc", "sent 3 bytes"),
        (b"this is no HTTP\r\n\r\n", "HTTP"),
        (b"", "gave up after"),
    ],
)
def test_answers_that_lie(answer, error):
    with serving({}) as server:
        avida.storage.configure("http://127.0.0.1", deadline=0.5)
        server.fault = hostile(answer)
        with pytest.raises(RuntimeError, match=error) as raised:
            avida.storage.read(f"{server.url}/data/a")
        assert str(raised.value).startswith(f"{server.url}/data/a: ")


def test_an_answer_without_end():
    with serving({}) as server:

        def fault(handler, _):
            piece = bytes(1 << 20)
            handler.send_response(200)
            handler.end_headers()
            with contextlib.suppress(OSError):
                while True:
                    handler.wfile.write(piece)
            handler.close_connection = True
            return True

        server.fault = fault
        with pytest.raises(RuntimeError, match=r"sent more than 134217728 bytes, and does not say how many"):
            avida.storage.read(f"{server.url}/data/a")
        with pytest.raises(RuntimeError, match="does not say how many bytes the object has"):
            avida.storage.exists(f"{server.url}/data/a")


def test_a_silent_server_has_until_the_deadline():
    over = threading.Event()
    with serving_s3(deadline=1) as server:
        server.fault = lambda *_: over.wait(300)
        try:
            with pytest.raises(RuntimeError, match=r"s3://data/a: .*gave up after 1 try"):
                avida.storage.read("s3://data/a")
        finally:
            over.set()


def test_interrupts_during_a_request():
    over = threading.Event()
    with serving_s3() as server:

        def fault(*_):
            os.kill(os.getpid(), signal.SIGINT)
            return over.wait(300)

        server.fault = fault
        try:
            with pytest.raises(KeyboardInterrupt):
                avida.storage.read("s3://data/a")
        finally:
            over.set()


def test_a_child_reads_too():
    with serving_s3() as server:
        assert files() == expected_files()
        reader = iter(avida.readers.File(file_root="s3://data").next_epoch(batch_size=4))
        next(reader)  # others are under way
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if avida.storage.read("s3://data/1/01.jpg") == OBJECTS["data/1/01.jpg"] else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert avida.storage.read("s3://data/2/02.jpg") == OBJECTS["data/2/02.jpg"]
        assert server.asked


def test_the_process_ends_while_a_server_is_silent():
    code = """
import sys
import avida
avida.storage.configure("s3://", endpoint=sys.argv[1], anonymous=True)
reader = avida.readers.File(files=["s3://data/a"] * 8)
reader.next_epoch(batch_size=2)
"""
    over = threading.Event()
    with serving_s3() as server:
        server.fault = lambda *_: over.wait(300)
        try:
            subprocess.run([sys.executable, "-c", code, server.url], check=True, timeout=300)
        finally:
            over.set()


def test_images_and_files():
    with serving_s3() as server:
        name = np.frombuffer(b"s3://data/1/01.jpg", np.uint8)
        assert np.asarray(avida.io.file.read(name)).tobytes() == OBJECTS["data/1/01.jpg"]
        server.objects["data/a.ppm"] = b"P6 1 1 255 abc"
        image = avida.imread("s3://data/a.ppm")
        assert np.asarray(image).tolist() == [[[97, 98, 99]]]


def test_what_cannot_be_configured():
    with pytest.raises(TypeError, match="expected a number of seconds as deadline, got 'x'"):
        avida.storage.configure("http://x", deadline="x")
    with pytest.raises(ValueError, match="deadline must be more than 0 seconds, got 0"):
        avida.storage.configure("s3://", deadline=0)
    with pytest.raises(ValueError, match="requests must be at least 1, got 0"):
        avida.storage.configure("s3://", requests=0)
    with pytest.raises(TypeError, match="expected a mapping or a function as credentials, got str"):
        avida.storage.configure("s3://", credentials="secret")
    with pytest.raises(ValueError, match=r"keys key, secret, token, expires, got access_key_id$"):
        avida.storage.configure("s3://", credentials={"access_key_id": "a", "secret": "b"})


def test_a_build_without_the_library():
    code = "import avida; avida.storage.unregister('s3'); avida.storage.read('s3://data/a')"
    run = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, timeout=300)
    assert "RuntimeError: s3://data/a: this build has no libcurl" in run.stderr
