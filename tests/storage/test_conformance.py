"""Servers that others have written: moto for S3, nginx, azurite, and an emulator of Google Cloud Storage."""

import base64
import http.client
import json
import os
import urllib.parse

import numpy as np
import pytest

import avida
from tests.storage import servers, test_faults, test_readers
from tests.storage.stores import objects_in
from tests.storage.test_http import WITHOUT_LISTING

NAMES = ["a b+c%20&<d>'\".jpg", "e/f.jpg", "e/g.jpg", "e.jpg", "k=1/l;m,n!o~p*(q)@r$.jpg", "z#?.jpg", "ä/ö 漢.jpg"]
PAGE = 7
# moto looks at who asks, and does not verify it unless it is told to.
SIGNED = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
}
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@pytest.fixture(autouse=True)
def without_settings_of_others(monkeypatch):
    for name in os.environ:
        if name.startswith(("AWS_", "AZURE_", "STORAGE_")):
            monkeypatch.delenv(name)
    yield
    for prefix in ("s3://", "az://", "gs://"):
        avida.storage.configure(prefix)


def ask(url, method, path, body=b"", **headers):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    assert answer.status < 300, answer.read()
    answer.read()
    connection.close()


# --- S3: moto ---


@pytest.fixture(scope="module")
def s3():
    """A server of S3 with a bucket, and pages of a few names."""
    with servers.moto(MOTO_S3_DEFAULT_MAX_KEYS=str(PAGE)) as url:
        ask(url, "PUT", "/data", **SIGNED)
        yield url


def put_s3(url, objects, **headers):
    for name, content in objects.items():
        ask(url, "PUT", f"/{urllib.parse.quote(name)}", content, **SIGNED, **headers)


@pytest.fixture
def bucket(s3):
    """Its address; the bucket is empty again afterwards."""
    avida.storage.configure("s3://", endpoint=s3, credentials={"key": "a", "secret": "b"}, deadline=60)
    yield s3
    for name in avida.storage.ls("s3://data", deep=True):
        ask(s3, "DELETE", f"/data/{urllib.parse.quote(name)}", **SIGNED)


@pytest.mark.parametrize("make", test_readers.MAKERS)
def test_every_reader_over_s3(bucket, tmp_path, make):
    made = make(tmp_path)
    put_s3(bucket, objects_in(tmp_path))
    assert test_readers.samples(made("s3://data")) == test_readers.samples(made(tmp_path))


def check_names(root, names=NAMES):
    assert avida.storage.ls(root, deep=True) == sorted(names)
    assert set(avida.storage.ls(root)) == {name.split("/")[0] + "/" * ("/" in name) for name in names}
    assert avida.storage.ls(f"{root}/e") == ["f.jpg", "g.jpg"]
    for name in names:
        assert avida.storage.read(f"{root}/{name}") == name.encode()
        assert avida.storage.exists(f"{root}/{name}")
    assert not avida.storage.exists(f"{root}/none")
    assert not avida.storage.exists(f"{root}/e")
    with pytest.raises(RuntimeError, match="answered 404: there is no such object"):
        avida.storage.read(f"{root}/none")


def test_names_in_s3(bucket):
    put_s3(bucket, {f"data/{name}": name.encode() for name in NAMES})
    check_names("s3://data")


def test_pages_of_s3(bucket):
    names = [f"{i:02}.jpg" for i in range(3 * PAGE + 1)]
    put_s3(bucket, {f"data/a/{name}": b"x" for name in names})
    assert avida.storage.ls("s3://data/a") == names
    assert avida.storage.ls("s3://data", deep=True) == [f"a/{name}" for name in names]


def test_empty_objects_and_missing_buckets_in_s3(bucket):
    put_s3(bucket, {"data/empty": b""})
    assert avida.storage.read("s3://data/empty") == b""
    assert avida.storage.exists("s3://data/empty")
    with pytest.raises(RuntimeError, match=r"cannot list s3://elsewhere: .*404.*NoSuchBucket"):
        avida.storage.ls("s3://elsewhere")


def check_changes(root, folder, put):
    """Ranges of the object that was opened, and an error once it is another one."""
    made = test_readers.mxnet(folder)
    objects = objects_in(folder)
    put(objects)
    reader = made(root)
    assert test_readers.samples(reader) == test_readers.samples(made(folder))
    put({name: content[:-1] + b"x" for name, content in objects.items() if name.endswith(".rec")})
    with pytest.raises(RuntimeError, match=r"a.rec.*changed after it was opened"):
        test_readers.samples(reader)


