"""The context of a request: the store, the reports, and the user."""

from dataclasses import dataclass, field
from typing import cast

from flask import current_app, g

from jarvis_workers import telemetry
from jarvis_workers.errors import JarvisError, SnapshotError, StoreError, UsageError
from jarvis_workers.runs.background_runs import BackgroundRuns
from jarvis_workers.runs.runs import get_run, newest_runs
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.sec.run_reports.body_cache import BodyCache
from jarvis_workers.sec.run_reports.totals import TotalsCache
from jarvis_workers.sec.runs.scan_runs import ScanRun, newest_scans, scan_of
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.web.access.identity import Identity
from jarvis_workers.web.access.sign_in import ApiTokens, SignIn

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
