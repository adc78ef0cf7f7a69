"""Ask a model for drivers of functions that no test and no generated input reaches: the step of stage `driver`."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.c2rust.driver_question import DRIVER_TOOL, driver_writer, write_driver
from jarvis_workers.c2rust.stages.bench_tools import bench_tool
from jarvis_workers.c2rust.stages.driver_requests import REQUEST, DriverRequest, driver_requests
from jarvis_workers.c2rust.stages.drivers import DRIVER, STEP, driver_problem, encode_driver
from jarvis_workers.c2rust.stages.options import TranslateOptions
from jarvis_workers.c2rust.stages.skeleton import checked_bench, project_bench
from jarvis_workers.c2rust.stages.translated_bodies import QUEUE
from jarvis_workers.paths import from_shown
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import Claimed, Commit, NewJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run


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
    for request in driver_requests(run, options, blobs, earlier):
        payload = DriverPayload(earlier.put(REQUEST.dump_json(request))).to_json()
        yield NewJob(STEP, QUEUE, request.question.name, sha256(payload.encode()).hexdigest(), payload=payload)


def load(session: "Session", run: "Run", job: Claimed) -> DriverWork:
    """Return the request of a job."""
    request = DriverPayload.from_json(job.payload).request
    return DriverWork(job, request, TranslateOptions.of(run), lines(session, job.id))


async def converse(work: DriverWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Commit the driver of a function; without one, the function stays unproven for the reason of its gates."""
    request: DriverRequest = REQUEST.validate_json(await asyncio.to_thread(blobs.read, work.request))
    about = sha256(repr(request).encode("utf-8", "backslashreplace")).hexdigest()
    resources = Resources(blobs, checkouts=runtime.setup.unpacked)
    problem = partial(_problem, work.options, request, resources)
    tool = bench_tool(DRIVER_TOOL, "Build and run a driver.", "the driver did not run", problem)
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