def test_an_object_that_changes_in_s3(bucket, tmp_path):
    check_changes("s3://data", tmp_path, lambda objects: put_s3(bucket, objects))


def test_ranges_of_blocks_over_s3(bucket, tmp_path):
    made = test_faults.archives(tmp_path)
    put_s3(bucket, objects_in(tmp_path))
    options = {"random_shuffle": avida.readers.Blocks(window=2), "seed": 3}
    assert test_readers.samples(made("s3://data", **options)) == test_readers.samples(made(tmp_path, **options))


def test_anonymous_access_to_s3(bucket):
    put_s3(bucket, {"data/public": b"public"}, **{"x-amz-acl": "public-read"})
    put_s3(bucket, {"data/private": b"private"})
    avida.storage.configure("s3://data", anonymous=True)
    try:
        assert avida.storage.read("s3://data/public") == b"public"
        with pytest.raises(RuntimeError, match="403: access denied"):
            avida.storage.read("s3://data/private")
    finally:
        avida.storage.configure("s3://data")


CREATE_USER = """
import json, sys
import boto3
known = dict(endpoint_url=sys.argv[1], region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
iam = boto3.client("iam", **known)
iam.create_user(UserName="reader")
statement = [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]
policy = json.dumps({"Version": "2012-10-17", "Statement": statement})
iam.put_user_policy(UserName="reader", PolicyName="all", PolicyDocument=policy)
key = iam.create_access_key(UserName="reader")["AccessKey"]
s3 = boto3.client("s3", **known)
s3.create_bucket(Bucket="data")
for name in json.loads(sys.argv[2]):
    s3.put_object(Bucket="data", Key=name, Body=name.encode())
print(json.dumps([key["AccessKeyId"], key["SecretAccessKey"]]))
"""


def test_signatures_of_s3():
    """moto verifies them once it has been asked so often."""
    asked = 4 + len(NAMES)
    with servers.moto(INITIAL_NO_AUTH_ACTION_COUNT=str(asked)) as url:
        key, secret = json.loads(servers.in_python_of_clouds(CREATE_USER, url, json.dumps(NAMES)))
        avida.storage.configure("s3://", endpoint=url, credentials={"key": key, "secret": secret}, deadline=20)
        check_names("s3://data")
        avida.storage.configure("s3://", endpoint=url, credentials={"key": key, "secret": "wrong"}, deadline=20)
        with pytest.raises(RuntimeError, match=r"403: access denied.*\(SignatureDoesNotMatch\)"):
            avida.storage.read("s3://data/e.jpg")
        avida.storage.configure("s3://", endpoint=url, anonymous=True, deadline=20)
        with pytest.raises(RuntimeError, match="403: access denied"):
            avida.storage.read("s3://data/e.jpg")


# --- nginx ---


@pytest.mark.parametrize("make", WITHOUT_LISTING)
def test_every_reader_over_nginx(tmp_path, make):
    root = tmp_path / "data"
    root.mkdir()
    made = make(root)
    expected = test_readers.samples(made(root))
    with servers.nginx(root, tmp_path / "scratch") as url:
        assert test_readers.samples(made(url)) == expected
        assert test_readers.samples(made(f"{url}/faulty")) == expected


def test_an_object_that_changes_under_nginx(tmp_path):
    root = tmp_path / "data"
    root.mkdir()

    def put(objects):
        for name, content in objects.items():
            path = tmp_path / name
            path.write_bytes(content + b"x")  # another size is another version

    with servers.nginx(root, tmp_path / "scratch") as url:
        made = test_readers.mxnet(root)
        reader = made(url)
        assert test_readers.samples(reader) == test_readers.samples(made(root))
        put({name: content for name, content in objects_in(root).items() if name.endswith(".rec")})
        with pytest.raises(RuntimeError, match=r"a.rec.*changed after it was opened"):
            test_readers.samples(reader)


def test_slow_answers_of_nginx(tmp_path):
    """Slow is not silent: 300 KiB arrive at 200 KiB a second, with a timeout of one second."""
    root = tmp_path / "data"
    root.mkdir()
    content = np.random.default_rng(0).bytes(300 << 10)
    (root / "a").write_bytes(content)
    with servers.nginx(root, tmp_path / "scratch") as url:
        avida.storage.configure(url, timeout=1)
        try:
            assert avida.storage.read(f"{url}/slow/a") == content
        finally:
            avida.storage.configure(url)


