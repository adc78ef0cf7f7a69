"""Outages: each is told once, however it is worded, and told again when it comes again."""

import pytest

from jarvis_workers.errors import BrokerUnavailable, JarvisError, StoreUnavailable
from jarvis_workers.executors.dispatch.outages import Outages

pytestmark = pytest.mark.timing

REFUSED = StoreUnavailable("refused")
CUT = StoreUnavailable("cut")
NO_BELL = BrokerUnavailable("no notifier")


def told(*rounds: JarvisError | None) -> list[str]:
    """Return what is told of rounds that each end so."""
    said: list[str] = []
    outages = Outages(said.append, "waiting")
    for problem in rounds:
        with outages.tolerated():
            if problem:
                raise problem
    return said


def test_a_server_that_is_away_is_told_once() -> None:
    assert told(CUT, REFUSED, REFUSED, None) == ["cut; waiting"]


def test_a_server_that_goes_away_again_is_told_again() -> None:
    assert told(CUT, None, CUT) == ["cut; waiting", "cut; waiting"]


def test_two_servers_that_are_away_are_told_once_each() -> None:
    assert told(CUT, NO_BELL, REFUSED, NO_BELL) == ["cut; waiting", "no notifier; waiting"]
