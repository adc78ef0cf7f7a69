"""The budget of a run: parsing, validation, and its part of the report."""

from collections.abc import Collection
from typing import Any

from jarvis_workers.errors import UsageError
from jarvis_workers.models.ratelimit.budget import RunBudget, read_budget
from jarvis_workers.paths import plain
from jarvis_workers.settings import Settings
from jarvis_workers.store import budgets
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


def budget_of(settings: Settings, *model_groups: str | None) -> RunBudget | None:
    """Return the budget of a new run from the settings. Raises UsageError if it is in dollars and prices are unknown.

    On a cluster the prices are set on the workers; a price set here may be that of another model.
    """
    if settings.agent.budget is None:
        return None
    budget = read_budget(settings.agent.budget)
    check_prices(settings, budget, model_groups, option="--budget")
    return budget


def check_prices(settings: Settings, budget: RunBudget, model_groups: Collection[str | None], *, option: str) -> None:
    """Raise UsageError if a budget of a local run is in dollars and the prices of a model group are unknown."""
    free = next((name for name in model_groups if name and not _has_prices(settings, name)), None)
    if budget.unit == "usd" and free and settings.place == "local":
        raise UsageError(
            f'{option}: the model group "{free}" has no prices, so its cost in dollars cannot be computed;'
            " set them in jarvis.yaml, or give a budget in tokens (200ktok) or time (30min)"
        )


def _has_prices(settings: Settings, name: str) -> bool:
    group = settings.models.get(name)
    return group is not None and group.prices.are_set


def read_budget_option(text: str | None, option: str = "--budget") -> RunBudget | None:
    """Parse the value of an option such as --budget. Raises UsageError."""
    try:
        return None if text is None else read_budget(text)
    except ValueError as error:
        raise UsageError(f'{option}: "{plain(text or "")}" {error}') from error


def check_budget_left(store: Store, run: Run, budget: RunBudget | None) -> None:
    """Raise UsageError if a resumed run would be paused at once, because its budget is used up."""
    with store.read() as session:
        cap = budget or budgets.find(session, run.id)
        spent = budgets.spent(session, run.id, cap.unit, is_left=True) if cap else 0
    if cap and (spent >= cap.cap or (budget is None and budgets.is_reason(run.reason))):
        command = "retry" if run.ended else "resume"
        raise UsageError(
            f"run {run.id} has spent {cap.says(spent)}",
            f"raise the budget: jarvis runs {command} {run.id} --budget AMOUNT",
        )


def resume_flags(run: Run) -> str:
    """Return the additional options that are needed to resume a run."""
    return " --budget AMOUNT" if budgets.is_reason(run.reason) else ""


def budget_part(store: Store, run: Run) -> dict[str, Any] | None:
    """Return the budget of a run for its report, or None."""
    with store.read() as session:
        entries = budgets.find(session, run.id)
        spent = budgets.spent(session, run.id, entries.unit) if entries else 0
    if entries is None:
        return None
    return {"unit": entries.unit, "cap": entries.amount, "spent": entries.in_units(spent), "says": entries.says(spent)}
