"""Execute a run in this process, job by job, and inspect its results."""

import asyncio
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import update

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.executors.dispatch.prefork_task import PreforkRunner
from jarvis_workers.pipeline.controller import advance
from jarvis_workers.pipeline.runner import load, save
from jarvis_workers.pipeline.stages import Step, stages_of, step_of
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.scan_request import selection_of
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.report_json import body_to_json
from jarvis_workers.sec.run_reports.reports import read_body
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.filecache import FileCache
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs, stages
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, Run, StageProgress
from tests.store.arrange import enrol, job_rows, run_now


def given(**options: Any) -> ScanInput:
    """Return the options of a scan; if a model group is named, agents verify its findings."""
    own = {name: options.pop(name) for name in ("rules", "baseline", "triage", "build", "archive") if name in options}
    return ScanInput(
        JudgeOptions(**{"canary": False, **options}) if "model_group" in options else SecOptions(**options), **own
    )


@dataclass
class Pipeline:
    """A store and blobs, with runs over trees in them; `talks` is the runtime of conversations, if there are any."""

    store: Store
    blobs: Blobs
    talks: AgentRuntime | None = None
    cache: FileCache | None = None
    loop: asyncio.Runner = field(default_factory=asyncio.Runner)

    def start(self, tree: Path, *, files: int = 100, **options: Any) -> str:
        """Submit a run that is not started."""
        request = RunRequest(
            run_id=f"r{random.getrandbits(40)}",
            kind=options.pop("kind", "sec.fast"),
            path=tree,
            selection=selection_of(Settings()),
            executor="cluster",
            may_be_empty=options.pop("may_be_empty", False),
            budget=options.pop("budget", None),
            run_input=given(batch_files=files, batch_bytes=1_000_000, **{"min_confidence": 0.4, **options}),
        )
        return submit(self.store, self.blobs, request)

    def go_on(self, run: str, *, until: str = "", seed: int = 0) -> None:
        """Execute waiting jobs, in any order, until the run has ended or the stage `until` has jobs."""
        workman = PreforkRunner("w", 60.0, lambda: (self.store, Resources(self.blobs, self.cache), lambda: None), 30.0)
        enrol(self.store, "w", seconds=3600)
        while not run_now(self.store, run).ended and not (until and job_rows(self.store, run, until)):
            waiting = [row for row in self.rows(run) if row.state == "pending"]
            assert waiting
            random.Random(seed).shuffle(waiting)
            with self.store.write() as session:
                session.execute(update(JOB).where(JOB.c.run_id == run).values(not_before=0.0))
            for row in waiting:
                if row.queue == AGENT_QUEUE:
                    self.converse(row.id)
                else:
                    workman.do(row.id)

    def converse(self, job_id: int) -> None:
        """Run only the conversation of a job."""
        job, commit = self._lead(job_id)
        save(self.store, self.blobs, [(job, commit)])
        with self.store.write() as session:
            advance(session, job.run_id)

    def lose(self, job_id: int) -> None:
        """Run the conversation of a job, and release the job before results are saved."""
        job, _ = self._lead(job_id)
        with self.store.write() as session:
            jobs.release(session, [job])

    def _lead(self, job_id: int) -> tuple[Claimed, Commit]:
        with self.store.write() as session:
            (job,) = jobs.take(session, JOB.c.id == job_id, worker_id="w", process="w", lease_seconds=60.0)
        module, work = load(self.store, job)
        return job, self.loop.run(self._converse(step_of(module), work))

    async def _converse(self, step: Step, work: Any) -> Commit:
        assert self.talks is not None
        return await step.converse(work, self.blobs, self.talks)

    def do(self, tree: Path, *, seed: int = 0, **options: Any) -> str:
        """Execute a run, and return its id."""
        run = self.start(tree, **options)
        self.go_on(run, seed=seed)
        return run

    def rows(self, run: str) -> list[Any]:
        """Return the rows of all jobs."""
        names = [stage.name for stage in stages_of(self.run(run).kind)]
        return [row for name in names for plan in (True, False) for row in job_rows(self.store, run, name, plan=plan)]

    def run(self, run: str) -> Run:
        return run_now(self.store, run)

    def body(self, run: str) -> dict[str, Any]:
        """Return the report without its `run` part."""
        return body_to_json(read_body(self.store, self.blobs, self.run(run)))

    def stage(self, run: str, name: str) -> StageProgress:
        with self.store.read() as session:
            return next(stage for stage in stages.progress(session, run) if stage.name == name)

    def analysed(self, run: str) -> int:
        """Return the number of files of a run that the flow rules analysed without the cache."""
        flow = self.stage(run, "flow")
        return flow.files - flow.cached


def places(body: dict[str, Any], pattern: str = "flow_double_free") -> list[tuple[str, int]]:
    """Return the locations at which a rule has fired."""
    return [(issue["file"], issue["line"]) for issue in body["issues"] if issue["pattern"] == pattern]
