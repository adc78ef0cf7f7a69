"""What is set aside for an answer covers its price, also where a provider charges for writing to its prompt cache."""

from collections import defaultdict
from typing import Any, cast

import pytest

from jarvis_workers.agents.conversations.budget import RunAllowance
from jarvis_workers.agents.conversations.platform_stack import BudgetedPlatform
from jarvis_workers.models.platforms.costs import cost_of
from jarvis_workers.models.platforms.profiles import PROFILES, Prices
from jarvis_workers.models.platforms.protocol import Message, ModelRequest, TokenUsage
from jarvis_workers.models.ratelimit.budget import amount_of, read_budget
from jarvis_workers.models.ratelimit.token_calibration import Calibration
from jarvis_workers.store.values import Claimed
from tests.agents.loop.arrange import Scripted, ask, text

PRICES = Prices(input=5, cached=0.5, output=25, cache_write=10)


class Allowance:
    """An allowance without a limit, which records what is reserved."""

    def __init__(self) -> None:
        self.reserved: list[int] = []
        self.calibrations = defaultdict[str, Calibration](Calibration)

    async def load_budget(self) -> Any:
        return read_budget("5usd")

    async def reserve(self, job: Claimed, worst: int) -> None:
        self.reserved.append(worst)

    def settle(self, unit: str, worst: int, actual: int) -> None:
        assert actual <= worst

    def calibrate(self, model: str, estimated: int, prompt: int) -> None:
        pass


@pytest.mark.parametrize(("name", "writes"), [("anthropic", True), ("openai", False)])
def test_the_worst_case_of_an_answer_writes_the_whole_prompt_to_the_cache(name: str, writes: bool) -> None:
    usage = TokenUsage(1_000, PROFILES[name].answer_tokens, cache_writes=1_000 if writes else 0)
    platform = Scripted(text("x", usage=usage, cost=cost_of(usage, PRICES)))
    platform.profile = PROFILES[name]
    allowance = Allowance()
    budgeted = BudgetedPlatform(platform, cast(Claimed, None), cast(RunAllowance, allowance), PRICES)
    ask(budgeted, ModelRequest((Message("user", "hello"),), estimated=1_000))

    (worst,) = allowance.reserved
    prompt = 1.25 * (10 if writes else 5) * 1_000
    assert worst == amount_of("usd", 0, (prompt + 25 * PROFILES[name].answer_tokens) / 1e6)
