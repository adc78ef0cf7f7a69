"""`jarvis c2rust run` gives the same crate, files and reports on one machine and on fleets, whatever fails."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from jarvis_workers.store.engine import Store
from tests.agents.loop.planning import answer_about_plan
from tests.agents.loop.server import Body, ModelServer, Step, calls, late
from tests.agents.loop.translating import HEAD, answers, is_review, perfect, task_of
from tests.chaos.commands import PATIENCE_SECONDS, until
from tests.chaos.conversations import asked_again, has_heard, set_model
from tests.chaos.crates import arguments, converted, copied, results
from tests.chaos.fleet import Fleet, fleet_of, flush_redis, restart_postgres
from tests.chaos.test_translations import PROFILE, building
from tests.cli.test_c2rust_lib_replace import judge
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

QUEUES = "scan,control,agent,build,translate"
ROOTS = "words_read,words_sort,words_find,words_print,words_clear"
OPTIONS = ("--root-list-syms", ROOTS, "-m", "2", "--no-optimize")
FILES = ("symbols.jsonl", "library_replacements.jsonl", "signatures.jsonl", "crate_plan.yaml")
TIME = re.compile(rb'"updated_at": "[^"]+"')
REPLACED = {"words_checksum": ["std"]}
SECONDS = 0.3


def model(body: Body) -> Step:
    """Replace one function, place all in one module, and translate after one answer without a body."""
    if answer := answer_about_plan(body, "src/text.rs"):
        return answer
    if is_review(body):
        return calls("submit_report", issues=[])
    if not HEAD.search(task_of(body)):
        return late(SECONDS, judge(body, REPLACED))
    return late(SECONDS, perfect(body) if answers(body) else calls("submit_report", rust="I do not know."))


def stage_files(project: Path, names: Sequence[str] = FILES) -> dict[str, bytes]:
    """Return the files that the stages of a run have written into the project, without times."""
    place = project / ".jarvis" / "c2rust"
    return {name: TIME.sub(b"", (place / name).read_bytes()) for name in names}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(forever=model) as server:
        yield server


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> Mapping[str, object]:
    """The results of a local run, and the number of its requests."""
    home = tmp_path_factory.mktemp("calm")
    set_model(home, server, profile=PROFILE)
    project = copied(home)
    found = converted("run", project, home, *OPTIONS)
    return {**found, **stage_files(project), "requests": len(server.requests)}


@contextmanager
def fleet(home: Path, database: Postgres, store: Store, server: ModelServer, workers: int) -> Iterator[Fleet]:
    for place in (home, home / "worker1", home / "worker2"):
        set_model(place, server, profile=PROFILE)
    with redis_server() as bell, fleet_of(home, bell, database, store, queues=QUEUES, workers=workers) as fleet:
        yield fleet


def lose_worker_within_cargo(fleet: Fleet, dice: Random) -> None:
    """Kill a pool while it builds an answer."""
    until(lambda: building(fleet)).kill()


@pytest.mark.parametrize(
    ("workers", "faults"),
    [
        pytest.param(1, (), id="one worker", marks=pytest.mark.long),
        pytest.param(2, (lose_worker_within_cargo, flush_redis, restart_postgres), id="two workers and faults"),
    ],
)
@pytest.mark.timeout(900)
def test_a_fleet_moves_a_library_as_one_machine_does(
    workers: int,
    faults: tuple[Callable[[Fleet, Random], None], ...],
    calm: Mapping[str, object],
    own_postgres: Postgres,
    open_stores: Callable[..., Store],
    server: ModelServer,
    tmp_path: Path,
) -> None:
    assert b'"state": "replaced"' in calm["symbol_map.jsonl"]  # type: ignore[operator]
    project, home, crate = copied(tmp_path), tmp_path / "fleet", tmp_path / "crate"
    server.requests.clear()
    with fleet(home, own_postgres, open_stores(own_postgres.url("template")), server, workers) as work:
        work.waiting = work.command(*arguments("run", project, crate, *OPTIONS))
        for number, fault in enumerate(faults, 1):
            until(has_heard(server, calm["requests"] // 4 * number))  # type: ignore[operator]
            fault(work, Random(0))
        work.wait(0, 3 * PATIENCE_SECONDS)
        environ = {**work.environ, "JARVIS_DATA_DIR": str(home / "desk" / "data")}
        found = {**results(project, crate, environ), **stage_files(project)}
    assert {**found, "requests": len(server.requests) - asked_again(server)} == calm
    # A pool has at most as many conversations as the run has functions.
    assert asked_again(server) <= len(faults) * found["symbol_map.jsonl"].count(b"\n")  # type: ignore[attr-defined]
