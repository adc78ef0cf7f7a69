"""Outage reporting: log an unavailable server once, and again only after it was available in between.

The error text may change between attempts, so outages are keyed by server.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jarvis_workers.errors import BrokerUnavailable, StoreUnavailable


class Outages:
    """Which servers are away now. `tell` is given a line that ends with what is done `meanwhile`."""

    def __init__(self, tell: Callable[[str], None], meanwhile: str) -> None:
        self._tell, self._meanwhile = tell, meanwhile
        self.away: set[type[Exception]] = set()

    @contextmanager
    def borne(self) -> Iterator[None]:
        """Tolerate an unavailable server: log it and skip the rest of the block."""
        try:
            yield
            self.away.clear()
        except (StoreUnavailable, BrokerUnavailable) as problem:
            if type(problem) not in self.away:
                self._tell(f"{problem}; {self._meanwhile}")
            self.away.add(type(problem))
