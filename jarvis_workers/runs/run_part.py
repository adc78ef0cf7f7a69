"""The `run` part of a report from the rows of any run: its facts, and the cost of its models."""

from typing import Any

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.pipeline.stages import find_kind, function_of
from jarvis_workers.runs.budgets import budget_part
from jarvis_workers.runs.run_facts import RunCosts, run_facts
from jarvis_workers.store import stages, transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


def run_part(store: Store, run: Run) -> dict[str, Any]:
    """Return the part of a report that differs between two runs over the same input."""
    kind = find_kind(run.kind)
    with store.read() as session:
        progress = stages.progress(session, run.id)
        usage = transcripts.total(session, run.id)
        tiers = function_of(kind.sandboxes)(session, run.id) if kind and kind.sandboxes else None
    group = ConversationOptions.of(run).model_group
    costs = RunCosts(
        model=_model(group, usage) if group is not None else None,
        cost=usage.cost,
        budget=budget_part(store, run),
        sandbox=tiers,
    )
    return run_facts(run, progress, costs)


def _model(group: str, usage: transcripts.Total) -> dict[str, Any]:
    numbers = usage._asdict()
    del numbers["cost"]
    return {"group": group, **numbers, "seconds": round(usage.seconds, 3)}
