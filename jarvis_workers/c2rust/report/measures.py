"""The measurements of a conversion, as lines of a report.

`crate_lines` and `page_lines` depend on the sources and the answers alone, `measure_lines` also on costs and clippy.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_workers.c2rust.conversion import BY_MODEL, Conversion
from jarvis_workers.c2rust.report.wording import english
from jarvis_workers.c2rust.rule_counts import CategoryCounts, SeverityCounts
from jarvis_workers.words import Words, cost_text

COSTLIEST = 5


def page_lines(conversion: Conversion, say: Words = english) -> Iterator[str]:
    """Yield the lines of `crate_lines` with the sum of the findings of all categories."""
    yield from _unsafe(conversion, say)
    if conversion.findings:
        sides = zip(*(one[1:] for one in conversion.findings), strict=True)
        sums = (SeverityCounts(*map(sum, zip(*side, strict=True))) for side in sides)
        yield _finding_line(CategoryCounts(say("all categories"), *sums), say)
    yield from _no_findings(conversion, say)


def crate_lines(conversion: Conversion, say: Words = english) -> Iterator[str]:
    """Yield lines about unsafe code in the crate, and findings of the rules of `jarvis sec` in C and in the crate."""
    yield from _unsafe(conversion, say)
    yield from (_finding_line(one, say) for one in conversion.findings or ())
    yield from _no_findings(conversion, say)


NOUNS = {
    "lines": "line",
    "unsafe_blocks": "block",
    "unsafe_functions": "function",
    "raw_pointers": "raw pointer type",
    "dereferences": "dereference",
    "unsafe_calls": "unsafe call",
    "casts": "cast",
}


def _unsafe(conversion: Conversion, say: Words) -> Iterator[str]:
    if found := conversion.metrics:
        numbers = {name: say.count(number, NOUNS[name]) for name, number in found._asdict().items() if name in NOUNS}
        yield say(
            "unsafe code: {unsafe_lines} of {lines}, {unsafe_blocks}, {unsafe_functions}; "
            "{raw_pointers}, {dereferences}, {unsafe_calls}, {casts}",
            unsafe_lines=f"{found.unsafe_lines:,}",
            **numbers,
        )


def _no_findings(conversion: Conversion, say: Words) -> Iterator[str]:
    if conversion.findings == ():
        yield say("findings of jarvis sec: none")


def _finding_line(counts: CategoryCounts, say: Words) -> str:
    return say(
        "findings of jarvis sec, {category}: C sources {c}, Rust {rust}, C in the crate {rest}",
        category=counts.category,
        c=_severities(counts.c, say),
        rust=_severities(counts.rust, say),
        rest=_severities(counts.remainder, say),
    )


def _severities(counts: SeverityCounts, say: Words) -> str:
    total = f"{sum(counts):,}"
    parts = (f"{say(name)} {number:,}" for name, number in counts._asdict().items() if number)
    return f"{total} ({', '.join(parts)})" if sum(counts) else total


def measure_lines(conversion: Conversion, run: Mapping[str, Any], say: Words = english) -> Iterator[str]:
    """Yield all measurements; `run` is the `run` part of reports."""
    yield from crate_lines(conversion, say)
    yield _clippy(conversion, say)
    if refused := Counter(gate for one in conversion.functions for gate in one.refused):
        gates = ", ".join(f"{gate} {number:,}" for gate, number in sorted(refused.items()))
        yield say("answers of the model refused by gates: {gates}", gates=gates)
    yield from _attempts(conversion, say)
    yield from _costs(conversion, run, say)


def _clippy(conversion: Conversion, say: Words) -> str:
    if conversion.clippy is None or conversion.metrics is None:
        return say("warnings of clippy: not measured")
    rate = f"{1000 * conversion.clippy / max(1, conversion.metrics.lines):,.1f}"
    return say("warnings of clippy: {number}, {rate} per 1,000 lines", number=f"{conversion.clippy:,}", rate=rate)


def _attempts(conversion: Conversion, say: Words) -> Iterator[str]:
    if not (candidates := [one for one in conversion.functions if one.attempts]):
        return
    accepted = Counter(one.attempts == 1 for one in candidates if one.state in BY_MODEL)
    yield say(
        "answers of the translator: {answers} for {functions} functions; accepted at the first answer: {first}, "
        "at a later one: {later}",
        answers=f"{sum(one.attempts for one in candidates):,}",
        functions=f"{len(candidates):,}",
        first=f"{accepted[True]:,}",
        later=f"{accepted[False]:,}",
    )


def _costs(conversion: Conversion, run: Mapping[str, Any], say: Words) -> Iterator[str]:
    if not (model := run.get("model")):
        return
    text = say(
        "model {group}: {calls} answers, {tokens} tokens, {cost}",
        group=model["group"],
        calls=f"{model['calls']:,}",
        tokens=f"{model['prompt'] + model['completion']:,}",
        cost=cost_text(run["cost"], say),
    )
    candidates = [one for one in conversion.functions if one.attempts]
    if candidates and run["cost"]:
        lines = sum(one.end_line - one.line + 1 for one in candidates)
        each, rate = f"{run['cost'] / len(candidates):,.4f}", f"{1000 * run['cost'] / lines:,.2f}"
        text += say("; {each} dollars per function, {rate} dollars per 1,000 lines of C", each=each, rate=rate)
    yield text
    models = model.get("by_model", {})
    if len(models) > 1:
        for name, usage in models.items():
            costs = {"calls": f"{usage['calls']:,}", "cost": cost_text(usage["cost"], say)}
            yield "  " + say("{name}: {calls} answers, {cost}", name=name, **costs)
    functions = sorted(model.get("by_function", {}).items(), key=lambda item: (-(item[1]["cost"] or 0.0), item[0]))
    if costly := [f"{name} {usage['cost']:.4f}" for name, usage in functions[:COSTLIEST] if usage["cost"]]:
        yield "  " + say("functions with the highest cost: {functions}", functions=", ".join(costly))
