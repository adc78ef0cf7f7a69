"""Let a model improve the files of an optimized crate, one after the other: the step of stage `improve`.

Each file is a job, whose child is the next file. Without a model group there are no jobs.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.tools.tool import Tool
from jarvis_workers.c2rust.bench.crate_archive import files_of, tar_of
from jarvis_workers.c2rust.crate_metrics import is_module
from jarvis_workers.c2rust.file_improvement import TESTS_TOOL, ImprovedFile, improve_file, improver
from jarvis_workers.c2rust.optimization import OptimizeReport
from jarvis_workers.c2rust.stages.bench_tools import bench_tool
from jarvis_workers.c2rust.stages.optimize_crate import CHANGES, REPORT, SPENT, PassPayload, crate_bench, sources_of
from jarvis_workers.c2rust.stages.optimize_crate import STEP as OPTIMIZE
from jarvis_workers.c2rust.stages.optimize_options import OptimizeOptions
from jarvis_workers.c2rust.stages.translated_bodies import QUEUE
from jarvis_workers.pipeline.history import StageHistory, read_result
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import Claimed, Commit, NewJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

STEP = "improve"
# Longer files do not fit into a question.
TEXT_MAX = 60_000


@dataclass(frozen=True)
class ImproveWork:
    """The number of the file of a job, and the transcript of the conversation so far."""

    job: Claimed
    payload: PassPayload
    options: OptimizeOptions
    lines: list[bytes]


def plan_on(run: "Run", blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield the job of the first file, after the last pass."""
    options, done = OptimizeOptions.of(run), [one for one in earlier.outcomes(OPTIMIZE) if one.state == "done"]
    if options.model_group and done and len(done) == len(options.passes):
        crate = PassPayload.from_json(done[-1].payload).crate
        last = read_result(blobs, done[-1].result).blobs
        payload = PassPayload(crate, 0, last[CHANGES], last[REPORT])
        if files := _files(options, sources_of(payload, blobs)):
            yield _job(files[0], payload)


def _files(options: OptimizeOptions, sources: Iterable[str]) -> list[str]:
    """Return the files to improve: those of the options, or all modules of the crate."""
    return list(options.files) or sorted(filter(is_module, sources))


def _job(file: str, payload: PassPayload) -> NewJob:
    key = sha256(f"{STEP}:{file}".encode()).hexdigest()
    return NewJob(STEP, QUEUE, file, key, payload=payload.to_json())


def load(session: "Session", run: "Run", job: Claimed) -> ImproveWork:
    """Return the file of a job."""
    return ImproveWork(job, PassPayload.from_json(job.payload), OptimizeOptions.of(run), lines(session, job.id))


async def converse(work: ImproveWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Commit the files that differ from those of the crate, with the edits of this file, and the next file."""
    options, payload = work.options, work.payload
    sources = await asyncio.to_thread(sources_of, payload, blobs)
    report = OptimizeReport.model_validate_json(await asyncio.to_thread(blobs.read, payload.report))
    file = _files(options, sources)[payload.number]
    text = sources[file].decode(errors="replace")
    left = options.max_checks - report.cargo_checks if options.max_checks else options.attempts
    if left <= 0:
        report += OptimizeReport(errors=(SPENT,))
    elif "unsafe" in text or "TODO:" in text:
        resources = Resources(blobs, checkouts=runtime.setup.unpacked)
        test = partial(_test, work, sources, resources, file)
        tool = bench_tool(TESTS_TOOL, "Run the tests of the crate.", "the tests did not run", test)
        improved = await _ask(work, file, text, min(left, options.attempts), tool, runtime)
        problems = (f"{file}: {improved.reason}",) if improved.reason else ()
        report += OptimizeReport(cargo_checks=improved.checks, errors=problems)
        if improved.text:
            sources[file] = improved.text.encode()
            report += OptimizeReport(files_improved=(file,))
    return await asyncio.to_thread(_commit, work, sources, report, blobs)


async def _ask(
    work: ImproveWork, file: str, text: str, attempts: int, tool: Tool, runtime: AgentRuntime
) -> ImprovedFile:
    if len(text) > TEXT_MAX:
        return ImprovedFile(reason=f"not shown to the model: longer than {TEXT_MAX:,} characters", checked=False)
    about = sha256(f"{file}\0{text}".encode()).hexdigest()
    with runtime.open(work.job, work.options.group, about, work.lines) as talk:
        agent = improver(talk.platform.profile, talk.marks, work.options.agent_limits, attempts)
        improved = await talk.lead(improve_file(agent, file, text, attempts), agent, {"about": about}, [tool])
        if not improved.checked:
            await talk.forget()
    return improved


def _commit(work: ImproveWork, sources: Mapping[str, bytes], report: OptimizeReport, blobs: Blobs) -> Commit:
    payload, options = work.payload, work.options
    before = files_of(blobs.read(payload.crate))
    changes = {name: content for name, content in sources.items() if before.get(name) != content}
    stored = blobs.put(tar_of(changes)), blobs.put(report.model_dump_json().encode())
    following = replace(payload, number=payload.number + 1, changes=stored[0], report=stored[1])
    files = _files(options, sources)[following.number :] if SPENT not in report.errors else []
    return Commit(
        files=1,
        children=tuple(_job(file, following) for file in files[:1]),
        blobs=tuple(zip((CHANGES, REPORT), stored, strict=True)),
    )


def _test(work: ImproveWork, sources: Mapping[str, bytes], resources: Resources, file: str, text: str) -> str:
    """Return how the tests fail with a text of the file, or an empty string."""
    with crate_bench(work.payload.crate, work.options, resources) as bench:
        bench.write({**sources, file: text.encode()})
        return bench.test().failure
