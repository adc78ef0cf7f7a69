"""What the actions of `jarvis sec triage` work on: the store, and the findings of the selected run."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.run_outcome import counted
from jarvis_cli.kit.status_output import write_line
from jarvis_workers.errors import UsageError
from jarvis_workers.runs import wiring
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.sec.commands.scan_outcome import shown_prefix
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.run_reports.reports import read_body
from jarvis_workers.sec.runs.scan_runs import ScanRun, find_scan, is_complete
from jarvis_workers.sec.triage import queue
from jarvis_workers.sec.triage.queue import Filter, Sheet
from jarvis_workers.sec.triage.records import Named
from jarvis_workers.settings import load_settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store


@dataclass(frozen=True)
class TriageContext:
    """The store, and the selected run, if any."""

    store: Store
    blobs: Blobs
    named: ScanRun | None

    @property
    def run(self) -> ScanRun:
        if self.named is None:
            raise UsageError("name a run, such as last; see: jarvis runs list")
        return self.named

    def sheet(self) -> Sheet:
        return queue.findings_of(self.store, self.blobs, self.run)

    def listed(self) -> list[Issue]:
        """Return the findings of the run; a line says how many its report does not list."""
        sheet = self.sheet()
        if sheet.not_listed:
            typer.echo(f"not shown: {counted(sheet.not_listed, 'finding')} beyond the limit of the report", err=True)
        return sheet.findings

    def from_here(self, criteria: Filter) -> Filter:
        """Let --file match paths as the text report shows them from this directory."""
        return replace(criteria, prefix=shown_prefix(self.run))

    def nothing_listed(self, says: str) -> str:
        """Return what `says` that nothing is listed; of a scan that is not complete, that it may lack findings."""
        run = self.run
        if is_complete(run, read_body(self.store, self.blobs, run).summary):
            return says
        may_lack = f"run {run.id} is {run.state} and may lack findings; see: jarvis runs show {run.id}"
        return f"nothing is listed, but {may_lack}"


@contextmanager
def open_context(run: str | None, *, create: bool) -> Iterator[TriageContext]:
    """Open the store of this directory's settings, which a command may `create`, and find the run."""
    settings = load_settings(directory=Path.cwd())
    with wiring.store_of(settings, tell=write_line, create=create) as store:
        yield TriageContext(store, blobs_of(settings), None if run is None else find_scan(store, run))


def operation(change: str) -> Named:
    """Return the name of an operation of this user, which can be undone."""
    return Named(change, queue.current_user())


def report_done(says: str) -> int:
    """Print what was done; return the exit code."""
    typer.echo(says, err=True)
    return exits.DONE
