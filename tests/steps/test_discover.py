"""The stages `rank` and `discover`, over a real store, snapshots and a model server."""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.agent.limits import AgentLimits
from jarvis_workers.conversations.resources import setup_of
from jarvis_workers.conversations.runtime import AgentRuntime
from jarvis_workers.ratelimit.budget import RunBudget
from jarvis_workers.sec.discovery.defects import ITEMS_MAX
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store import budgets
from jarvis_workers.store.engine import Store
from tests.agents.server import Body, ModelServer, Step, fails, says
from tests.discovering import function_of, search
from tests.steps.pipeline import Pipeline

# A copy of a given length that the rules do not report, since the size of the buffer is unknown.
PARSER = """\
struct s{n};
void *room_{n}(struct s{n} *s);
int parse_{n}(struct s{n} *s, const unsigned char *bytes, unsigned n)
{{
    memcpy(room_{n}(s), bytes, n);
    return bytes[0];
}}
"""
PLAIN = "int add(int a, int b)\n{\n    return a + b;\n}\n"
# The declarations of each are in no function.
PARSERS, OUTSIDE = 6, 2


@dataclass
class Searcher:
    """Runs with discovery over a tree of parsers; each has a store of its own, unless it shares one."""

    directory: Path
    open_pipeline: Callable[[str], Pipeline]
    asked: list[str] = field(default_factory=list)

    def tree(self) -> Path:
        tree = self.directory / "src"
        if not tree.exists():
            tree.mkdir()
            for number in range(PARSERS):
                (tree / f"p{number}.c").write_text(PARSER.format(n=number))
            (tree / "plain.c").write_text(PLAIN)
        return tree

    def begin(self, pipeline: Pipeline, **options: Any) -> str:
        """Submit a run that is not started."""
        limits = AgentLimits(rounds=4)
        return pipeline.start(
            self.tree(), kind="sec.agent", model_group="m", agent_limits=limits, files=2, **{"discover": 4, **options}
        )

    def answer(self, body: Body) -> Step:
        if name := function_of(body):
            self.asked.append(name)
        return search(body)

    def run(self, store: str = "one", seed: int = 0, **options: Any) -> tuple[Pipeline, str]:
        """Execute a run whose jobs come in an order of the seed."""
        pipeline = self.open_pipeline(store)
        run = self.begin(pipeline, **options)
        pipeline.go_on(run, seed=seed)
        return pipeline, run


@pytest.fixture
def searcher(tmp_path: Path, open_stores: Callable[..., Store]) -> Iterator[Searcher]:
    runtimes: list[AgentRuntime] = []

    def open_pipeline(name: str) -> Pipeline:
        url = f"sqlite:///{tmp_path / name}.db"
        group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
        group |= {"prices": {"input": 1.0, "output": 2.0}}
        runtimes.append(AgentRuntime(open_stores(url, durable=True), setup_of({"m": group}, tmp_path / "cache")))
        return Pipeline(open_stores(url), open_blobs(str(tmp_path / "b"), tmp_path / "c"), runtimes[-1])

    found = Searcher(tmp_path, open_pipeline)
    with ModelServer(forever=lambda body: found.answer(body)) as server:
        yield found
    for runtime in runtimes:
        runtime.close()


def discovered(body: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(one["file"], one["line"], one["status"]) for one in body["issues"] if one["pattern"] == "discovered"]


def without_amounts(body: dict[str, Any]) -> dict[str, Any]:
    """Return a report without the numbers in the reasons of its gaps."""
    gaps = [(gap["file"], re.sub(r"[\d,.]+", "N", gap["reason"])) for gap in body["summary"]["not_checked"]]
    return {**body, "summary": {**body["summary"], "not_checked": gaps}}


def spent_of(pipeline: Pipeline, run: str, unit: Any = "tok") -> int:
    with pipeline.store.read() as session:
        return budgets.spent_on_stage(session, run, "discover", unit).spent


@pytest.mark.slow
def test_what_is_found_becomes_a_candidate_with_a_gid_that_is_verified(searcher: Searcher) -> None:
    pipeline, run = searcher.run()

    body = pipeline.body(run)
    found = discovered(body)
    assert len(found) == 4 and {status for _, _, status in found} == {"confirmed"}
    assert sorted(issue["gid"] for issue in body["issues"]) == list(range(1, len(body["issues"]) + 1))
    (one,) = (issue for issue in body["issues"] if issue["file"] == found[0][0] and issue["pattern"] == "discovered")
    assert (one["line"], one["cwe"], one["category"], one["severity"]) == (5, 787, "buffer_overflow", "medium")
    assert one["description"].endswith("may write too much") and one["evidence"].startswith("memcpy(")
    counts = {"functions": PARSERS + 1, "chosen": 4, "searched": 4, "lines_outside": PARSERS * OUTSIDE}
    assert body["summary"]["discovery"] == counts
    assert pipeline.run(run).state == "done"