# --- Azure: azurite ---

PUT_BLOBS = """
import base64, json, sys
from concurrent.futures import ThreadPoolExecutor
from azure.core.exceptions import ResourceExistsError
from azure.storage.blob import BlobServiceClient
url, key = sys.argv[1:]
account = url + "/devstoreaccount1"
service = BlobServiceClient(account, {"account_name": "devstoreaccount1", "account_key": key})
container = service.get_container_client("data")
try:
    container.create_container()
except ResourceExistsError:
    pass
with ThreadPoolExecutor(16) as pool:
    list(pool.map(lambda item: container.upload_blob(item[0], base64.b64decode(item[1]), overwrite=True),
                  json.load(open(0)).items()))
"""


@pytest.fixture(scope="module")
def azure(tmp_path_factory):
    with servers.azurite(tmp_path_factory.mktemp("azurite")) as url:
        yield url


@pytest.fixture
def container(azure):
    avida.storage.configure(
        "az://",
        endpoint=f"{azure}/devstoreaccount1",
        account="devstoreaccount1",
        credentials={"secret": AZURE_KEY},
        deadline=60,
    )
    return azure


def put_azure(url, objects):
    put = {name.removeprefix("data/"): base64.b64encode(content).decode() for name, content in objects.items()}
    servers.in_python_of_clouds(PUT_BLOBS, url, AZURE_KEY, given=json.dumps(put))


@pytest.mark.parametrize("make", test_readers.MAKERS)
def test_every_reader_over_azure(container, tmp_path, make):
    folder = tmp_path / make.__name__
    folder.mkdir()
    made = make(folder)
    put_azure(container, objects_in(tmp_path))
    assert test_readers.samples(made(f"az://data/{make.__name__}")) == test_readers.samples(made(folder))


def test_names_in_azure(container):
    put_azure(container, {f"data/names/{name}": name.encode() for name in NAMES})
    check_names("az://data/names")


def test_pages_of_azure(container):
    """Of which each has 5,000 names."""
    names = [f"{i:04}" for i in range(5003)]
    put_azure(container, {f"data/pages/{name}": b"" for name in names})
    assert avida.storage.ls("az://data/pages") == names
    assert avida.storage.read("az://data/pages/0000") == b""


def test_wrong_keys_of_azure(container):
    put_azure(container, {"data/key": b"content"})
    avida.storage.configure("az://data", credentials={"secret": base64.b64encode(b"wrong").decode()})
    try:
        with pytest.raises(RuntimeError, match=r"403: access denied.*\(AuthorizationFailure\)"):
            avida.storage.read("az://data/key")
        with pytest.raises(RuntimeError, match="404"):
            avida.storage.ls("az://elsewhere")
    finally:
        avida.storage.configure("az://data")


def test_an_object_that_changes_in_azure(container, tmp_path):
    check_changes("az://data/changes", tmp_path, lambda objects: put_azure(container, in_folder("changes", objects)))


def in_folder(folder, objects):
    return {name.replace("data/", f"data/{folder}/", 1): content for name, content in objects.items()}


# --- Google: gcp-storage-emulator ---


@pytest.fixture(scope="module")
def google(tmp_path_factory):
    with servers.google(tmp_path_factory.mktemp("google")) as url:
        ask(url, "POST", "/storage/v1/b?project=test", b'{"name": "data"}', **{"Content-Type": "application/json"})
        yield url


@pytest.fixture
def google_bucket(google):
    avida.storage.configure("gs://", endpoint=google, anonymous=True, deadline=60)
    return google


def put_google(url, objects):
    for name, content in objects.items():
        key = urllib.parse.quote(name.removeprefix("data/"), safe="")
        kind = {"Content-Type": "application/octet-stream"}
        ask(url, "POST", f"/upload/storage/v1/b/data/o?uploadType=media&name={key}", content, **kind)


@pytest.mark.parametrize("make", test_readers.MAKERS)
def test_every_reader_over_google(google_bucket, tmp_path, make):
    folder = tmp_path / make.__name__
    folder.mkdir()
    made = make(folder)
    put_google(google_bucket, objects_in(tmp_path))
    assert test_readers.samples(made(f"gs://data/{make.__name__}")) == test_readers.samples(made(folder))


def test_names_in_google(google_bucket):
    put_google(google_bucket, {f"data/names/{name}": name.encode() for name in NAMES})
    check_names("gs://data/names")
