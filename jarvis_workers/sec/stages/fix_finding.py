"""Fix one finding: the step of stage `fix`. An agent edits a copy of the sources, and the gates check its patch.

The findings of a file are fixed one after the other, each in the sources with the patches before it: a job commits the
next one as its child. The copy is new in every attempt; when a conversation resumes, its recorded edits are made again
(`Tool.replayed`).
"""

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime, JobConversation
from jarvis_workers.agents.conversations.working_copy import mode_of, unpack_sources, without_places
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.limits import early_end, is_caused_by_answers
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.agents.tools.editing import EditWorkspace, edit_tools, watched_reading
from jarvis_workers.agents.tools.searching import search_code
from jarvis_workers.agents.tools.tool import Tool, Toolbox
from jarvis_workers.errors import AgentStopped
from jarvis_workers.paths import plain
from jarvis_workers.sec.fix.fixable import FixFinding, FixLine, FixPlan, RelatedFinding
from jarvis_workers.sec.fix.fixing import FixOutcome, FixTask, fix_definition
from jarvis_workers.sec.fix.gates import Changes, why_not_fixable
from jarvis_workers.sec.fix.kept_functions import code_difference
from jarvis_workers.sec.fix.patch_text import patch_text
from jarvis_workers.sec.fix.result import (
    FIXED,
    NOT_DONE,
    REFUSED,
    FixResult,
    PatchedFile,
    commit_message,
    reason_of,
)
from jarvis_workers.sec.stages.attempted_patches import AttemptedPatches
from jarvis_workers.sec.stages.fix_options import FixOptions, FixPayload
from jarvis_workers.sec.stages.fix_outcomes import RESULT, STEP
from jarvis_workers.sec.stages.patch_gates import PatchGates
from jarvis_workers.sec.stages.patch_proofs import PatchProofs
from jarvis_workers.sec.stages.regression_tests import regression_tests
from jarvis_workers.sec.stages.second_looks import PatchedFunction, changes_in
from jarvis_workers.sec.stages.unpatched_results import shared_results
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.source.functions import functions
from jarvis_workers.source.languages import language_of
from jarvis_workers.source.lex import mask
from jarvis_workers.store import transcripts
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, NewJob, Run
from jarvis_workers.toolchain.temporary import temporary_directory

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

