"""The options of runs that read a C project."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.builds.command_words import COMPILATION, BuildCommands
from jarvis_workers.c2rust.stages.optimize_options import OptimizeOptions
from jarvis_workers.c2rust.stages.replace_options import ReplaceOptions
from jarvis_workers.errors import UsageError
from jarvis_workers.option import AGENTS, Option
from jarvis_workers.paths import read_regular
from jarvis_workers.pipeline.options import RunOptions


@dataclass(frozen=True, kw_only=True)
class ParseOptions(RunOptions):
    """Options for reading the units of a project.

    `commands` is the blob of the compile commands, `clang_headers` the setting of the same name.  With `allow_errors`,
    units with errors are included as far as clang understands them; a unit may use `unit_seconds` of CPU time. With
    `definitions`, syntax trees and types are read too.  `delayed` are names of functions to translate last, `warnings`
    are lines about the compile commands, and `links` are the symbolic links of the project with their targets, both
    relative to its root.  `lang` is the language of reports.
    """

    commands: str = ""
    allow_errors: Annotated[
        bool, Option("--allow-errors", "Accept units with errors, as far as they can be parsed.", COMPILATION)
    ] = False
    definitions: bool = False
    clang_headers: Annotated[str | None, Option(setting="c2rust.clang_headers")] = None
    unit_seconds: Annotated[float, Option(setting="c2rust.unit_seconds")] = 60.0
    unit_memory_mb: Annotated[float, Option(setting="c2rust.unit_memory_mb")] = 2000.0
    delayed: Sequence[str] = field(default_factory=list)
    warnings: Sequence[str] = field(default_factory=list)
    links: Mapping[str, str] = field(default_factory=dict)
    lang: Literal["en", "zh"] = "en"


# The options of runs that convert a C project.

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


# The options of runs in which a model plans the modules and signatures of a crate.


@dataclass(frozen=True, kw_only=True)
class PrepareOptions(FastOptions, ConversationOptions):
    """A model answers at most 1 + `plan_max_retries` times for the modules."""

    plan_max_retries: Annotated[int, Option(setting="c2rust.plan_max_retries")] = 3


# The options of runs in which a model translates functions.

NOTES_MAX = 20_000


def read_notes_file(path: Path) -> str:
    """Return the text of a file of notes, at most NOTES_MAX characters. Raises UsageError."""
    try:
        text = read_regular(path, 4 * NOTES_MAX).decode("utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    if len(text) > NOTES_MAX:
        raise UsageError(f"--notes: {path} is longer than {NOTES_MAX:,} characters; each question contains it")
    return text


@dataclass(frozen=True, kw_only=True)
class TranslateOptions(FastOptions, ConversationOptions):
    """A model answers at most 1 + `max_retries` times for a function; `notes` are added to each prompt.

    With `review`, the model also reviews each accepted body.  If none is accepted, the model group `escalate` gives as
    many answers.  Functions of the `risky` files of a security report come first, see `translation_weights`.
    With `drivers`, the model also writes C programs that call the functions which nothing reaches.  The run is paused
    when no answer was accepted for more than `pause_share` of the last functions.
    """

    max_retries: Annotated[
        int,
        Option("--max-retries -m", "Answers after the first.", AGENTS, metavar="NUMBER", at_least=0, at_most=50),
    ] = 5
    notes: Annotated[
        str,
        Option(
            "--notes",
            "Text that is added to each question.",
            AGENTS,
            metavar="FILE",
            given=Path,
            read=read_notes_file,
        ),
    ] = ""
    review: Annotated[
        bool, Option("--review/--no-review", "Review each accepted function: 2 to 4 more answers.", AGENTS)
    ] = True
    escalate: Annotated[
        str | None,
        Option(
            "--escalate",
            "Model group for functions of which no answer was accepted.",
            AGENTS,
            metavar="GROUP",
            completion="groups",
        ),
    ] = None
    risky: Mapping[str, Sequence[int]] = field(default_factory=dict)
    drivers: Annotated[
        bool,
        Option(
            "--drivers/--no-drivers",
            "Ask for C programs that call the functions which no test reaches: 1 to 3 more answers each.",
            AGENTS,
        ),
    ] = True
    pause_share: Annotated[float | None, Option(setting="c2rust.pause_share")] = None

    @property
    def attempts(self) -> int:
        """The number of answers for a function, at most."""
        return 1 + self.max_retries

    def answers_left(self, count: int) -> int:
        """Return the number of answers for a function that already has `count`, at most."""
        return self.attempts * (2 if self.escalate else 1) - count


# The options of runs that move a project to Rust from its first scan to its crate.


@dataclass(frozen=True, kw_only=True)
class MoveOptions(TranslateOptions, ReplaceOptions, PrepareOptions, OptimizeOptions):
    """The options of all stages."""
