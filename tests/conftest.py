"""Fixtures shared by several packages: stores on both databases, a blob store, a clock; and hypothesis profiles.

A server starts when the first test needs it, once per process.  Each store is a copy of a migrated one.
"""

import gc
import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

import hypothesis
import pytest
from _pytest.runner import runtestprotocol
from sqlalchemy import Connection, Engine, event

from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store, open_store
from tests.store.clocks import FakeClock
from tests.support.servers import Postgres, place_in_memory, postgres

_numbers = count(1)

# The quick set runs the same few examples every time; `deploy/test.sh all` selects `full`, which CI runs with a fixed
# seed.
hypothesis.settings.register_profile("quick", max_examples=25, deadline=None, derandomize=True)
hypothesis.settings.register_profile("full", max_examples=100, deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("quick")

# A job that a shell starts in the background ignores SIGINT, and so would every command that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class CompiledStatements(dict[tuple[Any, ...], Any]):
    """SQL by its statement and the name of the dialect, whose object is another one for each engine."""

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        return super().get((key[0].name, *key[1:]), default)

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        super().__setitem__((key[0].name, *key[1:]), compiled)


_statements = CompiledStatements()


@event.listens_for(Engine, "engine_connect")
def _compile_once(connection: Connection) -> None:
    """Share compiled SQL between the stores of all tests: compiling it takes longer than executing it."""
    connection.execution_options(compiled_cache=_statements)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", metavar="N/M", default="1/1", help="run part N of M of the selected tests, by name")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the files of quick tests in memory if there is room, since stores wait for disks; slow ones may be large."""
    if "not slow" in config.option.markexpr and (place := place_in_memory()):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(place))


def is_in_share(test: str, share: str) -> bool:
    """Return whether a test belongs to part N of M of all tests, given as N/M."""
    number, _, parts = share.partition("/")
    return crc32(test.encode()) % int(parts) == int(number) - 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow the cases beyond N of `sample(N, M)`, as long those beyond M, and the tests on PostgreSQL as slow.

    Queries are tested on both databases in tests/store, quickly; the layers above run the same code on either.  Then
    leave out the tests of other parts than `--share`.
    """
    cases: Counter[str] = Counter()
    for item in items:
        function = item.nodeid.partition("[")[0]
        cases[function] += 1
        sample = item.get_closest_marker("sample")
        quick, *most = sample.args if sample else (cases[function],)
        if most and cases[function] > most[0]:
            item.add_marker(pytest.mark.long)
        if cases[function] > quick or (
            "postgresql" in item.nodeid.partition("[")[2] and not function.startswith("tests/store/")
        ):
            item.add_marker(pytest.mark.slow)
    share: str = config.getoption("share")
    config.hook.pytest_deselected(items=[item for item in items if not is_in_share(item.nodeid, share)])
    items[:] = [item for item in items if is_in_share(item.nodeid, share)]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the garbage collector the modules and tests, which stay: it would visit them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """In a process of xdist, report what a test did, and a failed setup or teardown: not the start, nor what passed.

    A message costs half a millisecond on both sides together, and there would be six for each test.
    """
    option = item.config.getoption
    if not hasattr(item.config, "workerinput") or option("durations") is not None or option("setupshow"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """A PostgreSQL server with a migrated database `template`."""
    with postgres() as server:
        server.sql("CREATE DATABASE template")
        open_store(server.url("template"), migrate=True).close()
        yield server


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A PostgreSQL server for one test, which may stop and start it, with a migrated database `template`."""
    with postgres() as server:
        server.sql("CREATE DATABASE template")
        open_store(server.url("template"), migrate=True).close()
        yield server


@pytest.fixture
def postgres_url(postgres_server: Postgres) -> Iterator[str]:
    """The address of a migrated PostgreSQL database for one test."""
    name = f"test_{next(_numbers)}"
    postgres_server.sql(f"CREATE DATABASE {name} TEMPLATE template")
    yield postgres_server.url(name)
    postgres_server.sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an empty, migrated store for copying, since a migration takes 20 times as long as a copy."""
    file = tmp_path_factory.mktemp("template") / "jarvis.db"
    open_store(f"sqlite:///{file}").close()
    return file


@pytest.fixture(scope="session")
def compiled_patterns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of compiled patterns for all tests: compiling the rules takes as long as the rest of a small scan."""
    return tmp_path_factory.mktemp("patterns")


@pytest.fixture
def sqlite_url(tmp_path: Path, sqlite_template: Path) -> str:
    """The address of a SQLite store for one test."""
    return f"sqlite:///{shutil.copyfile(sqlite_template, tmp_path / 'jarvis.db')}"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """The address of a store, once per database."""
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return url


@pytest.fixture
def open_stores() -> Iterator[Callable[..., Store]]:
    """Return a function that opens stores, which are closed at the end of the test."""
    opened: list[Store] = []

    def open_one(url: str, **options: object) -> Store:
        opened.append(open_store(url, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(store_url: str, open_stores: Callable[..., Store]) -> Store:
    """An empty store, once per database."""
    return open_stores(store_url)


@pytest.fixture
def clock() -> FakeClock:
    """The clock of a store, which the test advances."""
    return FakeClock()


@pytest.fixture
def blobs(tmp_path: Path) -> DirectoryBlobs:
    """An empty blob store."""
    return DirectoryBlobs(tmp_path / "blobs")
