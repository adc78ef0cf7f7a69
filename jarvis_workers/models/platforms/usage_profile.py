"""The habits of conversations, from which their token usage is predicted.

Each question of a conversation repeats all previous messages.  A conversation of r questions therefore sends its first
one r times, plus the messages added later.  The number of questions and the added tokens are averages over the
conversations of a store, or assumptions if there were too few.
"""

from collections.abc import Collection
from typing import NamedTuple

LEAST_SAMPLES = 20


class ConversationTotals(NamedTuple):
    """Token usage of a job: number of answers, tokens of its first question, of all questions, and of all answers."""

    calls: int
    first: int
    prompt: int
    completion: int


class ConversationProfile(NamedTuple):
    """Average conversation: number of questions, tokens added after the first one, tokens per answer.

    `seen` is the number of jobs in the average; 0 means that the profile is an assumption. Where answers grow with what
    is asked about, `share` is that of all answers in the first question, else 0.
    """

    rounds: float
    added: float
    answer: float
    seen: int = 0
    share: float = 0.0

    def prompt(self, first: float) -> float:
        """Return the number of tokens in all questions of a conversation, given the number in the first."""
        return self.rounds * first + self.added

    def completion(self, first: float = 0) -> float:
        """Return the number of tokens in all answers of a conversation, given the number in the first question."""
        return self.rounds * self.answer + self.share * first


def profile_of(talked: Collection[ConversationTotals], assumed: ConversationProfile) -> ConversationProfile:
    """Return the mean usage of past jobs, or the assumption if there are too few of them."""
    sample_size = len(talked)
    if sample_size < LEAST_SAMPLES:
        return assumed
    calls = sum(job.calls for job in talked)
    added = sum(job.prompt - job.calls * job.first for job in talked) / sample_size
    answers, rounds = sum(job.completion for job in talked), calls / sample_size
    if assumed.share:
        share = answers / max(sum(job.first for job in talked), 1)
        return ConversationProfile(rounds, added, 0, sample_size, share)
    return ConversationProfile(rounds, added, answers / calls, sample_size)
