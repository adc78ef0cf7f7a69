"""What an answer costs."""

from jarvis_workers.platforms.profiles import Prices
from jarvis_workers.platforms.protocol import TokenUsage

MILLION = 1_000_000


def cost_of(usage: TokenUsage, prices: Prices) -> float:
    """Return dollars; cached tokens cost what others do where no price of theirs is known."""
    cached_price = prices.input if prices.cached is None else prices.cached
    fresh = max(usage.prompt - usage.cached, 0)
    return (fresh * prices.input + usage.cached * cached_price + usage.completion * prices.output) / MILLION
