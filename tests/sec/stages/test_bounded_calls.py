"""Whatever goes wrong, a job asks its model rounds + questions for a report + 3 times at most, tries included."""

import json
import random
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import RUN
from tests.agents.loop.server import Body, ModelServer, Step, calls, cuts, fails, garbles, resets, says, truncates
from tests.sec.stages.pipeline import Pipeline
from tests.support.judging import judge as confirm
from tests.support.proving import to_show
from tests.support.reading_files import is_reading

LIMITS = AgentLimits(rounds=4)
MOST = LIMITS.rounds + LIMITS.reasks + LIMITS.retries
ONE = "#include <string.h>\nvoid one(char *a, char *b)\n{\n    strcpy(a, b);\n}\n"
CALL = "strcpy(a, b);"
RISK = {"has_risk": True, "trigger_path": "a.c:4", "consequences": "a write", "suggestions": "check"}
OTHERS = [{"file": "a.c", "line": line, "quote": CALL, "description": "another one"} for line in range(9)]
PROGRAM = ONE + "int main(int n, char **words)\n{\n    one(words[0], words[n]);\n    return 0;\n}\n"
BOTH = "    strcpy(a, b);\n    n += atoi(b);\n"
MANY = f"#include <stdlib.h>\n{ONE}int many(char *a, const char *b)\n{{\n    int n = 0;\n{5 * BOTH}    return n;\n}}\n"
CLUSTERS = "Put findings in one cluster"
SOON = {"retry_after": "0.001"}
_paths = count()


def item(gid: int, **about: Any) -> dict[str, Any]:
    evidence = [{"file": "a.c", "line": 4, "quote": "strcpy(a, b);"}]
    return {"gid": gid, "has_risk": False, "preconditions": "none: a has room", "evidence": evidence, **about}


def reports(*items: dict[str, Any]) -> Callable[[], Step]:
    return lambda: calls("submit_report", report=list(items))


def looks_on() -> Step:
    return calls("read_code", path=f"{next(_paths)}.c")


def runs(**attempt: Any) -> Step:
    return calls("run_proof", files=[{"name": "stdin", "text": f"{next(_paths)}"}], **attempt)


ALWAYS: dict[str, Callable[[], Step]] = {
    "unclear": reports(item(1, has_risk=None, verdict="unclear")),
    "other findings": reports(item(1, **RISK, other_findings=OTHERS)),
    "401": lambda: fails(401),
    "500": lambda: fails(500, **SOON),
    "cut off": truncates,
    "two calls": lambda: Step(content=None, calls=(("read_code", "{}"), ("read_code", "{}"))),
    "bad arguments": lambda: Step(content=None, calls=(("read_code", '{"path": '),)),
    "no such tool": lambda: calls("write_code", path="a.c"),
    "nothing": lambda: says(""),
    "prose": lambda: says("I am quite sure."),
    "looks on and on": looks_on,
    "no verdict": reports(),
    "another's verdict": reports(item(99)),
    "two verdicts": reports(item(1), item(1, has_risk=True)),
    "empty fields": reports(item(1, has_risk=True)),
    "no reason": reports(item(1, preconditions="")),
    "invented quote": reports(item(1, evidence=[{"file": "a.c", "line": 1, "quote": "never"}])),
    "dismissed": reports(item(1)),
}
# What a model does that confirms each candidate, but shall prove it, or read files.
PROVING: dict[str, Callable[[], Step]] = {
    **{name: ALWAYS[name] for name in ("401", "500", "cut off", "no such tool", "nothing", "prose", "looks on and on")},
    "another proof": lambda: runs(way="program", target="a.c"),
    "another harness": lambda: runs(way="harness", code=f"int main(void)\n{{\n    return one{next(_paths)}();\n}}\n"),
    "no way": lambda: runs(way="magic"),
}
READING = {name: ALWAYS[name] for name in PROVING if name in ALWAYS}
SLOW: dict[str, Callable[[], Step]] = {
    "429": lambda: fails(429, **SOON),
    "reset": resets,
    "cut": cuts,
    "half a JSON": garbles,
}


