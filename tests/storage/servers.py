"""Servers of others for the tests: moto, nginx, azurite and gcp-storage-emulator, each on a port of its own.

`make servers` installs moto and gcp-storage-emulator into build/servers, `make stores` all of them. Tests of a server
that is not there are skipped, unless FAIL_WITHOUT_SERVERS is set.
"""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import time

import pytest

HOME = pathlib.Path(os.environ.get("AVIDA_SERVERS", pathlib.Path(__file__).parents[2] / "build" / "servers"))


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def program(name):
    """The path of a server's program."""
    for path in (HOME / "bin" / name, HOME / "node_modules" / ".bin" / name):
        if path.exists():
            return str(path)
    if found := shutil.which(name):
        return found
    if os.environ.get("FAIL_WITHOUT_SERVERS"):
        raise AssertionError(f"{name} is not there: make stores")
    pytest.skip(f"{name} is not there: make stores")


@contextlib.contextmanager
def running(command, port, **options):
    """A server, from when it accepts connections until the test is over."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        latest = time.monotonic() + 120
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
                break
            assert process.poll() is None, f"{command[0]} has ended"
            assert time.monotonic() < latest, f"{command[0]} does not answer"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def moto(**environment):
    port = free_port()
    command = [program("moto_server"), "-H", "127.0.0.1", "-p", str(port)]
    with running(command, port, env=os.environ | environment) as url:
        yield url


@contextlib.contextmanager
def azurite(folder):
    port = free_port()
    command = [program("azurite-blob"), "--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(folder)]
    with running([*command, "--silent", "--skipApiVersionCheck"], port) as url:
        yield url


@contextlib.contextmanager
def google(folder):
    port = free_port()
    command = [program("gcp-storage-emulator"), "start", "--host", "127.0.0.1", "--port", str(port), "--in-memory"]
    with running(command, port, cwd=folder) as url:
        yield url


NGINX = """
daemon off; worker_processes 1; pid {scratch}/pid; error_log {scratch}/error.log; {user}
events {{ worker_connections 1024; }}
http {{
  access_log off; root {root}; keepalive_requests 1000000;
  client_body_temp_path {scratch}/body; proxy_temp_path {scratch}/proxy; fastcgi_temp_path {scratch}/fastcgi;
  uwsgi_temp_path {scratch}/uwsgi; scgi_temp_path {scratch}/scgi;
  split_clients "$request_id" $is_overloaded {{ 5% 1; * 0; }}
  server {{
    listen 127.0.0.1:{port} backlog=512;
    location / {{ }}
    location /faulty/ {{ alias {root}/; if ($is_overloaded) {{ return 503; }} }}
    location /slow/ {{ alias {root}/; limit_rate 200k; }}
  }}
}}
"""


@contextlib.contextmanager
def nginx(root, scratch):
    """Objects are files in `root`; under faulty/ 5 % of the answers are 503, under slow/ there are 200 KiB a second."""
    port = free_port()
    user = "user root;" if os.geteuid() == 0 else ""
    scratch.mkdir()
    (scratch / "nginx.conf").write_text(NGINX.format(root=root, scratch=scratch, port=port, user=user))
    with running([program("nginx"), "-p", str(scratch), "-c", str(scratch / "nginx.conf")], port) as url:
        yield url


def in_python_of_clouds(code, *arguments, given=""):
    """Runs code that has boto3 and azure-storage-blob; returns what it prints."""
    command = [program("python"), "-c", code, *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
