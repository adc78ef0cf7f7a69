"""Submit a run that fixes the findings of another run."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.budgets import budget_of
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.models import model_name
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.scan_request import request_for, with_settings
from jarvis_workers.runs.sources import SourceTree, source_labels
from jarvis_workers.sec.fix.fixable import FixPlan
from jarvis_workers.sec.fix_runs.fix_plans import FindingsToFix
from jarvis_workers.sec.fix_runs.fix_results import LABEL
from jarvis_workers.sec.fix_runs.fix_sources import FixSources, read_sources
from jarvis_workers.sec.stages.fix_options import FixOptions, FixRequest
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.pipelines import FIX
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.toolchain.gittree import TreeBounds

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings


NO_SOURCES = "no-sources"
# A patch takes many calls, and the same reading after each failed gate; the rounds limit them.
SAME_CALL = 10
Tell = Callable[[str], None]


@dataclass(frozen=True)
class FixInput(RunInput):
    """The input of a run: its options, the archive of the sources, the findings, and the contents of their proofs."""

    options: FixOptions
    archive: bytes = b""
    plan: FixPlan = field(default_factory=lambda: FixPlan(findings=()))
    proofs: tuple[bytes, ...] = ()
    names_paths: ClassVar[bool] = False

    @cached_property
    def _plan_json(self) -> bytes:
        return self.plan.model_dump_json().encode()

    @property
    def contents(self) -> tuple[bytes, ...]:
        """Return the archive, the findings and the proofs."""
        return (self.archive, self._plan_json, *self.proofs)

    def complete(self, selection: Selection, store: "Store | None") -> FixOptions:
        """Return the options with the names of the blobs."""
        archive, findings = (sha256(content).hexdigest() for content in self.contents[:2])
        return replace(self.options, archive=archive, findings=findings)


def fix_request(
    settings: "Settings", store: Store, blobs: Blobs, run: Run, request: FixRequest, executor: str, tell: Tell
) -> RunRequest[FixInput]:
    """Return the request of a run that fixes findings of `run`. Raises UsageError if that is not possible."""
    findings = FindingsToFix.of(store, blobs, run, request)
    root = root_of(run)
    bounds = TreeBounds(settings.scan.git_max_files, int(settings.code.max_mb * 1_000_000), "code.max_mb")
    sources = read_sources(root, bounds, tell, with_changes=request.with_changes)
    if not request.options.build:
        tell("no build command is set (--build): only the changed files are compiled, if that is possible")
    if not request.options.tests:
        tell("no test command is set (--test): the patches are not tested")
    fix_plan = findings.plan(blobs, sources.below)
    attempts = tuple(blobs.read(blob) for found in fix_plan.findings for blob in found.proof_blobs)
    run_input = FixInput(_options(settings, run, sources, request.options), sources.archive, fix_plan, attempts)
    return _request(settings, root, run, executor, run_input)


def root_of(run: Run) -> Path:
    """Return the scanned directory. Raises UsageError if it is not on this machine."""
    root = Path(os.fsdecode(run.root_raw))
    root = root.parent if root.is_file() else root
    if not root.is_dir():
        raise UsageError(f"run {run.id}: its sources {plain(run.root)} are not a directory on this machine")
    return root


def _options(settings: "Settings", run: Run, sources: FixSources, options: FixOptions) -> FixOptions:
    """Return the options completed by the settings, the scanned run and its sources."""
    scan = SecOptions.of(run)
    return with_settings(
        settings,
        options,
        scanned=run.id,
        model_group=model_name(settings, options.model_group),
        agent_limits=replace(agent_limits_of(settings), tool_calls=settings.agent.rounds, same_call=SAME_CALL),
        base=sources.base,
        copied=sources.copied,
        below=sources.below,
        closed=list(sources.closed),
        proof_build=JudgeOptions.of(run).proof_build,
        min_confidence=scan.min_confidence,
        rules=scan.rules,
        build_flags=scan.build,
        author=list(sources.author),
    )


def _request(settings: "Settings", root: Path, run: Run, executor: str, run_input: FixInput) -> RunRequest[FixInput]:
    """Return the request; its sources are in the archive, so that the snapshot is empty."""
    nothing = settings.data_dir / "cache" / NO_SOURCES
    nothing.mkdir(parents=True, exist_ok=True)
    labels = {**source_labels(SourceTree(root, os.fsencode(root))), LABEL: run.id}
    request = request_for(settings, SourceTree(nothing, os.fsencode(root)), FIX, executor, run_input, labels=labels)
    budget = budget_of(settings, run_input.options.model_group)
    return replace(request, selection=Selection(suffixes=None), may_be_empty=True, budget=budget)
