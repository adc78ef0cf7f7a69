"""The report that a run with faults is compared with."""

from pathlib import Path
from typing import Any

import pytest

from tests.chaos.commands import command


@pytest.fixture(scope="module")
def calm(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The report of a local run to which nothing happens, over the `tree` of the module."""
    with command(tmp_path_factory.mktemp("calm"), "sec", "fast", "-p", str(tree)) as quiet:
        assert quiet.ends()[0] == 0
        return quiet.body()
