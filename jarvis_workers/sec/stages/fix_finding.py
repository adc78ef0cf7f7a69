"""Fix one finding: the step of stage `fix`. An agent edits a copy of the sources, and the gates check its patch.

The findings of a file are fixed one after the other, each in the sources with the patches before it: a job commits the
next one as its child. The copy is new in every attempt; when a conversation resumes, its recorded edits are made again
(`Tool.replayed`).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.limits import early_end, is_caused_by_answers
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.agents.tools.editing import EditWorkspace
from jarvis_workers.errors import AgentStopped
from jarvis_workers.paths import plain
from jarvis_workers.sec.fix.fixable import FixFinding, FixPlan, RelatedFinding
from jarvis_workers.sec.fix.fixing import FixTask
from jarvis_workers.sec.fix.kept_functions import protected_lines
from jarvis_workers.sec.fix.result import FIXED, NOT_DONE, REFUSED, FixResult, reason_of
from jarvis_workers.sec.stages.attempted_patches import AttemptedPatches
from jarvis_workers.sec.stages.fix_options import FixOptions, FixPayload
from jarvis_workers.sec.stages.fix_outcomes import RESULT, STEP
from jarvis_workers.sec.stages.fix_trees import SCRATCH, FixTrees
from jarvis_workers.sec.stages.patch_gates import PatchGates
from jarvis_workers.sec.stages.patch_proofs import PatchProofs
from jarvis_workers.sec.stages.regression_tests import regression_tests
from jarvis_workers.sec.stages.second_looks import PatchedFunction
from jarvis_workers.sec.stages.unpatched_results import shared_results
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import transcripts
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, NewJob, Run
from jarvis_workers.toolchain.temporary import temporary_directory

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


@dataclass(frozen=True)
class FixWork:
    """A job, the options of its run, and the transcript of the conversation so far."""

    job: Claimed
    options: FixOptions
    payload: FixPayload
    lines: list[bytes]


def plan(run: Run, blobs: Blobs) -> Iterator[NewJob]:
    """Yield a job for the first finding of each file."""
    options = FixOptions.of(run)
    findings = _plan_of(options, blobs).findings
    by_file = defaultdict[str, list[int]](list)
    for number, finding in enumerate(findings):
        by_file[finding.place.file].append(number)
    for first, *following in by_file.values():
        yield _job(options, findings[first], FixPayload(first, tuple(following)))


def load(session: "Session", run: Run, job: Claimed) -> FixWork:
    """Return the job."""
    payload = FixPayload.from_json(job.payload)
    return FixWork(job, FixOptions.of(run), payload, transcripts.lines(session, job.id))


async def converse(work: FixWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Fix the finding; commit its result and the job of the next finding of the file."""
    options, payload = work.options, work.payload
    fix_plan = await in_thread(_plan_of, options, blobs)
    finding = fix_plan.findings[payload.finding]
    earlier = [FixResult.model_validate_json(await in_thread(blobs.read, blob)) for blob in payload.earlier]
    archive = await in_thread(blobs.read, options.archive)
    with temporary_directory(SCRATCH) as directory:
        patched = {path: file.after for result in earlier for path, file in result.files.items()}
        trees = await in_thread(FixTrees.unpack, directory.resolve(), archive, patched, options.below)
        if why := trees.why_not_fixable(finding, earlier):
            result = FixResult(finding=finding, state=REFUSED, reason=why)
        else:
            gates = PatchGates(
                runtime,
                blobs,
                options,
                finding,
                trees.base,
                trees.root,
                await in_thread(trees.scope, fix_plan, finding),
                protected_lines(earlier),
                PatchProofs(
                    runtime,
                    blobs,
                    options,
                    finding.proved,
                    archive,
                    other_proofs=_other_proofs(fix_plan, finding, earlier),
                ),
                shared_results(work.job.run_id, (options.archive, *payload.earlier), runtime.tier),
            )
            result = await _fix(work, runtime, gates, trees)
    return await in_thread(_commit, work, blobs, fix_plan, result)


def _plan_of(options: FixOptions, blobs: Blobs) -> FixPlan:
    return FixPlan.model_validate_json(blobs.read(options.findings))


def _job(options: FixOptions, finding: FixFinding, payload: FixPayload) -> NewJob:
    about = _hash(options.archive, str(payload.finding), finding.identity, *payload.earlier)
    return NewJob(STEP, AGENT_QUEUE, plain(finding.label), about, payload=payload.to_json())


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _other_proofs(fix_plan: FixPlan, finding: FixFinding, earlier: Sequence[FixResult]) -> list[RelatedFinding]:
    """Return the other proved findings that no patch before this one has fixed."""
    fixed = {one for result in (finding, *(result.finding for result in earlier)) for one in result.ids}
    return [one for one in fix_plan.proved if one.id not in fixed]


async def _fix(work: FixWork, runtime: AgentRuntime, gates: PatchGates, trees: FixTrees) -> FixResult:
    """Lead the conversation about a finding."""
    options, finding = work.options, gates.finding
    workspace = EditWorkspace(gates.root, tuple(options.closed))
    function = trees.function_of(finding)
    task = FixTask(trees.with_texts(finding), options.attempts, function, bool(work.payload.earlier))
    about = _hash(finding.identity, options.build, options.tests, *work.payload.earlier)
    reason = ""
    with runtime.open(work.job, options.group, about, work.lines) as talk:
        attempts = AttemptedPatches(gates, workspace)
        agent = attempts.agent(talk)
        patched = PatchedFunction(task, workspace, talk, options)
        try:
            hidden = [attempts.tool, patched.tool]
            outcome = await talk.lead(patched.fix(agent), agent, {"about": about}, hidden)
            if reason_of(outcome.results, outcome.attempts):
                await talk.forget()
        except AgentStopped as stop:
            if patched.outcome:
                patched.stop(early_end(stop))
            else:
                reason = early_end(stop)
                if is_caused_by_answers(stop.reason):
                    await talk.forget()
    result = patched.result(finding, reason)
    # With an older error, the input is no test that passes.
    if result.state != FIXED or any(gate.older for gate in result.gates):
        return result
    tests = await in_thread(regression_tests, gates.proof.baselines, gates.base, options)
    return result.model_copy(update={"regression_test": tests})


def _commit(work: FixWork, blobs: Blobs, fix_plan: FixPlan, result: FixResult) -> Commit:
    payload = work.payload
    blob = blobs.put(result.model_dump_json().encode())
    earlier = (*payload.earlier, *([blob] if result.state == FIXED else []))
    children = tuple(
        _job(work.options, fix_plan.findings[following], FixPayload(following, payload.following[number:], earlier))
        for number, following in enumerate(payload.following[:1], 1)
    )
    path = result.finding.place.file.encode("utf-8", "surrogateescape")
    return Commit(
        files=1,
        blobs=((RESULT, blob),),
        children=children,
        not_checked=((path, f"{result.finding.id}: {result.reason}"),) if result.state == NOT_DONE else (),
    )
