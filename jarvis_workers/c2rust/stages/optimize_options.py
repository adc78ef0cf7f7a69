"""The options of runs that optimize a crate."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.option import AGENTS, Option

FILES = "Files"


@dataclass(frozen=True, kw_only=True)
class OptimizeOptions(ConversationOptions):
    """Which crate to optimize, and how.

    `archive` is the blob of the crate; without one, it is that of an earlier stage of the run. `files` are the Rust
    files to change, empty for all modules of functions, `passes` the names of the passes to run. At most `max_checks`
    runs of the tests, 0 for any number.  With a model group, a model proposes edits of each file, in at most
    1 + `fix_retries` answers.  Limits apply to each command: seconds, megabytes of memory and of files.
    """

    archive: str = ""
    files: Sequence[str] = field(default_factory=list)
    passes: Sequence[str] = field(default_factory=list)
    max_checks: Annotated[
        int, Option("--max-checks -m", "Most runs of cargo test; 0: any number.", metavar="NUMBER", at_least=0)
    ] = 0
    fix_retries: Annotated[
        int,
        Option(
            "--build-fix-retries -r",
            "Further answers of a model for a file whose edits fail.",
            AGENTS,
            metavar="NUMBER",
            at_least=0,
        ),
    ] = 2
    build_seconds: Annotated[float, Option(setting="c2rust.build_seconds")] = 1800
    test_seconds: Annotated[float, Option(setting="c2rust.test_seconds")] = 600
    memory_mb: Annotated[float, Option(setting="c2rust.build_memory_mb")] = 4096
    disk_mb: Annotated[float, Option(setting="c2rust.build_disk_mb")] = 8192

    @property
    def attempts(self) -> int:
        """The number of answers for a file, at most."""
        return 1 + self.fix_retries


@dataclass(frozen=True, kw_only=True)
class OptimizeRequest:
    """Which files of a crate to optimize, and how. `include` and `exclude` are patterns of their paths.

    With `resume`, files that are optimized and have not changed since are left out.
    """

    options: OptimizeOptions = OptimizeOptions()
    include: Annotated[
        Sequence[str],
        Option("--include", "Only these files of the crate, with wildcards; repeatable.", FILES, metavar="PATTERN"),
    ] = ()
    exclude: Annotated[
        Sequence[str], Option("--exclude", "Files to leave as they are; repeatable.", FILES, metavar="PATTERN")
    ] = ()
    max_files: Annotated[
        int | None, Option("--max-files -n", "At most NUMBER files.", FILES, metavar="NUMBER", at_least=1)
    ] = None
    resume: Annotated[
        bool, Option("--resume/--no-resume", "Also files that are optimized and have not changed.", FILES)
    ] = True
