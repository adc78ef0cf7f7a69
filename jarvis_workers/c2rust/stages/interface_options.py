"""The options of runs that write the bodies of a given interface."""

from dataclasses import dataclass
from typing import Annotated

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.option import Option
from jarvis_workers.sandbox.limits import BenchLimits


@dataclass(frozen=True, kw_only=True)
class InterfaceOptions(ConversationOptions):
    """`crate` is the blob of the given crate. A model answers at most 1 + `max_retries` times for a group of files;
    `notes` are added to each question. Limits apply to each command, as in `FastOptions`.
    """

    crate: str = ""
    max_retries: int = 5
    notes: str = ""
    build_seconds: Annotated[float, Option(setting="c2rust.build_seconds")] = 1800
    test_seconds: Annotated[float, Option(setting="c2rust.test_seconds")] = 600
    memory_mb: Annotated[float, Option(setting="c2rust.build_memory_mb")] = 4096
    disk_mb: Annotated[float, Option(setting="c2rust.build_disk_mb")] = 8192

    @property
    def attempts(self) -> int:
        """The number of answers for a group of files, at most."""
        return 1 + self.max_retries

    @property
    def command_limits(self) -> BenchLimits:
        return BenchLimits(self.build_seconds, self.test_seconds, self.memory_mb, self.disk_mb)
