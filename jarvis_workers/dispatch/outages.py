"""Outage reporting: log an unavailable server once per outage.

The error text may change between attempts, so outages are keyed by server.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jarvis_workers.errors import BrokerUnavailable, StoreUnavailable


class Outages:
    """The servers that are currently unavailable. `tell` is called with a line that ends with the text `meanwhile`."""

    def __init__(self, tell: Callable[[str], None], meanwhile: str) -> None:
        self._tell, self._meanwhile = tell, meanwhile
        self.away: set[type[Exception]] = set()

    @contextmanager
    def tolerated(self) -> Iterator[None]:
        """Tolerate an unavailable server: log the outage and skip the rest of the block."""
        try:
            yield
            self.away.clear()
        except (StoreUnavailable, BrokerUnavailable) as problem:
            if type(problem) not in self.away:
                self._tell(f"{problem}; {self._meanwhile}")
            self.away.add(type(problem))
