"""A bound on guessing passwords: after some wrong ones, an address waits longer and longer before its next attempt.

Nobody locks out a user: an address delays only itself, and who has signed in needs no further check. Of an IPv6
address, the network of 64 bits counts, which one host can use as a whole.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import NamedTuple

FREE_FAILURES = 10
DELAY_SECONDS_MAX = 60.0
FORGOTTEN_AFTER_SECONDS = 900.0
ADDRESSES_MAX = 10_000
IPV6_BITS = 64

Address = IPv4Address | IPv6Address | None


class _Failures(NamedTuple):
    """The number of wrong passwords from an address, and the time of the last one."""

    number: int
    last: float

    @property
    def delay_seconds(self) -> float:
        return min(2.0 ** (self.number - FREE_FAILURES), DELAY_SECONDS_MAX) if self.number >= FREE_FAILURES else 0.0


class GuessLimits:
    """The wrong passwords of each address; of ADDRESSES_MAX addresses, those with the newest."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._failures: OrderedDict[object, _Failures] = OrderedDict()

    def seconds_left(self, address: Address) -> float:
        """Return how long an address has to wait for its next attempt."""
        with self._lock:
            failures = self._recent(_host(address))
            return max(0.0, failures.last + failures.delay_seconds - self._monotonic())

    def add_failure(self, address: Address) -> None:
        """Count a wrong password."""
        host = _host(address)
        with self._lock:
            self._failures[host] = _Failures(self._recent(host).number + 1, self._monotonic())
            self._failures.move_to_end(host)
            while len(self._failures) > ADDRESSES_MAX:
                self._failures.popitem(last=False)

    def _recent(self, host: object) -> _Failures:
        failures = self._failures.get(host, _Failures(0, 0.0))
        is_old = self._monotonic() - failures.last > FORGOTTEN_AFTER_SECONDS
        return _Failures(0, 0.0) if is_old else failures


def _host(address: Address) -> object:
    """Return what one host can use of the addresses."""
    if isinstance(address, IPv6Address):
        return address.ipv4_mapped or ip_network((address, IPV6_BITS), strict=False)
    return address
