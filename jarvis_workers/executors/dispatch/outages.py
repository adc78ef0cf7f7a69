"""Outage reporting: log an unavailable server, and trouble of this machine, once per outage.

The error text may change between attempts, so outages are keyed by server, or by the type of the error.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jarvis_workers.errors import (
    BrokerUnavailable,
    HostExhausted,
    JarvisError,
    StoreFull,
    StoreRejected,
    StoreUnavailable,
    clause,
)

# The errors that pass, or concern the data of one run; all others end the process by name.
TOLERATED = (BrokerUnavailable, HostExhausted, StoreFull, StoreRejected, StoreUnavailable, OSError, MemoryError)


class Outages:
    """The servers that are currently unavailable. `tell` is called with a line that ends with the text `meanwhile`."""

    def __init__(self, tell: Callable[[str], None], meanwhile: str) -> None:
        self._tell, self._meanwhile = tell, meanwhile
        self.away: set[type[Exception]] = set()

    @contextmanager
    def tolerated(self) -> Iterator[None]:
        """Tolerate an outage: log it and skip the rest of the block."""
        try:
            yield
            self.away.clear()
        except TOLERATED as problem:
            if type(problem) not in self.away:
                says = str(problem) if isinstance(problem, JarvisError) else f"{type(problem).__name__}: {problem}"
                self._tell(f"{clause(says)}; {self._meanwhile}")
            self.away.add(type(problem))
