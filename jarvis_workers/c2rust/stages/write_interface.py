"""Write the bodies of a group of files of a given interface by a model: the step of stage `interface`.

The crate is built and tested in the sandbox while an answer is checked, from the given files and those of the answer;
its tests always come from the given crate.
"""

import asyncio
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.limits import is_caused_by_answers
from jarvis_workers.agents.tools.tool import Tool
from jarvis_workers.c2rust.bench.crate_archive import files_of
from jarvis_workers.c2rust.bench.crate_tests import CARGO_FAILED, crate_outcome
from jarvis_workers.c2rust.interface_question import (
    InterfaceQuestion,
    interface_files,
    interface_groups,
    interface_question,
)
from jarvis_workers.c2rust.interface_result import encode_outcome
from jarvis_workers.c2rust.interface_translation import (
    CRATE_TOOL,
    WrittenFiles,
    encode_written,
    interface_translator,
    translate_interface,
)
from jarvis_workers.c2rust.stages.bench_tools import bench_tool
from jarvis_workers.c2rust.stages.interface_options import InterfaceOptions
from jarvis_workers.c2rust.stages.translated_bodies import QUEUE
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

STEP = "interface"
# The name of the blob with the files of a job.
WRITTEN = "written"
BUILDS = threading.BoundedSemaphore(os.cpu_count() or 1)
C_SUFFIXES = (".c", ".h")


@dataclass(frozen=True)
class GroupPayload(JsonRecord):
    """The paths of the files of a job."""

    paths: Sequence[str]


@dataclass(frozen=True)
class InterfaceWork:
    """A group of files to complete, and the transcript of the conversation so far."""

    job: Claimed
    paths: Sequence[str]
    options: InterfaceOptions
    snapshot_id: str
    lines: list[bytes]


def plan(run: Run, blobs: Blobs) -> Iterator[NewJob]:
    """Yield a job for each group of files with functions that have no body."""
    for group in interface_groups(interface_files(files_of(blobs.read(InterfaceOptions.of(run).crate)))):
        payload = GroupPayload(group).to_json()
        label = group[0] if len(group) == 1 else f"{group[0]} and {len(group) - 1} more"
        yield NewJob(STEP, QUEUE, label, sha256(payload.encode()).hexdigest(), payload=payload)


def load(session: "Session", run: Run, job: Claimed) -> InterfaceWork:
    """Return the files of a job."""
    paths = GroupPayload.from_json(job.payload).paths
    return InterfaceWork(job, paths, InterfaceOptions.of(run), run.snapshot_id, lines(session, job.id))


async def converse(work: InterfaceWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Commit the files with bodies, or the reason why there are none."""
    root = await runtime.unpack(blobs, work.snapshot_id)
    crate = await asyncio.to_thread(lambda: files_of(blobs.read(work.options.crate)))
    question = await asyncio.to_thread(_question, work, crate, root)
    check = partial(_check, crate, work.options, run_tests=_is_whole(question, crate))
    # A crate that cargo does not accept would fail with every answer.
    given = await asyncio.to_thread(check, {})
    if given.error.startswith(CARGO_FAILED):
        written = WrittenFiles({}, reason=f"the given crate does not build: {given.error}")
    else:
        tool = bench_tool(
            CRATE_TOOL,
            "Build and test the crate.",
            "the tests did not run",
            lambda files: encode_outcome(check(files)),
            "files",
        )
        written = await _ask(work, runtime, question, tool)
    content = await asyncio.to_thread(blobs.put, encode_written(written))
    return Commit(files=len(work.paths), blobs=((WRITTEN, content),))


async def _ask(work: InterfaceWork, runtime: AgentRuntime, question: InterfaceQuestion, tool: Tool) -> WrittenFiles:
    options = work.options
    with runtime.open(work.job, options.group, question.about, work.lines) as talk:
        agent = interface_translator(talk.platform.profile, talk.marks, options.agent_limits, options.attempts)
        conversation = translate_interface(agent, question, options.attempts)
        written = await talk.lead(conversation, agent, {"about": question.about}, [tool])
        if agent.stopped and is_caused_by_answers(agent.stopped):
            await talk.forget()
    return written


def _question(work: InterfaceWork, crate: Mapping[str, bytes], root: Path) -> InterfaceQuestion:
    found = sorted(path for path in root.rglob("*") if path.suffix in C_SUFFIXES and path.is_file())
    sources = {str(path.relative_to(root)): path.read_text(errors="replace") for path in found}
    return interface_question(interface_files(crate), work.paths, sources, work.options.notes)


def _is_whole(question: InterfaceQuestion, crate: Mapping[str, bytes]) -> bool:
    """Return whether no other question has functions of the crate, so that its tests can judge an answer."""
    return len(interface_groups(interface_files(crate))) == 1 and bool(question.files)


def _check(crate: Mapping[str, bytes], options: InterfaceOptions, files: Mapping[str, str], *, run_tests: bool) -> Any:
    changed = {path: text.encode() for path, text in files.items()}
    with BUILDS:
        return crate_outcome({**crate, **changed}, options.command_limits, run_tests=run_tests and bool(files))
