"""What a run would take, said before any model is asked, and what it takes then."""

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.profiles import Prices
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.cost_model import ASSUMED, assumed_proof, reading_usage
from jarvis_workers.sec.runs.estimate import Estimate, estimate
from jarvis_workers.sec.runs.scan_input import Chosen
from jarvis_workers.sec.stages.candidates import all_of, reasons_by_cluster, reasons_for
from jarvis_workers.sec.stages.dry_run import SAMPLE, Plan
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.options import RuleFacts
from jarvis_workers.sec.stages.pipelines import RANKED
from jarvis_workers.sec.store import judgements, proofs
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store import transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.transcripts import Total
from tests.agents.loop.counting import counted
from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.sec.stages.pipeline import Pipeline
from tests.store.arrange import job_rows
from tests.support.judging import AGAIN
from tests.support.reading_files import PARSER

EXAMPLES = Path(__file__).parents[2] / "data" / "rules"
LOCKS, FREES, LOOPS = (
    EXAMPLES / "c" / name for name in ("deadlock_patterns.c", "double_free_and_free_non_heap.c", "endless_loop.c")
)
COPIES, STREAMS = (EXAMPLES / "c" / name for name in ("strncpy_no_nul.c", "unchecked_io.c"))
SIZES, STACK = (EXAMPLES / "c" / name for name in ("alloc_size_overflow.c", "alloca_unbounded.c"))
THREADS, TIMES = (EXAMPLES / "c" / name for name in ("thread_leak_no_join.c", "time_apis_not_threadsafe.c"))
RUST = [EXAMPLES / "rust" / name for name in ("maybe_uninit.rs", "mem_forget.rs")]
ALL_RULES = Chosen()
PRICES, DEAR = Prices(input=1.0, output=4.0), Prices(input=10.0, output=40.0)
FINDING = re.compile(r"^\W(\d+)\. .*?; pattern: (\w+).*?; evidence: (.*)", re.MULTILINE)
CALLED = re.compile(r"(\w+)\s*!?\(")
CANDIDATE = re.compile(r"Candidate (\d+):\n\n\Wat (\S+):(\d+)\n(?:.*\n)*?\Wline: (.*)")


def answers(request: Body) -> Step:
    """Cluster by rule and function; look at some code, for some questions twice, then confirm everything."""
    task = next(message["content"] for message in request["messages"] if message["role"] == "user")
    asked = sum(message["role"] == "assistant" for message in request["messages"])
    if AGAIN in task:
        step = calls("submit_report", report=clusters(task))
    elif asked < 1 + sha256(str(CANDIDATE.findall(task)).encode()).digest()[0] % 2:
        step = calls("read_code", path=f"nothing{asked}.c")
    else:
        step = calls("submit_report", report=[confirmed(*found) for found in CANDIDATE.findall(task)])
    return counted(step, request)


def clusters(task: str) -> list[dict[str, object]]:
    groups: dict[str, list[int]] = {}
    for number, pattern, evidence in FINDING.findall(task):
        called = CALLED.search(evidence)
        groups.setdefault(f"{pattern} {called[1] if called else ''}", []).append(int(number))
    return [{"verification": f"{name} does harm", "gids": gids} for name, gids in groups.items()]


def confirmed(number: str, file: str, line: str, code: str) -> dict[str, object]:
    texts = {name: "as it stands there" for name in ("preconditions", "trigger_path", "consequences", "suggestions")}
    return {
        "gid": int(number),
        "has_risk": True,
        **texts,
        "evidence": [{"file": file, "line": int(line), "quote": code}],
    }


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(forever=answers) as running:
        yield running


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return open_blobs(str(tmp_path / "blobs"), tmp_path / "cache")


@pytest.fixture
def group(server: ModelServer) -> ModelGroup:
    return ModelGroup(model="m", base_url=server.url, profile="deepseek", prices=PRICES)


@pytest.fixture
def pipeline(
    sqlite_url: str, open_stores: Callable[..., Store], blobs: Blobs, group: ModelGroup, tmp_path: Path
) -> Iterator[Pipeline]:
    facts = group.model_dump(mode="json") | {"api_key": "k"}
    shared = AgentRuntime(open_stores(sqlite_url, durable=True), setup_of({"m": facts}, tmp_path / "cache"))
    pipeline = Pipeline(open_stores(sqlite_url), blobs, shared)
    with pipeline.loop:
        yield pipeline
    shared.close()


def tree(place: Path, files: Sequence[Path]) -> Path:
    place.mkdir()
    for file in files:
        shutil.copy(file, place)
    return place


def verify(pipeline: Pipeline, root: Path) -> Total:
    """Scan a tree, cluster and verify; return what that took."""
    run = pipeline.do(root, kind="sec.agent", model_group="m")
    with pipeline.store.read() as session:
        return transcripts.total(session, run)


