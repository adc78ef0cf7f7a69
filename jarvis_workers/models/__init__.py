"""Language models: providers with retries, cache and prices, and the rate limits of a process."""
