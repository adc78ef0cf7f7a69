"""A team goes on after its command or its worker was killed, with the same answer, and pays for no answer twice."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from jarvis_workers.runs.conversations import read_answer
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from tests.agents.loop.server import Body, ModelServer, Step, calls, late, says
from tests.assistant.teams import last, message, system
from tests.chaos.commands import command, until
from tests.chaos.conversations import ANSWER, TASK, asked_again, has_heard, make_sources, set_model
from tests.chaos.fleet import CONVERSING, fleet_of
from tests.store.arrange import job_rows
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

LATENCY = 0.3
QUICK = {"JARVIS_LEASE_SECONDS": "1.5", "JARVIS_TICK_SECONDS": "0.1"}
TEAM = {
    "main_agent_name": "lead",
    "agents": [{"name": name, "system_prompt": f"I am {name}."} for name in ("lead", "reader", "writer")],
}
# lead, summary, reader, reader, summary, writer, summary, lead
REQUESTS = 8


def answer_of(request: Body) -> Step:
    """Pass the work around: lead, reader (who reads a file), writer, lead."""
    if "Summarize for it" in last(request):
        return says("I have done my part.")
    if "I am reader." in system(request):
        has_read = request["messages"][-1]["role"] == "tool"
        return says(message("writer", "a.c has it.")) if has_read else calls("read_code", path="a.c")
    if "I am writer." in system(request):
        return says(message("lead", ANSWER))
    return says(ANSWER) if "from: writer" in last(request) else says(message("reader", "Read a.c."))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(forever=lambda request: late(LATENCY, answer_of(request))) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path, server: ModelServer) -> Path:
    make_sources(tmp_path / "tree")
    (tmp_path / "team.yaml").write_text(json.dumps(TEAM))
    set_model(tmp_path, server)
    return tmp_path


@pytest.mark.parametrize("asked", [2, 4, 6])
def test_a_killed_command_is_resumed_with_the_same_answer(home: Path, server: ModelServer, asked: int) -> None:
    (home / "data").mkdir(exist_ok=True)
    settings = {"HOME": str(home), **QUICK}
    with command(home, "team", "-c", "team.yaml", "-T", TASK, "-p", "tree", **settings) as running:
        until(has_heard(server, asked))
        running.process.kill()
    with command(home, "runs", "resume", "last", **settings) as again:
        code, said = again.ends()
        assert code == 0, said
        answer = again.body()["answer"]

    assert (answer["text"], answer["answered_by"]) == (ANSWER, "lead")
    assert [hop["to"] for hop in answer["hops"]] == ["reader", "writer", "lead"]
    assert len(server.requests) - asked_again(server) == REQUESTS
    assert asked_again(server) <= 1


def test_a_team_of_a_fleet_goes_on_when_its_worker_is_killed(
    home: Path, own_postgres: Postgres, open_stores: Callable[..., Store], server: ModelServer
) -> None:
    for place in (home / "worker1", home / "worker2"):
        set_model(place, server)
    store = open_stores(own_postgres.url("template"))
    with (
        redis_server() as bell,
        fleet_of(home, bell, own_postgres, store, queues=CONVERSING, HOME=str(home)) as fleet,
    ):
        submitted = fleet.command("team", "-c", "team.yaml", "-T", TASK, "-p", "tree", "-q", "--detach")
        assert submitted.wait(60) == 0, fleet.said()
        until(has_heard(server, 4))
        with fleet.store.read() as session:
            run_id = newest(session, 1)[0].id
        process = until(lambda: job_rows(fleet.store, run_id, "team")[0].process)
        psutil.Process(int(process.rpartition("/")[2])).kill()

        def ended() -> bool:
            with fleet.store.read() as session:
                return newest(session, 1)[0].ended

        until(ended)
        with fleet.store.read() as session:
            run = newest(session, 1)[0]
        answer = read_answer(fleet.store, DirectoryBlobs(fleet.home / "blobs"), run)
        said = fleet.said()

    assert run.state == "done", said
    assert answer is not None
    assert (answer["text"], len(answer["hops"])) == (ANSWER, 3)
    assert len(server.requests) - asked_again(server) == REQUESTS
    assert asked_again(server) <= 1
