"""What the calls of a run took, by stage and by time."""

from jarvis_workers.store import model_usage, stages, transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.metric_queries import model_sums
from jarvis_workers.store.transcripts import ModelCall
from tests.store.arrange import talking

CALL = ModelCall("", 0, "m", prompt=100, cached=40, completion=20, cost=0.25, seconds=1.5, tries=1)


def called(store: Store, *seconds: float, tries: int = 1) -> str:
    """Return the id of a run whose one conversation asked as often, beside one of another run."""
    job, other = talking(store), talking(store)
    mine = [CALL._replace(run_id=job.run_id, job_id=job.id, seconds=one, tries=tries) for one in seconds]
    with store.write() as session:
        transcripts.save(session, [*mine, CALL._replace(run_id=other.run_id, job_id=other.id)])
    return job.run_id


def test_each_stage_says_what_it_took(store: Store) -> None:
    run = called(store, 1.5, 2.5)

    with store.read() as session:
        assert model_usage.by_stage(session, run) == {
            "scan": {"calls": 2, "prompt": 200, "cached": 80, "completion": 40, "cost": 0.5, "seconds": 4.0}
        }
        assert model_usage.by_stage(session, "nobody") == {}


def test_usage_is_grouped_by_model_and_by_the_label_of_jobs(store: Store) -> None:
    run = called(store, 1.5, 2.5)

    with store.read() as session:
        assert {name: found["calls"] for name, found in model_usage.by_model(session, run).items()} == {"m": 2}
        (found,) = model_usage.by_label(session, run, ["scan"]).values()
        assert (found["calls"], found["cost"]) == (2, 0.5)
        assert model_usage.by_label(session, run, ["translate"]) == {}


def test_the_cost_of_answers_without_prices_is_unknown(store: Store) -> None:
    job = talking(store)
    priced = CALL._replace(run_id=job.run_id, job_id=job.id)
    cached = priced._replace(cost=0.0, tries=0)
    with store.write() as session:
        transcripts.save(session, [priced, priced._replace(cost=0.0), cached])
    with store.read() as session:
        assert transcripts.total(session, job.run_id).cost == 0.25
    with store.write() as session:
        transcripts.save(session, [priced._replace(cost=None)])

    with store.read() as session:
        assert transcripts.total(session, job.run_id).cost is None
        assert model_usage.by_run(session, [job.run_id])[job.run_id].cost is None
        assert model_usage.by_stage(session, job.run_id)["scan"]["cost"] is None
        assert stages.progress(session, job.run_id)[0].cost is None
        assert [one.cost for one in model_sums(session) if not one.cached] == [None]
        assert transcripts.total(session, "nobody").cost == 0.0


def test_answers_are_counted_by_their_time_between_the_quickest_and_the_slowest(store: Store) -> None:
    run = called(store, 1.5, 2.0, 2.001, 500.0)

    with store.read() as session:
        found = model_usage.latency(session, run)
    assert found[0] == {"to": 2.0, "calls": 2}
    assert found[1] == {"to": 4.0, "calls": 1}
    assert found[-1] == {"to": None, "calls": 1}
    assert sum(part["calls"] for part in found) == 4
    assert [part["to"] for part in found] == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, None]


def test_answers_that_took_no_time_do_not_count(store: Store) -> None:
    run = called(store, 0.0, 0.0, tries=0)

    with store.read() as session:
        assert model_usage.latency(session, run) == []
        assert model_usage.latency(session, "nobody") == []


def test_an_answer_at_once_stands_in_the_first_part(store: Store) -> None:
    run = called(store, 0.0)

    with store.read() as session:
        assert model_usage.latency(session, run) == [{"to": 0.5, "calls": 1}]
