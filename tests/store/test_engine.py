"""Opening a store: its schema, its address, and what goes wrong."""

import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlmodel import SQLModel

from jarvis_workers.errors import StoreError, StoreRefused, StoreUnavailable
from jarvis_workers.store import leases
from jarvis_workers.store.engine import Store, open_store
from jarvis_workers.store.lockwait import store_error
from jarvis_workers.store.schema import load_tables
from tests.store.arrange import add_planned_run, states
from tests.support.servers import Postgres

OPEN_WHEN_TOLD = """
import sys
import threading
from jarvis_workers.store.engine import open_store
print("ready", flush=True)
sys.stdin.readline()
store = open_store(sys.argv[1], migrate=True)
store.now()
print("opened", flush=True)
"""
FILL_THE_DISK = """
import os, resource, sys
from jarvis_workers.errors import StoreFull
from jarvis_workers.store.engine import open_store
from tests.store.arrange import add_planned_run
store = open_store(sys.argv[1])
add_planned_run(store, scans=10)
size = os.path.getsize(sys.argv[2] + "-wal") + 1_000_000
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    while True:
        print(add_planned_run(store, scans=20), flush=True)
except StoreFull as full:
    print(full)
os._exit(0)
"""


def test_migrations_make_the_tables_that_the_rows_describe(store: Store) -> None:
    load_tables()
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, SQLModel.metadata) == []


def test_a_transaction_is_kept_whole_or_not_at_all(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.write() as session:
        leases.take(session, "one", "me", 60)
        1 / 0  # noqa: B018
    with store.write() as session:
        assert leases.take(session, "one", "somebody else", 60)


def test_a_store_says_where_it_is(store: Store, store_url: str) -> None:
    assert Path(make_url(store.where).database or "").name == Path(make_url(store_url).database or "").name


def test_the_time_is_the_databases(store: Store) -> None:
    assert abs(store.now() - time.time()) < 5


@pytest.mark.timing
@pytest.mark.parametrize("there", [False, True], ids=["no such socket", "refused port"])
def test_a_postgresql_that_is_not_there_is_told_in_one_line(there: bool, tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        url = f"postgresql://127.0.0.1:{port}/jarvis" if there else f"postgresql:///jarvis?host={tmp_path}"
        assert_unavailable(url)


@pytest.mark.slow
@pytest.mark.timing
def test_a_postgresql_that_does_not_answer_is_not_waited_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert_unavailable(f"postgresql://127.0.0.1:{silent.getsockname()[1]}/jarvis")


@pytest.mark.slow
@pytest.mark.timing
def test_a_postgresql_that_was_restarted_is_reached_by_the_first_query(
    own_postgres: Postgres, open_stores: Callable[..., Store]
) -> None:
    store = open_stores(own_postgres.url("template"))
    with store.read(), store.read():
        assert store.engine.pool.status()
    for mode in ("immediate", "fast"):
        own_postgres.stop(mode)
        own_postgres.start()

        assert store.now() > 0


def test_a_process_has_no_more_connections_than_it_was_given(
    postgres_server: Postgres, postgres_url: str, open_stores: Callable[..., Store]
) -> None:
    store = open_stores(f"{postgres_url}&application_name=counted", connections=1)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: store.now(), range(100)))
    with store.read() as session:
        counted = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'counted'")
        assert session.execute(counted).scalar_one() == 1


