"""Work that takes too much is ended, and its process lives on as it was."""

import re
import resource
import signal
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from jarvis_workers.errors import GivenUp, HostExhausted
from jarvis_workers.toolchain.limits import ResourceBudget, cpu_seconds

pytestmark = pytest.mark.timing

LITTLE = 0.05


def spin() -> None:
    while True:
        pass


def spin_and_swallow() -> str:
    with suppress(BaseException):
        spin()
    return "done, as if nothing had happened"


def test_what_ends_in_time_is_returned() -> None:
    with ResourceBudget(100) as budget:
        assert budget.run(lambda: 7, 5) == 7


@pytest.mark.parametrize("work", [spin, lambda: re.match(r"(a+)+$", "a" * 40 + "b")])
def test_cpu_timeout_ends_a_loop_also_inside_a_match(work) -> None:  # type: ignore[no-untyped-def]
    with ResourceBudget(100) as budget, pytest.raises(GivenUp, match=re.escape("exceeded the CPU limit of 0.05 s")):
        budget.run(work, LITTLE)


def test_cpu_timeout_counts_even_if_the_work_has_swallowed_it() -> None:
    with ResourceBudget(100) as budget, pytest.raises(GivenUp):
        budget.run(spin_and_swallow, LITTLE)


def test_each_piece_of_work_has_the_whole_budget() -> None:
    with ResourceBudget(100) as budget:
        for _ in range(2):
            with pytest.raises(GivenUp):
                budget.run(spin, LITTLE)
        assert budget.run(lambda: "still alive", LITTLE) == "still alive"


def test_too_much_memory_is_ended_and_can_be_had_afterwards() -> None:
    with ResourceBudget(50) as budget, pytest.raises(GivenUp, match="exceeded the memory limit of 50 MB"):
        budget.run(lambda: bytes(200_000_000), 5)

    assert len(bytes(200_000_000)) == 200_000_000


def test_memory_that_the_machine_lacks_is_not_charged_to_the_work() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 50_000_000, before[1]))
    try:
        with ResourceBudget(500) as budget, pytest.raises(HostExhausted, match="less memory than its limit of 500 MB"):
            budget.run(lambda: bytes(100_000_000), 10.0)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_the_process_is_left_as_it_was() -> None:
    before = signal.getsignal(signal.SIGPROF), resource.getrlimit(resource.RLIMIT_DATA)
    with ResourceBudget(100):
        pass

    assert (signal.getsignal(signal.SIGPROF), resource.getrlimit(resource.RLIMIT_DATA)) == before


def test_no_cpu_timeout_outside_the_main_thread() -> None:
    done: list[int] = []

    def work() -> None:
        with ResourceBudget(100) as budget:
            done.append(budget.run(lambda: 7, LITTLE))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [7]


def test_the_cpu_of_a_process_only_grows() -> None:
    assert 0 < cpu_seconds() <= cpu_seconds()
