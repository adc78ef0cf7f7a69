"""The cluster stage over a real tree, with a model server: who is asked what, and what is verified then."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.errors import StepFailed
from jarvis_workers.runs.conversations import read_transcript
from jarvis_workers.sec.judge.batching import place_of
from jarvis_workers.sec.run_reports.run_baselines import of_run
from jarvis_workers.sec.stages.cluster_file import cluster_jobs
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.store import candidates, clusters, verdicts
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB
from jarvis_workers.store.values import NewCluster
from tests.agents.loop.server import Body, ModelServer, Step, says
from tests.sec.stages import verifying
from tests.sec.stages.pipeline import Pipeline
from tests.sec.test_batching import found
from tests.store.arrange import job_rows

ONE = "#include <stdlib.h>\nint one(const char *text)\n{\n    return atoi(text);\n}\n"
SAME = "#include <string.h>\nvoid two(char *a, char *b)\n{\n    strcpy(a, b);\n    strcpy(b + 4, a);\n}\n"
MIXED = """\
#include <stdlib.h>
#include <string.h>
int mix(char *to, const char *from)
{
    int sum = 0;
    strcpy(to, from);
    sum += atoi(from);
    strcpy(to, from);
    sum += atoi(from);
    strcpy(to, from);
    sum += atoi(from);
    strcpy(to, from);
    sum += atoi(from);
    strcpy(to, from);
    return sum;
}
int other(const char *text, char *to)
{
    strcpy(to, text);
    return atoi(text);
}
int last(void)
{
    return 7;
}
"""
CROWD = [("mixed.c", line) for line in range(6, 15)]
TREE = {"mixed.c": MIXED, "one.c": ONE, "same.c": SAME}


def pairs(body: Body) -> Step:
    """Put all numbers that a request holds into one cluster."""
    task = next(message["content"] for message in body["messages"] if message["role"] == "user")
    numbers = [int(number) for number in re.findall(r"^\W(\d+)\. language", task, re.MULTILINE)]
    return says(f"<CLUSTERS>\n- verification: the sizes fit\n  gids: {json.dumps(numbers)}\n</CLUSTERS>")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(forever=pairs) as running:
        yield running


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return open_blobs(str(tmp_path / "blobs"), tmp_path / "cache")


@pytest.fixture
def pipeline(
    sqlite_url: str, open_stores: Callable[..., Store], blobs: Blobs, server: ModelServer, tmp_path: Path
) -> Iterator[Pipeline]:
    """Runs of the kind "test.cluster", with a model group "m"."""
    group = {"model": "m", "base_url": server.url, "profile": "generic", "api_key": "k"}
    talks = AgentRuntime(open_stores(sqlite_url, durable=True), setup_of({"m": group}, tmp_path / "cache"))
    pipeline = Pipeline(open_stores(sqlite_url), blobs, talks)
    with pipeline.loop:
        yield pipeline
    talks.close()


def tree(tmp_path: Path, files: Mapping[str, str]) -> Path:
    root = tmp_path / "src"
    root.mkdir(exist_ok=True)
    for name, content in files.items():
        (root / name).write_text(content)
    return root


def cluster(pipeline: Pipeline, root: Path, group: str = "m", **options: Any) -> str:
    return pipeline.do(root, kind=verifying.KIND, model_group=group, **options)


def clusters_of(pipeline: Pipeline, run: str) -> list[NewCluster]:
    with pipeline.store.read() as session:
        return clusters.read(session, run)


def lines_of(pipeline: Pipeline, run: str) -> dict[int, tuple[str, int]]:
    with pipeline.store.read() as session:
        return {gid: (one.file, one.line) for gid, one in candidates.read(session, run)}


def places(pipeline: Pipeline, run: str) -> list[list[tuple[str, int]]]:
    known = lines_of(pipeline, run)
    return [[known[gid] for gid in one.gids] for one in clusters_of(pipeline, run)]


@pytest.mark.slow
def test_only_a_function_with_many_candidates_of_several_kinds_needs_a_model(
    pipeline: Pipeline, server: ModelServer, tmp_path: Path
) -> None:
    run = cluster(pipeline, tree(tmp_path, TREE))

    assert pipeline.run(run).state == "done"
    assert places(pipeline, run) == [
        CROWD,
        [("mixed.c", 19), ("mixed.c", 20)],
        [("one.c", 4)],
        [("same.c", 4), ("same.c", 5)],
    ]
    assert len(server.requests) == 1
    (mixed, other, *_) = clusters_of(pipeline, run)
    assert (mixed.file, mixed.batch_index, mixed.verification) == (b"mixed.c", 1, "the sizes fit")
    assert [line.partition(":")[0] for line in other.verification.split("\n")] == ["unsafe_api", "atoi_family"]


def test_every_candidate_gets_a_verdict_from_a_question_with_the_conditions_of_its_rules_alone(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    run = cluster(pipeline, tree(tmp_path, TREE))
    with pipeline.store.read() as session:
        found = list(verdicts.read(session, run))

    assert [one.gid for one in found] == sorted(lines_of(pipeline, run))
    assert all(one.preconditions and "the sizes fit" not in one.preconditions for one in found)


@pytest.mark.slow
def test_a_job_that_verifies_is_told_gids_and_condition_and_weighs_its_worst_score(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    run = cluster(pipeline, tree(tmp_path, TREE))
    rows = sorted(job_rows(pipeline.store, run, "verify"), key=lambda row: row.label)
    told = [json.loads(row.payload) for row in rows]

    assert [row.label for row in rows] == [
        "mixed.c:14",
        "mixed.c:19 and 1 more",
        "mixed.c:6 and 7 more",
        "one.c:4",
        "same.c:4 and 1 more",
    ]
    assert {(row.step, row.queue) for row in rows} == {("verify", "agent")}
    whole = [{"gids": list(one.gids), "verification": one.verification} for one in clusters_of(pipeline, run)]
    assert [one for one in told if one not in whole] == [told[0], told[2]]
    with pipeline.store.read() as session:
        scores = {gid: one.confidence for gid, one in candidates.read(session, run)}
    assert all(row.weight >= 100 * max(scores[gid] for gid in one["gids"]) for row, one in zip(rows, told, strict=True))


MANY = "    strcpy(to, from);\n" * 19


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "code", [SAME.replace("    strcpy(a, b);\n", MANY), SAME.replace("    strcpy(a, b);\n", f"{MANY}    atoi(b);\n")]
)
def test_a_cluster_of_many_is_verified_in_parts_and_kept_whole(pipeline: Pipeline, tmp_path: Path, code: str) -> None:
    run = cluster(pipeline, tree(tmp_path, {"a.c": code}))
    (whole,) = clusters_of(pipeline, run)
    told = [json.loads(row.payload) for row in job_rows(pipeline.store, run, "verify")]
    with pipeline.store.read() as session:
        judged = [one.gid for one in verdicts.read(session, run)]

    count = len(whole.gids)
    assert sorted(len(one["gids"]) for one in told) == [count - 16, 8, 8]
    assert sorted(gid for one in told for gid in one["gids"]) == judged == list(whole.gids)


@pytest.mark.slow
def test_what_was_said_is_kept_where_a_model_was_asked(pipeline: Pipeline, blobs: Blobs, tmp_path: Path) -> None:
    run = cluster(pipeline, tree(tmp_path, TREE))
    with pipeline.store.read() as session:
        kept = session.execute(select(JOB.c.id).where(JOB.c.run_id == run, JOB.c.label == "mixed.c")).scalars().all()
    (asked,) = [job for job in kept if read_transcript(pipeline.store, blobs, job)]
    records = read_transcript(pipeline.store, blobs, asked)
    assert [record["kind"] for record in records] == ["start", "answer"]


@pytest.mark.slow
def test_what_several_files_do_through_the_same_function_is_verified_once_for_each_place(
    pipeline: Pipeline, server: ModelServer, tmp_path: Path
) -> None:
    release = "#include <stdlib.h>\nvoid release(char *p)\n{\n    free(p);\n}\n"
    ends = "#include <stdlib.h>\nvoid release(char *p);\nvoid end_%s(char *p)\n{\n    release(p);\n    free(p);\n}\n"
    run = cluster(pipeline, tree(tmp_path, {"release.c": release, "left.c": ends % "left", "right.c": ends % "right"}))
    (one,) = clusters_of(pipeline, run)

    assert places(pipeline, run) == [[("left.c", 6), ("right.c", 6)]]
    assert one.verification.endswith("All go through release.c, in left.c, right.c.")
    assert len(job_rows(pipeline.store, run, "verify")) == 1
    assert server.requests == []


@pytest.mark.slow
def test_a_batch_that_a_model_could_not_cluster_is_asked_about_again_in_the_next_run(
    pipeline: Pipeline, server: ModelServer, tmp_path: Path
) -> None:
    root, well = tree(tmp_path, {"mixed.c": MIXED}), server.forever
    server.forever = says("I am sorry.")
    first = cluster(pipeline, root)
    server.forever = well
    second = cluster(pipeline, root)
    asked = len(server.requests)
    third = cluster(pipeline, root)

    assert [len(clusters_of(pipeline, run)) for run in (first, second, third)] == [10, 2, 2]
    assert len(server.requests) == asked


@pytest.mark.slow
@pytest.mark.timing
def test_a_conversation_that_was_lost_is_gone_on_with(pipeline: Pipeline, server: ModelServer, tmp_path: Path) -> None:
    run = pipeline.start(tree(tmp_path, {"mixed.c": MIXED}), kind=verifying.KIND, model_group="m")
    pipeline.go_on(run, until="cluster")
    (row,) = job_rows(pipeline.store, run, "cluster")
    pipeline.lose(row.id)
    pipeline.go_on(run)

    assert (pipeline.run(run).state, len(server.requests)) == ("done", 1)
    assert len(clusters_of(pipeline, run)) == 2


@pytest.mark.slow
def test_a_second_run_asks_nothing_also_when_another_function_was_edited(
    pipeline: Pipeline, server: ModelServer, tmp_path: Path
) -> None:
    cluster(pipeline, tree(tmp_path, TREE))
    edited = "/* at the\n   top */\n" + MIXED.replace("return atoi(text);", "return atoi(text + 1);")
    run = cluster(pipeline, tree(tmp_path, {"mixed.c": edited, "new.c": ONE}))

    assert len(server.requests) == 1
    assert places(pipeline, run)[0] == [("mixed.c", line + 2) for _, line in CROWD]


@pytest.mark.slow
def test_an_edited_candidate_is_asked_about(pipeline: Pipeline, server: ModelServer, tmp_path: Path) -> None:
    cluster(pipeline, tree(tmp_path, TREE))
    cluster(pipeline, tree(tmp_path, {"mixed.c": MIXED.replace("strcpy(to, from)", "strcpy(to + 1, from)")}))

    assert len(server.requests) == 2


@pytest.mark.slow
def test_what_is_suppressed_unsure_or_known_is_not_clustered(pipeline: Pipeline, tmp_path: Path) -> None:
    first = cluster(pipeline, tree(tmp_path, {"one.c": ONE}))
    known = of_run(pipeline.store, pipeline.run(first), "before", {})
    silenced = SAME.replace("a, b);", "a, b); /* jarvis-ignore[unsafe_api]: measured */")
    root = tree(tmp_path, {"one.c": ONE, "same.c": silenced})
    run = cluster(pipeline, root, baseline=known)

    assert places(pipeline, run) == [[("same.c", 5)]]


@pytest.mark.slow
def test_a_tree_without_candidates_has_nothing_to_cluster(pipeline: Pipeline, tmp_path: Path) -> None:
    run = cluster(pipeline, tree(tmp_path, {"none.c": "int none(void)\n{\n    return 1;\n}\n"}))

    assert pipeline.run(run).state == "done"
    assert [pipeline.stage(run, name).state for name in ("cluster", "verify")] == ["closed", "closed"]
    assert clusters_of(pipeline, run) == []


@pytest.mark.slow
@pytest.mark.timing
def test_a_model_group_that_is_not_here_is_named(pipeline: Pipeline, tmp_path: Path) -> None:
    run = pipeline.start(tree(tmp_path, {"mixed.c": MIXED}), kind=verifying.KIND, model_group="other")

    with pytest.raises(StepFailed, match='this machine has no model group "other"; available: m'):
        pipeline.go_on(run)


def planned(*confidences: float, limit: int | None = None) -> list[tuple[str, int, Any]]:
    """Plan candidates of one file."""
    places = [place_of(gid, found(line=gid, confidence=sure), {}) for gid, sure in enumerate(confidences, 1)]
    jobs = cluster_jobs("s", JudgeOptions() if limit is None else JudgeOptions(cluster_limit=limit), places)
    return [(job.label, job.weight, json.loads(job.payload)["gids"]) for job in jobs]


def test_the_worst_score_is_the_weight_and_the_limit_cuts() -> None:
    assert planned(0.5, 0.9, 0.6, limit=2) == [("a.c", 270, [1, 2]), ("a.c", 120, [3])]
    assert planned(0.5, 0.9, limit=1) == [("a.c and 1 more", 270, [1, 2])]
    assert [len(gids) for _, _, gids in planned(*[0.5] * 60)] == [50, 10]