def assert_unavailable(url: str) -> None:
    begun = time.monotonic()
    with pytest.raises(StoreUnavailable, match="JARVIS_STORE_URL") as problem:
        open_store(url)
    assert time.monotonic() - begun < 5
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("jarvis.db", "not a database address"),
        ("", "not a database address"),
        ("mysql://host/db", '"mysql" is not supported'),
        ("sqlite://", "must be a file"),
        ("sqlite:///:memory:", "must be a file"),
        ("sqlite:////tmp/%00.db", "no null character"),
        ("sqlite:////tmp/%00/jarvis.db", "no null character"),
        ("sqlite:////dev/null", "/dev/null: not a regular file"),
        ("sqlite:////tmp/jarvis.db?timeout=5", 'no options, but "timeout"'),
        ("postgresql://db/jarvis?sslmod=require", r'unknown option "sslmod" \(did you mean "sslmode"'),
        ("postgresql://db/jarvis?autocommit=1", 'unknown option "autocommit"'),
        ("postgresql://db/jarvis?sslmode=require&sslmode=disable", '"sslmode" is given 2 times'),
        ("postgresql://db/jarvis?prepare_threshold=x", 'prepare_threshold="x" is neither'),
        ("postgresql://me:se@same@db/jarvis", "percent-encode special characters of the password"),
        ("postgresql://%zz@db/jarvis", "a % is not followed by two hexadecimal digits; write %25 for the character %"),
        ("postgresql://me:sesame%@db/jarvis", "a % is not followed by two hexadecimal digits"),
        ("postgres://db/%zz", "a % is not followed by two hexadecimal digits"),
        ("postgresql://db/jarvis?application_name=%z", "a % is not followed by two hexadecimal digits"),
        ("postgresql://me:%ff@db/jarvis", "what is percent-encoded is not UTF-8"),
    ],
)
def test_an_address_that_cannot_be_a_store_is_refused(url: str, said: str) -> None:
    with pytest.raises(StoreError, match=said) as problem:
        open_store(url)
    assert "JARVIS_STORE_URL" in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_password_is_not_shown() -> None:
    with pytest.raises(StoreUnavailable) as problem:
        open_store("postgresql://me:sesame@127.0.0.1:1/jarvis")
    assert "sesame" not in str(problem.value)


def test_the_file_of_a_store_may_have_a_percent_sign_in_its_name(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/%zz.db").close()

    assert (tmp_path / "%zz.db").exists()


def test_a_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot create the store's directory: Not a directory"):
        open_store(f"sqlite:///{tmp_path}/file/below/jarvis.db")


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "jarvis.db").write_text("not a database\n" * 100)
    with pytest.raises(StoreError, match="file is not a database"):
        open_store(f"sqlite:///{tmp_path}/jarvis.db")


def test_a_directory_as_a_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "jarvis.db").mkdir()
    with pytest.raises(StoreError, match="not a regular file; name a file for the store"):
        open_store(f"sqlite:///{tmp_path}/jarvis.db")


@pytest.mark.parametrize(
    "said",
    [
        'connection failed: FATAL:  password authentication failed for user "jarvis"',
        "connection failed: fe_sendauth: no password supplied",
        'Multiple connection attempts failed.\n- FATAL:  permission denied for database "jarvis"',
    ],
)
def test_a_database_that_refuses_us_is_not_looked_for_elsewhere(said: str) -> None:
    problem = store_error(OperationalError("", None, Exception(said)), "postgresql://db/jarvis")

    assert isinstance(problem, StoreUnavailable)
    assert str(problem).endswith("; check user, password and permissions; see JARVIS_STORE_URL")


def test_a_refusal_of_postgresql_is_not_told_as_an_outage(postgres_server: Postgres, postgres_url: str) -> None:
    postgres_server.sql("DROP ROLE IF EXISTS sleeper; CREATE ROLE sleeper NOLOGIN")
    for wrong, says in (
        (postgres_url.replace("user=jarvis", "user=nobody_here"), 'role "nobody_here" does not exist; check user'),
        (postgres_url.replace("user=jarvis", "user=sleeper"), "is not permitted to log in; check user"),
        (postgres_url.replace("///test_", "///absent_"), "does not exist; create the database, or correct its name in"),
        (f"{postgres_url}&sslmode=never", 'invalid sslmode value: "never"; correct the option in'),
        (f"{postgres_url}&options=-c%20absent%3D1", "unrecognized configuration parameter .*; correct the option in"),
    ):
        with pytest.raises(StoreRefused, match=says) as problem:
            open_store(wrong)
        assert str(problem.value).endswith("JARVIS_STORE_URL")
        assert "running?" not in str(problem.value)


def test_what_passes_by_itself_is_an_outage() -> None:
    starting = store_error(
        OperationalError("", None, Exception("failed: FATAL:  the database system is starting up")), ""
    )
    assert type(starting) is StoreUnavailable
    assert str(starting).endswith("; the database takes no connections for now; see JARVIS_STORE_URL")


def test_other_forms_of_an_address_open_the_same_store(postgres_url: str, open_stores: Callable[..., Store]) -> None:
    for form in (
        postgres_url.replace("postgresql:", "postgres:"),
        f"{postgres_url}&prepare_threshold=none",
        f"{postgres_url}&prepare_threshold=0",
    ):
        assert open_stores(form).now() > 0


def test_a_driver_that_says_nothing_is_named_by_its_error() -> None:
    silent = DBAPIError("SELECT 1", None, sqlite3.InterfaceError())

    assert str(store_error(silent, "here")) == "here: InterfaceError"


