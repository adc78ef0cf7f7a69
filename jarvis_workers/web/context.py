"""The context of a request: the store, the reports, and the user."""

from dataclasses import dataclass, field
from typing import cast

from flask import current_app, g

from jarvis_workers.errors import UsageError
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.service.background_runs import BackgroundRuns
from jarvis_workers.service.handles import Blobs, Store
from jarvis_workers.service.reports.body_cache import BodyCache
from jarvis_workers.service.reports.totals import TotalsCache
from jarvis_workers.service.runs import find_run
from jarvis_workers.settings import Settings
from jarvis_workers.store.values import Run
from jarvis_workers.web.access.identity import Identity
from jarvis_workers.web.access.sign_in import ApiTokens, SignIn

EXTENSION = "jarvis"


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

    def body(self, run: Run) -> ReportBody:
        """Return the report of a run; it is empty if the kind of run has no findings."""
        return self.reports.read(self.store, self.blobs, run)


def context() -> WebContext:
    """Return the context of the current application."""
    return cast(WebContext, current_app.extensions[EXTENSION])


def current_identity() -> Identity:
    """Return the user of the current request."""
    return cast(Identity, g.identity)


def exact_run(run_id: str) -> Run:
    """Return the run with exactly this id, or the newest run for "last". Raises RunMissing."""
    try:
        run = find_run(context().store, run_id)
    except UsageError as error:
        raise RunMissing(str(error)) from error
    if run_id not in (run.id, "last"):
        raise RunMissing(f"there is no run {run_id}")
    return run
