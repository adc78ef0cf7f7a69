"""The `run` part of a report from the rows of any run: its facts, and the cost of its models."""

from typing import Any

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.pipeline.stages import SANDBOXES_OF_FINDINGS, find_kind, function_of
from jarvis_workers.runs.budgets import budget_part
from jarvis_workers.runs.run_facts import RunCosts, run_facts
from jarvis_workers.store import stages, transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


def run_part(store: Store, run: Run) -> dict[str, Any]:
    """Return the part of a report that differs between two runs over the same input."""
    sandboxes = _sandboxes(run)
    with store.read() as session:
        progress = stages.progress(session, run.id)
        usage = transcripts.total(session, run.id)
        tiers = function_of(sandboxes)(session, run.id) if sandboxes else None
    group = ConversationOptions.of(run).model_group
    costs = RunCosts(
        model=_model(group, usage) if group is not None else None,
        cost=usage.cost,
        budget=budget_part(store, run),
        sandbox=tiers,
    )
    return run_facts(run, progress, costs)


def _sandboxes(run: Run) -> str | None:
    """Return the name of the function that reads in which tiers commands were confined."""
    kind = find_kind(run.kind)
    return kind and (kind.sandboxes or (SANDBOXES_OF_FINDINGS if kind.has_findings else None))


def _model(group: str, usage: transcripts.Total) -> dict[str, Any]:
    numbers = usage._asdict()
    del numbers["cost"]
    return {"group": group, **numbers, "seconds": round(usage.seconds, 3)}
