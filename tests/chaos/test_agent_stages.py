"""Reading, verification, proofs and discussions end as on one machine on a fleet with killed workers or a budget."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from jarvis_workers.store.stages import progress
from tests.agents.loop.server import Body, ModelServer, Step, calls, late, says
from tests.chaos.commands import PATIENCE_SECONDS, command, crowd
from tests.chaos.fleet import Fleet, fleet_of, kill_worker_at
from tests.support.judging import LINE, answer, judge, place_of
from tests.support.proving import answers_since, gives_up, to_show, tries
from tests.support.reading_files import is_reading, read
from tests.support.servers import Postgres, redis_server
from tests.support.settings_files import write_settings

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES = 4
SECONDS = 0.4
ANSWER = "No check stands before p0.c#main:7."
INCOMPLETE = 3
# Where a budget ends: the worst case of the answers that are under way is reserved.
BUDGETS = ("40ktok", "82ktok", "97ktok")
STAGES = ("read", "verify", "verify_seen", "prove")
CODE = """\
#include <stdio.h>
#include <string.h>
char *room_{n}(int at)
{{
    static char room[64];
    return room + at;
}}
int parse_{n}(const unsigned char *bytes, unsigned n)
{{
    memcpy(room_{n}(bytes[0] & 1), bytes, n);
    return bytes[0];
}}
int main(void)
{{
    static char line[512];
    char name[16];
    if (!fgets(line, sizeof line, stdin))
        return 1;
    strcpy(name, line);
    return parse_{n}((unsigned char *)name, sizeof name);
}}
"""
AT = re.compile(r"^.at ([^\s#]+)", re.MULTILINE)


def model(body: Body) -> Step:
    """Find, confirm and prove: the first of two models is not sure, and each sees another defect."""
    if any(text in str(body["messages"]) for text in ("The question:", "disputes the finding")):
        return late(SECONDS, _discuss(body))
    if is_reading(body):  # the only conversation of its stage
        return late(FILES * SECONDS, read(body))
    return late(SECONDS, _prove(body) if to_show(body) else _judge(body))


def _discuss(body: Body) -> Step:
    """Read code, and then answer or dismiss."""
    if not any(message["role"] == "assistant" for message in body["messages"]):
        return calls("read_code", path="p0.c#main")
    return says(ANSWER) if "The question:" in str(body["messages"]) else judge(body, "dismissed")


def _judge(body: Body) -> Step:
    confirmed = judge(body, "confirmed")

    def items(number: int, text: str) -> list[dict[str, Any]]:
        (rule, file, line, _), (item, *_) = place_of(text), _items(confirmed)
        if rule == "unsafe_api" and body["model"] == "small":
            return [{**item, "gid": number, "has_risk": None, "verdict": "unclear", "preconditions": "no caller seen"}]
        quote = f"return parse_{file[1]}((unsigned char *)name, sizeof name);"
        other = {"file": file, "line": line + 1, "quote": quote, "description": "name may have no NUL"}
        return [{**item, "gid": number, "other_findings": [other] if rule == "unsafe_api" else []}]

    return answer(body, items)


def _items(step: Step) -> list[dict[str, Any]]:
    text = step.calls[0][1] if step.calls else step.content
    return list(json.loads(text or "")["report"])


def _prove(body: Body) -> Step:
    """Pass a short line and then a long one, or give up."""
    shown, turn = to_show(body), answers_since(body)
    texts = {number: text for number, text in shown.items() if not turn or "strcpy" in LINE.findall(text)[0]}
    if not texts:
        return gives_up(body, "Nothing passes a longer text.")
    file = {"name": "stdin", "text": "a" * (100 if turn else 3) + "\n"}
    attempt = {"way": "program", "files": [file]}
    return tries(body, {number: attempt | {"target": AT.findall(text)[0]} for number, text in texts.items()})


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(forever=model) as server:
        yield server


@pytest.fixture
def fleet(
    tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store], server: ModelServer
) -> Iterator[Fleet]:
    for place in (tmp_path, tmp_path / "worker1", tmp_path / "worker2", tmp_path / "local"):
        set_models(place, server)
    (tmp_path / "tree").mkdir()
    for number in range(FILES):
        (tmp_path / "tree" / f"p{number}.c").write_text(CODE.format(n=number))
    store = open_stores(own_postgres.url("template"))
    queues = "scan,agent,control"
    with (
        redis_server() as bell,
        fleet_of(tmp_path, bell, own_postgres, store, queues=queues, HOME=str(tmp_path)) as fleet,
    ):
        yield fleet


def set_models(directory: Path, server: ModelServer) -> None:
    """Configure a small and a strong model, which answer in two conversations at a time."""
    directory.mkdir(parents=True, exist_ok=True)
    about = {"base_url": server.url, "profile": "openai", "api_key": "k", "concurrent": 2}
    groups = {name: {"model": name, **about} for name in ("small", "strong")}
    data = directory / "data", directory / "desk" / "data"
    write_settings(directory, {"models": groups, "model_group": "small"}, *data)


def options(fleet: Fleet) -> tuple[str, ...]:
    more = ("--rules", "unsafe_api", "--lang", "en", "-q", "--escalate", "strong", "--read", "all", "--prove")
    return ("sec", "agent", "-p", str(fleet.home / "tree"), *more)


@pytest.mark.timeout(900)
def test_a_report_is_the_same_if_a_worker_is_killed_in_each_stage(fleet: Fleet, server: ModelServer) -> None:
    with command(fleet.home / "local", *options(fleet)) as alone:
        assert alone.process.wait(4 * PATIENCE_SECONDS * crowd()) == 0, alone.ends()
    asked = take_requests(server)

    fleet.waiting = fleet.command(*options(fleet), "-o", "desk/report.json")
    in_flight = sum(kill_worker_at(fleet, stage) for stage in STAGES)
    fleet.wait(0, 4 * PATIENCE_SECONDS)
    again = take_requests(server)

    theirs = json.loads((fleet.home / "desk" / "report.json").read_text())
    del theirs["run"]
    assert json.dumps(theirs) == json.dumps(alone.body())
    assert theirs["summary"]["by_status"] == {"proved": FILES, "confirmed": 2 * FILES}
    assert theirs["summary"]["reading"]["read"] == FILES
    assert len([one for one in theirs["issues"] if one["pattern"] == "discovered"]) == FILES
    assert len(again) == len(asked)
    assert again.total() - len(again) <= in_flight


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("words", [("ask", "who checks the length?"), ("dispute", "the length is known")])
def test_a_discussion_is_the_same_if_its_worker_is_killed(
    fleet: Fleet, server: ModelServer, words: tuple[str, str]
) -> None:
    with command(fleet.home / "local", *options(fleet)[:11]) as scan:
        assert scan.process.wait(4 * PATIENCE_SECONDS * crowd()) == 0, scan.ends()
    (finding,) = (one["id"] for one in scan.body()["issues"] if (one["file"], one["line"]) == ("p0.c", 19))
    discuss = ("sec", words[0], finding, words[1], "-q", "--format", "text")
    take_requests(server)
    with command(fleet.home / "local", *discuss) as alone:
        assert alone.process.wait(PATIENCE_SECONDS * crowd()) == 0, alone.ends()
    asked = take_requests(server)
    fleet.waiting = fleet.command(*options(fleet)[:11])
    fleet.wait(0, 4 * PATIENCE_SECONDS)
    take_requests(server)

    fleet.waiting = fleet.command(*discuss, "-o", "desk/answer.txt")
    in_flight = kill_worker_at(fleet, "discuss")
    fleet.wait(0)
    again = take_requests(server)

    assert (fleet.home / "desk" / "answer.txt").read_bytes() == alone.report.read_bytes()
    assert len(asked) == len(again) == asked.total()
    assert again.total() - len(again) <= in_flight == 1


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_spent_budget_pauses_each_stage_and_the_resumed_run_pays_nothing_twice(
    fleet: Fleet, server: ModelServer
) -> None:
    with command(fleet.home / "local", *options(fleet)) as alone:
        assert alone.process.wait(4 * PATIENCE_SECONDS * crowd()) == 0, alone.ends()
    asked = take_requests(server)

    fleet.waiting = fleet.command(*options(fleet), "--budget", BUDGETS[0])
    stages = list[str]()
    for budget in (*BUDGETS[1:], "1mtok"):
        fleet.wait(INCOMPLETE, 4 * PATIENCE_SECONDS)
        stages.append(paused_stage(fleet))
        fleet.waiting = fleet.command("runs", "resume", "last", "--budget", budget, "-q", "-o", "desk/report.json")
    fleet.wait(0, 4 * PATIENCE_SECONDS)
    again = take_requests(server)

    theirs = json.loads((fleet.home / "desk" / "report.json").read_text())
    del theirs["run"]
    assert json.dumps(theirs) == json.dumps(alone.body())
    # The files are read in one answer: no budget ends between two.
    assert stages == ["verify", "verify_seen", "prove"]
    assert again.total() == len(again) == len(asked)


def paused_stage(fleet: Fleet) -> str:
    """Return the stage in which the newest run is paused."""
    with fleet.store.read() as session:
        run = newest(session, 1)[0]
        assert (run.state, run.reason) == ("paused", "budget")
        return next(one.name for one in progress(session, run.id) if one.state == "open")


def take_requests(server: ModelServer) -> Counter[str]:
    """Return what was asked since, and forget it."""
    with server.lock:
        asked = Counter(json.dumps(request, sort_keys=True) for request in server.requests)
        server.requests.clear()
    return asked
