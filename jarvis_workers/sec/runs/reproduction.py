"""The repetition of a stored proof on the current tree."""

import json
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.errors import HostExhausted, SandboxError, StepFailed, UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.scan_request import selection_of
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import best_tier
from jarvis_workers.sec.bench.proof_bench import ProofLimits, ProofTree, open_proof_bench
from jarvis_workers.sec.proof.proof import Attempt, Proof, ProofTarget, TreeLine
from jarvis_workers.sec.proof.run_tool import Repetition, compare
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.proof_runner import PROOFS, BenchRunner
from jarvis_workers.sec.store import proofs
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.checkout import unpack
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.resources import UNPACKED
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


class Reproduction(NamedTuple):
    """The repetition of a proof on a tree."""

    issue: Issue
    proof: Proof
    repetition: Repetition


def reproduce(settings: Settings, store: Store, blobs: Blobs, run: Run, issue: Issue, root: Path) -> Reproduction:
    """Run the proof of a finding of a run again, on the tree at `root`. Raises UsageError if it has no proof."""
    with store.read() as session:
        found = proofs.of_gids(session, run.id, [issue.gid]).get(issue.gid)
    if found is None or found.blob is None or issue.proof is None:
        why = f": {plain(found.reason)}" if found else ""
        raise UsageError(f"{issue.id} has no proof to run again{why}")
    attempt = Attempt.from_json(json.loads(blobs.read(found.blob)))
    return Reproduction(issue, issue.proof, _repeat(settings, blobs, run, issue, attempt, root))


def _repeat(settings: Settings, blobs: Blobs, run: Run, issue: Issue, attempt: Attempt, root: Path) -> Repetition:
    cache, command = settings.data_dir / "cache", JudgeOptions.of(run).proof_build
    archive = pack_project(root, settings.c2rust.build_disk_mb) if command else b""
    snapshot = pack(root, selection_of(settings), blobs)
    tree = ProofTree(unpack(blobs, snapshot.id, cache / UNPACKED), snapshot.id, command, archive)
    tier = best_tier()
    if tier == Tier.C:
        raise UsageError("this machine has no sandbox to run a proof in; see: jarvis sandbox selftest")
    target = ProofTarget(TreeLine(issue.candidate.file, issue.candidate.line), issue.candidate.cwe, 0, 0)
    with ExitStack() as resources:
        try:
            bench = resources.enter_context(open_proof_bench(cache / PROOFS, tree, ProofLimits(), tier, None))
            result = BenchRunner(bench, target, threading.BoundedSemaphore()).attempt(attempt)
        except (HostExhausted, SandboxError, StepFailed) as error:
            return Repetition("not_run", str(error))
    assert issue.proof is not None
    return compare(result, issue.proof.stack)
