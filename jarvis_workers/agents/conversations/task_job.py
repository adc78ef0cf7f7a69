"""The only job of a run that gives agents one task."""

from dataclasses import dataclass
from hashlib import sha256

from jarvis_workers.paths import plain
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.store.values import AGENT_QUEUE, NewJob


@dataclass(frozen=True)
class TaskPayload(JsonRecord):
    """The payload of the job; `about` is the hash of its input."""

    about: str


def task_job(step: str, task: str, *parts: str) -> NewJob:
    """Return the job; its input are the `parts`, so that equal ones send equal requests. The task is its label."""
    about = sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return NewJob(step, AGENT_QUEUE, plain(" ".join(task.split())), about, payload=TaskPayload(about).to_json())
