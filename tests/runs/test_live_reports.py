"""What agents find out is told while they do, and the same in the end."""

import json
from typing import Any

import pytest
from sqlalchemy import text

from jarvis_cli.kit.status_output import Quiet
from jarvis_workers.sec.commands.output import follow
from jarvis_workers.sec.run_reports.live import Follower
from jarvis_workers.sec.stages.results import VerdictResult
from jarvis_workers.store import jobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Commit, Run, StageProgress
from tests.sec.stages.test_streaming import add_run, child, finish, take, verdict
from tests.store.arrange import run_now

CLUSTERED = [StageProgress("cluster", "open", jobs=1)]


def judged(store: Store) -> Run:
    """Return a run with a verdict about one of two candidates."""
    run = add_run(store, 0)
    payload = json.dumps({"gids": [1, 2], "verification": "it fits"})
    with store.write() as session:
        jobs.insert_jobs(session, run, "verify", [child(1)._replace(payload=payload)])
    assert finish(store, take(store, run, "verify"), Commit(results=(VerdictResult((verdict(1),)),)))
    return run_now(store, run)


def test_progress_is_the_same_where_no_issues_are_wanted(store: Store) -> None:
    run = judged(store)
    whole, short = Follower(store).look(run), Follower(store).look(run, issues=False)

    assert [(row["gids"], row["verdict"]) for row in whole.progress if "verdict" in row] == [
        ([1], "confirmed"),
        ([2], "undecided"),
    ]
    assert [issue.gid for issue in whole.issues] == [1, 2]
    assert (short.progress, short.issues) == (whole.progress, [])


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_a_store_that_cannot_tell_says_so_once(store: Store, capsys: Any) -> None:
    run = judged(store)
    with store.write() as session:
        session.execute(text("ALTER TABLE event RENAME TO elsewhere"))
    with follow(Quiet(), store, grows=False) as show:
        for _ in range(3):
            show(run, CLUSTERED)

    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("jarvis: live results are not shown: ")
