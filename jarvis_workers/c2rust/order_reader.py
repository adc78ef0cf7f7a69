"""Read translation_order.jsonl, which a user may have edited, or recompute the order.

An edited order is used unchanged if it contains each function of the symbols once, and no unknown ids.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from jarvis_workers.c2rust.order import order_by_depth, translation_order
from jarvis_workers.c2rust.symbol import OrderStep, SymbolGraph
from jarvis_workers.c2rust.symbol_reader import SymbolFile
from jarvis_workers.paths import plain


class TranslationOrder(NamedTuple):
    """The steps of an order; `reason` explains why a file was not used, and is empty if it was."""

    steps: tuple[OrderStep, ...]
    reason: str = ""


class OrderLine(BaseModel):
    """A line of the file; the older form lacks `items`."""

    model_config = ConfigDict(extra="ignore")

    ids: tuple[int, ...] = Field(min_length=1)
    items: tuple[dict[str, object], ...] | None = None


def read_order(lines: Iterable[str] | None, symbols: SymbolFile, delayed: Collection[str] = ()) -> TranslationOrder:
    """Return the order in a file, or a new order if the file is missing (None), empty or invalid, or does not match."""
    steps, reason = _parse(lines) if lines is not None else ((), "is missing")
    if reason := reason or _misfit(steps, symbols.graph):
        return TranslationOrder(compute_order(symbols, delayed), reason)
    return TranslationOrder(steps)


def compute_order(symbols: SymbolFile, delayed: Collection[str] = ()) -> tuple[OrderStep, ...]:
    """Compute the order of symbols, by the depth of their calls if the file has no references."""
    compute = translation_order if symbols.has_references else order_by_depth
    return tuple(compute(symbols.graph, delayed))


def _parse(lines: Iterable[str]) -> TranslationOrder:
    steps = []
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = OrderLine.model_validate(json.loads(text))
        except (ValueError, RecursionError):
            return TranslationOrder((), f"has an invalid step on line {number}")
        if line.items is None:
            return TranslationOrder((), f'has an older format, without "items" (line {number})')
        steps.append(OrderStep(line.ids))
    return TranslationOrder(tuple(steps), "" if steps else "is empty")


def _misfit(steps: Iterable[OrderStep], graph: SymbolGraph) -> str:
    """Return why the steps do not match the symbols, or an empty string."""
    count = Counter(number for step in steps for number in step.ids)
    if unknown := sorted(count.keys() - graph.by_id.keys()):
        return f"contains ids of unknown symbols, such as {unknown[0]}"
    if twice := sorted(number for number, times in count.items() if times > 1):
        return f"contains id {twice[0]} more than once"
    functions = {symbol.id for symbol in graph.symbols if symbol.category == "function"}
    if left_out := sorted(functions - count.keys()):
        return f"lacks functions, such as {plain(graph.by_id[left_out[0]].name)} (id {left_out[0]})"
    return ""
