"""The stages that move a C project to Rust, each with its input, gate, fallback, and measurements of the last runs."""

import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import NamedTuple

from jarvis_workers.c2rust.conversion import IN_RUST, Conversion, failures, state_counts, suffices
from jarvis_workers.c2rust.optimization import OptimizeReport
from jarvis_workers.c2rust.replacement_lines import ReplacementCounts
from jarvis_workers.words import ENGLISH


class RiskSummary(NamedTuple):
    """The totals of a security report: its score, high findings, and findings by category."""

    score_sum: float
    high: int
    by_category: Mapping[str, int]


class RoadmapGates(NamedTuple):
    """The thresholds of the gates of stages 1, 4, 5 and 7."""

    score_fall_percent: float = 15
    high_findings: int = 0
    replaced_percent: float = 1
    attempts: int = 5
    time_ratio: float = 1.5


class Measurements(NamedTuple):
    """Measurements of the last runs; None for anything that has not been run."""

    before: RiskSummary | None = None
    after: RiskSummary | None = None
    conversion: Conversion | None = None
    replacement: ReplacementCounts | None = None
    optimization: OptimizeReport | None = None


class Outcome(NamedTuple):
    """A measured value, and whether it passes the gate (None if undecided)."""

    value: str
    passed: bool | None = None


class RoadmapStage(NamedTuple):
    """A stage with its outcome."""

    number: int
    title: str
    input: str
    gate: str
    fallback: str
    value: str = ""
    passed: bool | None = None


Measure = Callable[[Measurements, RoadmapGates], Outcome]


def roadmap(found: Measurements, gates: RoadmapGates) -> list[RoadmapStage]:
    """Return all stages in order."""
    texts = json.loads(files(__package__).joinpath("roadmap.json").read_text("utf-8"))
    stages = [RoadmapStage(number, **text) for number, text in enumerate(texts)]
    outcomes = [measure(found, gates) for measure in MEASURES]
    return [
        stage._replace(gate=stage.gate.format(**gates._asdict()), value=outcome.value, passed=outcome.passed)
        for stage, outcome in zip(stages, outcomes, strict=True)
    ]


def category_changes(found: Measurements) -> list[tuple[str, int, int]]:
    """Return the findings of each category before and after; empty without two reports."""
    if found.before is None or found.after is None:
        return []
    before, after = found.before.by_category, found.after.by_category
    return [(name, before.get(name, 0), after.get(name, 0)) for name in sorted(before.keys() | after.keys())]


def _baseline(found: Measurements, _: RoadmapGates) -> Outcome:
    if found.before is None:
        return Outcome("not measured: run jarvis sec fast")
    total = sum(found.before.by_category.values())
    return Outcome(f"score_sum {found.before.score_sum:g}, {ENGLISH.count(total, 'finding')}", passed=True)


def _hardening(found: Measurements, gates: RoadmapGates) -> Outcome:
    if found.before is None or found.after is None:
        return Outcome(
            "not measured: run jarvis sec fast again after the patches, or give --sec-before and --sec-after"
        )
    before, after, high = found.before.score_sum, found.after.score_sum, found.after.high
    fall = 100 * (before - after) / before if before else 0.0
    enough = fall >= gates.score_fall_percent or not before
    value = f"score_sum {before:g} -> {after:g} ({-fall:+.1f} %), {high:,} high findings left"
    return Outcome(value, passed=enough and high <= gates.high_findings)


def _tests(found: Measurements, _: RoadmapGates) -> Outcome:
    if found.conversion is None:
        return NOT_CONVERTED
    functions = found.conversion.functions
    reached = sum(any(gate.gate == "reached" and gate.passed for gate in one.gates) for one in functions)
    checked = sum(one.cause not in ("refused", "not_chosen") for one in functions)
    value = f"{len(found.conversion.suites)} test commands reach {reached:,} of {checked:,} translated functions"
    return Outcome(value, passed=reached == checked)


def _border(found: Measurements, _: RoadmapGates) -> Outcome:
    if found.conversion is None:
        return NOT_CONVERTED
    total = len(found.conversion.functions)
    signed = sum(bool(one.rust_signature) for one in found.conversion.functions)
    return Outcome(f"{signed:,} of {total:,} functions have a Rust signature", passed=not failures(found.conversion))


def _replacement(found: Measurements, gates: RoadmapGates) -> Outcome:
    counts = found.replacement
    if counts is None:
        return Outcome("not measured: run jarvis c2rust lib-replace")
    total = counts.remaining + counts.pruned
    percent = 100 * counts.replaced / max(1, total)
    value = f"{counts.replaced:,} of {total:,} functions ({percent:.1f} %) replaced, {counts.pruned:,} pruned"
    return Outcome(value, passed=percent >= gates.replaced_percent)


def _translation(found: Measurements, _: RoadmapGates) -> Outcome:
    if found.conversion is None:
        return NOT_CONVERTED
    functions = found.conversion.functions
    counts = state_counts(functions)
    converted, total = sum(counts[state] for state in IN_RUST), len(functions)
    proven = sum(suffices(one.proof, "compared") for one in functions)
    value = (
        f"{converted:,} of {total:,} functions ({100 * converted / max(1, total):.0f} %), {proven:,} compared with C"
    )
    return Outcome("; ".join([value, *failures(found.conversion)]), passed=not failures(found.conversion))


def _optimization(found: Measurements, _: RoadmapGates) -> Outcome:
    report = found.optimization
    if report is None:
        return Outcome("not measured: run jarvis c2rust optimize")
    value = (
        f"unsafe blocks: {report.unsafe_removed:,} removed, {report.unsafe_annotated:,} annotated; "
        f"{report.visibility_downgraded:,} functions no longer public; {report.docs_added:,} comments for documentation"
    )
    return Outcome("; ".join([value, *report.errors[:1]]), passed=not report.errors)


def _retirement(found: Measurements, gates: RoadmapGates) -> Outcome:
    if found.conversion is None:
        return NOT_CONVERTED
    c, rust = (sum(getattr(one, name) for one in found.conversion.suites) for name in ("c_seconds", "rust_seconds"))
    left = len(found.conversion.remainder)
    ratio = f"tests take {rust / c:.2f} times as long" if c else "the time of the tests is too short to compare"
    value = f"{left:,} C files left; {ratio}; peak memory is not measured"
    return Outcome(value, passed=not left and rust <= gates.time_ratio * c)


NOT_CONVERTED = Outcome("not measured: run jarvis c2rust fast")
MEASURES: tuple[Measure, ...] = (
    _baseline, _hardening, _tests, _border, _replacement, _translation, _optimization, _retirement
)  # fmt: skip
