"""A server that lists and gives files of a data set as the Hugging Face Hub does, by the protocol that it documents."""

import contextlib
import json
import urllib.parse

import avida
from tests.storage.http_server import serving
from tests.storage.stores import objects_in


def answer(handler, _):
    """For the data set owner/name, whose objects have the revision in front."""
    url, server = urllib.parse.urlsplit(handler.path), handler.server
    begin = "/api/datasets/owner/name/tree/"
    if url.path.startswith(begin):
        revision = urllib.parse.unquote(url.path.removeprefix(begin))
        names = [name.removeprefix(f"{revision}/") for name in server.objects if name.startswith(f"{revision}/")]
        if not names:
            handler.refuse(404, "RevisionNotFound")
        else:
            handler.send(200, json.dumps([{"path": name, "type": "file"} for name in names]).encode())
        return True
    name = urllib.parse.unquote(url.path).removeprefix("/datasets/owner/name/resolve/")
    content = server.objects.get(name)
    handler.refuse(404, "EntryNotFound") if content is None else handler.send_object(content)
    return True


@contextlib.contextmanager
def hub_of(folder):
    """The files under the folder, by revision."""
    with serving({name[1:]: content for name, content in objects_in(folder, "").items()}) as server:
        server.fault = answer
        avida.storage.configure("hf://", endpoint=server.url, deadline=5)
        try:
            yield server
        finally:
            avida.storage.configure("hf://")
