"""Runs that convert a C project on fake benches with a scripted model, job by job in this process."""

import asyncio
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.drivers import AgentWorld, drive_async
from jarvis_workers.agents.loop.effects import Conversation
from jarvis_workers.builds.compile_commands import encode_commands
from jarvis_workers.c2rust.runs.symbol_scan import ParseInput
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.models.platforms.protocol import ModelRequest, Reply, ToolCall
from jarvis_workers.pipeline.controller import advance
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.runner import load, run_job, save
from jarvis_workers.pipeline.stages import PLAN, step_of
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.submit import submit
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.checkout import unpack
from jarvis_workers.snapshots.filecache import FileCache
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.store import artifacts, jobs
from jarvis_workers.store.engine import Store, open_store
from jarvis_workers.store.queues import has_conversations
from jarvis_workers.store.tables import JOB
from jarvis_workers.store.values import Claimed, Commit, StageJob
from tests.agents.loop.arrange import MARKS, NATIVE
from tests.agents.loop.server import Body, Step
from tests.c2rust.stages.fake_benches import FakeBench, FakeCrateBench, use_benches
from tests.store.arrange import enrol, run_now

T = TypeVar("T")


def _body_of(request: ModelRequest) -> Body:
    """Return a request in the form that the scripted models of tests/agents/loop read."""
    return {"messages": [{"role": one.role, "content": one.content} for one in request.messages]}


def _reply_of(step: Step) -> Reply:
    found = tuple(ToolCall(f"c{number}", *one) for number, one in enumerate(step.calls))
    return Reply(step.content or "", found, finish=step.reason or "stop")


class FakeRuntime:
    """A runtime whose model answers each request by a function; it is the conversation and the platform, too."""

    name = model = "fake"
    profile, profiles, marks = NATIVE, (NATIVE, NATIVE), MARKS
    setup = SimpleNamespace(unpacked=None)

    def __init__(self, directory: Path, answer: Callable[[Body], Step]) -> None:
        self.directory, self.answer, self.platform = directory, answer, self
        self.requests, self.forgotten = list[Body](), 0

    @contextmanager
    def open(self, *_: object) -> "Iterator[FakeRuntime]":
        yield self

    async def unpack(self, blobs: DirectoryBlobs, snapshot: str) -> Path:
        return unpack(blobs, snapshot, self.directory)

    async def ask_async(self, request: ModelRequest) -> Reply:
        self.requests.append(_body_of(request))
        return _reply_of(self.answer(self.requests[-1]))

    async def lead(self, talk: Conversation[T], agent: Agent, _: object, hidden: Sequence[Any] = ()) -> T:
        return await drive_async(talk, AgentWorld(self, agent.tools.plus(*hidden)))

    async def forget(self) -> None:
        self.forgotten += 1


@dataclass
class ConversionRun:
    """A run over a project of C files; `runtime` is that of its conversations."""

    store: Store
    resources: Resources
    runtime: FakeRuntime
    run_id: str = ""

    def convert(self, kind: str, files: Mapping[str, str], options: FastOptions) -> None:
        """Submit a run that converts a project, and do its jobs; its test command is `make check`."""
        commands = [CompileCommand(name.encode(), b"", ()) for name in sorted(files) if name.endswith(".c")]
        project = self.resources.blobs.put(b"")
        options = replace(options, definitions=True, project=project, tests=["make check"])
        self.do_all(kind, files, ParseInput(options, encode_commands(commands)))

    def do_all(self, kind: str, files: Mapping[str, str], given: RunInput) -> None:
        """Write files, submit a run over them, and do all its jobs."""
        tree = self.runtime.directory / "tree"
        for name, text in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        request = RunRequest("r1", kind, tree, Selection(frozenset((b".c", b".h"))), "cluster", given)
        self.run_id = submit(self.store, self.resources.blobs, request)
        enrol(self.store, "w", seconds=3600)
        while not run_now(self.store, self.run_id).ended:
            for row in [row for row in self.rows() if row.state == "pending"]:
                self.do(row.id)

    def rows(self) -> list[Any]:
        """Return the rows of all jobs."""
        with self.store.read() as session:
            return list(session.execute(JOB.select().where(JOB.c.run_id == self.run_id).order_by(JOB.c.id)).all())

    def do(self, job_id: int) -> None:
        """Do a job and save its result."""
        with self.store.write() as session:
            (job,) = jobs.take(session, JOB.c.id == job_id, worker_id="w", process="w", lease_seconds=60.0)
        commit = self.decide(job)
        assert commit is not None
        save(self.store, self.resources.blobs, [(job, commit)])
        with self.store.write() as session:
            advance(session, self.run_id)

    def decide(self, job: Claimed) -> Commit | None:
        """Return the result of a job."""
        if job.step == PLAN or not has_conversations(job.queue):
            return run_job(self.store, self.resources, job)
        module, work = load(self.store, job)
        commit: Commit = asyncio.run(step_of(module).converse(work, self.resources.blobs, self.runtime))
        return commit

    def jobs(self, stage: str) -> list[StageJob]:
        """Return the jobs of a stage with their results."""
        with self.store.read() as session:
            return list(jobs.outcomes(session, self.run_id, stage))

    def gaps(self) -> list[str]:
        """Return what the run has not checked, one line each."""
        results = (read_result(self.resources.blobs, row.result) for row in self.rows())
        return [reason for result in results for _, reason in result.not_checked]

    def artifact(self, name: str) -> bytes:
        """Return an artifact of the run."""
        with self.store.read() as session:
            found = artifacts.find(session, self.run_id, name)
        assert found is not None, name
        return self.resources.blobs.read(found)


@contextmanager
def conversion_run(
    directory: Path, template: Path, answer: Callable[[Body], Step], bench: FakeBench, crate_bench: FakeCrateBench
) -> Iterator[ConversionRun]:
    """Yield a run that is not started, with a copy of a migrated store, on fake benches."""
    shutil.copy(template, directory / "jarvis.db")
    store = open_store(f"sqlite:///{directory}/jarvis.db")
    cache = FileCache(directory / "cache", 1_000_000, directory / "key")
    resources = Resources(DirectoryBlobs(directory / "blobs"), cache)
    with pytest.MonkeyPatch.context() as patch:
        use_benches(patch, bench, crate_bench)
        yield ConversionRun(store, resources, FakeRuntime(directory, answer))
    store.close()
