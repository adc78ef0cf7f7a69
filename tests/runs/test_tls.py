"""TLS to Redis, PostgreSQL and an S3 server: a trusted certificate of the right host, or one line of refusal."""

import os
import pwd
import re
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
import redis
import s3fs
from kombu import pools
from moto.core import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.exceptions import BucketAlreadyExists
from moto.s3.models import s3_backends
from moto.server import MotoRequestHandler
from sqlalchemy import text
from werkzeug.serving import make_server

from jarvis_workers.errors import BrokerUnavailable, JarvisError, SnapshotError, StoreUnavailable
from jarvis_workers.executors.dispatch.broker import Notification, Notifier
from jarvis_workers.snapshots.remote import RemoteBlobs
from jarvis_workers.store.engine import open_store
from tests.chaos.commands import until
from tests.support.certificates import HOST, OTHER_HOST, Authority, ServerFiles
from tests.support.servers import FAST, free_port, missing, postgres, redis_binary

pytestmark = [pytest.mark.slow, pytest.mark.timing]

UNTRUSTED, MISMATCH = r"certificate verify failed", r"(?i)mismatch|does not match"
MESSAGE = Notification("sec.scan", "scan", 1, "run", "label", 1.0)


class Pki(NamedTuple):
    """The authority that clients trust, one that they do not, and certificates for the right and another host."""

    trusted: Authority
    unknown: Authority
    right: ServerFiles
    other: ServerFiles


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    home = tmp_path_factory.mktemp("pki")
    home.chmod(0o755)
    trusted = Authority(home, "trusted")
    return Pki(trusted, Authority(home, "unknown"), trusted.issue(HOST), trusted.issue(OTHER_HOST))


def refusal(family: type[JarvisError], action: Callable[[], object]) -> str:
    """Return the one line with which a connection is refused."""
    with pytest.raises(family) as caught:
        action()
    said = str(caught.value)
    assert "\n" not in said
    assert "running?" not in said
    return said


@contextmanager
def tls_redis(files: ServerFiles, home: Path) -> Iterator[str]:
    """Run a Redis server that speaks TLS alone; yield its address."""
    binary = redis_binary() or missing("redis-server")
    port = free_port()
    tls = {"tls-port": port, "tls-cert-file": files.certificate, "tls-key-file": files.key, "tls-auth-clients": "no"}
    tls |= {"tls-ca-cert-file": files.certificate, "port": 0, "save": "", "dir": home}
    command = [binary, *(part for name, value in tls.items() for part in (f"--{name}", str(value)))]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            until(lambda: _answers(port))
            yield f"rediss://{HOST}:{port}/0"
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    try:
        with redis.Redis(HOST, port, ssl=True, ssl_cert_reqs="none", ssl_check_hostname=False) as client:
            return bool(client.ping())
    except redis.ConnectionError:
        return False


@contextmanager
def notifier(url: str) -> Iterator[Notifier]:
    # Within a process, kombu shares connections by host and port alone.
    pools.reset()
    made = Notifier(url)
    try:
        yield made
    finally:
        made.close()


def test_redis_needs_a_trusted_certificate(pki: Pki, tmp_path: Path) -> None:
    with tls_redis(pki.right, tmp_path) as url:
        with notifier(f"{url}?ssl_ca_certs={pki.trusted.certificate}") as trusting:
            trusting.check()
            trusting.notify([MESSAGE])
            assert trusting.depth("scan") == 1
        for query in (f"?ssl_ca_certs={pki.unknown.certificate}", ""):
            with notifier(url + query) as doubting:
                refuse_both_ways(doubting, UNTRUSTED)


def test_redis_needs_a_certificate_of_its_host(pki: Pki, tmp_path: Path) -> None:
    with tls_redis(pki.other, tmp_path) as url, notifier(f"{url}?ssl_ca_certs={pki.trusted.certificate}") as one:
        refuse_both_ways(one, MISMATCH)


