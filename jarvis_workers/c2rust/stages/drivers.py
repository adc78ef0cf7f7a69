"""C programs that call functions which no test reaches, and the gates with them."""

from collections.abc import Iterable

from pydantic import TypeAdapter

from jarvis_workers.c2rust.bench.driver_programs import Driver, build_driver
from jarvis_workers.c2rust.bench.project_bench import ProjectBench
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites, baseline
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.sandbox.limits import CommandLimit
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import StageJob

# The stage, and the name of the blob with the driver of a job.
STEP = DRIVER = "driver"
LIMIT = CommandLimit(60, 10)
TAIL = 2_000
_DRIVER = TypeAdapter(tuple[str, Driver])


def encode_driver(slot: str, driver: Driver) -> bytes:
    """Return the driver of a function as JSON."""
    return _DRIVER.dump_json((slot, driver))


def driver_blobs(blobs: Blobs, outcomes: Iterable[StageJob]) -> dict[str, str]:
    """Return the blobs of the drivers that jobs have accepted, by the slots of their functions."""
    found = (read_result(blobs, one.result).blobs.get(DRIVER) for one in outcomes)
    return dict(sorted((read_driver(blobs, name)[0], name) for name in found if name))


def read_driver(blobs: Blobs, name: str) -> tuple[str, Driver]:
    """Return the slot of a function and its driver, from their blob."""
    return _DRIVER.validate_json(blobs.read(name))


def driven_suites(
    bench: ProjectBench, checked: ProjectBench | None, blobs: Blobs, names: Iterable[str]
) -> dict[str, BenchSuites]:
    """Return for the functions of drivers, given by their blobs, these as their only tests. Raises StepFailed."""
    drivers = (read_driver(blobs, name) for name in names)
    return {slot: driver_suites(bench, checked, driver) for slot, driver in drivers}


def driver_suites(bench: ProjectBench, checked: ProjectBench | None, driver: Driver) -> BenchSuites:
    """Return the driver as the only test on benches. Raises StepFailed if it does not build."""
    for one in filter(None, (bench, checked)):
        if problem := build_driver(one, driver):
            raise StepFailed(f"the driver does not build: {problem}")
    return BenchSuites(bench, [driver.program], {driver.program: LIMIT}, checked)


def driver_problem(bench: ProjectBench, checked: ProjectBench | None, driver: Driver, slot: str) -> str:
    """Return why a driver cannot test a function, or an empty string: it passes in C, and calls the function.

    Raises StepFailed if the benches cannot be used.
    """
    for one in filter(None, (bench, checked)):
        if problem := build_driver(one, driver) or _failure(one, driver):
            return problem
    suite, last, called = baseline(bench, driver.program)
    if last.failure or not suite.deterministic:
        return "two runs of the driver differ"
    if slot not in called:
        return "the driver does not call the function"
    suites = driver_suites(bench, checked, driver)
    return "the driver passes without the function" if suites.run(trap=[slot]).passed else ""


def _failure(bench: ProjectBench, driver: Driver) -> str:
    done = bench.test(driver.program, {}, LIMIT)
    output = done.output[-TAIL:].decode(errors="backslashreplace")
    # The programs of one of the benches stop at undefined behaviour.
    return done.failure and f"the driver fails, or its behaviour is undefined: {done.failure}: {output}"
