"""Object storage over the real protocol of S3: addresses, faults of the server, forks, and what is not shown."""

import gc
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import s3fs

from jarvis_workers.errors import SettingsError, SnapshotError
from jarvis_workers.pipeline.attempt import Failed, attempt
from jarvis_workers.snapshots.object_clients import RequestLimits, connect
from jarvis_workers.snapshots.object_store import ObjectStore
from jarvis_workers.snapshots.prune import prune
from jarvis_workers.snapshots.remote import RemoteBlobs
from jarvis_workers.snapshots.resources import open_blobs, storage_environment
from jarvis_workers.store.values import Commit
from tests.chaos.commands import until
from tests.support.s3 import HANG, KEY, S3, SECRET, FaultyS3, faulty_s3, s3_server

QUICK = RequestLimits(connect_seconds=0.5, read_seconds=0.3, attempts=2)
NAME = "ab" * 32


@pytest.fixture(scope="module")
def server() -> Iterator[S3]:
    with s3_server() as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def closed_connections() -> Iterator[None]:
    """Close the connections of these tests, since others count open files."""
    yield
    s3fs.S3FileSystem.clear_instance_cache()
    gc.collect()


@pytest.fixture
def s3(server: S3, monkeypatch: pytest.MonkeyPatch) -> S3:
    use(monkeypatch, server)
    return server


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyS3]:
    """A server that is not S3, with whatever fault a test chooses."""
    with faulty_s3() as running:
        use(monkeypatch, running)
        yield running


