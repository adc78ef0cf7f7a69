"""A defect that several places report is verified once, in one conversation, and every place has the verdict."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import event

from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.stages.write_report import list_issues, load
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store.engine import Store
from tests.agents.loop.server import ModelServer
from tests.sec.stages.pipeline import Pipeline
from tests.support.judging import CANDIDATE, judge

TABLE = """\
#include <stdlib.h>
struct table { size_t seed; int *rows; };
int grow(struct table *t, size_t count)
{
    t->rows = calloc(count, sizeof *t->rows);
    return t->rows != 0;
}
struct table *table_new(size_t count)
{
    struct table *t = calloc(1, sizeof *t);
    if (t && !grow(t, count)) {
        free(t);
        t = 0;
    }
    t->seed = count;
    return t;
}
"""
USER = """\
#include <stdlib.h>
#include <string.h>
struct table;
struct table *table_new(size_t count);
struct conf {{ struct table *table; char *name; }};
int first_{n}(struct conf *conf)
{{
    conf->table = table_new(8);
    conf->name = malloc(8);
    return conf->name != 0;
}}
int name_{n}(char *to, const char *from)
{{
    strcpy(to, from);
    strcat(to, from);
    return atoi(from);
}}
"""
FILES = {"table.c": TABLE, **{f"{n}.c": USER.format(n=n) for n in "abc"}}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(forever=lambda body: judge(body, "confirmed")) as running:
        yield running


@pytest.fixture
def pipeline(
    sqlite_url: str, open_stores: Callable[..., Store], server: ModelServer, tmp_path: Path
) -> Iterator[Pipeline]:
    group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
    shared = AgentRuntime(open_stores(sqlite_url, durable=True), setup_of({"m": group}, tmp_path / "cache"))
    blobs = open_blobs(str(tmp_path / "blobs"), tmp_path / "cache")
    pipeline = Pipeline(open_stores(sqlite_url), blobs, shared)
    with pipeline.loop:
        yield pipeline
    shared.close()


def issues(pipeline: Pipeline, root: Path, **files: str) -> list[Issue]:
    root.mkdir(exist_ok=True)
    for name, content in (FILES | {f"{name}.c": content for name, content in files.items()}).items():
        (root / name).write_text(content)
    run = pipeline.do(root, kind="sec.agent", model_group="m")
    with pipeline.store.read() as session:
        return list(list_issues(session, pipeline.run(run)))


def candidates(server: ModelServer) -> list[list[str]]:
    """Return the candidates of each question."""
    return [
        [text for _, text in CANDIDATE.findall(message["content"])]
        for body in server.requests
        for message in body["messages"]
        if "Candidate 1:" in str(message["content"])
    ]


@pytest.mark.slow
def test_a_root_cause_of_four_files_is_one_question_with_one_candidate(
    pipeline: Pipeline, server: ModelServer, tmp_path: Path
) -> None:
    found = issues(pipeline, tmp_path / "src")
    null = [issue for issue in found if issue.candidate.pattern == "flow_null_dereference"]
    copies = [issue for issue in found if issue.candidate.file == "a.c" and issue not in null]
    asked = candidates(server)

    assert {issue.candidate.file for issue in null} == {"a.c", "b.c", "c.c", "table.c"}
    assert len({issue.root_cause for issue in null}) == 1
    assert {issue.status for issue in null} == {"confirmed"}
    assert len({(issue.opinion.trigger_path, issue.opinion.evidence) for issue in null}) == 1
    assert len({issue.root_cause for issue in found}) == len(found) - len(null) + 1
    assert sorted(map(len, asked)) == [1, *[len(copies)] * 3]
    (one,) = next(texts for texts in asked if len(texts) == 1)
    assert "is reached from a.c#first_a:3, b.c#first_b:3, c.c#first_c:3;" in one


@pytest.mark.slow
def test_an_edit_of_a_function_asks_about_that_function_alone(
    pipeline: Pipeline, server: ModelServer, tmp_path: Path
) -> None:
    more = "int more(char *to, const char *from)\n{\n    strcpy(to, from + %d);\n    return 0;\n}\n"
    issues(pipeline, tmp_path / "src", a=USER.format(n="a") + more % 1)
    before = len(server.requests)
    issues(pipeline, tmp_path / "src", a="/* at\n the top */\n" + USER.format(n="a") + more % 2)
    (new,) = server.requests[before:]

    assert "strcpy(to, from + 2);" in str(new["messages"])
    assert "a.c#name_a" not in str(new["messages"])


@pytest.mark.slow
def test_a_report_reads_the_clusters_once(pipeline: Pipeline, server: ModelServer, tmp_path: Path) -> None:
    server.forever = lambda body: judge(body, "dismissed")
    (tmp_path / "a.c").write_text(USER.format(n="a"))
    run, statements = pipeline.do(tmp_path, kind="sec.agent", model_group="m"), list[str]()
    with pipeline.store.read() as session:
        event.listen(session.get_bind(), "before_cursor_execute", lambda *about: statements.append(about[2]))
        findings = load(session, pipeline.run(run)).findings

    assert findings.dismissed
    assert all(issue.verification for issue in (*findings.issues, *findings.dismissed))
    assert sum("FROM cluster" in statement for statement in statements) == 1
