"""The cost of an answer."""

from jarvis_workers.platforms.profiles import Prices
from jarvis_workers.platforms.protocol import TokenUsage

MILLION = 1_000_000


def cost_of(usage: TokenUsage, prices: Prices) -> float:
    """Return the cost in dollars; cached tokens are charged as input tokens if their price is unknown."""
    cached_price = prices.input if prices.cached is None else prices.cached
    fresh = max(usage.prompt - usage.cached, 0)
    return (fresh * prices.input + usage.cached * cached_price + usage.completion * prices.output) / MILLION
