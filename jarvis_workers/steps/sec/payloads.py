"""The payloads of jobs, and the result that a summarize job leaves for the next stage.

Light, as reports read them without the engines behind the steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from jarvis_workers.pipeline.batches import BatchPayload
from jarvis_workers.pipeline.json_record import JsonRecord

__all__ = ["CandidatesPayload", "ClusterPayload", "FlowPayload", "ModelBlobs", "SummarizePayload", "VerifyPayload"]


@dataclass(frozen=True)
class SummarizePayload(BatchPayload):
    """A batch that was scanned; the files to `skip` (paths as text) could not be."""

    skip: tuple[str, ...] = field(metadata={"read": tuple})


@dataclass(frozen=True)
class ModelBlobs(JsonRecord):
    """The blobs that a summarize job wrote: the models of its batch, and their index."""

    models: str
    index: str

    @classmethod
    def of(cls, blobs: Mapping[str, str]) -> "ModelBlobs | None":
        """Return the blobs of a job's result, None where no file has a model."""
        return cls.decode(blobs) if blobs else None


@dataclass(frozen=True)
class FlowPayload(BatchPayload):
    """The models of a batch, from row `first` of the index on; `names` is the blob of what all batches export."""

    models: str
    index: str
    names: str
    first: int = 0


@dataclass(frozen=True)
class CandidatesPayload(JsonRecord):
    """The candidates of a job that clusters or verifies, by gid."""

    gids: tuple[int, ...] = field(metadata={"read": tuple})


@dataclass(frozen=True)
class ClusterPayload(JsonRecord):
    """A batch of candidates of one file; `shared` names what those of several files go through.

    Candidates that are `alone` in their batches make one job for many: these are the indexes of their batches.
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
