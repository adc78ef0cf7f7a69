"""Fuzz what stands: fuzz targets, and programs with the inputs of proofs and of the project's own tests.

The first job compiles the tree and looks for targets; each target is the job of another, and they share the seconds of
the run.  No model is asked.  What is found is numbered, and joined with the findings, by stage `crashes`.
"""

import io
import json
import re
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.agents.tools.reading import CODE_SUFFIXES
from jarvis_workers.errors import StepFailed
from jarvis_workers.paths import plain
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.sandbox.mutations import INPUT_MAX
from jarvis_workers.sec.bench.proof_bench import ProofBench
from jarvis_workers.sec.bench.proof_objects import FUZZ_TARGET, MAIN
from jarvis_workers.sec.finding import Numbered
from jarvis_workers.sec.fuzzing_outcome import FuzzedTarget
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.proof.proof import Attempt, Proof
from jarvis_workers.sec.stages.candidates import some_of
from jarvis_workers.sec.stages.fuzz_record import NO_TARGETS, FuzzRecord, commit_of
from jarvis_workers.sec.stages.fuzz_runs import KnownFindings, TargetFuzzing
from jarvis_workers.sec.stages.judge_options import FUZZ_STAGE, JudgeOptions
from jarvis_workers.sec.stages.payloads import FuzzPayload
from jarvis_workers.sec.stages.scanned_tree import ScannedTree, has_sandbox
from jarvis_workers.sec.store import proofs, verdicts
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.source.languages import is_test
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


# Choose the seeds of fuzzing among the inputs of a project's own tests: small files, of each type a few.

SEEDS_MAX, BYTES_MAX, OF_A_TYPE = 64, 512_000, 12
ENTRIES_MAX = 100_000
# The directories of inputs, those of fuzzing first.
PLACES = (
    re.compile(r"(?:^|[/_-])(?:corpus|corpora|seeds?|fuzz\w*)(?:[/_-]|$)", re.IGNORECASE),
    re.compile(r"(?:^|[/_-])(?:tests?|testdata|samples?|examples?|data|regress\w*|t)(?:[/_-]|$)", re.IGNORECASE),
)
# Files beside the inputs that no program under test reads.
OTHER_SUFFIXES = (
    *(".am", ".cmake", ".in", ".ac", ".m4", ".mk", ".md", ".rst", ".yml", ".yaml"),
    *(".sh", ".py", ".pl", ".o", ".a", ".so"),
)
OTHER_NAMES = re.compile(r"(?:CMakeLists\.txt|(?:GNU)?[Mm]akefile.*|README.*|COPYING.*|LICEN[CS]E.*|ChangeLog|\..*)")


class _Input(NamedTuple):
    place: int
    size: int
    path: str
    entry: tarfile.TarInfo

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.path).suffix


def seeds_of(archive: bytes) -> tuple[bytes, ...]:
    """Return the contents of chosen files of a project's archive: those of fuzzing, then of tests, small ones first."""
    if not archive:
        return ()
    seeds, types, size = dict[bytes, None](), Counter[str](), 0
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        for one in sorted(_inputs(opened), key=lambda one: one[:3]):
            if types[one.suffix] >= OF_A_TYPE or size + one.size > BYTES_MAX:
                continue
            file = opened.extractfile(one.entry)
            content = file.read() if file else b""
            if content and content not in seeds:
                seeds[content] = None
                types[one.suffix] += 1
                size += len(content)
            if len(seeds) == SEEDS_MAX:
                break
    return tuple(seeds)


def _inputs(archive: tarfile.TarFile) -> Iterator[_Input]:
    for entry, _ in zip(archive, range(ENTRIES_MAX), strict=False):
        path = PurePosixPath(entry.name)
        if not entry.isreg() or not 0 < entry.size <= INPUT_MAX or OTHER_NAMES.fullmatch(path.name):
            continue
        if path.suffix in OTHER_SUFFIXES or path.suffix.lower() in CODE_SUFFIXES:
            continue
        place = next((number for number, shape in enumerate(PLACES) if shape.search(str(path.parent))), None)
        if place is not None:
            yield _Input(place, entry.size, entry.name, entry)


TARGETS_MAX, ATTEMPTS_MAX = 6, 8
# Less says nothing of a target: the others wait for a run with more time.
LEAST_SECONDS = 5
FUZZED_KINDS = ("program", "fuzz_target")
LABEL_LENGTH = 160
# Of what is left out, so many are named.
NAMED_MAX = 20
ENTRY = re.compile(rb"\b(?:%b|main)\s*\(" % FUZZ_TARGET.encode())
UNCOMPILED = "it does not compile by itself; give the command of the build (--build)"
NO_SANDBOX = "this machine has no sandbox to run it in"
NOTHING = "the tree has no fuzz target, and no program that could be built"
LEFT_OUT = f"not among the first targets: a run fuzzes at most {TARGETS_MAX}, each for at least {LEAST_SECONDS} seconds"


class FuzzTarget(NamedTuple):
    """What is fuzzed, with the blobs of attempts that ran it."""

    way: str
    name: str
    attempts: tuple[str, ...] = ()


@dataclass(frozen=True)
class FuzzWork:
    """The target of a job, or the search for targets; the proofs so far, and the confirmed findings without one."""

    job: Claimed
    payload: FuzzPayload
    snapshot_id: str
    options: JudgeOptions
    proofs: Sequence[Proof]
    unproved: Sequence[Numbered]


def plan_on(run: Run, _: Blobs, __: StageHistory) -> Iterator[NewJob]:
    """Yield the job that looks for targets, if the run fuzzes."""
    if JudgeOptions.of(run).fuzz_seconds:
        yield _job(run.snapshot_id, FuzzPayload(), "targets")


