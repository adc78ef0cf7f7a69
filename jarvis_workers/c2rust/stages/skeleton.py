"""The data that the jobs of a conversion share: bodies, types, declarations, and test results in C, as one blob."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import TypeAdapter

from jarvis_workers.c2rust.bench.line_coverage import measure_coverage
from jarvis_workers.c2rust.bench.project_bench import ProjectBench, ProjectBuild, open_bench
from jarvis_workers.c2rust.conversion import FunctionResult, PassedParameter
from jarvis_workers.c2rust.crate import CrateItem, Files, bench_crate
from jarvis_workers.c2rust.gates import LEAST_INPUTS
from jarvis_workers.c2rust.inputs import CallPlan
from jarvis_workers.c2rust.stages.input_runs import UsableInputs, find_usable
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.c2rust.translation import shim_signature, shown_signature
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.sandbox.limits import BenchLimits, CommandLimit
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.toolchain.gcov import LineCoverage
from jarvis_workers.toolchain.temporary import temporary_directory

if TYPE_CHECKING:
    from jarvis_workers.store.values import StageJob

# The name of the blob.
SKELETON = "skeleton"
# A busy machine stretches seconds, not CPU seconds.
LEAST_SECONDS, LEAST_CPU_SECONDS, SLOWER = 60, 10, 20
PARAMETER_MUT = re.compile(r"(?<![*&])\bmut (?=(?:r#)?\w+:)")


@dataclass(frozen=True, slots=True)
class SuiteBaseline:
    """A test command with all functions in C: CPU seconds, and whether two runs reached the same functions."""

    command: str
    seconds: float
    deterministic: bool
    wall_seconds: float = 0.0


class TranslationTarget(NamedTuple):
    """A function for a model to translate: its shim with its forwarder, and how its parameters are passed.

    `forwarder` and `name` are free names: of the forwarder, and of the function that the model writes. `wrapper` is
    the safe function of this name with which other functions call it, "" if there is none.
    """

    item: CrateItem
    forwarder: str
    name: str
    mapping: tuple[PassedParameter, ...]
    wrapper: str = ""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The state of a conversion before its gates.

    `functions` are all functions of the project, `bodies` those with a body, by slot; `called` are the slots that the
    tests call, `targets` the functions with a Rust signature for a model to translate. `wrappers` are those of the
    targets, by name, if the declarations are complete. `enums` are the planned kinds of enums by name.
    """

    functions: tuple[FunctionResult, ...]
    types: str
    declarations: Mapping[str, str]
    bodies: Mapping[str, CrateItem]
    suites: tuple[SuiteBaseline, ...] = ()
    called: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    shapes: str = ""
    globals: Mapping[str, CrateItem] = field(default_factory=dict)
    inputs: Mapping[str, UsableInputs] = field(default_factory=dict)
    targets: Mapping[str, TranslationTarget] = field(default_factory=dict)
    wrappers: Mapping[str, str] = field(default_factory=dict)
    enums: Mapping[str, str] = field(default_factory=dict)

    @property
    def declared(self) -> list[str]:
        """The declarations and wrappers."""
        return [*self.declarations.values(), *self.wrappers.values()]

    def is_tested(self, slot: str) -> bool:
        """Return whether tests call a function, or generated inputs exist for it."""
        inputs = self.inputs.get(slot)
        return slot in self.called or (inputs is not None and inputs.usable >= LEAST_INPUTS)

    def planned(self, function: FunctionResult) -> FunctionResult:
        """Return a function with its planned signature, as of a run that only plans them."""
        target = self.targets.get(function.slot)
        signature = shown_signature(target.item.text) if target else ""
        plain = replace(function, rust_signature=signature, state="forwarded", proof="built" if target else "none")
        return replace(plain, mapping=target.mapping if target else ())

    @property
    def suite_limits(self) -> dict[str, CommandLimit]:
        """The limits of each test command; a test that exceeds one is treated as an infinite loop."""
        return {
            suite.command: CommandLimit(
                LEAST_SECONDS + SLOWER * suite.wall_seconds, LEAST_CPU_SECONDS + SLOWER * suite.wall_seconds
            )
            for suite in self.suites
        }

    @property
    def crate(self) -> Files:
        """The crate for the gates."""
        return bench_crate(self.types, self.declared, list(self.bodies.values()), self.symbols, self.shapes)


