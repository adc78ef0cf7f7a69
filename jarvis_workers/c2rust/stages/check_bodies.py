"""Run the gates on a batch of functions, using a bench."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING

from jarvis_workers.c2rust.conversion import GateOutcome
from jarvis_workers.c2rust.gates import GateReport, check_function
from jarvis_workers.c2rust.stages.checked_functions import CHECKED, STEP, encode_checked
from jarvis_workers.c2rust.stages.drivers import STEP as DRIVERS
from jarvis_workers.c2rust.stages.drivers import driven_suites, driver_blobs
from jarvis_workers.c2rust.stages.gate_cache import QUEUE, cache_result, cached_result, result_key
from jarvis_workers.c2rust.stages.options import FastOptions, read_options
from jarvis_workers.c2rust.stages.shared_runs import share_runs
from jarvis_workers.c2rust.stages.skeleton import (
    SKELETON,
    Skeleton,
    checked_bench,
    decode_skeleton,
    project_bench,
    skeleton_of,
)
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.values import Claimed, Commit, NewJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

BY_DRIVER = "a driver of the model calls it"
# Each job builds the crate on its bench first, if another has not done so, and runs the tests about ten times: many
# functions share this. Some functions are two jobs, for two processors.
BATCH_FUNCTIONS, SOME_FUNCTIONS = 64, 8
# Half of the default of `c2rust.hard_limit_seconds`.
BATCH_SECONDS = 7200


@dataclass(frozen=True)
class CheckPayload(JsonRecord):
    """The slots of a job's functions, and the blobs of the skeleton and of the drivers of some of the functions."""

    slots: Sequence[str]
    skeleton: str
    drivers: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class CheckWork(JsonRecord):
    """The input of a job."""

    slots: Sequence[str]
    skeleton: str
    drivers: Sequence[str]
    options: FastOptions = field(metadata={"read": read_options})


read_work = CheckWork.decode


def recall(work: CheckWork, resources: Resources) -> Commit | None:
    """Return the cached results of the gates."""
    return cached_result(resources, work.options, _key(work))


def plan_on(_: "Run", blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job per batch of functions with a body."""
    name = skeleton_of(blobs, earlier.outcomes(SKELETON))
    skeleton = decode_skeleton(blobs.read(name))
    slots = sorted(skeleton.bodies)
    size = batch_size(len(slots), sum(suite.wall_seconds for suite in skeleton.suites))
    drivers = driver_blobs(blobs, earlier.outcomes(DRIVERS))
    for start in range(0, len(slots), size):
        some = slots[start : start + size]
        payload = CheckPayload(some, name, [drivers[slot] for slot in some if slot in drivers]).to_json()
        label = f"{some[0]} … ({len(some)} functions)"
        yield NewJob(STEP, QUEUE, label, sha256(payload.encode()).hexdigest(), payload=payload)


def batch_size(functions: int, suite_seconds: float) -> int:
    """Return the number of functions per job, if none of them shares a run of the tests with others."""
    most = max(1, min(BATCH_FUNCTIONS, int(BATCH_SECONDS / (3 * suite_seconds + 0.1))))
    jobs = max(ceil(functions / most), 2 if functions >= SOME_FUNCTIONS else 1)
    return max(1, ceil(functions / jobs))


def load(_: "Session", run: "Run", job: Claimed) -> CheckWork:
    """Return the functions of a job."""
    payload = CheckPayload.from_json(job.payload)
    drivers = payload.drivers
    return CheckWork(slots=payload.slots, skeleton=payload.skeleton, drivers=drivers, options=FastOptions.of(run))


def decide(work: CheckWork, resources: Resources) -> Commit:
    """Return the results of the gates of each function as a blob."""
    skeleton = decode_skeleton(resources.blobs.read(work.skeleton))
    with project_bench(resources, work.options) as bench, checked_bench(resources, work.options) as checked:
        bench.write_crate(skeleton.crate)
        passed, messages = bench.build_library()
        if not passed:
            raise StepFailed(f"the crate does not build: {messages[-1].text if messages else 'no message'}")
        suites = BenchSuites(bench, work.options.tests, skeleton.suite_limits, checked)
        driven = driven_suites(bench, checked, resources.blobs, work.drivers)
        content = encode_checked(run_gates(suites, skeleton, work.slots, driven))
    return cache_result(
        resources, _key(work), Commit(blobs=((CHECKED, resources.blobs.put(content)),)), content.decode()
    )


def _key(work: CheckWork) -> str:
    return result_key(STEP, work.options, work.skeleton, work.slots, work.drivers)


def run_gates(
    suites: BenchSuites,
    skeleton: Skeleton,
    slots: Sequence[str],
    driven: Mapping[str, BenchSuites] = MappingProxyType({}),
    reached: Mapping[str, GateOutcome] = MappingProxyType({}),
) -> list[GateReport]:
    """Run the gates on functions whose bodies are in the library; those that are `driven` have these tests.

    `reached` are known outcomes of that gate. If the programs cannot load the library, no function is tested.
    """
    shadow = all(suite.deterministic for suite in skeleton.suites)
    called = [slot for slot in slots if slot in skeleton.called and slot not in driven]
    shared = share_runs(suites, skeleton.bodies, called, shadow=shadow)
    reports = [
        check_function(
            driven.get(slot, suites),
            slot,
            called=slot in skeleton.called or slot in driven,
            shadow=shadow or slot in driven,
            inputs=suites.call(slot, skeleton.inputs.get(slot)),
            reached=reached.get(slot) or shared.reached.get(slot),
            suite=shared.suite.get(slot),
            doubled=shared.doubled.get(slot),
        )
        for slot in slots
    ]
    # A suite that passes has loaded the library.
    if not any(map(_passed_suite, reports)) and (failure := suites.load_failure()):
        gates = GateOutcome("check", passed=True), GateOutcome("reached", passed=False, detail=failure)
        return [GateReport(slot, gates) for slot in slots]
    return [_by_driver(one) if one.slot in driven else one for one in reports]


def _passed_suite(report: GateReport) -> bool:
    """Return whether the tests pass with a body."""
    return any(one.gate == "suite" and one.passed for one in report.gates)


def _by_driver(report: GateReport) -> GateReport:
    reached = (one._replace(detail=BY_DRIVER) if one.gate == "reached" and one.passed else one for one in report.gates)
    return report._replace(gates=tuple(reached))
