"""Rows of run lists: state, and progress or findings."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.runs import runs
from jarvis_workers.runs.labels import BRANCH, COMMIT, DIRTY, PROJECT, project_of
from jarvis_workers.sec.run_reports.totals import ReportTotals
from jarvis_workers.store.values import Run, StageProgress
from jarvis_workers.web.context import WebContext

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
