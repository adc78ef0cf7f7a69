"""The context of a request: the store, the reports, and the user."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from flask import current_app, g

from jarvis_workers import telemetry
from jarvis_workers.errors import JarvisError, SnapshotError, StoreError, UsageError
from jarvis_workers.runs import runs
from jarvis_workers.runs.labels import BRANCH, COMMIT, DIRTY, PROJECT, project_of
from jarvis_workers.runs.runs import get_run, newest_runs
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.sec.run_reports.body_cache import BodyCache
from jarvis_workers.sec.run_reports.totals import ReportTotals, TotalsCache
from jarvis_workers.sec.runs.scan_runs import ScanRun, newest_scans, scan_of
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run, StageProgress
from jarvis_workers.web.access.identity import Identity
from jarvis_workers.web.access.sign_in import ApiTokens, SignIn
from jarvis_workers.web.background_runs import BackgroundRuns

EXTENSION = "jarvis"
LAST = "last"


class RunMissing(UsageError):
    """Raised if there is no such run, finding or conversation; answered with 404."""


@dataclass(frozen=True)
class WebContext:
    """The parts of the application; they live as long as its process."""

    settings: Settings
    store: Store
    blobs: Blobs
    background: BackgroundRuns
    sign_in: SignIn
    api_tokens: ApiTokens
    hosts: tuple[str, ...] = ()
    read_only: bool = False
    reports: BodyCache = field(default_factory=BodyCache)
    totals: TotalsCache = field(default_factory=TotalsCache)

    def body(self, run: ScanRun) -> ReportBody:
        """Return the report of a scan."""
        return self.reports.read(self.store, self.blobs, run)


def text_of(error: JarvisError) -> str:
    """Return what readers may see of an error: addresses and paths of this server are only logged.

    Advice on commands is left out.
    """
    if isinstance(error, UsageError):
        return error.fact
    telemetry.warning("web", says=str(error))
    if isinstance(error, StoreError | SnapshotError):
        what = "The results store" if isinstance(error, StoreError) else "The stored source or report"
        return f"{what} cannot be read; the log of this server says why."
    return "This server cannot do this now; its log says why."


def context() -> WebContext:
    """Return the context of the current application."""
    return cast(WebContext, current_app.extensions[EXTENSION])


def current_identity() -> Identity:
    """Return the user of the current request."""
    return cast(Identity, g.identity)


def exact_run(run_id: str) -> Run:
    """Return the run with exactly this id, or the newest run for "last". Raises RunMissing."""
    store = context().store
    run = next(iter(newest_runs(store, 1)), None) if run_id == LAST else get_run(store, run_id)
    if run is None:
        raise RunMissing("no such run")
    return run


def exact_scan(run_id: str) -> ScanRun:
    """Return the scan with exactly this id, or the newest scan for "last". Raises RunMissing, NotAScan."""
    if run_id != LAST:
        return scan_of(exact_run(run_id))
    if scans := newest_scans(context().store, 1):
        return scans[0]
    raise RunMissing("no such run: there is no scan yet")


# Rows of run lists: state, and progress or findings.

COMMIT_DIGITS = 9
SHOWN_ELSEWHERE = (BRANCH, COMMIT, DIRTY, PROJECT)


class ListRow(NamedTuple):
    """A row in a list of runs; `percent` is None for a run that has ended."""

    run: Run
    state: str
    percent: int | None
    stage: str
    name: str
    project: str
    revision: str
    labels: Mapping[str, str]
    other_labels: Mapping[str, str]
    totals: ReportTotals | None = None


def run_rows(world: WebContext, found: Sequence[Run]) -> list[ListRow]:
    """Return the rows of runs."""
    labels = runs.labels_of(world.store, [run.id for run in found])
    totals = world.totals.read(world.store, world.blobs, found)
    return [_row(world, run, labels[run.id])._replace(totals=totals.get(run.id)) for run in found]


def state_of(world: WebContext, run: Run) -> str:
    """Return the state to show: "abandoned" if the command that executes the run is gone."""
    return "abandoned" if runs.is_abandoned(world.store, run, world.settings.lease_seconds) else run.state


def percent_done(stages: Iterable[StageProgress]) -> int:
    """Return the percentage of a run that is done, which is the mean over its stages."""
    shares = [_share(stage) for stage in stages]
    return int(100 * sum(shares) / len(shares)) if shares else 0


def _row(world: WebContext, run: Run, labels: Mapping[str, str]) -> ListRow:
    stages = [] if run.ended else runs.stages_of(world.store, run)
    current = next((stage.name for stage in stages if stage.state == "open"), "")
    parts = (labels.get(BRANCH, ""), _short_commit(labels.get(COMMIT, "")))
    return ListRow(
        run,
        state_of(world, run),
        percent_done(stages) if stages else None,
        current,
        runs.label_of(run),
        project_of(run, labels),
        " ".join(filter(None, parts)),
        labels,
        {key: value for key, value in labels.items() if key not in SHOWN_ELSEWHERE},
    )


def _short_commit(commit: str) -> str:
    digits, plus, mark = commit.partition("+")
    return f"{digits[:COMMIT_DIGITS]}{plus}{mark}"


def _share(stage: StageProgress) -> float:
    if stage.state == "closed":
        return 1.0
    done, whole = (stage.weight_done, stage.weight) if stage.weight else (stage.done + stage.failed, stage.jobs)
    return min(1.0, done / whole) if whole else 0.0