def refuse_both_ways(one: Notifier, reason: str) -> None:
    """Assert that both clients, ours and Celery's, refuse the server."""
    for action in (one.check, lambda: one.notify([MESSAGE])):
        said = refusal(BrokerUnavailable, action)
        assert re.search(reason, said)
        assert said.endswith("check ssl_ca_certs and the host name in JARVIS_BROKER_URL")


@pytest.fixture(scope="module")
def tls_postgres(pki: Pki) -> Iterator[Callable[[ServerFiles], str]]:
    """A server that takes encrypted connections over TCP; the function gives it a certificate, and returns its URL."""
    port = free_port()
    with postgres() as server:
        server.sql("CREATE DATABASE template")
        open_store(server.url("template"), migrate=True).close()

        def certify(files: ServerFiles) -> str:
            placed = ServerFiles(server.home / "server.pem", server.home / "server.key")
            for source, target in zip(files, placed, strict=True):
                shutil.copyfile(source, target)
                target.chmod(0o600)
                if server.user:
                    os.chown(target, pwd.getpwnam(server.user).pw_uid, -1)
            server.stop("fast")
            server.options = (
                f"{FAST}{HOST} -p {port} -c ssl=on -c ssl_cert_file={placed[0]} -c ssl_key_file={placed[1]}"
            )
            server.start()
            return f"postgresql://jarvis@{HOST}:{port}/template?sslmode=verify-full"

        yield certify


def test_postgresql_needs_a_trusted_certificate_of_its_host(
    pki: Pki, tls_postgres: Callable[[ServerFiles], str]
) -> None:
    url = tls_postgres(pki.right)
    with_ca = f"{url}&sslrootcert={pki.trusted.certificate}"
    store = open_store(with_ca)
    with store.read() as session:
        assert session.execute(text("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")).scalar_one()
    store.close()

    refused = {f"{url}&sslrootcert={pki.unknown.certificate}": UNTRUSTED}
    for address, reason in refused.items():
        refuse_store(address, reason)
    tls_postgres(pki.other)
    refuse_store(with_ca, MISMATCH)


def refuse_store(url: str, reason: str) -> None:
    said = refusal(StoreUnavailable, lambda: open_store(url))
    assert re.search(reason, said)
    assert said.endswith("check sslrootcert and the host name; see JARVIS_STORE_URL")


@contextmanager
def tls_bucket(files: ServerFiles) -> Iterator[str]:
    """Run an S3-compatible server that speaks TLS alone, with an empty bucket; yield its URL."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    application = DomainDispatcherApplication(create_backend_app)
    server = make_server(HOST, 0, application, threaded=True, request_handler=MotoRequestHandler, ssl_context=context)
    with suppress(BucketAlreadyExists):  # all servers of a process have the same buckets
        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].create_bucket("bucket", "us-east-1")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"https://{HOST}:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def reach(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str, Authority], None]:
    """Write to a bucket at an address, with the certificates of an authority, as a command or a worker does."""
    secrets = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in {**secrets, "AWS_MAX_ATTEMPTS": "1"}.items():
        monkeypatch.setenv(name, value)

    def check(url: str, authority: Authority) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        monkeypatch.setenv("AWS_CA_BUNDLE", str(authority.certificate))
        s3fs.S3FileSystem.clear_instance_cache()
        RemoteBlobs("s3://bucket/jarvis", tmp_path / "cache", 1_000_000).check_access()

    return check


def test_an_s3_server_needs_a_trusted_certificate_of_its_host(
    pki: Pki, reach: Callable[[str, Authority], None]
) -> None:
    with tls_bucket(pki.right) as url:
        reach(url, pki.trusted)
        assert UNTRUSTED in refusal(SnapshotError, lambda: reach(url, pki.unknown))
    with tls_bucket(pki.other) as url:
        assert re.search(MISMATCH, refusal(SnapshotError, lambda: reach(url, pki.trusted)))
