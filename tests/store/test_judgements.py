"""The last word on a finding is kept by its fingerprint; a run keeps those words that it was given."""

from jarvis_workers.sec.store import judgements, triage_operations
from jarvis_workers.sec.store.judgements import Count
from jarvis_workers.sec.store.triage_operations import OPERATIONS_MAX, TriageChange
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState, TriageVerdict
from jarvis_workers.store import runs
from jarvis_workers.store.engine import Store
from tests.store.arrange import add_run

TRUE, FALSE = TriageState.TRUE, TriageState.FALSE
REAL = Judgement(fingerprint="a" * 16, rule="unsafe_api", verdict=True, by="ann", file="a.c")
NOISE = Judgement(fingerprint="b" * 16, rule="unsafe_api", verdict=False, reason="checked above", by="ann", file="b.c")


def say(store: Store, *said: Judgement) -> None:
    with store.write() as session:
        judgements.judge(session, said)


def take_in(store: Store, *said: Judgement) -> int:
    with store.write() as session:
        return judgements.merge(session, said)


def kept(store: Store) -> list[Judgement]:
    with store.read() as session:
        return list(judgements.read(session).values())


def test_the_last_word_on_a_finding_is_kept_with_the_time_of_the_database(store: Store) -> None:
    began = store.now()
    say(store, NOISE, REAL)
    say(store, NOISE.model_copy(update={"verdict": TRUE, "reason": "is not", "by": "bob\0"}))

    real, other = kept(store)

    assert real == REAL.model_copy(update={"at": real.at})
    assert (other.verdict, other.reason, other.by) == (TRUE, "is not", "bob\\x00")
    assert began <= (real.at or 0) <= (other.at or 0) <= store.now()


def test_a_later_word_from_elsewhere_wins_and_an_earlier_one_does_not(store: Store) -> None:
    say(store, NOISE)
    (here,) = kept(store)
    other = NOISE.model_copy(update={"verdict": TRUE, "by": "eve"})
    assert here.at is not None

    assert take_in(store, other.model_copy(update={"at": here.at - 1.0})) == 0
    assert kept(store) == [here]
    assert take_in(store, other, REAL) == 2
    assert [one.verdict for one in kept(store)] == [TRUE, TRUE]


def test_what_is_said_again_is_no_news(store: Store) -> None:
    say(store, NOISE)
    (here,) = kept(store)

    assert take_in(store, NOISE) == 0
    assert kept(store) == [here]


def test_a_time_that_is_yet_to_come_does_not_silence_those_who_speak_later(store: Store) -> None:
    assert take_in(store, NOISE.model_copy(update={"at": 1e12})) == 1

    assert (kept(store)[0].at or 0) <= store.now()


def test_a_judgement_can_be_taken_back(store: Store) -> None:
    say(store, REAL, NOISE)
    with store.write() as session:
        judgements.forget(session, {NOISE.fingerprint, "f" * 16})

    assert [one.fingerprint for one in kept(store)] == [REAL.fingerprint]


def test_judgements_are_counted_by_rule(store: Store) -> None:
    other = Judgement(fingerprint="c" * 16, rule="gets", verdict=False, reason="x")
    say(store, REAL, NOISE, NOISE.model_copy(update={"fingerprint": "d" * 16}), other)

    with store.read() as session:
        counted = judgements.count(session)

    assert counted == {"unsafe_api": Count(1, 2), "gets": Count(0, 1)}
    assert counted["unsafe_api"].all == 3


def test_a_run_knows_what_it_was_given_and_nothing_that_is_said_later(store: Store) -> None:
    say(store, REAL)
    first, second, third = (add_run(store) for _ in range(3))
    with store.write() as session:
        judgements.attach(session, first)
        judgements.attach(session, second, [REAL.model_copy(update={"verdict": FALSE, "reason": "no"}), NOISE])
        judgements.attach(session, third, [NOISE], stored=False)
    say(store, REAL.model_copy(update={"verdict": FALSE, "reason": "later"}))

    with store.read() as session:
        known = [judgements.attached(session, run) for run in (first, second, third)]

    noise = {NOISE.fingerprint: TriageVerdict(FALSE, "checked above")}
    assert known == [
        {REAL.fingerprint: TriageVerdict(TRUE, "")},
        {REAL.fingerprint: TriageVerdict(FALSE, "no"), **noise},
        noise,
    ]


def test_what_a_run_was_given_goes_with_it_and_the_judgement_stays(store: Store) -> None:
    run = add_run(store)
    say(store, REAL)
    with store.write() as session:
        judgements.attach(session, run)
        runs.finish(session, run, "done")
        assert runs.remove(session, run)
        assert judgements.attached(session, run) == {}
    assert len(kept(store)) == 1


def test_wont_fix_counts_as_real_and_later_does_not_count_for_a_rule(store: Store) -> None:
    accepted = Judgement(fingerprint="c" * 16, rule="gets", verdict="wontfix", reason="x")
    say(store, accepted, Judgement(fingerprint="d" * 16, rule="gets", verdict="later"))

    with store.read() as session:
        assert judgements.count(session) == {"gets": Count(1, 0)}
    assert [one.verdict for one in kept(store)] == [TriageState.WONTFIX, TriageState.LATER]


def test_the_history_of_operations_is_bounded_for_each_user(store: Store) -> None:
    change = {REAL.fingerprint: TriageChange(None, 1.0)}
    with store.write() as session:
        ids = [triage_operations.record(session, f"mark {n}", "ann", change) for n in range(OPERATIONS_MAX + 3)]
        triage_operations.record(session, "mark", "bob", {NOISE.fingerprint: TriageChange(NOISE, None)})

    with store.write() as session:
        seen = 0
        while last := triage_operations.latest(session, "ann"):
            assert (last.change, last.changes) == (f"mark {OPERATIONS_MAX + 2 - seen}", change)
            triage_operations.drop(session, last.id)
            seen += 1
        other = triage_operations.latest(session, "bob")
    assert (len(ids), seen) == (OPERATIONS_MAX + 3, OPERATIONS_MAX)
    assert other is not None
    assert other.changes[NOISE.fingerprint].before == NOISE


def test_ids_of_rules_of_other_analyzers_may_be_long(store: Store) -> None:
    rule = "semgrep:" + "c.lang.security." * 7
    say(store, NOISE.model_copy(update={"rule": rule}))
    assert [one.rule for one in kept(store)] == [rule]
