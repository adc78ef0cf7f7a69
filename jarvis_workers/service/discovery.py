"""The options of `--discover`: how many functions are searched, and what that may cost."""

from typing import Any

from jarvis_workers.errors import UsageError
from jarvis_workers.service.budgets import check_prices, read_budget_option
from jarvis_workers.settings import Settings
from jarvis_workers.steps.sec.judge_options import JudgeOptions
from jarvis_workers.steps.sec.pipelines import RANKED as RANKED

LIMIT = 20
BUDGET = "--discover-budget"


def discovery_of(*, discover: bool, limit: int | None, budget: str | None) -> dict[str, Any]:
    """Return the fields of JudgeOptions for these options. Raises UsageError."""
    given = {"--discover-limit": limit, BUDGET: budget}
    if not discover:
        if useless := next((name for name, value in given.items() if value is not None), None):
            raise UsageError(f"{useless} has no effect without --discover")
        return {}
    cap = read_budget_option(budget, BUDGET)
    if cap is not None and cap.unit == "s":
        raise UsageError(f'{BUDGET}: "{budget}" is a time; give an amount in dollars (1usd) or tokens (200ktok)')
    return {"discover": limit or LIMIT, "discover_budget": cap}


def check_discovery_prices(settings: Settings, agents: JudgeOptions) -> None:
    """Raise UsageError if the budget of discovery is in dollars and the prices of the model are unknown."""
    if agents.discover_budget:
        check_prices(settings, agents.discover_budget, [agents.model_group], option=BUDGET)