def use(monkeypatch: pytest.MonkeyPatch, server: S3) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in server.environ.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        (f"s3://{KEY}:{SECRET}@bucket/x", "do not put credentials in the URL"),
        (f"gs://{SECRET}@bucket/x", "do not put credentials in the URL"),
        ("s3:///x", "no bucket"),
        ("s3://bucket/x?secret_key=abcdefgh", 'unknown parameter "secret_key"; expected endpoint_url, region'),
        ("s3://bucket/x?endpoint_url", "its query string should be NAME=VALUE"),
        ("s3://bucket/x?endpoint_url=host:9000", "the endpoint URL should be https://HOST"),
        ("s3://bucket/x?endpoint_url=http://%zz", "the endpoint URL should be https://HOST"),
        ("s3://bucket/x?endpoint_url=http://a b:9000", "the endpoint URL should be https://HOST"),
        ("http://x", r"blobs URL http://…: not an object store; expected s3://BUCKET/PREFIX, or s3://…\?endpoint_url="),
        ("https://host/bucket", r"blobs URL https://…: not an object store; expected s3://BUCKET"),
        ("://x", "it has no scheme"),
        ("ftp://127.0.0.1:1/x", "its client does not start: Connection refused"),
        (f"s3://bucket/x?endpoint_url=http://u:{SECRET}@host", "without credentials"),
        ("s3://bucket/x?addressing_style=dns", "addressing_style should be auto, path, virtual"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_showing_secrets(
    url: str, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=problem) as refused:
        open_blobs(url, tmp_path)
    assert SECRET not in str(refused.value)


def test_endpoint_and_region_are_taken_from_the_url_before_the_environment() -> None:
    environ = {"AWS_ENDPOINT_URL": "http://two:1", "AWS_ENDPOINT_URL_S3": "http://one:1", "AWS_REGION": "eu-1"}
    files, root = connect("s3://bucket/a/b/?endpoint_url=https://three&region=us-2", environ=environ)
    assert (files.endpoint_url, files.client_kwargs, root) == ("https://three", {"region_name": "us-2"}, "bucket/a/b")
    assert files.config_kwargs["s3"] == {"addressing_style": "path"}
    files, _ = connect("s3://bucket?addressing_style=virtual", environ=environ)
    assert (files.endpoint_url, files.client_kwargs) == ("http://one:1", {"region_name": "eu-1"})
    assert files.config_kwargs["s3"] == {"addressing_style": "virtual"}
    assert files.config_kwargs["retries"]["total_max_attempts"] == RequestLimits().attempts
    files, _ = connect("s3://bucket", environ={"AWS_MAX_ATTEMPTS": "1000"})
    assert files.config_kwargs["retries"]["total_max_attempts"] == 10
    files, _ = connect("s3://bucket", environ={})
    assert (files.endpoint_url, files.config_kwargs["s3"]) == (None, {"addressing_style": "auto"})


def test_a_child_sees_the_variables_of_its_object_store_only() -> None:
    environ = {"AWS_PROFILE": "a", "GOOGLE_APPLICATION_CREDENTIALS": "b", "https_proxy": "c", "OPENAI_API_KEY": "d"}

    assert storage_environment("s3://bucket", environ) == {"AWS_PROFILE": "a", "https_proxy": "c"}
    assert set(storage_environment("gs://bucket", environ)) == {"GOOGLE_APPLICATION_CREDENTIALS", "https_proxy"}
    assert storage_environment("/a/directory", environ) == storage_environment("file:///a", environ) == {}


@pytest.mark.slow
@pytest.mark.parametrize("fault", [HANG, 503, 500])
def test_a_server_that_does_not_serve_costs_a_bounded_number_of_requests(fault: int, faulty: FaultyS3) -> None:
    faulty.always = fault
    store = ObjectStore(faulty.url, QUICK)
    began = time.monotonic()

    with pytest.raises(SnapshotError, match="s3://sources/jarvis: ") as failed, store.reaching():
        store.put(NAME, b"hello")

    until(lambda: len(faulty.requests) >= QUICK.attempts)  # the server may be slower than the client
    assert len(faulty.requests) == QUICK.attempts
    assert time.monotonic() - began < 60
    assert SECRET not in str(failed.value) and KEY not in str(failed.value)
    assert all("/sources/" in path for _, path, _ in faulty.requests), "path-style addressing"


@pytest.mark.slow
def test_a_server_that_is_not_there_or_not_s3_is_one_error(faulty: FaultyS3, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ObjectStore(faulty.url, QUICK)
    with pytest.raises(SnapshotError, match="s3://sources/jarvis: "), store.reaching():
        list(store.listed())
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    store = ObjectStore(faulty.url, QUICK)
    with pytest.raises(SnapshotError, match="Could not connect to the endpoint"), store.reaching():
        store.has(NAME)


def test_missing_credentials_are_one_error(faulty: FaultyS3, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("HOME", str(tmp_path))

    with pytest.raises(SnapshotError, match="Unable to locate credentials"):
        open_blobs(faulty.url, tmp_path / "cache").put(b"hello")
    assert faulty.requests == []


@pytest.mark.slow
def test_a_server_that_refuses_writes_fails_a_counted_attempt_of_a_job(faulty: FaultyS3, tmp_path: Path) -> None:
    faulty.always = 403
    blobs = RemoteBlobs(faulty.url, tmp_path / "cache", 1_000)

    def write() -> Commit:
        blobs.put(b"hello")
        return Commit()

    outcome = attempt(write)

    assert isinstance(outcome, Failed) and "Forbidden" in outcome.reason


@pytest.mark.slow
def test_blobs_are_written_listed_read_and_deleted_with_few_requests(s3: S3, tmp_path: Path) -> None:
    with faulty_s3(s3) as counted:
        blobs = RemoteBlobs(f"{s3.url}/few?endpoint_url={counted.endpoint}", tmp_path / "cache", 1_000_000)
        names = [blobs.put(b"hello"), blobs.put(b"world"), blobs.put(b"hello")]
        assert [command for command, *_ in counted.requests] == ["HEAD", "GET", "PUT"] * 2 + ["HEAD"]
        counted.requests.clear()
        assert blobs.put_chunks([b"one", b"two"]) in [stored.name for stored in blobs.names()]
        assert len([command for command, *_ in counted.requests if command == "GET"]) == 2
        assert blobs.read(names[1]) == b"world" and blobs.has(names[1])
        assert prune(blobs, {names[0]}, older_than_seconds=0, now=time.time() + 5).blobs == 2
        assert [stored.name for stored in blobs.names()] == [names[0]]


@pytest.mark.slow
def test_requests_are_retried_when_the_server_is_busy(s3: S3, tmp_path: Path) -> None:
    with faulty_s3(s3) as busy:
        blobs = RemoteBlobs(f"{s3.url}/busy?endpoint_url={busy.endpoint}", tmp_path / "cache", 1_000_000)
        busy.faults = [503, 500]
        name = blobs.put(b"hello")
        busy.faults = [503]
        assert blobs.read(name) == b"hello"
        blobs.check_access()
        assert [stored.name for stored in blobs.names()] == [name]


@pytest.mark.slow
def test_a_missing_bucket_is_not_created(s3: S3, tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match=r"s3://typo/x: .*bucket does not exist"):
        open_blobs("s3://typo/x", tmp_path).check_access()
    assert [bucket["Name"] for bucket in s3.client().list_buckets()["Buckets"]] == ["sources"]


FORKING = """
import os, sys
from pathlib import Path
from jarvis_workers.snapshots.remote import RemoteBlobs
blobs = RemoteBlobs(sys.argv[1], Path(sys.argv[2]), 1_000_000)
name = blobs.put(b"before")
for content in (b"first", b"second"):
    if not (pid := os.fork()):
        done = blobs.read(name) == b"before" and blobs.read(blobs.put(content)) == content
        os._exit(0 if done else 1)
    assert os.waitpid(pid, 0)[1] == 0
print(blobs.read(blobs.put(b"after")).decode())
"""


@pytest.mark.slow
def test_forks_use_connections_of_their_own(s3: S3, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKING, f"{s3.url}/forks", str(tmp_path / "cache")],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "after\n", "")
