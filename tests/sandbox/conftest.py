"""Fixtures of sandbox tests: a process that starts commands."""

import os
from collections.abc import Iterator

import pytest

from jarvis_workers.sandbox.launcher import Starter
from tests.sandbox.counted import CountedStarter, is_counted


@pytest.fixture(scope="session")
def starter() -> Iterator[Starter]:
    """One process for all tests, like that of a worker."""
    with CountedStarter(environ=os.environ) if is_counted() else Starter() as started:
        yield started
