"""The options common to all kinds of runs. A kind with further options defines a subclass next to its steps.

A user's options are a single value from the command line to the row of the run, and from there to the steps. A field
that a user may set has an `Option`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from jarvis_workers.option import check_values
from jarvis_workers.pipeline.each_file import FileLimits
from jarvis_workers.pipeline.json_record import JsonRecord

if TYPE_CHECKING:
    from jarvis_workers.store.values import Run


def read_limits(limits: FileLimits | Mapping[str, float]) -> FileLimits:
    """Decode the limits from JSON; values that are decoded already are returned unchanged."""
    return limits if isinstance(limits, FileLimits) else FileLimits(**limits)


@dataclass(frozen=True, kw_only=True)
class RunOptions(JsonRecord):
    """Options of the scan, the location of the tree in its repository, and users' notes on the run.

    `path_prefix` is the path from the root of the repository to the tree, `checkout` its branch and commit,
    `repository_url` its remote, `source_url` a template of links to the source; `paths` are the scanned paths, None for
    all. The report shows the `remark`; a `label` can be set after the start of the run. How the starting command was
    told to deliver the result (`output`, `output_format`, `fail_on`, `relative_to`) is for the command that resumes it.
    """

    batch_files: int = 1000
    batch_bytes: int = 16_000_000
    processes: int = 1
    limits: FileLimits = field(default=FileLimits(), metadata={"read": read_limits})
    cache: bool = True
    path_prefix: str = ""
    paths: Sequence[str] | None = None
    checkout: Mapping[str, Any] | None = None
    repository_url: str | None = None
    source_url: str | None = None
    remark: str | None = None
    label: str | None = None
    output: str | None = None
    output_format: str | None = None
    fail_on: str | None = None
    relative_to: str | None = None

    def __post_init__(self) -> None:
        check_values(self)

    @classmethod
    def of(cls, run: "Run") -> Self:
        """Return the options of a run; options missing from an older version's row have their defaults."""
        return cls.decode(run.options)
