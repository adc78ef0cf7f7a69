"""Render the difference of two conversions: text for a terminal, Markdown, or JSON."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jarvis_workers.c2rust.conversion import (
    Conversion,
    ConversionDifference,
    FunctionChange,
    FunctionResult,
    Verdict,
    new_failures,
    state_counts,
)
from jarvis_workers.c2rust.report.wording import english
from jarvis_workers.escape import code, prose
from jarvis_workers.paths import plain
from jarvis_workers.words import Words, cost_text

Part = Mapping[str, Any]
VERDICTS: Mapping[Verdict, str] = {"worse": "Worse", "better": "Better", "changed": "Neither better nor worse"}
NEW, REMOVED, UNREAD = "New functions", "Removed functions", "NOT CHECKED in the later run"
RUN_FIELDS = ("id", "kind", "state", "scanned_root", "created_at", "version", "cost")


class ConversionSides(NamedTuple):
    """The `run` parts and results of the earlier and the later conversion, their difference, and its limits."""

    runs: tuple[Part, Part]
    conversions: tuple[Conversion, Conversion]
    difference: ConversionDifference
    notes: Sequence[str] = ()


def write_text(sides: ConversionSides, say: Words = english) -> Iterator[str]:
    """Yield lines for a terminal, without control sequences."""
    for line in (_head(sides), *_totals(sides, say), *(f"{say('note')}: {note}" for note in sides.notes)):
        yield plain(line) + "\n"
    for title, rows in _sections(sides.difference, say):
        yield f"\n{title} ({len(rows):,}):\n"
        yield from (plain(f"  {one.file}:{one.line}: {one.name}: {text}") + "\n" for one, text in rows)


def write_markdown(sides: ConversionSides, say: Words = english) -> Iterator[str]:
    """Yield GitHub-flavoured Markdown; text from the project is escaped."""
    yield f"# {say('Two conversions compared')}\n\n{prose(_head(sides))}\n\n"
    yield from (f"- {prose(line)}\n" for line in _totals(sides, say))
    yield from (f"\n> {prose(note)}\n" for note in sides.notes)
    for title, rows in _sections(sides.difference, say):
        yield f"\n## {title} ({len(rows):,})\n\n"
        yield from (f"- {code(one.name)}, {code(f'{one.file}:{one.line}')}: {prose(text)}\n" for one, text in rows)


def write_json(sides: ConversionSides, say: Words = english) -> Iterator[str]:
    """Yield one object: both runs, their totals, and the functions of each list."""
    found = sides.difference
    document: dict[str, Any] = {
        "before": _side(sides, 0),
        "after": _side(sides, 1),
        "notes": list(sides.notes),
        "failures": list(found.failures),
        "unchanged": found.unchanged,
        **{verdict: [_changed(one) for one in found.having(verdict)] for verdict in VERDICTS},
        "new": [_fields(one) for one in found.new],
        "removed": [_fields(one) for one in found.removed],
        "not_checked": [_fields(one) for one in found.not_checked],
    }
    yield json.dumps(document, indent=2) + "\n"


def _head(sides: ConversionSides) -> str:
    before, after = (f"{run['id']} ({run['kind']}, {run['state']})" for run in sides.runs)
    return f"{before} -> {after}"


def _totals(sides: ConversionSides, say: Words) -> Iterator[str]:
    """Yield the lines of the summary: functions by verdict, unsafe lines, cost of the model, new failures."""
    found = sides.difference
    numbers = [(say(title), len(found.having(verdict))) for verdict, title in VERDICTS.items()]
    numbers += [(say(NEW), len(found.new)), (say(REMOVED), len(found.removed)), (say("Unchanged"), found.unchanged)]
    numbers += [(say(UNREAD), len(found.not_checked))] if found.not_checked else []
    yield "; ".join(f"{title}: {number:,}" for title, number in numbers)
    unsafe = [one.metrics.unsafe_lines if one.metrics else None for one in sides.conversions]
    before, after = (say("not measured") if one is None else f"{one:,}" for one in unsafe)
    yield say("unsafe lines: {before} -> {after}", before=before, after=after)
    before, after = (cost_text(run["cost"], say) for run in sides.runs)
    yield say("cost of the model: {before} -> {after}", before=before, after=after)
    yield from new_failures(*sides.conversions, say)


def _sections(found: ConversionDifference, say: Words) -> Iterator[tuple[str, list[tuple[FunctionResult, str]]]]:
    """Yield the lists that are not empty: a title, and each function with what is said of it."""
    for verdict, title in VERDICTS.items():
        if changes := found.having(verdict):
            yield say(title), [(one.after, _change_text(one)) for one in changes]
    for title, functions in ((NEW, found.new), (REMOVED, found.removed), (UNREAD, found.not_checked)):
        if functions:
            yield say(title), [(one, _state_text(one)) for one in functions]


def _change_text(one: FunctionChange) -> str:
    reason = one.after.reason or one.after.not_translated
    return f"{_state_text(one.before)} -> {_state_text(one.after)}" + (f" ({reason})" if reason else "")


def _state_text(one: FunctionResult) -> str:
    return f"{one.status}, {one.proof}"


def _side(sides: ConversionSides, place: int) -> dict[str, Any]:
    run, conversion = sides.runs[place], sides.conversions[place]
    unsafe = conversion.metrics.unsafe_lines if conversion.metrics else None
    counts = dict(sorted(state_counts(conversion.functions).items()))
    return {name: run.get(name) for name in RUN_FIELDS} | {"functions": counts, "unsafe_lines": unsafe}


def _fields(one: FunctionResult) -> dict[str, Any]:
    return {"name": one.name, "file": one.file, "line": one.line, "state": one.status, "proof": one.proof}


def _changed(one: FunctionChange) -> dict[str, Any]:
    was = {"state_before": one.before.status, "proof_before": one.before.proof}
    return {**_fields(one.after), **was, "reason": one.after.reason or one.after.not_translated}


CONVERSION_DIFFERENCE_FORMS: Mapping[str, Callable[[ConversionSides, Words], Iterator[str]]] = {
    "text": write_text,
    "markdown": write_markdown,
    "json": write_json,
}
