"""Show the estimated cost of a run: a table for users, JSON for programs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from jarvis_workers.paths import plain
from jarvis_workers.service.estimate import Estimate
from jarvis_workers.service.stage_measure import StageShare

HEADS = ("jobs", "known", "questions", "their tokens", "answers' tokens", "dollars")
NUMBERS = ("jobs", "known", "calls", "prompt", "completion", "prompt_cost", "completion_cost")
NAMES = {
    "read": "reading a group of files",
    "prove": "proving a finding",
    "cluster": "clustering a batch",
    "verify": "verifying a cluster",
    "replace": "judging a function",
    "layout": "planning modules",
    "signatures": "planning signatures",
    "driver": "writing a driver",
    "translate": "translating and reviewing a function",
}
# What the upper bounds assume.
BOUNDED = {
    "named": "a defect that readers name for each 190 tokens of code, eight of them verified together",
    "seen": "20 defects that models see beside the candidates",
    "escalate": "all candidates are left open by the first model, and asked about again (--escalate)",
    "prove": "all that a sanitizer can show is confirmed; without --prove, of high severity",
}
NAME_WIDTH = 9


def as_table(estimate: Estimate) -> Iterator[str]:
    """Yield lines: the cost of each stage, the totals, and the basis of the estimate."""
    shares = _stages(estimate)
    width = _width({**shares, **estimate.bounds})
    yield from stage_rows(shares, priced=estimate.priced, width=width)
    yield from _bound_lines(estimate, width)
    group = plain(estimate.group)
    plain_jobs = f"cluster jobs that need no model: {estimate.plain:,}"
    left_out = estimate.candidates < estimate.candidates_found
    total = f" of {estimate.candidates_found:,} (--max-findings)" if left_out else ""
    yield f"candidates: {estimate.candidates:,}{total}; {plain_jobs}; model group: {group}"
    habits = {name: share for name, share in estimate.bounds.items() if name in NAMES}
    yield from (_habit(name, share) for name, share in habits.items())
    yield from basis_lines(shares, estimate.ratio, priced=estimate.priced, group=group)
    if estimate.priced and not all(share.priced for share in estimate.bounds.values()):
        yield "the model group of --escalate has no prices"


def stage_rows(shares: Mapping[str, StageShare], *, priced: bool, width: int | None = None) -> Iterator[str]:
    """Yield the rows of the table, and an empty line; names have `width` columns, by default what they need."""
    width = width or _width(shares)
    yield _row("", HEADS, width)
    yield from _rows(shares, width, priced=priced)
    yield _numbers_row("total", _total(shares), width, priced=priced)
    yield ""


def _bound_lines(estimate: Estimate, width: int) -> Iterator[str]:
    """Yield the rows of the upper bounds, what they bound, and an empty line."""
    bounds = estimate.bounds
    if not any(one.jobs for one in bounds.values()):
        return
    yield "in addition to the total, depending on the answers, at most these jobs, of average length:"
    yield from _rows(bounds, width, priced=estimate.priced)
    yield ""
    yield from (f"{name}: {BOUNDED[name]}" for name in bounds)
    yield ""


def _stages(estimate: Estimate) -> dict[str, StageShare]:
    read = {"read": estimate.read} if estimate.read else {}
    return {**read, "cluster": estimate.cluster, "verify": estimate.verify}


def _width(shares: Mapping[str, StageShare]) -> int:
    return max(NAME_WIDTH, *(len(name) + 2 for name in shares))


def _rows(shares: Mapping[str, StageShare], width: int, *, priced: bool) -> Iterator[str]:
    for name, share in shares.items():
        yield _numbers_row(name, _numbers(share), width, priced=priced and share.priced)


def _numbers_row(name: str, numbers: Mapping[str, Any], width: int, *, priced: bool) -> str:
    cost = f"{_cost(numbers):.4f}" if priced else "-"
    return _row(name, [*(f"{numbers[column]:,}" for column in NUMBERS[:5]), cost], width)


def basis_lines(shares: Mapping[str, StageShare], ratio: float, *, priced: bool, group: str) -> Iterator[str]:
    """Yield lines about what the estimate is based on."""
    yield from (_habit(name, share) for name, share in shares.items())
    yield f"tokens counted by the server per estimated token: {ratio:.2f}"
    total = _total(shares)
    if total["known"]:
        yield "known: answers that are cached and cost nothing"
    if priced:
        answers = total["completion_cost"] / max(_cost(total), 1e-12)
        yield f"answers are {answers:.0%} of the cost; the estimate ignores the provider's prompt cache"
    else:
        yield f"cost not estimated: the model group {group} has no prices; set them in jarvis.yaml"


def as_json(estimate: Estimate) -> str:
    """Return all numbers as JSON."""
    bounds = {name: _facts(share) for name, share in estimate.bounds.items()}
    return json.dumps({**asdict(estimate), **share_facts(_stages(estimate)), "bounds": bounds}, indent=2)


def share_facts(shares: Mapping[str, StageShare]) -> dict[str, Any]:
    """Return the numbers of each stage, and the totals."""
    return {**{name: _facts(share) for name, share in shares.items()}, "total": _total(shares)}


def _facts(share: StageShare) -> dict[str, Any]:
    return _numbers(share) | {"habit": share.habit._asdict()}


def _numbers(share: StageShare) -> dict[str, Any]:
    return {name: getattr(share, name) for name in NUMBERS}


def _total(shares: Mapping[str, StageShare]) -> dict[str, Any]:
    return {name: sum(getattr(share, name) for share in shares.values()) for name in NUMBERS}


def _cost(numbers: Mapping[str, Any]) -> float:
    return float(numbers["prompt_cost"] + numbers["completion_cost"])


def _row(name: str, cells: "tuple[str, ...] | list[str]", width: int) -> str:
    return f"{name:<{width}}" + "".join(f"{cell:>{len(head) + 6}}" for head, cell in zip(HEADS, cells, strict=True))


def _habit(name: str, share: StageShare) -> str:
    habit = share.habit
    basis = f"the mean of {habit.seen:,} jobs" if habit.seen else "assumed until more jobs have run"
    answers = (
        f"answers of {habit.share:.0%} of the first question" if habit.share else f"{habit.answer:,.0f} per answer"
    )
    asks = f"{habit.rounds:.1f} questions, {habit.added:,.0f} tokens added per conversation, {answers}"
    return f"{NAMES[name]}: {asks} ({basis})"
