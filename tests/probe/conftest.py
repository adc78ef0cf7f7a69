"""Attacks from a process without privileges."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.probe.unprivileged import Prober


@pytest.fixture(scope="session")
def prober() -> Iterator[Prober]:
    """One for all tests: for root it copies the code."""
    place = Path(tempfile.mkdtemp())
    yield Prober(place)
    shutil.rmtree(place)
