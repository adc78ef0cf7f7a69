"""Show the estimated cost of the stages of a run: rows of a table for users, numbers for programs."""

from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_workers.runs.stage_measure import StageShare

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
NAME_WIDTH = 9


def stage_rows(shares: Mapping[str, StageShare], *, priced: bool, width: int | None = None) -> Iterator[str]:
    """Yield the rows of the table, and an empty line; names have `width` columns, by default what they need."""
    width = width or table_width(shares)
    yield _row("", HEADS, width)
    yield from share_rows(shares, width, priced=priced)
    yield _numbers_row("total", _total(shares), width, priced=priced)
    yield ""


def table_width(shares: Mapping[str, StageShare]) -> int:
    """Return the columns that the names of stages need."""
    return max(NAME_WIDTH, *(len(name) + 2 for name in shares))


def share_rows(shares: Mapping[str, StageShare], width: int, *, priced: bool) -> Iterator[str]:
    """Yield a row for each stage."""
    for name, share in shares.items():
        yield _numbers_row(name, _numbers(share), width, priced=priced and share.priced)


def _numbers_row(name: str, numbers: Mapping[str, Any], width: int, *, priced: bool) -> str:
    cost = f"{_cost(numbers):.4f}" if priced else "-"
    return _row(name, [*(f"{numbers[column]:,}" for column in NUMBERS[:5]), cost], width)


def basis_lines(shares: Mapping[str, StageShare], ratio: float, *, priced: bool, group: str) -> Iterator[str]:
    """Yield lines about what the estimate is based on."""
    yield from (habit_line(name, share) for name, share in shares.items())
    yield f"tokens counted by the server per estimated token: {ratio:.2f}"
    total = _total(shares)
    if total["known"]:
        yield "known: answers that are cached and cost nothing"
    if priced:
        answers = total["completion_cost"] / max(_cost(total), 1e-12)
        yield f"answers are {answers:.0%} of the cost; the estimate ignores the provider's prompt cache"
    else:
        yield f"cost not estimated: the model group {group} has no prices; set them in jarvis.yaml"


def share_facts(shares: Mapping[str, StageShare]) -> dict[str, Any]:
    """Return the numbers of each stage, and the totals."""
    return {**{name: facts_of_stage(share) for name, share in shares.items()}, "total": _total(shares)}


def facts_of_stage(share: StageShare) -> dict[str, Any]:
    """Return the numbers of a stage, and what they are based on."""
    return _numbers(share) | {"habit": share.habit._asdict()}


def _numbers(share: StageShare) -> dict[str, Any]:
    return {name: getattr(share, name) for name in NUMBERS}


def _total(shares: Mapping[str, StageShare]) -> dict[str, Any]:
    return {name: sum(getattr(share, name) for share in shares.values()) for name in NUMBERS}


def _cost(numbers: Mapping[str, Any]) -> float:
    return float(numbers["prompt_cost"] + numbers["completion_cost"])


def _row(name: str, cells: "tuple[str, ...] | list[str]", width: int) -> str:
    return f"{name:<{width}}" + "".join(f"{cell:>{len(head) + 6}}" for head, cell in zip(HEADS, cells, strict=True))


def habit_line(name: str, share: StageShare) -> str:
    """Return the line about what the numbers of a stage are based on."""
    habit = share.habit
    basis = f"the mean of {habit.seen:,} jobs" if habit.seen else "assumed until more jobs have run"
    answers = (
        f"answers of {habit.share:.0%} of the first question" if habit.share else f"{habit.answer:,.0f} per answer"
    )
    asks = f"{habit.rounds:.1f} questions, {habit.added:,.0f} tokens added per conversation, {answers}"
    return f"{NAMES[name]}: {asks} ({basis})"
