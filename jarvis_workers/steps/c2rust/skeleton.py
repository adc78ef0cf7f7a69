"""What the jobs of a conversion share: bodies, types and declarations, how the tests behave in C, as one blob."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from jarvis_workers.bench.project_bench import BenchLimits, ProjectBench, ProjectBuild, open_bench
from jarvis_workers.c2rust.conversion import FunctionResult
from jarvis_workers.c2rust.crate import CrateItem, Files, bench_crate
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.steps.c2rust.fast_options import FastOptions
from jarvis_workers.toolchain.temporary import temporary_directory

# The name of the blob.
SKELETON = "skeleton"


@dataclass(frozen=True, slots=True)
class SuiteBaseline:
    """A test command with all functions in C: its CPU seconds, and whether two runs reached the same functions."""

    command: str
    seconds: float
    deterministic: bool


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The state of a conversion before its gates.

    `functions` are all of the project, those with a body in `bodies` by slot; `called` are the slots that the tests
    call.
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

    @property
    def crate(self) -> Files:
        """The crate for the gates."""
        return bench_crate(
            self.types, self.declarations.values(), list(self.bodies.values()), self.symbols, self.shapes
        )


_ADAPTER = TypeAdapter(Skeleton)


def encode_skeleton(skeleton: Skeleton) -> bytes:
    """Return a skeleton as JSON."""
    return _ADAPTER.dump_json(skeleton)


def decode_skeleton(content: bytes) -> Skeleton:
    """Return the skeleton that `encode_skeleton` encoded."""
    return _ADAPTER.validate_json(content)


@contextmanager
def project_bench(resources: Resources, options: FastOptions) -> Iterator[ProjectBench]:
    """Yield a bench of this machine with the programs of a run."""
    build = ProjectBuild(
        resources.blobs.read(options.project),
        options.configure,
        options.build,
        tuple(options.tool_chains),
        tuple(options.tests),
    )
    limits = BenchLimits(options.build_seconds, options.test_seconds, options.memory_mb, options.disk_mb)
    with ExitStack() as stack:
        place = bench_directory(resources) or stack.enter_context(temporary_directory("jarvis-bench"))
        yield stack.enter_context(open_bench(place, build, limits))


def bench_directory(resources: Resources) -> Path | None:
    """Return the directory for the benches of this machine, None without a data directory."""
    return resources.checkouts.parent if resources.checkouts else None


def read_skeleton(blobs: Blobs, names: Sequence[str]) -> Skeleton:
    """Return the skeleton of a run from its blob."""
    return decode_skeleton(blobs.read(names[0]))
