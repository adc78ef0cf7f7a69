"""The options of runs that convert a C project."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from jarvis_workers.steps.c2rust.options import ParseOptions


@dataclass(frozen=True, kw_only=True)
class FastOptions(ParseOptions):
    """How a project is built, tested and converted.

    `project` is the blob of its archive.  `configure`, `build` and `tests` are commands, which are split as by a shell.
    `proof` is the weakest accepted proof.  `only` are names of functions to convert, with wildcards; empty for all
    functions.  With `forward`, bodies call their C originals: functions only get Rust signatures.  With `translate`,
    functions also get Rust signatures for the bodies of a model; `libraries` is the blob of the LibraryPlan for them,
    `plan` that of the PlanFiles, and `crates` that of the vendored crates that bodies may use, "" without one.  A run
    that makes the crate of a `paused_run` reads the results of its jobs.  Limits apply to each command: seconds,
    megabytes of memory and of files.
    """

    definitions: bool = True
    project: str = ""
    configure: str | None = None
    build: str | None = None
    tests: Sequence[str] = field(default_factory=list)
    proof: Literal["built", "reached", "compared"] = "reached"
    only: Sequence[str] = field(default_factory=list)
    forward: bool = False
    translate: bool = False
    libraries: str = ""
    plan: str = ""
    crates: str = ""
    paused_run: str = ""
    crate: str = "library"
    build_seconds: float = 1800
    test_seconds: float = 600
    memory_mb: float = 4096
    disk_mb: float = 8192
    tool_chains: Sequence[str] = field(default_factory=list)


def read_options(value: FastOptions | Mapping[str, Any]) -> FastOptions:
    """Decode options from JSON; values that are decoded already are returned unchanged."""
    return value if isinstance(value, FastOptions) else FastOptions.decode(value)