@pytest.mark.slow
def test_defects_above_the_limit_are_named_as_not_checked(searcher: Searcher) -> None:
    copies = "".join(f"    memcpy(room_x(s), bytes + {number}, n);\n" for number in range(ITEMS_MAX + 1))
    code = PARSER.format(n="x").replace("    memcpy(room_x(s), bytes, n);\n", copies)
    (searcher.tree() / "many.c").write_text(code)

    pipeline, run = searcher.run(discover=PARSERS + 1)

    body = pipeline.body(run)
    assert len([one for one in discovered(body) if one[0] == "many.c"]) == ITEMS_MAX
    says = "function parse_x: not asked about (--discover), since a search takes at most 50 defects: "
    says += f"memcpy(room_x(s), bytes + {ITEMS_MAX}, n); may write too much"
    assert [(gap["file"], gap["reason"]) for gap in body["summary"]["not_checked"]] == [("many.c", says)]
    assert body["summary"]["discovery"]["searched"] == PARSERS + 1
    assert pipeline.run(run).state == "incomplete"


@pytest.mark.slow
def test_results_do_not_depend_on_the_order_of_the_jobs(searcher: Searcher) -> None:
    bodies = [pipeline.body(run) for seed in (1, 2) for pipeline, run in [searcher.run(f"s{seed}", seed)]]
    capped = [
        pipeline.body(run)
        for seed in (3, 4)
        for pipeline, run in [searcher.run(f"s{seed}", seed, discover_budget=RunBudget("tok", 12_000))]
    ]

    assert bodies[0] == bodies[1]
    # A store has marks of its own, which take a few tokens more or less.
    assert without_amounts(capped[0]) == without_amounts(capped[1])
    assert 0 < capped[0]["summary"]["discovery"]["searched"] < 4


@pytest.mark.slow
def test_a_second_run_asks_nothing(searcher: Searcher) -> None:
    pipeline, run = searcher.run()
    asked = len(searcher.asked)

    again = searcher.begin(pipeline)
    pipeline.go_on(again)

    assert len(searcher.asked) == asked
    assert pipeline.body(again) == pipeline.body(run)


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "cap"), [("tok", 12_000), ("tok", 14_000), ("tok", 60_000), ("usd", 25_000_000)])
def test_the_budget_is_never_passed_and_what_is_not_searched_is_said(searcher: Searcher, unit: Any, cap: int) -> None:
    pipeline, run = searcher.run(discover=PARSERS, discover_budget=RunBudget(unit, cap))

    body = pipeline.body(run)
    searched = body["summary"]["discovery"]["searched"]
    gaps = [gap["reason"] for gap in body["summary"]["not_checked"]]
    assert 0 < spent_of(pipeline, run, unit) <= cap
    assert len(discovered(body)) == searched == len(searcher.asked)
    assert len(gaps) == PARSERS - searched
    assert all("was not searched for defects (--discover)" in gap and "of the stage's budget" in gap for gap in gaps)
    assert pipeline.run(run).state == ("incomplete" if gaps else "done")


@pytest.mark.slow
def test_a_budget_too_small_for_one_answer_asks_nothing_and_says_so(searcher: Searcher) -> None:
    pipeline, run = searcher.run(discover=2, discover_budget=RunBudget("tok", 500))

    gaps = pipeline.body(run)["summary"]["not_checked"]
    assert searcher.asked == []
    assert "the next answer may cost" in gaps[0]["reason"] and "0 of 500 tokens" in gaps[0]["reason"]


@pytest.mark.slow
def test_a_job_that_is_lost_is_searched_once_and_its_cost_counts(searcher: Searcher) -> None:
    pipeline = searcher.open_pipeline("one")
    run = searcher.begin(pipeline, discover_budget=RunBudget("tok", 60_000))
    pipeline.go_on(run, until="discover")
    while not (waiting := [row for row in pipeline.rows(run) if row.stage == "discover" and not is_plan(row)]):
        pipeline.go_on(run, until="discover")
    pipeline.lose(waiting[0].id)
    before = spent_of(pipeline, run)
    pipeline.go_on(run)

    assert before > 0
    assert len(searcher.asked) == len(set(searcher.asked)) == 4
    assert len(discovered(pipeline.body(run))) == 4


def is_plan(row: Any) -> bool:
    return str(row.step) == "plan"


@pytest.mark.slow
@pytest.mark.parametrize("fault", [says("I am sorry."), fails(401)], ids=["prose", "refused"])
def test_a_function_whose_question_failed_was_not_searched(searcher: Searcher, fault: Step) -> None:
    failing = random.Random(1).choice(range(PARSERS))
    searcher.answer = lambda body: fault if function_of(body) == f"parse_{failing}" else search(body)  # type: ignore[method-assign]
    pipeline, run = searcher.run(discover=PARSERS)

    summary = pipeline.body(run)["summary"]
    counts = {"functions": PARSERS + 1, "chosen": PARSERS, "searched": PARSERS - 1, "lines_outside": PARSERS * OUTSIDE}
    assert summary["discovery"] == counts
    (gap,) = summary["not_checked"]
    assert gap["file"] == f"p{failing}.c"
    assert gap["reason"].startswith(f"function parse_{failing} was not searched for defects (--discover): ")
    assert pipeline.run(run).state == "incomplete"


@pytest.mark.slow
def test_a_tree_without_functions_that_handle_data_is_not_asked_about(searcher: Searcher) -> None:
    for path in searcher.tree().glob("p[0-9].c"):
        path.unlink()

    pipeline, run = searcher.run()

    assert searcher.asked == []
    assert pipeline.run(run).state == "done"


@pytest.mark.slow
def test_without_discover_nothing_is_ranked(searcher: Searcher) -> None:
    pipeline, run = searcher.run(discover=0)

    assert searcher.asked == []
    assert pipeline.stage(run, "rank").jobs == 0
    assert "discovery" not in pipeline.body(run)["summary"]
