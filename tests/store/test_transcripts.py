"""What conversations keep: the lines of each execution, answers, totals, and the secret of a store."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from jarvis_workers.errors import StoreError
from jarvis_workers.store import jobs, runs, transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.transcripts import Forgotten, Item, ModelCall, StoredAnswer, Total, TranscriptLine
from jarvis_workers.store.values import Claimed, Commit, Finished
from tests.store.arrange import taken_up, talking
from tests.store.clocks import FakeClock

CALL = ModelCall("", 0, "m", prompt=100, cached=40, completion=20, cost=0.25, seconds=1.5, tries=1)


def keep(store: Store, *items: Item) -> None:
    with store.write() as session:
        transcripts.save(session, items)


def tell(store: Store, job: Claimed, *lines: bytes, start: int = 0) -> None:
    keep(store, *(TranscriptLine(job.id, job.fence, number, line) for number, line in enumerate(lines, start)))


def known(store: Store, job: Claimed) -> list[bytes]:
    with store.read() as session:
        return transcripts.lines(session, job.id)


def test_lines_come_back_in_their_order_whatever_is_in_them(store: Store) -> None:
    job, lines = talking(store), [b"one", b"\x00\xff\n", b"", b"four"]
    tell(store, job, *lines[:1])
    tell(store, job, *lines[1:], start=1)

    assert known(store, job) == lines


def test_who_takes_a_conversation_up_goes_on_where_its_lines_end(store: Store) -> None:
    first = talking(store)
    tell(store, first, b"one", b"two")
    second = taken_up(store, first)
    tell(store, second, b"three", start=2)

    assert second.fence > first.fence
    assert known(store, second) == [b"one", b"two", b"three"]


def test_a_late_line_of_a_lost_execution_does_not_stand_beside_the_new_ones(store: Store) -> None:
    first = talking(store)
    tell(store, first, b"one")
    second = taken_up(store, first)
    tell(store, second, b"two, anew", start=1)
    tell(store, first, b"two, late", b"three, late", start=1)

    assert known(store, second) == [b"one", b"two, anew"]


def test_a_late_line_counts_as_long_as_nobody_says_otherwise(store: Store) -> None:
    first = talking(store)
    tell(store, first, b"one")
    second = taken_up(store, first)
    tell(store, first, b"two, late", start=1)

    assert known(store, second) == [b"one", b"two, late"]


def test_a_conversation_that_begins_again_leaves_nothing_of_the_old_one(store: Store) -> None:
    first = talking(store)
    tell(store, first, b"one", b"two", b"three")
    second = taken_up(store, first)
    tell(store, second, b"one, anew")

    assert known(store, second) == [b"one, anew"]


def test_what_follows_a_missing_line_counts_for_nothing(store: Store) -> None:
    job = talking(store)
    tell(store, job, b"one")
    tell(store, job, b"three", b"four", start=2)

    assert known(store, job) == [b"one"]


def test_a_line_that_is_saved_twice_is_there_once(store: Store) -> None:
    job = talking(store)
    tell(store, job, b"one", b"two")
    tell(store, job, b"one", b"two", b"three")

    assert known(store, job) == [b"one", b"two", b"three"]


def test_the_lines_of_a_conversation_that_is_done_are_dropped_and_nobody_elses(store: Store) -> None:
    done, other = talking(store), talking(store)
    tell(store, done, b"one")
    tell(store, other, b"one")
    with store.write() as session:
        assert jobs.commit_many(session, [Finished(done, Commit(files=1))])

    assert (known(store, done), known(store, other)) == ([], [b"one"])


@pytest.mark.slow
def test_a_commit_that_is_refused_drops_no_lines(store: Store) -> None:
    first = talking(store)
    second = taken_up(store, first)
    tell(store, second, b"one")
    with store.write() as session:
        assert not jobs.commit_many(session, [Finished(first, Commit(files=1))])

    assert known(store, second) == [b"one"]


def test_the_first_answer_to_a_request_stays(store: Store) -> None:
    keep(store, StoredAnswer("a" * 64, "first"), StoredAnswer("b" * 64, "other"))
    keep(store, StoredAnswer("a" * 64, "second"))

    with store.read() as session:
        assert [transcripts.answer(session, key * 64) for key in "abc"] == ["first", "other", None]


def test_an_answer_that_is_forgotten_may_come_anew(store: Store) -> None:
    keep(store, StoredAnswer("a" * 64, "first"), StoredAnswer("b" * 64, "other"))
    keep(store, StoredAnswer("c" * 64, "at once"), Forgotten("a" * 64), Forgotten("c" * 64), Forgotten("d" * 64))
    with store.read() as session:
        assert [transcripts.answer(session, key * 64) for key in "abc"] == [None, "other", None]
    keep(store, StoredAnswer("a" * 64, "second"))

    with store.read() as session:
        assert transcripts.answer(session, "a" * 64) == "second"


def test_answers_are_forgotten_by_their_age(store_url: str, open_stores: Callable[..., Store]) -> None:
    clock = FakeClock()
    store = open_stores(store_url, clock=clock)
    keep(store, StoredAnswer("a" * 64, "old"))
    clock.advance(100)
    keep(store, StoredAnswer("b" * 64, "new"))
    with store.write() as session:
        assert [transcripts.forget_answers(session, seconds) for seconds in (200, 50, 50)] == [0, 1, 0]
        assert [transcripts.answer(session, key * 64) for key in "ab"] == [None, "new"]


def test_two_processes_that_keep_the_same_answer_at_once_do_not_hurt_each_other(
    store_url: str, open_stores: Callable[..., Store]
) -> None:
    left, right = open_stores(store_url), open_stores(store_url)
    keys = [f"{number:064}" for number in range(50)]
    with ThreadPoolExecutor(2) as both:
        saving = [
            both.submit(keep, store, *(StoredAnswer(key, name) for key in order))
            for store, name, order in ((left, "left", keys), (right, "right", keys))
        ]
        for one in saving:
            one.result()

    with left.read() as session:
        assert len({transcripts.answer(session, key) for key in keys}) == 1


def test_what_a_run_has_taken_is_the_sum_of_its_calls_and_of_nobody_elses(store: Store) -> None:
    job, other = talking(store), talking(store)
    mine = CALL._replace(run_id=job.run_id, job_id=job.id)
    remembered = mine._replace(cost=0.0, seconds=0.0, tries=0)
    keep(store, mine, mine, remembered, CALL._replace(run_id=other.run_id, job_id=other.id))

    with store.read() as session:
        assert transcripts.total(session, job.run_id) == Total(3, 1, 300, 120, 60, 0.5, 3.0)
        assert transcripts.total(session, "nobody") == Total()


def test_numbers_that_no_provider_would_name_can_be_summed(store: Store) -> None:
    job = talking(store)
    most = CALL._replace(run_id=job.run_id, job_id=job.id, prompt=1_000_000_000)
    keep(store, *[most] * 4)

    with store.read() as session:
        assert transcripts.total(session, job.run_id).prompt == 4_000_000_000


def test_a_run_that_is_removed_takes_what_was_said_in_it_along(store: Store) -> None:
    job = talking(store)
    tell(store, job, b"one")
    keep(store, CALL._replace(run_id=job.run_id, job_id=job.id), StoredAnswer("a" * 64, "kept"))
    remove(store, job)

    assert known(store, job) == []
    with store.read() as session:
        assert (transcripts.total(session, job.run_id), transcripts.answer(session, "a" * 64)) == (Total(), "kept")


def test_what_belongs_to_jobs_that_are_gone_can_be_left_out(store: Store) -> None:
    gone, there = talking(store), talking(store)
    remove(store, gone)
    items = [
        TranscriptLine(gone.id, 1, 0, b"gone"),
        TranscriptLine(there.id, 1, 0, b"there"),
        StoredAnswer("a" * 64, "kept"),
    ]
    items.append(Forgotten("b" * 64))
    items.append(CALL._replace(run_id=gone.run_id, job_id=gone.id))

    with pytest.raises(StoreError):
        keep(store, *items)
    with store.write() as session:
        left = transcripts.of_existing_jobs(session, items)
        transcripts.save(session, left)

    assert left == items[1:4]
    assert known(store, there) == [b"there"]


def remove(store: Store, job: Claimed) -> None:
    with store.write() as session:
        runs.finish(session, job.run_id, "cancelled")
        assert runs.remove(session, job.run_id)


@pytest.mark.slow
def test_two_processes_have_the_same_secret_and_another_store_has_not(
    store_url: str, store: Store, tmp_path_factory: pytest.TempPathFactory, open_stores: Callable[..., Store]
) -> None:
    stores = [open_stores(store_url) for _ in range(4)]
    with ThreadPoolExecutor(4) as all_at_once:
        found = set(all_at_once.map(secret, stores))
    other = open_stores(f"sqlite:///{tmp_path_factory.mktemp('other')}/jarvis.db")

    assert found == {secret(store)}
    assert len(secret(store)) == transcripts.SECRET_BYTES
    assert secret(other) not in found


def secret(store: Store) -> bytes:
    with store.write() as session:
        return transcripts.secret(session)
