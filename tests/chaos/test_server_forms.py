"""Servers as people run them: Redis behind sentinels, on a Unix socket, with an ACL user; PostgreSQL behind pgbouncer.

Each form carries a run to the same bytes as a local one. SERVER_RUNS is how often.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import redis

from jarvis_workers.errors import BrokerUnavailable
from jarvis_workers.executors.dispatch.broker import Notification, Notifier
from jarvis_workers.executors.dispatch.routing import queue_key
from jarvis_workers.store.engine import Store
from tests.bench.trees import make_tree
from tests.chaos.commands import scan_of, until
from tests.chaos.fleet import fleet_of
from tests.chaos.test_missing_servers import body, calm_body, newest_run, there_is_a_run
from tests.runs.redis_user import acl_line
from tests.store.arrange import job_rows
from tests.support.servers import Postgres, pgbouncer, redis_server, sentinels

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES, SOON = 60, 10
USER, PASSWORD, ENCODED = "jarvis", "p@ss/w#rd", "p%40ss%2Fw%23rd"
MESSAGE = Notification("sec.scan", "scan", 1, "run", "label", 1.0)
RUNS = int(os.environ.get("SERVER_RUNS", "1"))


class Form(NamedTuple):
    """The settings of the servers, and what happens to them in the middle of a run."""

    settings: dict[str, str]
    strike: Callable[[], None] = lambda: None


@contextmanager
def on_a_socket(database: Postgres, store: Store) -> Iterator[Form]:
    with redis_server() as server:
        yield Form({"JARVIS_BROKER_URL": f"redis+socket://{server.socket}?virtual_host=3"})


@contextmanager
def with_an_acl_user(database: Postgres, store: Store) -> Iterator[Form]:
    """Redis without its default user, and a user with no more than the documented permissions."""
    with redis_server() as server, redis.Redis(port=server.port) as client:
        client.execute_command(*acl_line(USER, PASSWORD))
        client.execute_command("ACL", "SETUSER", "default", "off")
        yield Form({"JARVIS_BROKER_URL": f"redis://{USER}:{ENCODED}@127.0.0.1:{server.port}/0"})


@contextmanager
def behind_sentinels(database: Postgres, store: Store) -> Iterator[Form]:
    """The master is killed in the middle of the run; the sentinels make the replica the master."""
    with sentinels() as group:

        def fail_over() -> None:
            group.servers[0].kill()
            until(lambda: group.master_port() == group.servers[1].port)

        yield Form({"JARVIS_BROKER_URL": group.url}, fail_over)


@contextmanager
def behind_pgbouncer(database: Postgres, store: Store) -> Iterator[Form]:
    with redis_server() as server, pgbouncer(database) as port:
        address = f"postgresql://jarvis:secret@127.0.0.1:{port}/template"
        yield Form({"JARVIS_BROKER_URL": server.url, "JARVIS_STORE_URL": address})


FORMS = (on_a_socket, with_an_acl_user, behind_sentinels, behind_pgbouncer)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("attempt", range(RUNS))
@pytest.mark.parametrize("form", FORMS)
def test_a_run_has_the_same_report(
    form: Callable[..., "contextmanager[Form]"],  # type: ignore[valid-type]
    attempt: int,
    tmp_path: Path,
    own_postgres: Postgres,
    open_stores: Callable[..., Store],
) -> None:
    tree = tmp_path / "tree"
    make_tree(tree, FILES)
    store = open_stores(own_postgres.url("template"))
    with (
        redis_server() as unused,
        form(own_postgres, store) as servers,
        fleet_of(
            tmp_path, unused, own_postgres, store, workers=1, JARVIS_SCAN__BATCH_FILES="1", **servers.settings
        ) as fleet,
    ):
        fleet.waiting = fleet.command("sec", "fast", "-p", str(tree), "-q", "-o", "desk/report.json")
        until(lambda: there_is_a_run(store) and scan_of(store).done >= SOON)
        servers.strike()
        assert scan_of(store).state == "open", "the run was over before the servers changed"
        fleet.wait(0)

        assert body(fleet.home / "desk" / "report.json") == calm_body(tmp_path, tree)
        assert {row.crashes + row.attempts for row in job_rows(store, newest_run(store))} == {0}
        assert PASSWORD not in fleet.said()


@pytest.mark.timeout(300)
def test_a_refusal_in_the_middle_is_borne_and_says_what_to_grant(
    tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store]
) -> None:
    make_tree(tmp_path / "tree", FILES)
    store = open_stores(own_postgres.url("template"))
    with redis_server() as server, redis.Redis(port=server.port) as client:
        client.execute_command(*acl_line(USER, PASSWORD))
        address = f"redis://{USER}:{ENCODED}@127.0.0.1:{server.port}/0"
        settings = {"JARVIS_BROKER_URL": address, "JARVIS_SCAN__BATCH_FILES": "1"}
        with fleet_of(tmp_path, server, own_postgres, store, workers=1, **settings) as fleet:
            fleet.waiting = fleet.command("sec", "fast", "-p", "tree", "-q", "-o", "desk/report.json")
            until(lambda: there_is_a_run(store) and scan_of(store).done >= SOON)
            client.execute_command("ACL", "SETUSER", USER, "-llen", "-lindex")
            until(lambda: "grant this user the commands" in fleet.workers[0].said.read_text())
            client.execute_command("ACL", "SETUSER", USER, "+llen", "+lindex")
            fleet.wait(0)

            assert "running?" not in fleet.said()
            assert fleet.workers[0].process.poll() is None


def test_both_clients_follow_a_failover_of_sentinels() -> None:
    with sentinels() as group:
        notifier = Notifier(group.url)
        notifier.check()
        notifier.notify([MESSAGE])
        group.servers[0].kill()
        until(lambda: group.master_port() == group.servers[1].port)

        until(lambda: is_notified(notifier))
        with redis.Redis(port=group.servers[1].port) as client:
            assert client.llen(queue_key("scan")) == notifier.depth("scan") > 0
        notifier.close()


def is_notified(notifier: Notifier) -> bool:
    try:
        notifier.notify([MESSAGE])
    except BrokerUnavailable:
        return False
    return True