class Asked:
    """A model that does as it is told, and counts what it is asked; it `confirms` candidates, if that is not tested."""

    def __init__(self, answer: Callable[[], Step], *, confirms: bool = False) -> None:
        self.answer, self.confirms = answer, confirms
        self.clustering = self.verifying = self.proving = self.reading = 0

    def __call__(self, request: Body) -> Step:
        if to_show(request):
            self.proving += 1
        elif is_reading(request):
            self.reading += 1
        elif self.confirms:
            return confirm(request, "confirmed")
        elif CLUSTERS in str(request["messages"]):
            self.clustering += 1
        else:
            self.verifying += 1
        return self.answer()


@pytest.fixture
def judge(tmp_path: Path, sqlite_url: str, open_stores: Callable[..., Store]) -> Iterator[Callable[..., Asked]]:
    """Judge a file with a model that answers so; five votes, and a second look."""
    opened: list[AgentRuntime] = []

    def do(code: str, answer: Callable[[], Step], **more: Any) -> Asked:
        (tmp_path / "src").mkdir()
        (tmp_path / "src" / "a.c").write_text(code)
        asked = Asked(answer, confirms=bool(more))
        with ModelServer(forever=asked) as server:
            group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
            opened.append(
                AgentRuntime(open_stores(sqlite_url, durable=True), setup_of({"m": group}, tmp_path / "cache"))
            )
            pipeline = Pipeline(open_stores(sqlite_url), open_blobs(str(tmp_path / "b"), tmp_path / "c"), opened[0])
            with pipeline.loop:
                options = {"model_group": "m", "agent_limits": LIMITS, **more}
                run = pipeline.start(tmp_path / "src", kind="sec.agent", **options)
                options = {**pipeline.run(run).options, "votes": 5, "second_look": True, "escalate": "m"}
                with pipeline.store.write() as session:
                    session.execute(RUN.update().values(options=json.dumps(options)))
                pipeline.go_on(run)
        return asked

    yield do
    for shared in opened:
        shared.close()


@pytest.mark.slow
@pytest.mark.sample(1, 9)
@pytest.mark.timing
@pytest.mark.parametrize("fault", ALWAYS)
def test_a_verification_is_bounded_whatever_the_model_does(judge: Callable[..., Asked], fault: str) -> None:
    asked = judge(ONE, ALWAYS[fault])

    assert asked.clustering == 0
    assert 1 <= asked.verifying <= MOST


@pytest.mark.sample(0, 1)
@pytest.mark.timing
@pytest.mark.parametrize("seed", range(4))
def test_a_verification_is_bounded_in_any_mixture_of_faults(judge: Callable[..., Asked], seed: int) -> None:
    chance = random.Random(seed)
    asked = judge(ONE, lambda: chance.choice(list(ALWAYS.values()))())

    assert 1 <= asked.verifying <= MOST


@pytest.mark.sample(0, 3)
@pytest.mark.timing
@pytest.mark.parametrize("fault", ["500", "cut off", "prose", "no verdict", "looks on and on", "401"])
def test_clustering_is_bounded_whatever_the_model_does(judge: Callable[..., Asked], fault: str) -> None:
    asked = judge(MANY, ALWAYS[fault])

    assert 1 <= asked.clustering <= MOST
    assert asked.verifying <= (1 + 10) * MOST


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("fault", PROVING)
def test_a_proof_is_bounded_whatever_the_model_does(judge: Callable[..., Asked], fault: str) -> None:
    asked = judge(PROGRAM, PROVING[fault], prove="low", proof_attempts=2)

    assert 1 <= asked.proving <= MOST


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("fault", READING)
def test_a_reader_is_bounded_whatever_the_model_does(judge: Callable[..., Asked], fault: str) -> None:
    asked = judge(PROGRAM, READING[fault], read="all")

    assert 1 <= asked.reading <= MOST


@pytest.mark.timing
@pytest.mark.long
@pytest.mark.parametrize("fault", SLOW)
def test_faults_of_the_line_are_bounded_too(judge: Callable[..., Asked], fault: str) -> None:
    assert 1 <= judge(ONE, SLOW[fault]).verifying <= MOST