def test_a_newer_schema_is_refused(store: Store, store_url: str) -> None:
    with store.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for migrate in (False, True):
        with pytest.raises(StoreError, match='newer schema "9999"; upgrade'):
            open_store(store_url, migrate=migrate)


def test_a_postgresql_that_is_not_migrated_says_how(postgres_server: Postgres) -> None:
    postgres_server.sql("CREATE DATABASE unmigrated")
    with pytest.raises(StoreError, match="missing; run: jarvis admin migrate"):
        open_store(postgres_server.url("unmigrated"))


@pytest.mark.slow
@pytest.mark.timing
def test_a_postgresql_can_be_migrated_by_several_at_once(postgres_server: Postgres) -> None:
    postgres_server.sql("CREATE DATABASE migrated_at_once")

    assert open_at_once(postgres_server.url("migrated_at_once")) == [("opened\n", "")] * 3


@pytest.mark.slow
@pytest.mark.timing
def test_a_new_store_can_be_opened_by_several_at_once(tmp_path: Path) -> None:
    assert open_at_once(f"sqlite:///{tmp_path}/new/jarvis.db") == [("opened\n", "")] * 3


@pytest.mark.timing
def test_a_new_store_waits_for_another_that_makes_it(tmp_path: Path, open_stores: Callable[..., Store]) -> None:
    file = tmp_path / "jarvis.db"
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.2, other.rollback)
        release.start()
        store = open_stores(f"sqlite:///{file}")
        release.join()

    with store.read() as session:
        assert session.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"


def open_at_once(url: str) -> list[tuple[str, str]]:
    """Let three processes open a store at once; return what they say."""
    command = [sys.executable, "-c", OPEN_WHEN_TOLD, url]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    return [child.communicate(timeout=240) for child in children]


@pytest.mark.slow
@pytest.mark.timing
def test_a_full_disk_is_told_and_what_was_saved_is_kept(tmp_path: Path, open_stores: Callable[..., Store]) -> None:
    file = tmp_path / "jarvis.db"
    url = f"sqlite:///{file}"
    command = [sys.executable, "-c", FILL_THE_DISK, url, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    *saved, said = done.stdout.splitlines()

    assert re.search(
        r"cannot write: .*; raise the limit of file sizes \(ulimit -f, .*\), free some space or set JARVIS_STORE_URL",
        said,
    ), done.stderr
    assert saved
    store = open_stores(url)
    assert [states(store, run_id) for run_id in saved] == [["pending"] * 20] * len(saved)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert add_planned_run(store, scans=0, run_id="after")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://u:p@host:port/db", "not a database address"),
        ("sqlite+aiosqlite:////tmp/x.db", '"sqlite\\+aiosqlite" is not supported'),
        ("postgresql+psycopg2://host/db", '"postgresql\\+psycopg2" is not supported'),
    ],
)
def test_an_address_that_we_cannot_use_is_refused_in_one_line(url: str, says: str) -> None:
    with pytest.raises(StoreError, match=says):
        open_store(url)


def test_a_password_in_the_query_of_an_address_is_not_shown() -> None:
    with pytest.raises(StoreUnavailable) as problem:
        open_store("postgresql://u@127.0.0.1:1/db?password=hunter2")
    assert "hunter2" not in str(problem.value)


def test_the_store_and_its_directory_are_for_their_owner_alone(tmp_path: Path) -> None:
    place = tmp_path / "share" / "jarvis" / "jarvis.db"
    with closing(open_store(f"sqlite:///{place}")) as store:
        add_planned_run(store, 1)
        files = {file.name: file.stat().st_mode & 0o777 for file in place.parent.iterdir()}

    assert files == {"jarvis.db": 0o600, "jarvis.db-wal": 0o600, "jarvis.db-shm": 0o600}
    assert {folder.stat().st_mode & 0o777 for folder in (place.parent, place.parent.parent)} == {0o700}


def test_a_directory_and_a_store_that_are_there_keep_their_modes(tmp_path: Path) -> None:
    place = tmp_path / "shared" / "jarvis.db"
    place.parent.mkdir()
    place.parent.chmod(0o770)
    place.touch()
    place.chmod(0o660)
    open_store(f"sqlite:///{place}").close()

    assert (place.parent.stat().st_mode & 0o777, place.stat().st_mode & 0o777) == (0o770, 0o660)
