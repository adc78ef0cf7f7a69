"""Predict the token usage of conversations about findings before a model is asked; their habits are assumptions."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

from jarvis_workers.agents.loop.effects import Ask, Conversation, Want
from jarvis_workers.models.platforms.protocol import ModelRequest, TokenUsage
from jarvis_workers.models.platforms.usage_profile import LEAST_SAMPLES, ConversationProfile
from jarvis_workers.sec.finding import Candidate, Numbered
from jarvis_workers.sec.judge.batching import kind_of
from jarvis_workers.sec.judge.clustering import Cluster, Conditions, condition_of


class ClusterCounts(NamedTuple):
    """Number of candidates given to a model, and number of clusters in its answer."""

    candidates: int
    clusters: int


# Clustering takes one question; verification takes one look at the code and a report. A reader has nearly all that it
# needs. Of five trees a strong model named a defect for each 870 to 190 tokens of code, and its reports had 13 to 54 %
# of the tokens of the question, 32 % of all.
ASSUMED: Mapping[str, ConversationProfile] = {
    "cluster": ConversationProfile(1, 0, 250),
    "verify": ConversationProfile(2, 600, 300),
    "read": ConversationProfile(1.2, 500, 0, share=0.32),
}
# Of 61 such conversations of strong models: the attempts of up to twelve candidates and a report.
INVESTIGATION = ConversationProfile(2, 1_000, 1_000)
TOKENS_OF_A_DEFECT = 190
# What a reader sees beside the files: the system prompt, the tools, the map, hints and definitions.
BESIDE_FILES = 5_000
# Before the attempts, a prover looks at the code. Each answer and its result are repeated in all questions that follow.
PROOF_LOOKS, PROOF_ADDED, PROOF_ANSWER = 3, 800, 500


def reading_usage(code: int) -> TokenUsage:
    """Return the assumed tokens of the questions and the answers with which `code` tokens of files are read."""
    habit, first = ASSUMED["read"], code + BESIDE_FILES
    return TokenUsage(prompt=round(habit.prompt(first)), completion=round(habit.completion(first)))


def assumed_proof(attempts: int) -> ConversationProfile:
    """Return the assumption about a proof that takes all of its attempts."""
    rounds = PROOF_LOOKS + attempts
    return ConversationProfile(rounds, PROOF_ADDED * rounds * (rounds - 1) / 2, PROOF_ANSWER)


def expected_clusters(
    numbered: Sequence[Numbered], conditions: Conditions, made: Collection[ClusterCounts] = ()
) -> Iterator[Cluster]:
    """Yield the clusters that a model is likely to form from a batch: one for each rule and sink.

    If `made` has enough statistics, the number of clusters follows from them instead, and rules may share a cluster.
    """
    groups: dict[tuple[str, str | None], list[tuple[int, Candidate]]] = {}
    for gid, candidate in numbered:
        groups.setdefault(kind_of(candidate), []).append((gid, candidate))
    several = list(groups.values()) if len(made) < LEAST_SAMPLES else _parts(list(chain(*groups.values())), made)
    for group in several:
        yield Cluster(condition_of(group[0][1], conditions), tuple(sorted(gid for gid, _ in group)))


def _parts(ordered: Sequence[Numbered], made: Collection[ClusterCounts]) -> list[Sequence[Numbered]]:
    """Divide candidates into parts, one for each cluster that a model is expected to return."""
    many = len(ordered) * sum(one.clusters for one in made) / sum(one.candidates for one in made)
    count = min(max(round(many), 1), len(ordered))
    ends = [len(ordered) * part // count for part in range(count + 1)]
    return [ordered[start:end] for start, end in pairwise(ends)]


def first_request(talk: Conversation[object], perform: Callable[[Want], Any] = lambda _: None) -> ModelRequest | None:
    """Return the first request of a conversation, None if there is none; `perform` returns the result of an effect."""
    try:
        want = next(talk)
        while not isinstance(want, Ask):
            want = talk.send(perform(want))
    except StopIteration:
        return None
    talk.close()
    return want.request
