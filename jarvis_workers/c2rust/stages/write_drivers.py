"""Ask a model for drivers of functions that no test and no generated input reaches: the step of stage `driver`."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.tools.tool import Tool, ToolFailed, ToolOutcome
from jarvis_workers.c2rust.bench.driver_programs import Driver
from jarvis_workers.c2rust.driver_question import (
    CALLER_MAX,
    DRIVER_TOOL,
    DriverQuestion,
    driver_writer,
    write_driver,
)
from jarvis_workers.c2rust.project import Project, ProjectItem
from jarvis_workers.c2rust.stages.c_sources import c_texts
from jarvis_workers.c2rust.stages.crate_plans import read_stage_project
from jarvis_workers.c2rust.stages.drivers import DRIVER, STEP, driver_problem, encode_driver
from jarvis_workers.c2rust.stages.library_plans import unneeded_functions
from jarvis_workers.c2rust.stages.options import TranslateOptions, decode_commands
from jarvis_workers.c2rust.stages.skeleton import SKELETON, Skeleton, checked_bench, project_bench, read_skeleton
from jarvis_workers.c2rust.stages.translated_bodies import QUEUE
from jarvis_workers.errors import SandboxError, StepFailed, UsageError
from jarvis_workers.paths import from_shown, shown
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import Claimed, Commit, NewJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:<[^>\n]{1,200}>|"[^"\n]{1,200}")', re.MULTILINE)
CALLERS = 2
MOST_SYMBOLS = 20


@dataclass(frozen=True)
class DriverRequest:
    """A function without a test: the question about it, how its file is compiled, and what to link."""

    slot: str
    question: DriverQuestion
    compiled: CompileCommand
    symbols: tuple[str, ...]

    def driver(self, text: str) -> Driver:
        """Return the driver with a text."""
        return Driver(text, self.compiled, self.symbols)


_REQUEST = TypeAdapter(DriverRequest)


@dataclass(frozen=True)
class DriverPayload(JsonRecord):
    """The blob of the request."""

    request: str


@dataclass(frozen=True)
class DriverWork:
    """The request of a job, and the transcript of its conversation so far."""

    job: Claimed
    request: str
    options: TranslateOptions
    lines: list[bytes]


def plan_on(run: "Run", blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job for each function with a body or a Rust signature that nothing reaches."""
    options = TranslateOptions.of(run)
    if options.proof == "built" or not options.drivers:
        return
    skeleton = read_skeleton(blobs, earlier.outcomes(SKELETON))
    unneeded = unneeded_functions(options, earlier, blobs)
    project = read_stage_project(blobs, earlier)
    left = [
        one
        for one in project.functions
        if one.slot in skeleton.bodies.keys() | skeleton.targets.keys()
        and not skeleton.is_tested(one.slot)
        and one.definition.key not in unneeded
        and one.definition.name != "main"
    ]
    for request in _requests(left, project, skeleton, run.snapshot_id, options, blobs):
        payload = DriverPayload(earlier.put(_REQUEST.dump_json(request))).to_json()
        yield NewJob(STEP, QUEUE, request.question.name, sha256(payload.encode()).hexdigest(), payload=payload)


def _requests(
    items: Sequence[ProjectItem],
    project: Project,
    skeleton: Skeleton,
    snapshot: str,
    options: TranslateOptions,
    blobs: Blobs,
) -> Iterator[DriverRequest]:
    if not items:
        return
    texts = c_texts(blobs, snapshot, skeleton.functions)
    commands = {one.file: one for one in decode_commands(blobs.read(options.commands))}
    includes = _includes(blobs, snapshot, {one.definition.extent.file for one in items})
    for item in items:
        file = item.definition.extent.file
        if command := commands.get(item.unit.file):
            own = [one.definition for one in project.functions if one.unit.file == item.unit.file]
            external = sorted(one.name for one in own if not one.internal and one.name != "main")
            first = [] if item.definition.internal else [item.definition.name]
            question = DriverQuestion(
                item.definition.name,
                shown(file),
                texts.get(item.slot, ""),
                includes.get(file, ""),
                not item.definition.internal,
                _callers(item, texts),
            )
            yield DriverRequest(item.slot, question, command, tuple([*first, *external][:MOST_SYMBOLS]))


def _includes(blobs: Blobs, snapshot: str, files: set[bytes]) -> dict[bytes, str]:
    with open_snapshot(blobs, snapshot) as reader:
        return {
            entry.path: "\n".join(INCLUDE.findall(reader.read(entry).decode(errors="replace")))
            for entry in reader.files()
            if entry.path in files
        }


def _callers(item: ProjectItem, texts: Mapping[str, str]) -> str:
    call = re.compile(rf"\b{re.escape(item.definition.name)}[ \t]*\(")
    found = (text for slot, text in sorted(texts.items()) if slot != item.slot and call.search(text))
    return "\n\n".join(text[:CALLER_MAX] for text, _ in zip(found, range(CALLERS), strict=False))


def load(session: "Session", run: "Run", job: Claimed) -> DriverWork:
    """Return the request of a job."""
    request = DriverPayload.from_json(job.payload).request
    return DriverWork(job, request, TranslateOptions.of(run), lines(session, job.id))


async def converse(work: DriverWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Commit the driver of a function; without one, the function stays unproven for the reason of its gates."""
    request: DriverRequest = _REQUEST.validate_json(await asyncio.to_thread(blobs.read, work.request))
    about = sha256(repr(request).encode("utf-8", "backslashreplace")).hexdigest()
    resources = Resources(blobs, checkouts=runtime.setup.unpacked)
    tool = _driver_tool(partial(_problem, work.options, request, resources))
    with runtime.open(work.job, work.options.group, about, work.lines) as talk:
        agent = driver_writer(talk.platform.profile, talk.marks, work.options.agent_limits)
        conversation = write_driver(agent, request.slot, request.question)
        written = await talk.lead(conversation, agent, {"about": about}, [tool])
        if not written.checked:
            await talk.forget()
    gap = (from_shown(request.question.file), f"{request.question.name} has no driver: {written.reason}")
    gaps = () if written.checked else (gap,)
    if not written.text:
        return Commit(not_checked=gaps)
    content = encode_driver(request.slot, request.driver(written.text))
    return Commit(not_checked=gaps, blobs=((DRIVER, await asyncio.to_thread(blobs.put, content)),))


def _problem(options: TranslateOptions, request: DriverRequest, resources: Resources, text: str) -> str:
    with project_bench(resources, options) as bench, checked_bench(resources, options) as checked:
        return driver_problem(bench, checked, request.driver(text), request.slot)


def _driver_tool(problem: "Any") -> Tool:
    """Return the tool with which a conversation builds and runs a driver; its output is the problem."""

    def run(arguments: Mapping[str, Any]) -> ToolOutcome:
        try:
            return ToolOutcome(stdout=problem(str(arguments["text"])))
        except (StepFailed, UsageError, SandboxError) as error:
            raise ToolFailed(f"the driver did not run: {error}") from error

    return Tool(DRIVER_TOOL, "Build and run a driver.", {}, lambda arguments: arguments, run)
