"""A rolling upgrade: workers of the version before the newest schema and of this one, on one store and one broker."""

import json
import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, func, make_url, select

from jarvis_workers.store.revisions import REVISIONS
from jarvis_workers.store.tables import JOB
from tests.bench.trees import make_tree
from tests.chaos.commands import PATIENCE_SECONDS, SEED_STAGES, crowd, until
from tests.chaos.fleet import Worker
from tests.cli.commands import Ended, Jarvis
from tests.support.archives import extract
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

ROOT = Path(__file__).parent.parent.parent
REVISIONS_FILE = "jarvis_workers/store/revisions.py"
FILES = 40
# How many jobs each version does before the other one joins in.
SHARE = 5
# What a finding is, in every version.
FINDING = ("file", "line", "pattern", "severity", "fingerprint")


def git(*arguments: str) -> bytes:
    """Run git in this checkout; skips the test where it fails, as without a history."""
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"no earlier version to test with: git {arguments[0]}: {done.stderr.decode().strip()}")
    return done.stdout


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree of the commit before the newest revision of the schema."""
    newest = git("log", "-1", "-S", f'"{REVISIONS[-1]}"', "--format=%H", "--", REVISIONS_FILE).decode().strip()
    archive = git("archive", f"{newest}^", "jarvis_workers", "jarvis_cli")
    home = tmp_path_factory.mktemp("earlier")
    with tarfile.open(fileobj=BytesIO(archive)) as packed:
        extract(packed, home)
    return home


class Earlier:
    """Commands of the earlier version."""

    def __init__(self, home: Path, environ: Mapping[str, str]) -> None:
        self.home, self.environ = home, environ

    def __call__(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "jarvis_cli", *arguments],
            env={**self.environ, "JARVIS_DATA_DIR": str(self.home / "desk")},
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS * crowd(),
        )


@contextmanager
def worker(home: Path, environ: Mapping[str, str]) -> Iterator[Worker]:
    started = Worker(home, environ)
    try:
        yield started
    finally:
        for process in started.family():
            process.kill()
        started.process.wait()


def jobs_done(engine: Engine) -> int:
    with engine.connect() as connection:
        return connection.execute(select(func.count()).where(JOB.c.state == "done")).scalar_one()


def send(one: Worker, number: int) -> None:
    for process in one.family():
        process.send_signal(number)


def findings(ended: Ended) -> list[tuple[object, ...]]:
    """Return the findings of a JSON report on standard output."""
    assert ended.code == 0, ended.err
    report = json.loads(ended.out)
    assert report["summary"]["not_checked"] == []
    return [tuple(issue[part] for part in FINDING) for issue in report["issues"]]


@pytest.fixture
def settings(tmp_path: Path, own_postgres: Postgres) -> Iterator[dict[str, str]]:
    """The settings of a cluster with an empty database."""
    own_postgres.sql("CREATE DATABASE mixed")
    with redis_server() as broker:
        yield {
            "JARVIS_STORE_URL": own_postgres.url("mixed"),
            "JARVIS_BROKER_URL": broker.url,
            "JARVIS_BLOBS_URL": str(tmp_path / "blobs"),
            "JARVIS_SCAN__BATCH_FILES": "1",
            "JARVIS_TICK_SECONDS": "0.2",
            # A stopped process may have taken messages that it never reads.
            "JARVIS_RESEND_SECONDS": "2",
        }


@pytest.fixture
def engine(settings: dict[str, str]) -> Iterator[Engine]:
    """The database, whatever its schema."""
    made = create_engine(make_url(settings["JARVIS_STORE_URL"]).set(drivername="postgresql+psycopg"))
    yield made
    made.dispose()


def test_mixed_versions_report_what_one_version_does(
    jarvis: Jarvis,
    earlier: Path,
    settings: dict[str, str],
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_tree(tmp_path / "tree", FILES)
    scan = ("sec", "fast", "-p", str(tmp_path / "tree"), "-q")
    expected = findings(jarvis(*scan, "--json"))
    assert len(expected) >= FILES // 10

    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    known = {name: value for name, value in clean.items() if name not in SEED_STAGES}
    old_version = Earlier(tmp_path, {**known, "PYTHONPATH": str(earlier)})
    assert old_version("admin", "migrate").returncode == 0
    with worker(tmp_path / "old", old_version.environ) as old:
        run_id = old_version(*scan, "--detach").stdout.strip()
        until(lambda: jobs_done(engine) >= SHARE)
        send(old, signal.SIGSTOP)
        done = jobs_done(engine)
        upgrade_schema(jarvis, old_version)
        with worker(tmp_path / "new", clean) as new:
            until(lambda: jobs_done(engine) >= done + SHARE)
            send(old, signal.SIGCONT)
            assert jarvis("runs", "wait", run_id, "-q").code == 0
            assert findings(jarvis("runs", "report", run_id, "--json")) == expected
            assert findings(jarvis(*scan, "--json")) == expected
            for one in (old, new):
                one.process.send_signal(signal.SIGTERM)
                assert one.process.wait(PATIENCE_SECONDS * crowd()) == 0, one.said.read_text()


def upgrade_schema(jarvis: Jarvis, old_version: Earlier) -> None:
    """Migrate as docs/operate.md says; assert that what starts with the earlier version is refused from then on."""
    assert "would apply" in jarvis("admin", "status").out
    assert jarvis("admin", "migrate").code == 0
    assert "nothing to do" in jarvis("admin", "status").out
    refused = old_version("worker", "start")
    assert (refused.returncode, "newer schema" in refused.stderr) == (2, True)
