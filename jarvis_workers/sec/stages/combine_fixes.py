"""Combine the patches of a run: the step of stage `combine`, a single job.

The patches of different files were made side by side. They are applied in the order of the findings; one that conflicts
with those before it, or fails a gate beside them, is refused. The result depends on the patches alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.sec.fix.fixable import FixPlan
from jarvis_workers.sec.fix.gates import APPLIES, PROOF, failed
from jarvis_workers.sec.fix.merging import merge
from jarvis_workers.sec.fix.patch_text import patch_text
from jarvis_workers.sec.fix.result import FIXED, FixResult, FixResults, PatchedFile, reason_of
from jarvis_workers.sec.stages.fix_options import FixOptions
from jarvis_workers.sec.stages.fix_outcomes import FIXES, STEP, results_so_far
from jarvis_workers.sec.stages.fix_trees import SCRATCH, FixTrees
from jarvis_workers.sec.stages.patch_gates import PatchGates
from jarvis_workers.sec.stages.patch_proofs import PatchProofs
from jarvis_workers.sec.stages.unpatched_results import UnpatchedResults
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import jobs
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, NewJob, Run, StageJob
from jarvis_workers.toolchain.temporary import temporary_directory

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

COMBINE = "combine"
NOTHING: Mapping[str, tuple[bytes, ...]] = {}


@dataclass(frozen=True)
class CombineWork:
    """The options of the run, and the jobs of its findings."""

    options: FixOptions
    fixes: list[StageJob]


def plan(run: Run, _: Blobs) -> Iterator[NewJob]:
    """Yield the single job."""
    yield NewJob(COMBINE, AGENT_QUEUE, "combine the patches", run.id)


def load(session: "Session", run: Run, _: Claimed) -> CombineWork:
    """Return the jobs of the findings."""
    return CombineWork(FixOptions.of(run), jobs.outcomes(session, run.id, STEP))


async def converse(work: CombineWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Commit the results of all findings, in the order of their commits."""
    return await in_thread(_combine, work, blobs, runtime)


def _combine(work: CombineWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    results = list(results_so_far(work.options, work.fixes, blobs))
    with temporary_directory(SCRATCH) as directory:
        combination = _Combination(work.options, blobs, runtime, directory.resolve())
        combined = [combination.add(result) if result.state == FIXED else result for result in results]
    document = FixResults(results=tuple(combined)).model_dump_json().encode()
    return Commit(files=len(combined), artifacts=((FIXES, document),))


class _Combination:
    """The sources with the patches so far; the directory `place` holds the trees for the gates."""

    def __init__(self, options: FixOptions, blobs: Blobs, runtime: AgentRuntime, place: Path) -> None:
        self._options, self._blobs, self._runtime, self._place = options, blobs, runtime, place
        self._plan = FixPlan.model_validate_json(blobs.read(options.findings))
        # The contents of changed files: in the sources, and with the patches so far.
        self._originals = dict[str, bytes]()
        self._tree = dict[str, bytes]()

    @cached_property
    def _archive(self) -> bytes:
        return self._blobs.read(self._options.archive)

    def add(self, result: FixResult) -> FixResult:
        """Apply a patch; return its result, refused if it does not fit to the patches before it."""
        for path, file in result.files.items():
            self._originals.setdefault(path, file.before)
        present = {path: self._tree.get(path, self._originals[path]) for path in result.files}
        merged = {path: merge(file.before, present[path], file.after) for path, file in result.files.items()}
        if conflicts := sorted(path for path, content in merged.items() if content is None):
            reason = f"{', '.join(conflicts)}: the patch conflicts with that of another finding"
            return result.refused(f"{APPLIES}: {reason}", (failed(APPLIES, reason),))
        files = {
            path: PatchedFile(before=present[path], after=merged[path] or b"", mode=file.mode)
            for path, file in result.files.items()
        }
        is_checked = files == result.files and set(self._tree) <= set(files)
        if not is_checked and (refused := self._check(result, files)):
            return refused
        self._tree |= {path: file.after for path, file in files.items()}
        changes = {path: file.contents for path, file in files.items()}
        return result.model_copy(update={"files": files, "patch": patch_text(changes)})

    def _check(self, result: FixResult, files: Mapping[str, PatchedFile]) -> FixResult | None:
        """Run the gates of a patch over the sources with the patches before it; None if it passes."""
        with temporary_directory("combined", self._place) as directory:
            trees = FixTrees.unpack(directory, self._archive, self._tree, self._options.below)
            for path, file in files.items():
                (trees.root / path).write_bytes(file.after)
            files_to_scan = trees.scope(self._plan, result.finding)
            is_checked = any(gate.gate == PROOF and gate.state == "passed" for gate in result.gates)
            proved = result.finding.proved if is_checked else ()
            older = tuple(one for gate in result.gates for one in gate.older)
            proofs = PatchProofs(
                self._runtime, self._blobs, self._options, proved, self._archive, minimise=False, accepted=older
            )
            gates = PatchGates(
                self._runtime,
                self._blobs,
                self._options,
                result.finding,
                trees.base,
                trees.root,
                files_to_scan,
                NOTHING,
                proofs,
                UnpatchedResults(),
            )
            results = gates.run_again({path: file.contents for path, file in files.items()})
        reason = reason_of(results, 1)
        return result.refused(f"beside the patches before it: {reason}", results) if reason else None
