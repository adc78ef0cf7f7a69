"""The only job of a run that gives agents one task."""

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Generic, TypeVar

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.paths import plain
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

OptionsT = TypeVar("OptionsT", bound=ConversationOptions)


@dataclass(frozen=True)
class TaskPayload(JsonRecord):
    """The payload of the job; `about` is the hash of its input."""

    about: str


def task_job(step: str, task: str, *parts: str) -> NewJob:
    """Return the job; its input are the `parts`, so that equal ones send equal requests. The task is its label."""
    about = sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return NewJob(step, AGENT_QUEUE, plain(" ".join(task.split())), about, payload=TaskPayload(about).to_json())


@dataclass(frozen=True)
class TaskWork(Generic[OptionsT]):
    """The options of the run, and the transcript of the conversation so far."""

    job: Claimed
    options: OptionsT
    about: str
    snapshot_id: str
    lines: list[bytes]


def load_task(session: "Session", run: Run, job: Claimed, options: OptionsT) -> TaskWork[OptionsT]:
    """Return the work of the job."""
    about = TaskPayload.from_json(job.payload).about
    return TaskWork(job, options, about, run.snapshot_id, lines(session, job.id))
