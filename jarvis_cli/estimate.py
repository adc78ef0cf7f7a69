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


def as_table(found: Estimate) -> Iterator[str]:
    """Yield lines: the cost of each stage, the totals, and the basis of the estimate."""
    rows = {"cluster": _numbers(found.cluster), "verify": _numbers(found.verify), "total": _total(found)}
    yield _row("", HEADS)
    for name, numbers in rows.items():
        cost = f"{numbers['prompt_cost'] + numbers['completion_cost']:.4f}" if found.priced else "-"
        yield _row(name, [*(f"{numbers[column]:,}" for column in NUMBERS[:5]), cost])
    yield ""
    group = plain(found.group)
    yield f"candidates: {found.candidates:,}; cluster jobs that need no model: {found.plain:,}; model group: {group}"
    yield _habit("cluster", found.cluster)
    yield _habit("verify", found.verify)
    yield f"tokens counted by the server per estimated token: {found.ratio:.2f}"
    if rows["total"]["known"]:
        yield "known: answers that are cached and cost nothing"
    if found.priced:
        share = rows["total"]["completion_cost"] / max(_cost(rows["total"]), 1e-12)
        yield f"answers are {share:.0%} of the cost; the estimate ignores the provider's prompt cache"
    else:
        yield f"cost not estimated: the model group {group} has no prices; set them in jarvis.yaml"


def as_json(found: Estimate) -> str:
    """Return all numbers as JSON."""
    shares = {name: _numbers(share) | {"habit": share.habit._asdict()} for name, share in _shares(found).items()}
    return json.dumps({**asdict(found), **shares, "total": _total(found)}, indent=2)


def _shares(found: Estimate) -> dict[str, StageShare]:
    return {"cluster": found.cluster, "verify": found.verify}


def _numbers(share: StageShare) -> dict[str, Any]:
    return {name: getattr(share, name) for name in NUMBERS}


def _total(found: Estimate) -> dict[str, Any]:
    return {name: sum(getattr(share, name) for share in _shares(found).values()) for name in NUMBERS}


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
