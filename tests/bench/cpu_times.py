"""A pytest plugin that writes the CPU seconds of each test, including its children, to a file, slowest first.

    python -m pytest -p tests.bench.cpu_times --cpu-times times.txt [-n 2]

Each xdist worker writes a separate file (times.txt.gw0).  The CPU time of a child counts for the test that waits for
it; servers shared by many tests are not counted.  How slow the machine was meanwhile, with all that ran beside the
tests, is measured between them: the median is in the first line.
"""

import os
import resource
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from statistics import median

import pytest

from tests.support.machine import slowness_of_machine

# A measurement for each so many tests.
EACH = 50
_slow: list[float] = []
_times: dict[str, float] = {}


def cpu() -> float:
    """Return the CPU seconds of this process and of all children that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-times", metavar="FILE", type=Path, help="write the CPU seconds of each test to FILE")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    before = cpu()
    try:
        return (yield)
    finally:
        _times[item.nodeid] = cpu() - before
        if len(_times) % EACH == 1:
            _slow.append(slowness_of_machine())


def pytest_sessionfinish(session: pytest.Session) -> None:
    path: Path | None = session.config.getoption("--cpu-times")
    if path is None or not _times:
        return
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    path = path.with_name(f"{path.name}.{worker}") if worker else path
    path.write_text("".join(_lines()))


def _lines() -> Iterator[str]:
    yield f"{median(_slow):9.2f} times as slow\n"
    yield f"{sum(_times.values()):9.2f} all tests\n{cpu():9.2f} this process, collection included\n"
    for name, seconds in sorted(_times.items(), key=lambda item: -item[1]):
        yield f"{seconds:9.2f} {name}\n"
