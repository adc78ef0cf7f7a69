"""The scratch directory of tier A is a file system with a size, if the machine has the memory for it."""

from pathlib import Path

import pytest

from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.limits import MEGABYTE, SandboxLimits, Tier
from jarvis_workers.sandbox.sandbox import Sandbox, open_sandbox, refusal
from jarvis_workers.sandbox.scratch_space import scratch_in_memory

pytestmark = pytest.mark.timing

SIZE = 32 * MEGABYTE
FILL = 'trap "" XFSZ; for i in 1 2 3 4 5 6; do head -c 20000000 /dev/zero > "$HOME/$i"; done 2>/dev/null; '
LEFT = 'df --output=size,used -B1 "$HOME" /tmp | tail -2'


@pytest.fixture
def box(tmp_path: Path, starter: Starter) -> Sandbox:
    if why := refusal(Tier.A):
        pytest.skip(why)
    return open_sandbox(tmp_path, tier=Tier.A, starter=starter, scratch_bytes=SIZE)


def test_home_and_the_temporary_directory_are_one_file_system_of_the_size(box: Sandbox) -> None:
    with box:
        home, temporary = box.run(["sh", "-c", LEFT]).stdout.splitlines()

    assert home.split() == temporary.split()
    assert SIZE < int(home.split()[0]) < 1.1 * SIZE


def test_a_command_cannot_take_more_and_is_ended(box: Sandbox) -> None:
    with box:
        outcome = box.run(["sh", "-c", FILL + "sleep 60"])
        _, used = box.run(["sh", "-c", LEFT]).stdout.splitlines()[0].split()

    assert outcome.reason == "disk"
    assert SIZE < int(used) < 1.1 * SIZE


def test_a_lower_limit_of_a_command_is_measured(box: Sandbox) -> None:
    limits = SandboxLimits(scratch_bytes=8 * MEGABYTE)
    with box:
        assert box.run(["sh", "-c", FILL + "sleep 60"], limits=limits).reason == "disk"


def test_the_files_count_as_memory(box: Sandbox) -> None:
    limits = SandboxLimits(memory_bytes=16 * MEGABYTE, address_bytes=1 << 30)
    with box:
        assert box.run(["sh", "-c", FILL + "sleep 60"], limits=limits).reason == "memory"


def test_files_that_were_removed_count_until_the_last_process_has_closed_them(box: Sandbox) -> None:
    script = 'exec 5> "$HOME/a"; rm "$HOME/a"; head -c 40000000 /dev/zero >&5; sleep 60'
    with box:
        assert box.run(["sh", "-c", script]).reason == "disk"
        assert int(box.run(["sh", "-c", LEFT]).stdout.split()[1]) < MEGABYTE


def test_without_enough_memory_it_is_on_disk_and_the_reason_is_given() -> None:
    found = scratch_in_memory(1 << 50)

    assert found.size is None
    assert "of available memory are needed" in found.why or "cannot limit the size" in found.why


def test_a_sandbox_over_the_temporary_directory_has_its_scratch_on_disk(starter: Starter) -> None:
    if why := refusal(Tier.A):
        pytest.skip(why)
    with open_sandbox(Path("/tmp"), tier=Tier.A, starter=starter) as box:
        assert Path(box.scratch).is_dir()
        assert box.run(["sh", "-c", 'echo a > "$HOME/a" && cat "$HOME/a"']).stdout == b"a\n"
