"""Model providers: requests and replies, profiles, retries, answer cache and prices."""
