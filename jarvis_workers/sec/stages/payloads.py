"""The payloads of jobs, and the result of a summarize job for the next stage.

This module avoids slow imports, since reports use it without the engines of the steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from jarvis_workers.pipeline.history import BatchPayload
from jarvis_workers.pipeline.json_record import JsonRecord


@dataclass(frozen=True)
class SummarizePayload(BatchPayload):
    """A scanned batch; the files to `skip` (paths as text) could not be scanned."""

    skip: tuple[str, ...] = field(metadata={"read": tuple})


@dataclass(frozen=True)
class ModelBlobs(JsonRecord):
    """The blobs written by a summarize job: the summaries of its batch, and their index."""

    models: str
    index: str

    @classmethod
    def of(cls, blobs: Mapping[str, str]) -> "ModelBlobs | None":
        """Return the blobs of a job's result, or None if no file has a summary."""
        return cls.decode(blobs) if blobs else None


@dataclass(frozen=True)
class FlowPayload(BatchPayload):
    """The summaries of a batch, starting at row `first` of the index; `names` is the blob of the run's symbol index."""

    models: str
    index: str
    names: str
    first: int = 0


@dataclass(frozen=True)
class CandidatesPayload(JsonRecord):
    """The candidates, by gid, of a job that clusters or verifies."""

    gids: tuple[int, ...] = field(metadata={"read": tuple})


@dataclass(frozen=True)
class ClusterPayload(JsonRecord):
    """A batch of candidates of one file; `shared` is what candidates of several files have in common.

    Candidates that are alone in their batches are combined in one job; `alone` has the indexes of their batches.
    """

    file: str
    batch_index: int
    shared: str
    gids: tuple[int, ...] = field(metadata={"read": tuple})
    alone: tuple[int, ...] | None = field(default=None, metadata={"read": tuple})


@dataclass(frozen=True)
class VerifyPayload(CandidatesPayload):
    """The candidates of a cluster, and the condition to verify."""

    verification: str


@dataclass(frozen=True)
class SeenPayload(VerifyPayload):
    """What a model has seen beside its candidates; `is_asked` is not set for those that no model is asked about."""

    is_asked: bool = True


@dataclass(frozen=True)
class DiscoverPayload(JsonRecord):
    """A function of a file that a run of an earlier version searched, at a place in the blob `ranking`.

    `functions` is the number of functions in the tree, `chosen` that of functions to search, and `lines_outside` that
    of lines of code in no function.
    """

    ranking: str
    place: int
    file: str
    functions: int
    chosen: int
    lines_outside: int = 0


@dataclass(frozen=True)
class FuzzPayload(JsonRecord):
    """A target to fuzz for so many seconds: its way of an attempt, its name, and the blobs of attempts that reached it.

    Without a target, the job looks for all of them.
    """

    way: str = ""
    target: str = ""
    seconds: int = 0
    attempts: tuple[str, ...] = field(default=(), metadata={"read": tuple})


@dataclass(frozen=True)
class ReadPayload(JsonRecord):
    """A group of files to read, at a place in the blob `plan`; or these `lines` of a file, which a reader asked for."""

    plan: str
    place: int
    files: tuple[str, ...] = field(metadata={"read": tuple})
    lines: tuple[int, int] | None = field(default=None, metadata={"read": lambda value: value and tuple(value)})

    @property
    def name(self) -> str:
        """The name of the lines."""
        return f"{self.files[0]}:{self.lines[0]}-{self.lines[1]}" if self.lines else ""
