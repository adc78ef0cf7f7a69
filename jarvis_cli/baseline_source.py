"""Resolve the baseline of a scan: an existing report, or another revision, which is scanned first."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.service.labels import baseline_labels
from jarvis_workers.service.reports.baselines import is_report, read_report
from jarvis_workers.service.reports.run_baselines import of_run
from jarvis_workers.service.request import RunRequest
from jarvis_workers.service.scan_input import Baseline, ScanInput
from jarvis_workers.service.scan_runs import scan_of
from jarvis_workers.service.sources import SourceTree, open_revision, unchanged_since
from jarvis_workers.service.targets import ScanTarget, older_selection, prefix_of
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
        return replace(
            request, selection=selection, run_input=scan_input, may_be_empty=self.may_be_empty, labels=labels
        )


def unchanged_of(named: str, since: str | None, bounds: TreeBounds) -> Unchanged | None:
    """Return the files that are unchanged since a revision, or None without --since. Raises UsageError."""
    if since is None:
        return None
    try:
        return unchanged_since(named, since, bounds=bounds)
    except UsageError as problem:
        raise UsageError(f"--since: {problem}") from problem


def baseline_of(
    store: Store, target: ScanTarget, baseline: str | None, scan: Callable[[Part], Run], bounds: TreeBounds
) -> Baseline | None:
    """Return the baseline of a target; `scan` executes the run over a revision. Raises UsageError."""
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
