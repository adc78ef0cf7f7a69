"""The budget of a run: what a user gives it, whether that makes sense, and what is told of it."""

from typing import Any

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.ratelimit.budget import RunBudget, read_budget
from jarvis_workers.settings import Settings
from jarvis_workers.store import budgets
from jarvis_workers.store.budgets import REASON
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

__all__ = ["budget_of", "check_raised", "more_for", "read_asked", "told"]


def budget_of(settings: Settings, *model_groups: str | None) -> RunBudget | None:
    """Return the budget that settings give a new run; raises UsageError where money cannot be counted.

    On a cluster the workers know the prices, and what is set here may be of another model.
    """
    if settings.agent.budget is None:
        return None
    budget = read_budget(settings.agent.budget)
    free = next((name for name in model_groups if name and not _has_prices(settings, name)), None)
    if budget.unit == "usd" and free and settings.place == "local":
        raise UsageError(
            f'--budget: the model group "{free}" has no prices, so that dollars cannot be counted;'
            " set them in jarvis.yaml, or give a budget in tokens (200ktok) or time (30min)"
        )
    return budget


def _has_prices(settings: Settings, name: str) -> bool:
    group = settings.models.get(name)
    return group is not None and bool(group.prices.input or group.prices.output)


def read_asked(asked: str | None) -> RunBudget | None:
    """Read what a user gave as --budget; raises UsageError."""
    try:
        return None if asked is None else read_budget(asked)
    except ValueError as error:
        raise UsageError(f'--budget: "{plain(asked or "")}" {error}') from error


def check_raised(store: Store, run: Run, budget: RunBudget | None) -> None:
    """Refuse to go on with a run that would be paused at once; raises UsageError."""
    with store.read() as session:
        cap = budget or budgets.find(session, run.id)
        spent = budgets.spent(session, run.id, cap.unit, is_left=True) if cap else 0
    if cap and (spent >= cap.cap or (budget is None and run.reason == REASON)):
        command = "retry" if run.ended else "resume"
        raise UsageError(
            f"run {run.id} has spent {cap.says(spent)}; raise it: jarvis runs {command} {run.id} --budget AMOUNT"
        )


def more_for(run: Run) -> str:
    """Return what whoever goes on with a run has to say, too."""
    return " --budget AMOUNT" if run.reason == REASON else ""


def told(store: Store, run: Run) -> dict[str, Any] | None:
    """Return the budget of a run for its report, None where it has none."""
    with store.read() as session:
        found = budgets.find(session, run.id)
        spent = budgets.spent(session, run.id, found.unit) if found else 0
    if found is None:
        return None
    return {"unit": found.unit, "cap": found.amount, "spent": found.told(spent), "says": found.says(spent)}
