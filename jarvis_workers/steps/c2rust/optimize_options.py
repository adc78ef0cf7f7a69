"""The options of runs that optimize a crate."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from jarvis_workers.conversations.options import ConversationOptions


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
    max_checks: int = 0
    fix_retries: int = 2
    build_seconds: float = 1800
    test_seconds: float = 600
    memory_mb: float = 4096
    disk_mb: float = 8192

    @property
    def attempts(self) -> int:
        """The number of answers for a file, at most."""
        return 1 + self.fix_retries