def foresee(
    pipeline: Pipeline, group: ModelGroup, root: Path, rules: Chosen = ALL_RULES, sample: int = SAMPLE, **plan: Any
) -> Estimate:
    reading = {name: value for name, value in plan.items() if name.startswith("read")}
    ranked = {"kind": RANKED, "model_group": "m", **reading} if reading else {}
    run = pipeline.run(pipeline.do(root, rules=rules, **ranked))
    chosen = Plan(JudgeOptions(model_group="m", **plan), group, sample)
    escalation = group.model_copy(update={"prices": DEAR}) if plan.get("escalate") else None
    return estimate(
        pipeline.store, pipeline.blobs, run, chosen, unpacked=root.parent / "sources", escalation=escalation
    )


def prompt(found: Estimate) -> int:
    return found.cluster.prompt + found.verify.prompt


@pytest.mark.slow
def test_on_three_trees_the_questions_take_within_a_quarter_of_what_was_said_before(
    pipeline: Pipeline, group: ModelGroup, server: ModelServer, tmp_path: Path
) -> None:
    verify(pipeline, tree(tmp_path / "earlier", [LOCKS, FREES, LOOPS, COPIES, STREAMS]))
    for number, files in enumerate(([SIZES, STACK], [THREADS, TIMES], RUST)):
        root, before = tree(tmp_path / str(number), files), len(server.requests)
        said = foresee(pipeline, group, root)
        assert len(server.requests) == before
        taken = verify(pipeline, root)

        assert said.verify.habit.seen >= 20
        assert 0.75 <= prompt(said) / taken.prompt <= 1.25
        assert said.verify.prompt_cost == pytest.approx(said.verify.prompt * PRICES.input / 1e6)
        assert said.verify.completion_cost == pytest.approx(said.verify.completion * PRICES.output / 1e6)


@pytest.mark.slow
def test_what_is_remembered_costs_nothing(pipeline: Pipeline, group: ModelGroup, tmp_path: Path) -> None:
    root = tree(tmp_path / "src", [SIZES])
    new = foresee(pipeline, group, root)
    verify(pipeline, root)
    known = foresee(pipeline, group, root)

    assert (new.cluster.jobs, new.cluster.known, new.verify.known) == (2, 0, 0)
    assert (known.cluster.known, known.verify.known) == (known.cluster.jobs, known.verify.jobs)
    assert (prompt(known), known.verify.calls, known.verify.completion_cost) == (0, 0, 0.0)


@pytest.mark.slow
def test_until_enough_was_seen_habits_are_assumed_and_votes_are_asked_for_one_by_one(
    pipeline: Pipeline, group: ModelGroup, server: ModelServer, tmp_path: Path
) -> None:
    root = tree(tmp_path / "src", [TIMES])
    once = foresee(pipeline, group, root)
    thrice = foresee(pipeline, group, root, votes=2, second_look=True)

    assert server.requests == []
    assert (once.verify.habit, once.ratio, once.priced) == (ASSUMED["verify"], 1.0, True)
    assert once.verify.calls == once.verify.jobs * ASSUMED["verify"].rounds
    assert 2 * once.verify.calls < thrice.verify.calls <= 3 * once.verify.calls


@pytest.mark.slow
def test_a_cluster_of_many_is_counted_in_the_parts_that_are_verified(
    pipeline: Pipeline, group: ModelGroup, tmp_path: Path
) -> None:
    root = tmp_path / "src"
    root.mkdir()
    (root / "many.c").write_text("void f(char *a, char *b)\n{\n" + "    strcpy(a, b);\n" * 20 + "}\n")
    said = foresee(pipeline, group, root)
    run = pipeline.do(root, kind="sec.agent", model_group="m")

    assert (said.candidates, said.verify.jobs) == (20, len(job_rows(pipeline.store, run, "verify")))
    assert said.verify.jobs == len([8, 8, 4])


@pytest.mark.slow
def test_votes_are_counted_by_the_severities_that_the_run_was_given(
    pipeline: Pipeline, group: ModelGroup, tmp_path: Path
) -> None:
    root = tmp_path / "src"
    root.mkdir()
    (root / "one.c").write_text("int f(const char *a)\n{\n    return atoi(a);\n}\n")
    raised = Chosen(facts=RuleFacts(severity={"atoi_family": "high"}))
    once, thrice = (foresee(pipeline, group, root, chosen, votes=3) for chosen in (ALL_RULES, raised))

    assert (once.verify.jobs, once.verify.calls, thrice.verify.calls) == (1, 2, 6)


@pytest.mark.slow
def test_some_verifications_stand_for_many(pipeline: Pipeline, group: ModelGroup, tmp_path: Path) -> None:
    root = tree(tmp_path / "src", [LOCKS, FREES])
    every = foresee(pipeline, group, root)
    some = foresee(pipeline, group, root, sample=5)

    assert (some.verify.jobs, some.verify.calls) == (every.verify.jobs, every.verify.calls)
    assert some.verify.prompt != every.verify.prompt
    assert 0.6 < some.verify.prompt / every.verify.prompt < 1.6


