"""The cost of an answer."""

from jarvis_workers.platforms.profiles import Prices
from jarvis_workers.platforms.protocol import TokenUsage

MILLION = 1_000_000
# Anthropic's price of a token that is written to the prompt cache for five minutes, relative to an input token; other
# providers report no such tokens.
CACHE_WRITE_FACTOR = 1.25


def cost_of(usage: TokenUsage, prices: Prices) -> float:
    """Return the cost in dollars; cached tokens are charged as input tokens if their price is unknown."""
    cached_price = prices.input if prices.cached is None else prices.cached
    write_price = prices.input * CACHE_WRITE_FACTOR if prices.cache_write is None else prices.cache_write
    fresh = max(usage.prompt - usage.cached - usage.cache_writes, 0)
    prompt = fresh * prices.input + usage.cached * cached_price + usage.cache_writes * write_price
    return (prompt + usage.completion * prices.output) / MILLION
