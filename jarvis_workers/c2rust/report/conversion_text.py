"""Render the report on a conversion to Rust as text and Markdown, and the files that it adds to the project."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from jarvis_workers.c2rust.conversion import (
    BY_MODEL,
    IN_RUST,
    Conversion,
    FunctionResult,
    PassedParameter,
    failures,
    state_counts,
)
from jarvis_workers.c2rust.report.measures import measure_lines
from jarvis_workers.c2rust.report.wording import english, with_lines_in
from jarvis_workers.c2rust.rule_counts import SeverityCounts
from jarvis_workers.c2rust.signatures import RESULT
from jarvis_workers.paths import plain
from jarvis_workers.words import Words

ACCEPTED = {"mechanical": "in Rust", "forwarded": "with Rust signatures"}
CAUSES = {
    "refused": "in C, not supported by the translation",
    "not_chosen": "in C, not named by --only",
    "not_checked": "in C, NOT CHECKED: unproven",
    "different": "in C, because Rust behaves differently",
    "pruned": "left out, because only functions that libraries replace need them",
}


def summary(conversion: Conversion, say: Words = english) -> str:
    """Return the last line of output: the number of functions in Rust, and the numbers of all others by reason."""
    counts, total = state_counts(conversion.functions), len(conversion.functions)
    accepted = counts[conversion.accepted] + sum(counts[state] for state in BY_MODEL)
    parts = [say("{accepted} of {total} functions", accepted=f"{accepted:,}", total=f"{total:,}")]
    parts[0] += " " + say(ACCEPTED[conversion.accepted])
    if any(one.attempts or one.not_translated for one in conversion.functions):
        parts.append(say("{number} of them translated by the model", number=f"{counts['translated']:,}"))
    if counts["replaced"]:
        parts.append(say("{number} of them replaced by libraries", number=f"{counts['replaced']:,}"))
    if conversion.accepted == "forwarded":
        parts.append(_pointers(conversion, say))
    causes = ((counts[cause], say(text)) for cause, text in CAUSES.items())
    parts += [say("{number} {cause}", number=f"{number:,}", cause=cause) for number, cause in causes if number]
    return "; ".join(parts)


def _pointers(conversion: Conversion, say: Words) -> str:
    passed = [given for one in conversion.functions if one.accepted for given in one.mapping if given.name != RESULT]
    forms = [one.form for one in passed if one.form not in ("value", "enum", "flags")]
    return say(
        "{converted} of their {total} pointer parameters are references, slices or strings",
        converted=f"{sum(form != 'raw' for form in forms):,}",
        total=f"{len(forms):,}",
    )


def unread_units(conversion: Conversion, say: Words = english) -> list[str]:
    """Return a line with the number of units that could not be read, if there are any."""
    number = len(conversion.not_checked)
    return [say("NOT CHECKED: translation units that could not be read: {number}", number=number)] if number else []


def advice(conversion: Conversion) -> str:
    """Return advice on how to convert unproven functions, or "" if there are none."""
    if conversion.accepted != "mechanical" or not state_counts(conversion.functions)["not_checked"]:
        return ""
    tests = "run more tests with additional --test options" if conversion.suites else "add the tests with --test"
    return f"{tests}, or accept unproven functions with --proof built"


def conversion_text(conversion: Conversion, run: Mapping[str, Any], say: Words = english) -> Iterator[str]:
    """Yield the lines of the report for a terminal; `run` is the `run` part of other reports."""
    conversion = with_lines_in(say, conversion)
    for line in (*_lines(conversion, say), *measure_lines(conversion, run, say), summary(conversion, say)):
        yield plain(line) + "\n"


def _lines(conversion: Conversion, say: Words) -> Iterator[str]:
    yield from unread_units(conversion, say)
    yield from (f"  {file}: {reason}" for file, reason in conversion.not_checked)
    yield from (f"{say('warning')}: {warning}" for warning in conversion.warnings)
    yield from failures(replace(conversion, suites=()), say)
    yield from (f"{gate.gate}: {gate.detail}" for gate in conversion.crate if gate.passed and gate.detail)
    for suite in conversion.suites:
        yield f"{suite.command}: {suite_text(suite.passed, say)}"
    for cause, text in CAUSES.items():
        stopped = [one for one in conversion.functions if one.cause == cause]
        if stopped:
            title = say(text)
            yield f"{title[0].upper()}{title[1:]} ({len(stopped):,}):"
            yield from (f"  {one.file}:{one.line}: {one.name}: {one.reason}" for one in stopped)
    lists = (
        (say("Replaced by libraries"), list(replacement_lines(conversion))),
        (say("Not translated by the model"), list(_untranslated(conversion))),
        (say("Objections of the reviewer to accepted functions"), list(review_lines(conversion))),
    )
    for title, entries in lists:
        if entries:
            yield f"{title} ({len(entries):,}):"
            yield from (f"  {line}" for line in entries)
    yield from _lines_run(conversion, say)


def replacement_lines(conversion: Conversion) -> Iterator[str]:
    """Yield a line per function that calls libraries instead."""
    for one in conversion.functions:
        if one.state == "replaced":
            yield f"{one.file}:{one.line}: {one.name}: {', '.join(one.libraries)}"


def _untranslated(conversion: Conversion) -> Iterator[str]:
    down = (one for one in conversion.functions if one.not_translated)
    return (f"{one.file}:{one.line}: {one.name}: {one.not_translated}" for one in down)


def review_lines(conversion: Conversion) -> Iterator[str]:
    """Yield a line per issue that a review of an accepted function found."""
    for one in conversion.functions:
        for review in one.reviews:
            yield from (f"{one.file}:{one.line}: {one.name}: {review.topic}, {issue}" for issue in review.issues)


def _lines_run(conversion: Conversion, say: Words) -> Iterator[str]:
    """Yield the line coverage of the tests in C, if it was measured."""
    rust = [one for one in conversion.functions if one.state in IN_RUST]
    if lines := sum(one.lines for one in rust):
        run = sum(one.lines_run for one in rust)
        text = "the tests run {run} of {lines} lines of the functions in Rust"
        yield say(text, run=f"{run:,}", lines=f"{lines:,}")


def suite_text(passed: bool, say: Words = english) -> str:
    return say("passes with Rust") if passed else say("FAILS with Rust")


def conversion_markdown(conversion: Conversion, run: Mapping[str, Any], say: Words = english) -> Iterator[str]:
    """Yield the pieces of the report in Markdown; `run` is the `run` part of other reports."""
    conversion = with_lines_in(say, conversion)
    project = PurePosixPath(str(run.get("scanned_root", ""))).name
    yield f"# {say('From C to Rust')}: {_cell(project)}\n\n{summary(conversion, say)}.\n"
    for line in failures(conversion, say):
        yield f"\n**{_cell(line)}**\n"
    for file, reason in conversion.not_checked:
        yield f"\n**{say('NOT CHECKED')}: {_cell(file)}: {_cell(reason)}**\n"
    if conversion.suites:
        yield f"\n## {say('Tests')}\n\n| {say('command')} | {say('result')} |\n|---|---|\n"
        for suite in conversion.suites:
            yield f"| `{_cell(suite.command)}` | {suite_text(suite.passed, say)} |\n"
    for gate in conversion.crate:
        if gate.passed and gate.detail:
            yield f"\n{_cell(gate.gate)}: {_cell(gate.detail)}\n"
    yield from _function_table(conversion, say)
    yield from _finding_table(conversion, say)
    measured = replace(conversion, findings=None) if conversion.findings else conversion
    lists = (
        (say("Measurements"), tuple(measure_lines(measured, run, say))),
        (say("Replaced by libraries"), tuple(replacement_lines(conversion))),
        (say("Objections of the reviewer"), tuple(review_lines(conversion))),
        (say("Warnings"), conversion.warnings),
    )
    for title, entries in (*lists, (say("Remaining C files"), conversion.remainder)):
        if entries:
            yield f"\n## {title}\n\n" + "".join(f"- {_cell(entry.strip())}\n" for entry in entries)


def _function_table(conversion: Conversion, say: Words) -> Iterator[str]:
    kind = say("state") if conversion.accepted == "mechanical" else say("signature")
    titles = (say("function"), say("location"), kind, say("proof"), say("lines run"), say("answers"), say("reason"))
    yield f"\n## {say('Functions')}\n\n| {' | '.join(titles)} |\n|---|---|---|---|---:|---:|---|\n"
    for one in conversion.functions:
        place = f"{_cell(one.file)}:{one.line}"
        lines = f"{one.lines_run} / {one.lines}" if one.lines else ""
        state = f"`{_cell(one.rust_signature)}`" if one.mapping and one.accepted else one.state
        cells = (place, state, one.proof, lines, one.attempts or "", _cell(one.reason or one.not_translated))
        yield f"| `{_cell(one.name)}` | {' | '.join(map(str, cells))} |\n"


def _finding_table(conversion: Conversion, say: Words) -> Iterator[str]:
    """Yield the findings by category; each cell has those of high, medium and low severity."""
    if conversion.findings:
        titles = (say("category"), say("C sources"), say("Rust"), say("C in the crate"))
        yield f"\n## {say('Findings of jarvis sec (high, medium, low)')}\n\n"
        yield f"| {' | '.join(titles)} |\n|---|---|---|---|\n"
    for category, *sides in conversion.findings or ():
        yield f"| {category} | {' | '.join(map(_severities, sides))} |\n"


def _severities(counts: SeverityCounts) -> str:
    return ", ".join(f"{number:,}" for number in counts)


def _cell(text: str) -> str:
    return plain(text).replace("|", "\\|").replace("`", "'").replace("<", "&lt;")


def symbol_map_lines(conversion: Conversion) -> Iterator[str]:
    """Yield a line of symbol_map.jsonl per function."""
    for one in conversion.functions:
        yield json.dumps(_mapped(one), ensure_ascii=False) + "\n"


def _mapped(one: FunctionResult) -> dict[str, Any]:
    return {
        "c_name": one.name,
        "c_qname": one.name,
        "c_file": one.file,
        "start_line": one.line,
        "end_line": one.end_line,
        "module": f"src/{one.module}.rs",
        "rust_symbol": one.rust_name,
        "rust_signature": one.rust_signature,
        "state": one.state,
        "proof": one.proof,
        **({"mapping": [_passed(parameter) for parameter in one.mapping]} if one.mapping else {}),
    }


def _passed(one: PassedParameter) -> dict[str, str]:
    return {"name": one.name, "kind": one.form, **({"length": one.length} if one.length else {})}
