"""The scans of a comparison: that of the tree, and before it that of the revision which is its baseline."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs import wiring
from jarvis_workers.runs.labels import baseline_labels
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.sources import SourceTree, open_revision, open_source, unchanged_since
from jarvis_workers.runs.targets import older_selection, prefix_of
from jarvis_workers.sec.commands.scan_request import ScanRequest
from jarvis_workers.sec.run_reports.baselines import is_report, read_report
from jarvis_workers.sec.run_reports.run_baselines import of_run
from jarvis_workers.sec.runs.scan_input import Baseline, ScanInput
from jarvis_workers.sec.runs.scan_runs import scan_of
from jarvis_workers.snapshots.unchanged_since import Unchanged
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.toolchain.gittree import TreeBounds

WHOLE = ("done", "incomplete")


@dataclass(frozen=True)
class Part:
    """One of the two scans of a comparison: its tree, which is opened once, and the changes to the request."""

    opened: AbstractContextManager[SourceTree]
    baseline: Baseline | None = None
    unchanged: Unchanged | None = None
    may_be_empty: bool = False
    renamed: Mapping[bytes, bytes] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    def of(self, request: RunRequest[ScanInput]) -> RunRequest[ScanInput]:
        """Return the request for this scan; named paths are mapped to their names in an older revision."""
        selection = replace(older_selection(request.selection, self.renamed), unchanged=self.unchanged)
        scan_input = replace(request.run_input, baseline=self.baseline)
        labels = {**request.labels, **self.labels}
        may_be_empty = self.may_be_empty or request.may_be_empty
        return replace(request, selection=selection, run_input=scan_input, may_be_empty=may_be_empty, labels=labels)


def part_of(store: Store, request: ScanRequest, scan: Callable[[Part], Run]) -> Part:
    """Return the part to scan, after `scan` has scanned the baseline if that is a revision. Raises UsageError."""
    bounds = wiring.tree_bounds_of(request.settings)
    unchanged = _unchanged_of(request, bounds)
    baseline = _baseline_of(store, request, scan, bounds)
    return Part(open_source(request.target.root, bounds=bounds), baseline=baseline, unchanged=unchanged)


def _unchanged_of(request: ScanRequest, bounds: TreeBounds) -> Unchanged | None:
    """Return the files that are unchanged since a revision, or None without --since."""
    if request.since is None:
        return None
    try:
        return unchanged_since(request.target.root, request.since, bounds=bounds)
    except UsageError as problem:
        raise UsageError(f"--since: {problem}") from problem


def _baseline_of(
    store: Store, request: ScanRequest, scan: Callable[[Part], Run], bounds: TreeBounds
) -> Baseline | None:
    baseline, target = request.baseline, request.target
    if baseline is None:
        return None
    if is_report(baseline):
        return read_report(baseline, prefix_of(target))
    try:
        with open_revision(target.root, baseline, bounds=bounds) as revision:
            labels = baseline_labels(revision.says)
            run = scan(Part(nullcontext(revision.source), may_be_empty=True, renamed=revision.renamed, labels=labels))
    except UsageError as problem:
        raise UsageError(
            f"--baseline {plain(baseline)} is not a report file, and cannot be used as a revision: {problem}"
        ) from problem
    if run.state not in WHOLE:
        raise UsageError(f"--baseline {plain(baseline)}: its run {run.id} ended as {run.state}: {run.reason}")
    return of_run(store, scan_of(run), revision.says, revision.renamed)
