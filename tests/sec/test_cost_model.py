"""What conversations about findings are likely to ask first, and how many there are."""

import pytest

from jarvis_workers.models.platforms.usage_profile import LEAST_SAMPLES
from jarvis_workers.sec.judge.cost_model import (
    ClusterCounts,
    expected_clusters,
    first_request,
)
from tests.sec.test_batching import found


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
