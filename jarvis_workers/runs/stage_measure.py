"""The cost of the jobs of a stage, extrapolated from their first prompts and the habits of earlier conversations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.counting_runtime import FirstRequest
from jarvis_workers.models.platforms.costs import cost_of
from jarvis_workers.models.platforms.profiles import Prices
from jarvis_workers.models.platforms.protocol import TokenUsage
from jarvis_workers.models.platforms.usage_profile import ConversationProfile, ConversationTotals, profile_of
from jarvis_workers.store import transcripts

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


@dataclass(frozen=True)
class StageShare:
    """The cost of a stage's jobs that call a model; the answers of `known` jobs are cached and free.

    Costs are in dollars, 0 unless it is `priced`; prompts are assumed not to be in the provider's prompt cache.
    """

    jobs: int
    known: int
    calls: int
    prompt: int
    completion: int
    prompt_cost: float
    completion_cost: float
    habit: ConversationProfile
    priced: bool = True

    @property
    def cost(self) -> float:
        """The cost of questions and answers."""
        return self.prompt_cost + self.completion_cost


@dataclass(frozen=True)
class StageMeasure:
    """Extrapolates from first prompts to the total cost of jobs."""

    habits: Mapping[str, ConversationProfile]
    ratio: float
    prices: Prices

    @classmethod
    def from_history(
        cls, session: "Session", assumed: Mapping[str, ConversationProfile], prices: Prices
    ) -> "StageMeasure":
        """Return the measure of the stages in `assumed`, according to earlier jobs if there are enough of them."""
        habits = {
            name: profile_of([ConversationTotals(*row) for row in transcripts.recent_usage(session, name)], profile)
            for name, profile in assumed.items()
        }
        return cls(habits, transcripts.ratio(session), prices)

    @property
    def is_priced(self) -> bool:
        """Whether the prices of the model are known."""
        return self.prices.are_set

    def share(self, stage: str, firsts: Sequence[FirstRequest], jobs: int, prices: Prices | None = None) -> StageShare:
        """Return the cost of `jobs` jobs; `firsts` are the first prompts of all of them, or of a sample.

        The `prices` are by default those of the measure.
        """
        prices = self.prices if prices is None else prices
        habit, stands_for = self.habits[stage], jobs / max(len(firsts), 1)
        unknown = [first for first in firsts if not first.is_cached]
        times = stands_for * sum(first.times for first in unknown)
        sizes = [(first.times * stands_for, first.tokens * self.ratio) for first in unknown]
        prompt = sum(many * habit.prompt(size) for many, size in sizes)
        used = TokenUsage(round(prompt), round(sum(many * habit.completion(size) for many, size in sizes)))
        return StageShare(
            jobs=jobs,
            known=round(stands_for * (len(firsts) - len(unknown))),
            calls=round(times * habit.rounds),
            prompt=used.prompt,
            completion=used.completion,
            prompt_cost=cost_of(TokenUsage(prompt=used.prompt), prices) or 0.0,
            completion_cost=cost_of(TokenUsage(completion=used.completion), prices) or 0.0,
            habit=habit,
            priced=prices.are_set,
        )