_ADAPTER = TypeAdapter(Skeleton)


def encode_skeleton(skeleton: Skeleton) -> bytes:
    """Return a skeleton as JSON."""
    return _ADAPTER.dump_json(skeleton)


def decode_skeleton(content: bytes) -> Skeleton:
    """Return the skeleton that `encode_skeleton` encoded."""
    return _ADAPTER.validate_json(content)


def all_declarations(skeleton: Skeleton) -> dict[str, str]:
    """Return declarations of all functions, since a new body may call functions that no mechanical one calls."""
    shims = {one.item.name: (slot, shim_signature(one.item.text)) for slot, one in skeleton.targets.items()}
    own = {one.rust_name: (one.slot, one.rust_signature) for one in skeleton.functions if one.rust_signature}
    declared = {
        name: f'#[link_name = "{slot}"]\npub {PARAMETER_MUT.sub("", signature)};'
        for name, (slot, signature) in {**shims, **own}.items()
    }
    return {**declared, **skeleton.declarations}


def with_all_declared(skeleton: Skeleton) -> Skeleton:
    """Return the skeleton with declarations and wrappers for any body."""
    wrappers = {one.name: one.wrapper for one in skeleton.targets.values() if one.wrapper}
    return replace(skeleton, declarations=all_declarations(skeleton), wrappers=wrappers)


@contextmanager
def project_bench(resources: Resources, options: FastOptions) -> Iterator[ProjectBench]:
    """Yield a bench on this machine with the programs of a run."""
    with bench_directory(resources) as place, open_bench(place, *_build(resources, options)) as bench:
        yield bench


@contextmanager
def checked_bench(resources: Resources, options: FastOptions) -> Iterator[ProjectBench | None]:
    """Yield a bench with programs that stop at undefined behaviour, or None if they cannot be built."""
    build, limits = _build(resources, options)
    with ExitStack() as stack:
        place, bench = stack.enter_context(bench_directory(resources)), None
        with suppress(StepFailed):
            bench = stack.enter_context(open_bench(place, build._replace(kind="checked"), limits))
        yield bench


def project_coverage(resources: Resources, options: FastOptions) -> tuple[LineCoverage, str]:
    """Return the lines that the tests of a run execute in C; see `measure_coverage`."""
    with bench_directory(resources) as place:
        return measure_coverage(place, *_build(resources, options))


def usable_inputs(resources: Resources, options: FastOptions, plans: Sequence[CallPlan]) -> dict[str, UsableInputs]:
    """Return the inputs of functions for which C is well defined. Raises StepFailed if this cannot be determined."""
    build, limits = _build(resources, options)
    with bench_directory(resources) as place, open_bench(place, build._replace(kind="checked"), limits) as bench:
        return find_usable(bench, plans)


def _build(resources: Resources, options: FastOptions) -> tuple[ProjectBuild, BenchLimits]:
    blobs, tests = resources.blobs, tuple(options.tests)
    archive, crates = blobs.read(options.project), blobs.read(options.crates) if options.crates else b""
    chains = tuple(options.tool_chains)
    build = ProjectBuild(archive, options.commands_of_build, chains, tests, crates=crates)
    return build, BenchLimits(options.build_seconds, options.test_seconds, options.memory_mb, options.disk_mb)


@contextmanager
def bench_directory(resources: Resources) -> Iterator[Path]:
    """Yield the directory for the benches of this machine, which is temporary if there is no data directory."""
    if resources.checkouts:
        yield resources.checkouts.parent
        return
    with temporary_directory("jarvis-bench") as place:
        yield place


def skeleton_of(blobs: Blobs, outcomes: Sequence["StageJob"]) -> str:
    """Return the blob of a run's skeleton. Raises StepFailed if there is none."""
    for one in outcomes:
        result = read_result(blobs, one.result)
        if found := result.blobs.get(SKELETON):
            return found
        if reason := one.reason or next((reason for _, reason in result.not_checked), ""):
            raise StepFailed(reason)
    raise StepFailed("there is no skeleton")


def read_skeleton(blobs: Blobs, outcomes: Sequence["StageJob"]) -> Skeleton:
    """Return the skeleton of a run. Raises StepFailed if there is none."""
    return decode_skeleton(blobs.read(skeleton_of(blobs, outcomes)))