def load(session: "Session", run: Run, job: Claimed) -> FuzzWork:
    """Return the target of the job, with the findings and the proofs."""
    found = proofs.every(session, run.id)
    proved = {gid for gid, proof in found.items() if proof.state == "proved"}
    confirmed = [gid for gid, status in verdicts.statuses(session, run.id).items() if status == "confirmed"]
    unproved = some_of(session, run, [gid for gid in confirmed if gid not in proved])
    payload = FuzzPayload.from_json(job.payload)
    return FuzzWork(job, payload, run.snapshot_id, JudgeOptions.of(run), list(found.values()), unproved)


async def converse(work: FuzzWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Look for targets and commit a job for each, or fuzz one and commit what was found. Raises HostExhausted."""
    if not has_sandbox(runtime):
        return _not_fuzzed(work, NO_SANDBOX, blobs)
    tree = await ScannedTree.unpack(runtime, blobs, work.snapshot_id, work.options)
    with ExitStack() as resources:
        try:
            bench = await in_thread(tree.open_bench, resources)
        except StepFailed as error:
            return _not_fuzzed(work, str(error), blobs)
        if not work.payload.target:
            return await in_thread(_planned, work, bench, blobs)
        return await in_thread(_fuzzed, work, bench, runtime, blobs, tree.index)


def _fuzzed(work: FuzzWork, bench: ProofBench, runtime: AgentRuntime, blobs: Blobs, index: CodeIndex) -> Commit:
    archive = blobs.read(work.options.proof_archive) if work.options.proof_archive else b""
    findings = KnownFindings.of(work.unproved, work.proofs, index)
    return commit_of(
        TargetFuzzing(bench, runtime, blobs, work.payload, seeds_of(archive), index, findings).run(), blobs
    )


def _planned(work: FuzzWork, bench: ProofBench, blobs: Blobs) -> Commit:
    """Return the jobs of the targets, and say which are left out."""
    targets = targets_of(bench, work.proofs, blobs)
    most = min(TARGETS_MAX, max(1, work.options.fuzz_seconds // LEAST_SECONDS))
    left_out = [FuzzedTarget(plain(one.name), reason=LEFT_OUT) for one in targets[most:][:NAMED_MAX]]
    left_out += [FuzzedTarget(plain(name), reason=UNCOMPILED) for name in _uncompiled(bench)[:NAMED_MAX]]
    if not targets:
        nothing = FuzzedTarget(NO_TARGETS, reason=NOTHING)
        return commit_of(FuzzRecord(tuple(left_out) or (nothing,)), blobs)
    seconds = work.options.fuzz_seconds // len(targets[:most])
    payloads = [FuzzPayload(one.way, one.name, seconds, one.attempts) for one in targets[:most]]
    children = tuple(_job(work.snapshot_id, one, plain(one.target)[-LABEL_LENGTH:]) for one in payloads)
    return commit_of(FuzzRecord(tuple(left_out)), blobs)._replace(children=children)


def targets_of(bench: ProofBench, found: Sequence[Proof], blobs: Blobs) -> list[FuzzTarget]:
    """Return what can be fuzzed: fuzz targets first, then programs that proofs have run, then the others."""
    attempts = defaultdict[tuple[str, str], list[str]](list)
    for proof in found:
        if proof.kind in FUZZED_KINDS and proof.blob:
            attempt = Attempt.from_json(json.loads(blobs.read(proof.blob)))
            attempts[attempt.way, attempt.target].append(proof.blob)
    fuzz_targets = [bench.compiled.name_of(one) for one in bench.compiled.with_function(FUZZ_TARGET)]
    programs = _programs(bench)
    targets = list[FuzzTarget]()
    for way, names in (("fuzz_target", fuzz_targets), ("program", programs)):
        for name in names:
            blobs_of_it = [*attempts[way, name], *(attempts[way, ""] if len(names) == 1 else [])]
            targets.append(FuzzTarget(way, name, tuple(dict.fromkeys(blobs_of_it))[:ATTEMPTS_MAX]))
    return sorted(targets, key=lambda one: (one.way != "fuzz_target", not one.attempts))


def _uncompiled(bench: ProofBench) -> list[str]:
    """Return the files that have a fuzz target or a program, and did not compile by themselves."""
    compiled = {one.path for one in bench.compiled.objects}
    missing = (file for path, file in bench.compiled.sources.items() if path not in compiled)
    return [file for file in missing if ENTRY.search(bench.source(file))]


def _programs(bench: ProofBench) -> list[str]:
    """Return the programs of the tree that are neither tests nor around a fuzz target."""
    if bench.tree.command is None:
        mains = [one for one in bench.compiled.with_function(MAIN) if one.path in bench.compiled.sources]
        return [bench.compiled.name_of(one) for one in mains]
    names = [name for name in bench.programs() if not is_test(name.encode("utf-8", "surrogateescape"))]
    return [name for name in names if FUZZ_TARGET.encode() not in bench.source(name)]


def _not_fuzzed(work: FuzzWork, reason: str, blobs: Blobs) -> Commit:
    return commit_of(FuzzRecord((FuzzedTarget(plain(work.payload.target) or NO_TARGETS, reason=reason),)), blobs)


def _job(snapshot: str, payload: FuzzPayload, label: str) -> NewJob:
    content = payload.to_json()
    return NewJob(FUZZ_STAGE, AGENT_QUEUE, label, sha256(f"{snapshot}:{content}".encode()).hexdigest(), payload=content)
