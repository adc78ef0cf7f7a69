"""Show the estimated cost of `jarvis sec agent`: a table for users, JSON for programs."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from jarvis_workers.paths import plain
from jarvis_workers.service.estimate import Estimate, StageShare

HEADS = ("jobs", "known", "questions", "their tokens", "answers' tokens", "dollars")
NUMBERS = ("jobs", "known", "calls", "prompt", "completion", "prompt_cost", "completion_cost")
NAMES = {"cluster": "clustering a batch", "verify": "verifying a cluster"}


def as_table(estimate: Estimate) -> Iterator[str]:
    """Yield lines: the cost of each stage, the totals, and the basis of the estimate."""
    rows = {"cluster": _numbers(estimate.cluster), "verify": _numbers(estimate.verify), "total": _total(estimate)}
    yield _row("", HEADS)
    for name, numbers in rows.items():
        cost = f"{numbers['prompt_cost'] + numbers['completion_cost']:.4f}" if estimate.priced else "-"
        yield _row(name, [*(f"{numbers[column]:,}" for column in NUMBERS[:5]), cost])
    yield ""
    group = plain(estimate.group)
    plain_jobs = f"cluster jobs that need no model: {estimate.plain:,}"
    yield f"candidates: {estimate.candidates:,}; {plain_jobs}; model group: {group}"
    yield _habit("cluster", estimate.cluster)
    yield _habit("verify", estimate.verify)
    yield f"tokens counted by the server per estimated token: {estimate.ratio:.2f}"
    if rows["total"]["known"]:
        yield "known: answers that are cached and cost nothing"
    if estimate.priced:
        share = rows["total"]["completion_cost"] / max(_cost(rows["total"]), 1e-12)
        yield f"answers are {share:.0%} of the cost; the estimate ignores the provider's prompt cache"
    else:
        yield f"cost not estimated: the model group {group} has no prices; set them in jarvis.yaml"


def as_json(estimate: Estimate) -> str:
    """Return all numbers as JSON."""
    shares = {name: _numbers(share) | {"habit": share.habit._asdict()} for name, share in _shares(estimate).items()}
    return json.dumps({**asdict(estimate), **shares, "total": _total(estimate)}, indent=2)


def _shares(estimate: Estimate) -> dict[str, StageShare]:
    return {"cluster": estimate.cluster, "verify": estimate.verify}


def _numbers(share: StageShare) -> dict[str, Any]:
    return {name: getattr(share, name) for name in NUMBERS}


def _total(estimate: Estimate) -> dict[str, Any]:
    return {name: sum(getattr(share, name) for share in _shares(estimate).values()) for name in NUMBERS}


def _cost(numbers: dict[str, Any]) -> float:
    return float(numbers["prompt_cost"] + numbers["completion_cost"])


def _row(name: str, cells: "tuple[str, ...] | list[str]") -> str:
    return f"{name:<9}" + "".join(f"{cell:>{len(head) + 6}}" for head, cell in zip(HEADS, cells, strict=True))


def _habit(name: str, share: StageShare) -> str:
    habit = share.habit
    basis = f"the mean of {habit.seen:,} jobs" if habit.seen else "assumed until more jobs have run"
    asks = (
        f"{habit.rounds:.1f} questions, {habit.added:,.0f} tokens added per"
        f" conversation, {habit.answer:,.0f} per answer"
    )
    return f"{NAMES[name]}: {asks} ({basis})"