@pytest.mark.slow
def test_as_many_findings_are_proved_at_most_as_a_sanitizer_can_show(
    pipeline: Pipeline, group: ModelGroup, tmp_path: Path
) -> None:
    root = tree(tmp_path / "src", [FREES, COPIES])
    every, high, none = (foresee(pipeline, group, root, prove=least) for least in ("low", "high", None))
    run = pipeline.start(root, kind="sec.agent", model_group="m", prove="low")
    pipeline.go_on(run, until="prove")
    with pipeline.store.read() as session:
        tried = len(proofs.tried(session, run))

    assert 0 < high.bounds["prove"].jobs < every.bounds["prove"].jobs
    assert 0 < tried <= every.bounds["prove"].jobs
    assert every.bounds["prove"].calls == every.bounds["prove"].jobs * assumed_proof(3).rounds
    assert every.bounds["prove"].prompt > every.bounds["prove"].calls * 1_000
    assert every.bounds["prove"].cost == pytest.approx(
        (every.bounds["prove"].prompt * PRICES.input + every.bounds["prove"].completion * PRICES.output) / 1e6
    )
    assert "prove" not in none.bounds


@pytest.mark.slow
def test_an_escalation_takes_at_most_one_more_conversation_for_each_at_its_own_prices(
    pipeline: Pipeline, group: ModelGroup, tmp_path: Path
) -> None:
    root = tree(tmp_path / "src", [FREES])
    said = foresee(pipeline, group, root, escalate="m")
    seen, escalated = said.bounds["seen"], said.bounds["escalate"]

    assert "escalate" not in foresee(pipeline, group, root).bounds
    assert (seen.jobs, escalated.jobs) == (20, said.verify.jobs + 20)
    assert escalated.prompt_cost == pytest.approx(escalated.prompt * DEAR.input / 1e6)


@pytest.mark.slow
def test_reading_is_estimated_within_its_budget(
    pipeline: Pipeline, group: ModelGroup, server: ModelServer, tmp_path: Path
) -> None:
    root = tmp_path / "src"
    root.mkdir()
    for number in range(4):
        (root / f"p{number}.c").write_text(PARSER.format(n=number))
    about = {"read_room": 400, "prove": "low"}
    said = foresee(pipeline, group, root, read="all", **about)
    poor = foresee(pipeline, group, root, read="auto", read_tokens=reading_usage(200).total, **about)
    assert said.read is not None and poor.read is not None
    assert server.requests == []

    assert (said.read.jobs, poor.read.jobs) == (2, 1)
    assert said.read.calls == round(2 * ASSUMED["read"].rounds)
    assert 500 < poor.read.prompt + poor.read.completion < reading_usage(200).total
    assert said.bounds["named"].jobs >= 1
    assert said.bounds["prove"].jobs > 20
    told = foresee(pipeline, group, root, read="all", notes="Whoever calls this is trusted. " * 100, **about)
    assert told.read is not None
    assert told.read.prompt > said.read.prompt + 500
    assert foresee(pipeline, group, root).read is None


def test_a_tree_in_which_nothing_was_found_takes_nothing(pipeline: Pipeline, group: ModelGroup, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "none.c").write_text("int none(void)\n{\n    return 1;\n}\n")
    said = foresee(pipeline, group, tmp_path / "src")

    assert (said.candidates, said.plain, said.verify.jobs, prompt(said)) == (0, 0, 0, 0)


@pytest.mark.slow
def test_the_reasons_for_all_clusters_take_one_query_for_candidates(pipeline: Pipeline, tmp_path: Path) -> None:
    run = pipeline.run(pipeline.do(tree(tmp_path / "src", [LOCKS, FREES, LOOPS])))
    with pipeline.store.write() as session:
        numbered = list(all_of(session, run))
        some = [one for _, one in numbered[::3]]
        judgements.attach(session, run.id, map(judged_false, some, map(str, count())))
    clusters = [numbered[at : at + 2] for at in range(0, len(numbered), 2)]

    with pipeline.store.read() as session:
        one_by_one = [reasons_for(session, run, cluster) for cluster in clusters]
        queries = list[str]()
        event.listen(session.connection(), "before_cursor_execute", lambda *call: queries.append(call[2]))
        together = reasons_by_cluster(session, run, clusters)

    assert together == one_by_one
    assert len(set(one_by_one)) > 2
    assert len(queries) == 2


def judged_false(candidate: Candidate, reason: str) -> Judgement:
    return Judgement(
        fingerprint=candidate.fingerprint, rule=candidate.pattern, verdict=TriageState("false"), reason=reason
    )
