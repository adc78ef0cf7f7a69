"""The cost of an answer."""

from jarvis_workers.models.platforms.profiles import Prices
from jarvis_workers.models.platforms.protocol import TokenUsage

MILLION = 1_000_000
# Anthropic's price of a token that is written to the prompt cache for five minutes, relative to an input token; other
# providers report no such tokens.
CACHE_WRITE_FACTOR = 1.25


def cost_of(usage: TokenUsage, prices: Prices) -> float | None:
    """Return the cost in dollars, None without prices; cached tokens without a price are charged as input tokens."""
    if not prices.are_set:
        return None
    input_price, output_price = prices.input or 0.0, prices.output or 0.0
    cached_price = input_price if prices.cached is None else prices.cached
    write_price = input_price * CACHE_WRITE_FACTOR if prices.cache_write is None else prices.cache_write
    fresh = max(usage.prompt - usage.cached - usage.cache_writes, 0)
    prompt = fresh * input_price + usage.cached * cached_price + usage.cache_writes * write_price
    return (prompt + usage.completion * output_price) / MILLION
