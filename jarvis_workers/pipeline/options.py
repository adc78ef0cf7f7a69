"""The options of a run that every kind has. A kind with options of its own has a subclass beside its steps.

What a user asked for is one value from the command line to the row of the run, and from there to the steps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from jarvis_workers.pipeline.each_file import FileLimits
from jarvis_workers.pipeline.json_record import JsonRecord

if TYPE_CHECKING:
    from jarvis_workers.store.values import Run

__all__ = ["RunOptions", "read_limits"]


def read_limits(said: FileLimits | Mapping[str, float]) -> FileLimits:
    """Return limits from what JSON holds of them."""
    return said if isinstance(said, FileLimits) else FileLimits(**said)


@dataclass(frozen=True, kw_only=True)
class RunOptions(JsonRecord):
    """How files are scanned, where the tree is, and what people say of the run.

    `path_prefix` is the path from the top of the repository to the tree, `checkout` the branch and commit there,
    `source_url` a template of links to the source; `paths` are those scanned, None for all. A `remark` is repeated in
    the report; a `label` is given to a run later.
    """

    batch_files: int = 1000
    batch_bytes: int = 16_000_000
    processes: int = 1
    limits: FileLimits = field(default=FileLimits(), metadata={"read": read_limits})
    cache: bool = True
    path_prefix: str = ""
    paths: Sequence[str] | None = None
    checkout: Mapping[str, Any] | None = None
    source_url: str | None = None
    remark: str | None = None
    label: str | None = None

    @classmethod
    def of(cls, run: "Run") -> Self:
        """Return the options of a run; what older versions have not written has its default."""
        return cls.decode(run.options)
