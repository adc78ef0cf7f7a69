"""Attacks from a process without privileges."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.probe.unprivileged import Prober


@pytest.fixture(scope="session")
def prober() -> Iterator[Prober]:
    """One prober for all tests, as it copies the code if run by root."""
    place = Path(tempfile.mkdtemp())
    yield Prober(place)
    shutil.rmtree(place)
