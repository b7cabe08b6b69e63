"""The protocols of Google, Azure and the Hugging Face Hub, as their documents describe requests and answers."""

import base64
import hmac
import json
import urllib.parse

import pytest

import avida
from tests.storage.http_server import serving

NAMES = ["a b+c%20.jpg", "e/f.jpg", "e/g.jpg", "z.jpg"]
TOKEN = {"token": "a token"}
ACCOUNT_KEY = base64.b64encode(b"the key of the account").decode()


def request_of(handler):
    url = urllib.parse.urlsplit(handler.path)
    return url.path, dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))


def in_pages(names, prefix, delimiter, start, page=1):
    """Entries behind `start`, whether each is a folder, and where the next page starts."""
    entries = {}
    for name in names:
        if name.startswith(prefix):
            head, slash, _ = name[len(prefix) :].partition(delimiter or "\0")
            entries[prefix + head + slash] = bool(slash)
    left = sorted(name for name in entries if name > start)
    return [(name, entries[name]) for name in left[:page]], left[page - 1] if left[page:] else ""


def google(handler, _):
    path, query = request_of(handler)
    assert handler.headers["Authorization"] == "Bearer a token"
    if path == "/storage/v1/b/bucket/o":
        found, following = in_pages(NAMES, query["prefix"], query.get("delimiter"), query.get("pageToken", ""))
        answer = {
            "items": [{"name": name} for name, is_folder in found if not is_folder],
            "prefixes": [name for name, is_folder in found if is_folder],
        } | ({"nextPageToken": following} if following else {})
        handler.send(200, json.dumps(answer).encode())
    else:
        assert query == {"alt": "media"}
        key = urllib.parse.unquote(path.removeprefix("/storage/v1/b/bucket/o/"))
        assert "/" not in path.removeprefix("/storage/v1/b/bucket/o/"), "slashes of keys are encoded"
        handler.send_object(key.encode())
    return True


def azure(handler, _):
    path, query = request_of(handler)
    headers = handler.headers
    signed = [headers.get(name, "") for name in ("If-Match", "If-None-Match", "If-Unmodified-Since", "Range")]
    resource = f"/account{path}" + "".join(f"\n{name}:{query[name]}" for name in sorted(query))
    text = "\n".join(["GET", *[""] * 7, *signed])
    text += f"\nx-ms-date:{headers['x-ms-date']}\nx-ms-version:{headers['x-ms-version']}\n{resource}"
    digest = hmac.digest(b"the key of the account", text.encode(), "sha256")
    if headers["Authorization"] != f"SharedKey account:{base64.b64encode(digest).decode()}":
        handler.refuse(403, "AuthenticationFailed")
    elif query.get("comp") == "list":
        assert path == "/bucket"
        found, following = in_pages(NAMES, query["prefix"], query.get("delimiter"), query.get("marker", ""))
        kinds = ["<Blob><Name>{}</Name></Blob>", "<BlobPrefix><Name>{}</Name></BlobPrefix>"]
        blobs = "".join(kinds[is_folder].format(name) for name, is_folder in found)
        text = f"<EnumerationResults><Blobs>{blobs}</Blobs><NextMarker>{following}</NextMarker></EnumerationResults>"
        handler.send(200, text.encode())
    else:
        handler.send_object(urllib.parse.unquote(path.removeprefix("/bucket/")).encode())
    return True


def hub(handler, _):
    path, query = request_of(handler)
    assert handler.headers["Authorization"] == "Bearer a token"
    tree, files = "/api/datasets/owner/name/tree/refs%2Fa", "/datasets/owner/name/resolve/refs%2Fa/"
    if path.startswith(tree):
        prefix = urllib.parse.unquote(path.removeprefix(tree))[1:]
        delimiter = None if "recursive" in query else "/"
        found, following = in_pages(NAMES, prefix and f"{prefix}/", delimiter, query.get("cursor", ""))
        items = [{"path": name.rstrip("/"), "type": "directory" if folder else "file"} for name, folder in found]
        rest = urllib.parse.urlencode({key: value for key, value in query.items() if key != "cursor"})
        link = f'<{handler.server.url}{path}?cursor={urllib.parse.quote(following)}&{rest}>; rel="next"'
        handler.send(200, json.dumps(items).encode(), {"Link": link} if following else {})
    else:
        handler.send_object(urllib.parse.unquote(path.removeprefix(files)).encode())
    return True


STORES = {
    "gs://bucket": (google, TOKEN),
    "az://bucket": (azure, {"secret": ACCOUNT_KEY}),
    "hf://datasets/owner/name@refs%2Fa": (hub, TOKEN),
}


@pytest.fixture(params=STORES)
def store(request):
    """A server that speaks a protocol, and the root of its names."""
    protocol, credentials = STORES[request.param]
    scheme = f"{request.param[:2]}://"
    with serving({}) as server:
        server.fault = protocol
        avida.storage.configure(scheme, endpoint=server.url, account="account", credentials=credentials, deadline=5)
        try:
            yield request.param
        finally:
            avida.storage.configure(scheme)


def test_listings_in_pages(store):
    assert avida.storage.ls(store) == ["a b+c%20.jpg", "e/", "z.jpg"]
    assert avida.storage.ls(store, deep=True) == NAMES
    assert avida.storage.ls(f"{store}/e") == ["f.jpg", "g.jpg"]


def test_objects(store):
    for name in NAMES:
        assert avida.storage.read(f"{store}/{name}") == name.encode()
        assert avida.storage.exists(f"{store}/{name}")


def test_ranges_of_an_object(store):
    """The record reader asks for ranges of the version that it has opened."""
    with pytest.raises(RuntimeError, match=rf"{store}/e/f.jpg.*the file ends within a record"):
        avida.readers.MXNet(path=f"{store}/e/f.jpg").next_epoch()


def test_wrong_keys(store):
    if store.startswith("az://"):
        avida.storage.configure("az://bucket", credentials={"secret": base64.b64encode(b"another").decode()})
        try:
            with pytest.raises(RuntimeError, match=r"answered 403: access denied.*\(AuthenticationFailed\)"):
                avida.storage.read(f"{store}/z.jpg")
        finally:
            avida.storage.configure("az://bucket")
