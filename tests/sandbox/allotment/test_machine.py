"""In a machine with cgroup v2, no attack takes more than its limit: its kernel memory counts, too.

Run it with -s for a table of what each attack has taken.
"""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.sandbox.limits import MEGABYTE
from tests.sandbox.allotment import attacks, machine
from tests.sandbox.allotment.measure import LIMITS

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]

# Beside the command: its supervisor, the sampler, and the noise of an idle machine.
OWN_MEMORY, OWN_TASKS = 8 * MEGABYTE, 3
EXCESS = 1.1


@pytest.fixture(scope="module")
def results() -> Iterator[list[dict[str, Any]]]:
    if why := machine.missing():
        pytest.skip(why)
    plan = [("B", attack.__name__) for attack in (*attacks.MEMORY, *attacks.FORKS)]
    plan += [("A", attack.__name__) for attack in (*attacks.FORKS, *attacks.DISK)]
    # Large, and not in memory as the temporary directories of tests are.
    place = Path(tempfile.mkdtemp(dir="/var/tmp"))
    try:
        found = machine.boot(place, {"modes": ["cgroup"], "attacks": plan})
        print("", *machine.table(found), sep="\n")
        assert len([one for one in found if "attack" in one]) == len(plan)
        yield found
    finally:
        shutil.rmtree(place)


def test_a_delegated_group_is_used_and_none_of_a_command_is_left(results: list[dict[str, Any]]) -> None:
    assert results[0]["delegation"] == "/sys/fs/cgroup/worker"
    assert results[-1]["groups left"] == ["jarvis-workers"]


def test_no_attack_takes_a_tenth_more_than_its_limit(results: list[dict[str, Any]]) -> None:
    over = [
        one["attack"]
        for one in results
        if "attack" in one
        and (
            one["memory_bytes"] > EXCESS * LIMITS.memory_bytes + OWN_MEMORY
            or one["tasks"] > EXCESS * LIMITS.processes + OWN_TASKS
        )
    ]

    assert over == []


def test_the_scratch_directory_of_tier_a_takes_no_tenth_more(results: list[dict[str, Any]]) -> None:
    disk = {attack.__name__ for attack in attacks.DISK}
    taken = {one["attack"]: one["scratch_bytes"] for one in results if one.get("attack") in disk}

    assert {name for name, size in taken.items() if size > EXCESS * LIMITS.scratch_bytes} == set()
    assert max(taken.values()) > LIMITS.scratch_bytes / 2  # else nothing was measured


def test_the_reason_is_the_limit(results: list[dict[str, Any]]) -> None:
    reasons = {one["attack"]: one["reason"] for one in results if "attack" in one}

    assert reasons["take_private_memory"] == reasons["take_shared_memory"] == "memory"
    assert reasons["write_files"] == reasons["write_removed_files"] == "disk"