SCRATCH = "jarvis-fix"
CHANGED = "the file has changed since the scan; scan again, or fix with the sources that were scanned"


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
        place = directory.resolve()
        await in_thread(_unpack, archive, earlier, place)
        content = _content(place / "base", finding.place.file)
        if why := _not_fixable(finding, content, earlier):
            result = FixResult(finding=finding, state=REFUSED, reason=why)
        else:
            gates = PatchGates(
                runtime,
                blobs,
                options,
                finding,
                place / "base",
                place / "tree",
                await in_thread(scope_of, fix_plan, finding, options.below, place / "base"),
                _protected(earlier),
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
            result = await _fix(work, runtime, gates, content or b"")
    return await in_thread(_commit, work, blobs, fix_plan, result)


def _plan_of(options: FixOptions, blobs: Blobs) -> FixPlan:
    return FixPlan.model_validate_json(blobs.read(options.findings))


def _job(options: FixOptions, finding: FixFinding, payload: FixPayload) -> NewJob:
    about = _hash(options.archive, str(payload.finding), finding.identity, *payload.earlier)
    return NewJob(STEP, AGENT_QUEUE, plain(finding.label), about, payload=payload.to_json())


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _unpack(archive: bytes, earlier: Sequence[FixResult], place: Path) -> None:
    """Write the sources with the earlier patches to `place`/base and `place`/tree."""
    unpack_sources(archive, place / "base")
    for result in earlier:
        for path, file in result.files.items():
            (place / "base" / path).write_bytes(file.after)
    shutil.copytree(place / "base", place / "tree", symlinks=True)


def _content(root: Path, path: str) -> bytes | None:
    file = root / path
    return file.read_bytes() if file.is_file() and not file.is_symlink() else None


def _not_fixable(finding: FixFinding, content: bytes | None, earlier: Sequence[FixResult]) -> str:
    why = why_not_fixable(finding.place.file, content)
    if why or content is None:
        return f"{finding.place.file}: {why}"
    scanned = next(
        (one.files[finding.place.file].before for one in earlier if finding.place.file in one.files), content
    )
    return "" if sha256(scanned).hexdigest() == finding.digest else f"{finding.place.file}: {CHANGED}"


def scope_of(fix_plan: FixPlan, finding: FixFinding, below: str, base: Path) -> list[str]:
    """Return the files to scan, relative to the scanned directory: all, or those beside the steps of the trace."""
    scanned = base / below
    lines = (finding.place, *finding.steps, *(other.place for other in finding.others))
    places = {(base / line.file).parent for line in lines}
    beside = (file for place in sorted(places) if place.is_dir() for file in sorted(place.iterdir()))
    found = (scanned / name for name in fix_plan.files) if fix_plan.files else beside
    return [str(file.relative_to(scanned)) for file in found if _is_scanned(file, scanned)]


def _is_scanned(file: Path, scanned: Path) -> bool:
    return (
        file.is_file()
        and not file.is_symlink()
        and file.is_relative_to(scanned)
        and language_of(os.fsencode(file.name)) is not None
    )


def _other_proofs(fix_plan: FixPlan, finding: FixFinding, earlier: Sequence[FixResult]) -> list[RelatedFinding]:
    """Return the other proved findings that no patch before this one has fixed."""
    fixed = {one for result in (finding, *(result.finding for result in earlier)) for one in result.ids}
    return [one for one in fix_plan.proved if one.id not in fixed]


def _protected(earlier: Sequence[FixResult]) -> Mapping[str, Sequence[bytes]]:
    """Return the lines of code that earlier patches added, by file."""
    lines = defaultdict[str, list[bytes]](list)
    for result in earlier:
        for path, file in result.files.items():
            language = language_of(os.fsencode(path)) or result.finding.language
            lines[path] += code_difference(file.before, file.after, language).added
    return lines


async def _fix(work: FixWork, runtime: AgentRuntime, gates: PatchGates, content: bytes) -> FixResult:
    """Lead the conversation about a finding."""
    options, finding = work.options, gates.finding
    workspace = EditWorkspace(gates.root, tuple(options.closed))
    task = FixTask(
        _with_texts(finding, gates.base),
        options.attempts,
        _function_at(content, finding),
        bool(work.payload.earlier),
    )
    about = _hash(finding.identity, options.build, options.tests, *work.payload.earlier)
    reason = ""
    with runtime.open(work.job, options.group, about, work.lines) as talk:
        attempts = AttemptedPatches(gates, workspace)
        agent = _agent(talk, workspace, attempts, options)
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
    result = _result(finding, patched.outcome, reason, changes_in(workspace), gates.root)
    result = result.model_copy(update={"second_look": patched.look})
    # With an older error, the input is no test that passes.
    if result.state != FIXED or any(gate.older for gate in result.gates):
        return result
    tests = await in_thread(regression_tests, gates.proof.baselines, gates.base, options)
    return result.model_copy(update={"regression_test": tests})


def _agent(talk: JobConversation, workspace: EditWorkspace, attempts: AttemptedPatches, options: FixOptions) -> Agent:
    scripts = [_local(tool, workspace.root) for tool in talk.scripts(workspace.root)]
    edits = map(attempts.watched, edit_tools(workspace))
    tools = Toolbox([watched_reading(workspace), search_code(workspace.tree), *scripts, *edits])
    definition = fix_definition(options.build, options.tests, scripts=bool(scripts))
    return Agent(definition, tools, profile=talk.platform.profile, marks=talk.marks, limits=options.agent_limits)


def _local(tool: Tool, root: Path) -> Tool:
    """Return a tool whose outcomes do not contain the path of the scratch copy."""
    return replace(tool, run=lambda arguments: without_places(tool.run(arguments), {root: "."}))


def _with_texts(finding: FixFinding, base: Path) -> FixFinding:
    """Return the finding with the code of each step of its trace."""
    cache = dict[str, list[bytes]]()

    def with_text(step: FixLine) -> FixLine:
        lines = cache.setdefault(step.file, (_content(base, step.file) or b"").split(b"\n"))
        text = lines[step.line - 1] if 0 < step.line <= len(lines) else b""
        return step.model_copy(update={"text": text.decode("utf-8", "backslashreplace").strip()})

    return finding.model_copy(update={"steps": tuple(map(with_text, finding.steps))})


def _function_at(content: bytes, finding: FixFinding) -> str:
    """Return the name of the function that contains a finding, or ""."""
    offset = sum(len(line) + 1 for line in content.split(b"\n")[: finding.place.line - 1])
    line = content[offset:].partition(b"\n")[0]
    language = language_of(os.fsencode(finding.place.file)) or finding.language
    inside = functions(mask(content, language).text, language)
    found = inside.at(offset) or inside.at(offset + max(line.find(finding.place.text.encode()), 0))
    return found.name.decode("utf-8", "replace") if found else ""


def _result(finding: FixFinding, outcome: FixOutcome | None, stopped: str, changes: Changes, root: Path) -> FixResult:
    files = {
        path: PatchedFile(before=file.before, after=file.after, mode=mode_of(root / path))
        for path, file in changes.items()
        if file.before is not None and file.after is not None
    }
    gates = outcome.results if outcome else ()
    reason = stopped or (reason_of(gates, outcome.attempts) if outcome else "")
    text = outcome.text if outcome else ""
    return FixResult(
        finding=finding,
        state=NOT_DONE if stopped or outcome is None else REFUSED if reason else FIXED,
        reason=reason,
        gates=gates,
        attempts=outcome.attempts if outcome else 0,
        message=commit_message(finding, text),
        text=text,
        patch=patch_text(changes) if len(files) == len(changes) else b"",
        files=files,
    )


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
