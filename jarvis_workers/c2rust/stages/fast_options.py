"""The options of runs that convert a C project."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from jarvis_workers.builds.command_words import COMPILATION, BuildCommands
from jarvis_workers.c2rust.stages.options import ParseOptions
from jarvis_workers.option import Option

CONVERSION = "Conversion"


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
    configure: Annotated[
        str | None,
        Option("--configure", "Command to run before the build, in the sandbox.", COMPILATION, metavar="CMD"),
    ] = None
    build: Annotated[
        str | None, Option("--build", "The project's own build command, such as make.", COMPILATION, metavar="CMD")
    ] = None
    tests: Annotated[
        Sequence[str], Option("--test", "The project's own test command; repeatable.", COMPILATION, metavar="CMD")
    ] = field(default_factory=list)
    proof: Annotated[
        Literal["built", "reached", "compared"],
        Option(
            "--proof",
            "Weakest proof accepted: built; reached by a test that passes; compared call by call with C.",
            CONVERSION,
        ),
    ] = "reached"
    only: Annotated[
        Sequence[str],
        Option("--only", "Functions to convert, with wildcards; @FILE: one per line.", CONVERSION, metavar="NAME"),
    ] = field(default_factory=list)
    forward: bool = False
    translate: bool = False
    libraries: str = ""
    plan: str = ""
    crates: str = ""
    paused_run: str = ""
    crate: str = "library"
    build_seconds: Annotated[float, Option(setting="c2rust.build_seconds")] = 1800
    test_seconds: Annotated[float, Option(setting="c2rust.test_seconds")] = 600
    memory_mb: Annotated[float, Option(setting="c2rust.build_memory_mb")] = 4096
    disk_mb: Annotated[float, Option(setting="c2rust.build_disk_mb")] = 8192
    tool_chains: Sequence[str] = field(default_factory=list)

    @property
    def commands_of_build(self) -> BuildCommands:
        """The commands that are recorded to find out how files are compiled."""
        return BuildCommands(self.configure, self.build)


def read_options(value: FastOptions | Mapping[str, Any]) -> FastOptions:
    """Decode options from JSON; values that are decoded already are returned unchanged."""
    return value if isinstance(value, FastOptions) else FastOptions.decode(value)
