"""The step that verifies a cluster, over a real store, a snapshot, a sandbox and a scripted model server."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.errors import StepFailed
from jarvis_workers.sec.assessment import EvidenceQuote, ReproScript, Verdict
from jarvis_workers.sec.stages.results import VerdictResult
from jarvis_workers.sec.stages.verify_cluster import VerifyWork, converse, load
from jarvis_workers.sec.store import candidates
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store import transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import ANSWER
from jarvis_workers.store.values import Claimed, Commit
from tests.agents.loop.server import FAULTS, ModelServer, Step, calls, says
from tests.sec.slicing import FILES
from tests.sec.stages.pipeline import Pipeline
from tests.sec.verifying import RISK, SAFE

READS = calls("read_code", path="src/a.c#copy_it")
FINDS = calls("submit_report", report=[RISK])
DISMISSES = calls("submit_report", report=[{**SAFE, "evidence": RISK["evidence"]}])
CONDITION = "Does s fit into d?"


@dataclass
class Place:
    """A store with scanned trees, and a model server's address for each conversation."""

    directory: Path
    pipeline: Pipeline
    talking: Callable[[], Store]

    def scan(self, **changed: str) -> str:
        """Return a run over the tree, with some of its files changed."""
        tree = self.directory / f"tree{len(list(self.directory.glob('tree*')))}"
        for name, text in (FILES | {f"src/{name}.c": text for name, text in changed.items()}).items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        return self.pipeline.do(tree)

    def work(self, run_id: str, *gids: int, **options: Any) -> VerifyWork:
        """Return what the store says of a verify job about candidates; by default those of copy_it."""
        run = self.pipeline.run(run_id)
        run = replace(run, options={**run.options, "model_group": "m", "agent_limits": {}, **options})
        with self.pipeline.store.read() as session:
            found = {gid: one for gid, one in candidates.read(session, run_id) if "strcpy" in one.evidence}
            payload = json.dumps({"gids": gids or list(found), "verification": CONDITION})
            job = Claimed(self.pipeline.rows(run_id)[-1].id, run_id, "verify", "verify", "agent", 1, "", payload, 0, 0)
            return load(session, run, job)

    def verify(self, work: VerifyWork, server: ModelServer) -> Commit:
        """Lead the conversation of a job."""
        group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
        shared = AgentRuntime(self.talking(), setup_of({"m": group}, self.directory / "cache"))
        try:
            return asyncio.run(converse(work, self.pipeline.blobs, shared))
        finally:
            shared.close()


