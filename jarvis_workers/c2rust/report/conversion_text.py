"""Render the report on a conversion to Rust as text and Markdown, and the files that it adds to the project."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
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
from jarvis_workers.c2rust.signatures import RESULT
from jarvis_workers.paths import plain

ACCEPTED = {"mechanical": "in Rust", "forwarded": "with Rust signatures"}
CAUSES = {
    "refused": "in C, not supported by the translation",
    "not_chosen": "in C, not named by --only",
    "not_checked": "in C, NOT CHECKED: unproven",
    "different": "in C, because Rust behaves differently",
    "pruned": "left out, because only functions that libraries replace need them",
}


def summary(conversion: Conversion) -> str:
    """Return the last line of output: the number of functions in Rust, and the numbers of all others by reason."""
    counts, total = state_counts(conversion.functions), len(conversion.functions)
    accepted = counts[conversion.accepted] + sum(counts[state] for state in BY_MODEL)
    parts = [f"{accepted:,} of {total:,} functions {ACCEPTED[conversion.accepted]}"]
    if any(one.attempts or one.not_translated for one in conversion.functions):
        parts.append(f"{counts['translated']:,} of them translated by the model")
    if counts["replaced"]:
        parts.append(f"{counts['replaced']:,} of them replaced by libraries")
    if conversion.accepted == "forwarded":
        parts.append(_pointers(conversion))
    parts += [f"{counts[cause]:,} {text}" for cause, text in CAUSES.items() if counts[cause]]
    return "; ".join(parts)


def _pointers(conversion: Conversion) -> str:
    passed = [given for one in conversion.functions if one.accepted for given in one.mapping if given.name != RESULT]
    forms = [one.form for one in passed if one.form != "value"]
    converted = sum(form != "raw" for form in forms)
    return f"{converted:,} of their {len(forms):,} pointer parameters are references, slices or strings"


def advice(conversion: Conversion) -> str:
    """Return advice on how to convert unproven functions, or "" if there are none."""
    if conversion.accepted != "mechanical" or not state_counts(conversion.functions)["not_checked"]:
        return ""
    tests = "run more tests with additional --test options" if conversion.suites else "add the tests with --test"
    return f"{tests}, or accept unproven functions with --proof built"


def conversion_text(conversion: Conversion, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the report for a terminal; `run` is the `run` part of other reports."""
    for line in (*_lines(conversion), *measure_lines(conversion, run), summary(conversion)):
        yield plain(line) + "\n"


def _lines(conversion: Conversion) -> Iterator[str]:
    if conversion.not_checked:
        units = len(conversion.not_checked)
        yield f"NOT CHECKED: {units:,} translation unit{'s' if units > 1 else ''} could not be read"
        yield from (f"  {file}: {reason}" for file, reason in conversion.not_checked)
    yield from (f"warning: {warning}" for warning in conversion.warnings)
    yield from failures(replace(conversion, suites=()))
    yield from (f"{gate.gate}: {gate.detail}" for gate in conversion.crate if gate.passed and gate.detail)
    for suite in conversion.suites:
        yield f"{suite.command}: {suite_text(suite.passed)}"
    for cause, text in CAUSES.items():
        stopped = [one for one in conversion.functions if one.cause == cause]
        if stopped:
            yield f"{text[0].upper()}{text[1:]} ({len(stopped):,}):"
            yield from (f"  {one.file}:{one.line}: {one.name}: {one.reason}" for one in stopped)
    if down := [one for one in conversion.functions if one.not_translated]:
        yield f"Not translated by the model ({len(down):,}):"
        yield from (f"  {one.file}:{one.line}: {one.name}: {one.not_translated}" for one in down)
    if issues := list(review_lines(conversion)):
        yield f"Objections of the reviewer to accepted functions ({len(issues):,}):"
        yield from (f"  {line}" for line in issues)
    yield from _lines_run(conversion)


def measure_lines(conversion: Conversion, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines about unsafe code in the crate, refused answers, and the cost of the model."""
    if found := conversion.metrics:
        yield (
            f"unsafe code: {found.unsafe_lines:,} of {found.lines:,} lines, {found.unsafe_blocks:,} blocks, "
            f"{found.unsafe_functions:,} functions; {found.raw_pointers:,} raw pointer types, {found.casts:,} casts"
        )
    if refused := Counter(gate for one in conversion.functions for gate in one.refused):
        gates = ", ".join(f"{gate} {number:,}" for gate, number in sorted(refused.items()))
        yield f"answers of the model refused by gates: {gates}"
    if model := run.get("model"):
        lines = sum(one.end_line - one.line + 1 for one in conversion.functions if one.attempts)
        rate = f", {1000 * run['cost'] / lines:,.2f} dollars per 1,000 lines of C" if lines and run["cost"] else ""
        tokens = model["prompt"] + model["completion"]
        yield f"model {model['group']}: {model['calls']:,} answers, {tokens:,} tokens, {run['cost']:.4f} dollars{rate}"


def review_lines(conversion: Conversion) -> Iterator[str]:
    """Yield a line per issue that a review of an accepted function found."""
    for one in conversion.functions:
        for review in one.reviews:
            yield from (f"{one.file}:{one.line}: {one.name}: {review.topic}, {issue}" for issue in review.issues)


def _lines_run(conversion: Conversion) -> Iterator[str]:
    """Yield the line coverage of the tests in C, if it was measured."""
    rust = [one for one in conversion.functions if one.state in IN_RUST]
    if lines := sum(one.lines for one in rust):
        run = sum(one.lines_run for one in rust)
        yield f"the tests run {run:,} of {lines:,} lines of the functions in Rust"


def suite_text(passed: bool) -> str:
    return "passes with Rust" if passed else "FAILS with Rust"


def conversion_markdown(conversion: Conversion, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield the pieces of the report in Markdown; `run` is the `run` part of other reports."""
    yield f"# From C to Rust: {_cell(str(run.get('root', '')))}\n\n{summary(conversion)}.\n"
    for line in failures(conversion):
        yield f"\n**{_cell(line)}**\n"
    for file, reason in conversion.not_checked:
        yield f"\n**NOT CHECKED: {_cell(file)}: {_cell(reason)}**\n"
    if conversion.suites:
        yield "\n## Tests\n\n| command | result |\n|---|---|\n"
        for suite in conversion.suites:
            yield f"| `{_cell(suite.command)}` | {suite_text(suite.passed)} |\n"
    for gate in conversion.crate:
        if gate.passed and gate.detail:
            yield f"\n{_cell(gate.gate)}: {_cell(gate.detail)}\n"
    kind = "state" if conversion.accepted == "mechanical" else "signature"
    yield f"\n## Functions\n\n| function | location | {kind} | proof | lines run | reason |\n"
    yield "|---|---|---|---|---:|---|\n"
    for one in conversion.functions:
        place = f"{_cell(one.file)}:{one.line}"
        lines = f"{one.lines_run} of {one.lines}" if one.lines else ""
        state = f"`{_cell(one.rust_signature)}`" if one.mapping and one.accepted else one.state
        reason = _cell(one.reason or one.not_translated)
        yield f"| `{_cell(one.name)}` | {place} | {state} | {one.proof} | {lines} | {reason} |\n"
    objections = tuple(review_lines(conversion))
    lists = (
        ("Measurements", tuple(measure_lines(conversion, run))),
        ("Objections of the reviewer", objections),
        ("Warnings", conversion.warnings),
    )
    for title, entries in (*lists, ("Remaining C files", conversion.remainder)):
        if entries:
            yield f"\n## {title}\n\n" + "".join(f"- {_cell(entry)}\n" for entry in entries)


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
