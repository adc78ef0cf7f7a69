"""Suspects: jobs that crashed before get little company, and stand in nobody's way."""

import pytest
from sqlalchemy import update

from jarvis_workers.store import dispatching
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB
from jarvis_workers.store.values import Claimed
from tests.chaos.commands import until
from tests.store.arrange import add_planned_run, claim, enrol, job_rows, states


def suspect(store: Store, run: str, *numbers: int, crashes: int = 3) -> list[int]:
    """Make the jobs of these numbers suspects; return the ids of all, in their order."""
    ids = [row.id for row in job_rows(store, run)]
    with store.write() as session:
        session.execute(update(JOB).where(JOB.c.id.in_([ids[n] for n in numbers])).values(crashes=crashes))
    return ids


def claim_rung(store: Store, ids: list[int], process: str) -> list[Claimed]:
    enrol(store, "w")
    with store.write() as session:
        return dispatching.claim_notified(
            session, ids, worker_id="w", process=process, lease_seconds=60.0, worker_lease_seconds=30.0
        )


def test_heavy_suspects_without_room_hide_no_innocent(store: Store) -> None:
    run = add_planned_run(store, 6)
    ids = suspect(store, run, 3, 4, 5)

    assert [job.id for job in claim(store, run, process="a", limit=1)] == [ids[5]]
    assert [job.id for job in claim(store, run, process="a", limit=2)] == [ids[2], ids[1]]
    assert [job.id for job in claim(store, run, process="a", limit=9)] == [ids[0]]


@pytest.mark.slow
@pytest.mark.timing
def test_a_suspect_that_was_rung_for_is_put_back_where_there_is_no_room(store: Store) -> None:
    run = add_planned_run(store, 3)
    ids, before = suspect(store, run, 1, 2), store.now()

    assert [job.id for job in claim_rung(store, ids, "a")] == [ids[1], ids[0]]
    refused = job_rows(store, run)[2]
    assert (refused.state, refused.not_before > before, refused.crashes) == ("pending", True, 3)
    assert [job.id for job in until(lambda: claim_rung(store, ids[2:], "b"))] == [ids[2]]
    assert store.now() >= refused.not_before


def test_a_job_is_claimed_once_however_often_it_is_rung_for(store: Store) -> None:
    run = add_planned_run(store, 1)
    (job,) = [row.id for row in job_rows(store, run)]

    assert [one.id for one in claim_rung(store, [job, job], "a")] == [job]
    assert claim_rung(store, [job], "a") == []


@pytest.mark.slow
def test_suspects_are_sent_when_no_innocent_waits(store: Store) -> None:
    run = add_planned_run(store, 4)
    suspect(store, run, 3, crashes=1)

    def send(many: int) -> None:
        with store.write() as session:
            dispatching.mark_sent(session, "scan", {run: many}, suspects_last=True)

    send(3)
    assert states(store, run) == ["sent", "sent", "sent", "pending"]
    send(1)
    assert states(store, run) == ["sent"] * 4