@pytest.fixture
def place(tmp_path: Path, sqlite_url: str, open_stores: Callable[..., Store], monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("HOME", str(tmp_path))
    pipeline = Pipeline(open_stores(sqlite_url), DirectoryBlobs(tmp_path / "blobs"))
    return Place(tmp_path, pipeline, lambda: open_stores(sqlite_url, durable=True))


def verdicts_of(commit: Commit) -> tuple[Verdict, ...]:
    (result,) = commit.results
    assert isinstance(result, VerdictResult)
    return result.verdicts


def asked(place: Place, work: VerifyWork, *steps: Step) -> tuple[Commit, list[dict[str, Any]]]:
    """Verify with a server that answers so; return what it was asked, too."""
    with ModelServer(*steps) as server:
        return place.verify(work, server), server.requests


@pytest.mark.slow
def test_a_verdict_is_committed_with_its_evidence_commands_and_transcript(place: Place) -> None:
    work = place.work(place.scan())
    script = calls("execute_script", script_content="grep -n strcpy src/a.c")

    commit, requests = asked(place, work, READS, script, FINDS)

    (verdict,) = verdicts_of(commit)
    assert (verdict.gid, verdict.status, verdict.has_risk) == (work.cluster.candidates[0][0], "confirmed", True)
    assert (verdict.trigger_path, verdict.reason) == ("src/main.c:6 -> src/a.c:8", None)
    assert verdict.evidence == (EvidenceQuote("src/a.c", 8, "strcpy(d, s);"),)
    assert verdict.commands == (ReproScript("bash", "grep -n strcpy src/a.c"),)
    assert commit.not_checked == ()
    with place.pipeline.store.read() as session:
        assert len(transcripts.lines(session, work.job.id)) == len(("start", *("answer", "result") * 2, "answer"))
    assert "8:    strcpy(d, s); // it fits" in requests[2]["messages"][-1]["content"]
    assert work.job.run_id not in json.dumps(requests)
    assert str(place.directory) not in json.dumps(requests)


@pytest.mark.slow
def test_a_second_run_asks_only_about_what_has_changed(place: Place) -> None:
    code = FILES["src/a.c"]
    below = "\n\n\nint other;\n\n" + code
    changed = code.replace("strcpy(d, s);", "if (s) strcpy(d, s);")
    first, _ = asked(place, place.work(place.scan()), READS, FINDS)

    again, _ = asked(place, place.work(place.scan()))
    moved, _ = asked(place, place.work(place.scan(a=below, z="int z(void) { return 1; }\n")))
    edited, requests = asked(place, place.work(place.scan(a=changed)), FINDS)

    assert verdicts_of(again) == verdicts_of(first)
    assert [verdicts_of(commit)[0].evidence[0].line for commit in (again, moved, edited)] == [8, 13, 8]
    assert len(requests) == 1


@pytest.mark.slow
def test_what_was_answered_before_a_crash_is_not_asked_again(place: Place) -> None:
    run_id = place.scan()
    work = place.work(run_id)
    first, _ = asked(place, work, READS, FINDS)
    with place.pipeline.store.write() as session:
        lines = transcripts.lines(session, work.job.id)
        session.execute(ANSWER.delete())
    whole, half = (
        replace(work, job=work.job._replace(fence=fence), lines=lines[:count]) for fence, count in ((2, 4), (3, 3))
    )

    assert len(lines) == 4
    assert asked(place, whole)[0] == first
    assert verdicts_of(asked(place, half, FINDS)[0]) == verdicts_of(first)


@pytest.mark.slow
def test_a_model_that_does_not_answer_leaves_each_candidate_undecided_by_name(place: Place) -> None:
    commit, _ = asked(place, place.work(place.scan()), FAULTS["401"])

    (verdict,) = verdicts_of(commit)
    assert (verdict.status, verdict.has_risk, verdict.evidence) == ("undecided", None, ())
    assert (verdict.reason or "").startswith("refused: ")
    ((path, reason),) = commit.not_checked
    assert path == b"src/a.c"
    assert f"candidate {verdict.gid} on line 8 is undecided: refused" in reason


@pytest.mark.slow
def test_answers_that_decide_nothing_are_not_used_again_and_stay_in_the_transcript(place: Place) -> None:
    work = place.work(place.scan())
    bad, _ = asked(place, work, *[says("I am sorry.")] * 3)
    good, requests = asked(place, place.work(place.scan()), READS, FINDS)

    assert (verdicts_of(bad)[0].status, verdicts_of(good)[0].status) == ("undecided", "confirmed")
    assert (verdicts_of(bad)[0].reason or "").startswith("inconclusive: ")
    assert len(requests) == 2
    assert verdicts_of(asked(place, place.work(place.scan()))[0]) == verdicts_of(good)
    with place.pipeline.store.read() as session:
        assert len(transcripts.lines(session, work.job.id)) == len(("start", *["answer"] * 3))


@pytest.mark.slow
def test_what_was_answered_before_the_model_went_away_is_used_again(place: Place) -> None:
    asked(place, place.work(place.scan()), READS, FAULTS["401"])
    good, requests = asked(place, place.work(place.scan()), FINDS)

    assert (verdicts_of(good)[0].status, len(requests)) == ("confirmed", 1)


@pytest.mark.slow
def test_options_of_the_run_say_how_often_and_in_which_language_is_asked(place: Place) -> None:
    work = place.work(place.scan(), votes=2, lang="zh", second_look=True)
    high = tuple((gid, one._replace(confidence=0.9)) for gid, one in work.cluster.candidates)
    work = replace(work, cluster=replace(work.cluster, candidates=high))

    commit, requests = asked(place, work, FINDS, FINDS, DISMISSES)

    assert verdicts_of(commit)[0].status == "review"
    assert ["请用中文" in str(request["messages"][0]) for request in requests] == [True] * 3
    assert ["it fits" in str(request["messages"][1]) for request in requests] == [False, False, True]


def test_severities_of_the_run_say_what_is_voted_on(place: Place) -> None:
    work = place.work(place.scan(), votes=2, rules={"severity": {"unsafe_api": "low"}})
    high = tuple((gid, one._replace(confidence=0.9)) for gid, one in work.cluster.candidates)

    _, requests = asked(place, replace(work, cluster=replace(work.cluster, candidates=high)), FINDS)

    assert len(requests) == 1


def test_candidates_that_are_gone_fail_the_job(place: Place) -> None:
    with pytest.raises(StepFailed, match="only 1 of its 2 candidates exist"):
        place.work(place.scan(), 1, 4_711)
