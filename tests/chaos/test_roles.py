"""A whole run whose worker and command may read and write rows, and nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from jarvis_workers.store.engine import Store
from jarvis_workers.store.roles import role_statements
from tests.bench.trees import make_tree
from tests.chaos.fleet import fleet_of
from tests.cli.commands import Jarvis
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES = 20


@pytest.mark.long
def test_a_run_needs_no_more_than_rows(
    tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store], capfd: pytest.CaptureFixture[str]
) -> None:
    statements = Jarvis(tmp_path, capfd)("admin", "roles", "--owner", "migrates", "--worker", "works").out
    assert statements == role_statements("migrates", "works")
    own_postgres.sql(statements, "template")
    store = open_stores(own_postgres.url("template", "works"))
    make_tree(tmp_path / "tree", FILES)
    with redis_server() as bell, fleet_of(tmp_path, bell, own_postgres, store) as fleet:
        fleet.waiting = fleet.command("sec", "fast", "-p", str(tmp_path / "tree"), "-q", "-o", "desk/report.json")
        fleet.wait(0)
        for arguments in (("runs", "wait", "last", "-q"), ("runs", "prune", "last"), ("admin", "migrate")):
            assert fleet.command(*arguments).wait(60) == 0, fleet.said()
        with store.read() as session:
            users = session.execute(text("SELECT DISTINCT usename FROM pg_stat_activity WHERE datname = 'template'"))
            assert set(users.scalars()) == {"works"}
        assert fleet.stop() == [0, 0], fleet.said()
