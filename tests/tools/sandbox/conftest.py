"""What tests of the sandbox share: a process that starts commands, and one without privileges that attacks."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_workers.tools.sandbox.starter import Starter
from tests.tools.sandbox.counted import CountedStarter, is_counted
from tests.tools.sandbox.unprivileged import Prober


@pytest.fixture(scope="session")
def starter() -> Iterator[Starter]:
    """One process for all tests, as a worker has it."""
    with CountedStarter(environ=os.environ) if is_counted() else Starter() as started:
        yield started


@pytest.fixture(scope="session")
def prober() -> Iterator[Prober]:
    """Attacks from a process without privileges."""
    place = Path(tempfile.mkdtemp())
    yield Prober(place)
    shutil.rmtree(place)
