"""What conversations are likely to take, from what earlier ones took."""

import pytest

from jarvis_workers.sec.judge.cost_model import (
    ASSUMED,
    LEAST_SAMPLES,
    ClusterCounts,
    ConversationProfile,
    ConversationTotals,
    expected_clusters,
    first_request,
    profile_of,
)
from tests.sec.test_batching import found


def test_the_mean_of_earlier_jobs_is_a_habit_once_there_are_enough() -> None:
    jobs = [ConversationTotals(calls=2, first=1000, prompt=2300, completion=200)] * (LEAST_SAMPLES - 1)
    habit = profile_of([*jobs, ConversationTotals(calls=4, first=1000, prompt=4300, completion=400)], ASSUMED["verify"])

    assert profile_of(jobs, ASSUMED["verify"]) is ASSUMED["verify"]
    assert habit == ConversationProfile(rounds=2.1, added=300, answer=100, seen=LEAST_SAMPLES)


def test_each_question_says_again_what_was_said_before() -> None:
    assert ConversationProfile(rounds=3, added=500, answer=100).prompt(1000) == 3500
    assert ConversationProfile(rounds=3, added=500, answer=100).completion() == 300
    assert ConversationProfile(rounds=2, added=0, answer=0, share=0.3).completion(1000) == 300


def test_a_cluster_is_expected_for_each_rule_and_sink() -> None:
    lines = ["strcpy(a, b);", "strcat(a, c);", "strcpy(b, c);", "strcpy(strcat(a, b), c);"]
    batch = [(gid, found(line=gid, evidence=text)) for gid, text in enumerate(lines, 1)]
    clusters = list(expected_clusters(batch, {"unsafe_api": "does it fit?"}))

    assert [one.gids for one in clusters] == [(1, 3), (2,), (4,)]
    assert {one.verification for one in clusters} == {"does it fit?"}


@pytest.mark.parametrize(
    ("made", "gids"),
    [
        ([ClusterCounts(candidates=4, clusters=2)] * LEAST_SAMPLES, [(1, 3), (2, 4)]),
        ([ClusterCounts(candidates=50, clusters=1)] * LEAST_SAMPLES, [(1, 2, 3, 4)]),
        ([ClusterCounts(candidates=1, clusters=1)] * LEAST_SAMPLES, [(1,), (3,), (2,), (4,)]),
        ([ClusterCounts(candidates=50, clusters=1)] * (LEAST_SAMPLES - 1), [(1, 3), (2,), (4,)]),
    ],
)
def test_where_enough_was_clustered_as_many_are_expected_as_were_made(
    made: list[ClusterCounts], gids: list[tuple[int, ...]]
) -> None:
    lines = ["strcpy(a, b);", "strcat(a, c);", "strcpy(b, c);", "sprintf(a, c);"]
    batch = [(gid, found(line=gid, evidence=text)) for gid, text in enumerate(lines, 1)]

    assert [one.gids for one in expected_clusters(batch, {}, made)] == gids


def test_a_conversation_that_asks_nothing_has_no_first_request() -> None:
    def silent():  # type: ignore[no-untyped-def]
        return 1
        yield

    assert first_request(silent()) is None
