"""Say once that a server is away, and again only when it has been back in between.

How it says that it is away changes from one try to the next; which of them it is does not.
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
        """Bear that a server is away: the rest of the block is for another time."""
        try:
            yield
            self.away.clear()
        except (StoreUnavailable, BrokerUnavailable) as problem:
            if type(problem) not in self.away:
                self._tell(f"{problem}; {self._meanwhile}")
            self.away.add(type(problem))
