"""The jobs that ask a model to plan a crate: their questions, and the functions that these are about."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from jarvis_workers.c2rust.project import Project, ProjectItem
from jarvis_workers.c2rust.shims import forward_refusal
from jarvis_workers.c2rust.stages.conversion_project import job_results, project_of
from jarvis_workers.c2rust.stages.library_plans import unneeded_functions
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.c2rust.stages.unit_batches import SYMBOLS_STAGE
from jarvis_workers.c2rust.translation import is_chosen
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import AGENT_QUEUE, NewJob


@dataclass(frozen=True)
class QuestionPayload(JsonRecord):
    """The blob of the question of a job."""

    question: str


def question_job(step: str, label: str, question: str) -> NewJob:
    """Return the job that asks a question, given by its blob."""
    payload = QuestionPayload(question).to_json()
    return NewJob(step, AGENT_QUEUE, label, sha256(f"{step}:{question}".encode()).hexdigest(), payload=payload)


def read_stage_project(blobs: Blobs, earlier: StageHistory) -> Project:
    """Return the project of a run, for the plan of a stage."""
    return project_of(blobs, job_results(earlier.outcomes(SYMBOLS_STAGE)))


def planned_functions(
    project: Project, options: FastOptions, earlier: StageHistory, blobs: Blobs
) -> Iterator[ProjectItem]:
    """Yield the functions that get a Rust signature, without those that need none because libraries replace others."""
    unneeded, only = unneeded_functions(options, earlier, blobs), options.only
    left = (one for one in project.functions if one.definition.key not in unneeded)
    return (one for one in left if not one.refusal and not forward_refusal(one) and is_chosen(one, only))
