"""Report verdicts of agents during a run, and update the run's files."""

from jarvis_cli.kit.status_output import Display
from jarvis_workers.errors import StoreError, StoreUnavailable, UsageError
from jarvis_workers.sec.report.body import AT_RISK
from jarvis_workers.sec.report.fired_rules import finding_name
from jarvis_workers.sec.report.verdicts import worst_first
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.run_reports.live import Follower, Updates
from jarvis_workers.sec.run_reports.run_export import Growing
from jarvis_workers.sec.run_reports.run_files import export_directory
from jarvis_workers.sec.stages.verdicts import has_verdicts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run, StageProgress

LINES_AT_ONCE = 5


class LiveView:
    """Shows the progress of a run, and reports its verdicts; with `grows` it updates the files in the tree."""

    def __init__(self, screen: Display, store: Store, *, grows: bool) -> None:
        self._screen, self._follower, self._grows = screen, Follower(store), grows
        self._files: Growing | None = None
        self._is_announced = False

    def show(self, run: Run, stages: list[StageProgress]) -> None:
        """Show the progress of a run, and the verdicts since the last call."""
        self._screen.show(run, stages)
        if not has_verdicts(run) or not any(stage.name == "cluster" and stage.jobs for stage in stages):
            return
        try:
            updates = self._follower.look(run)
        except StoreUnavailable:
            # The executor reports this error; results missed now are reported later.
            return
        except StoreError as problem:
            if not self._is_announced:
                self._screen.tell(f"live results are not shown: {problem}")
            self._is_announced = True
            return
        self._grow(run, updates)
        risks = worst_first(issue for issue in updates.issues if issue.status in AT_RISK)
        for issue in risks[:LINES_AT_ONCE]:
            self._screen.finding(_line(issue))
        if len(risks) > LINES_AT_ONCE:
            self._screen.finding(f"and {len(risks) - LINES_AT_ONCE:,} more are confirmed or need review")

    def close(self) -> None:
        """Close the files of the run."""
        if self._files:
            self._files.close()

    def _grow(self, run: Run, updates: Updates) -> None:
        """Append new results to the files; a failure is reported once and does not stop the run."""
        if not self._grows:
            return
        try:
            directory = export_directory(run)
            if directory and not self._files:
                self._files = Growing(directory)
            if self._files:
                self._files.add(updates)
        except (UsageError, OSError) as problem:
            self._grows = False
            self._screen.tell(f"the files of the run are not being updated: {problem}")


def _line(issue: Issue) -> str:
    place = f"{issue.candidate.file}:{issue.candidate.line}"
    return f"{issue.status}: {place} {finding_name(issue)} ({issue.severity}): {_first(issue.opinion.consequences)}"


def _first(text: str) -> str:
    return " ".join(text.split())[:120]
