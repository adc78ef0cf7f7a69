"""The results of runs that fix findings, as lines and as JSON data."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jarvis_workers.paths import plain
from jarvis_workers.runs.run_kinds import Panel, StoredRun
from jarvis_workers.sec.fix.gates import MEANS, OlderError, PatchGateResult, place_of
from jarvis_workers.sec.fix.result import FIXED, NOT_DONE, REFUSED, FixResult, FixResults, SecondLook, short_reason
from jarvis_workers.sec.stages.fix_options import FixOptions
from jarvis_workers.sec.stages.fix_outcomes import FIXES, STEP, results_so_far
from jarvis_workers.sec.stages.pipelines import FIX
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import artifacts, jobs, run_labels
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

# The label of a run that fixes findings: the run of the findings.
LABEL = "fixes"
BRANCH = "jarvis/fix-{}"
MOST_RUNS = 100


class FixReport(NamedTuple):
    """The results of a run; `is_final` if all patches have been combined."""

    run: Run
    results: Sequence[FixResult]
    is_final: bool

    @property
    def options(self) -> FixOptions:
        return FixOptions.of(self.run)

    @property
    def branch(self) -> str:
        return BRANCH.format(self.run.id)

    def of_state(self, state: str) -> list[FixResult]:
        return [result for result in self.results if result.state == state]

    @property
    def fixed(self) -> list[FixResult]:
        return self.of_state(FIXED)

    @property
    def not_done(self) -> list[FixResult]:
        return self.of_state(NOT_DONE)

    @property
    def counts(self) -> dict[str, int]:
        return {state: len(self.of_state(state)) for state in (FIXED, REFUSED, NOT_DONE)}


def read_fixes(store: Store, blobs: Blobs, run: Run) -> FixReport:
    """Return the results of a run, or the results so far."""
    with store.read() as session:
        blob = artifacts.find(session, run.id, FIXES)
        outcomes = [] if blob else jobs.outcomes(session, run.id, STEP)
    if blob:
        return FixReport(run, FixResults.model_validate_json(blobs.read(blob)).results, is_final=True)
    return FixReport(run, list(results_so_far(FixOptions.of(run), outcomes, blobs)), is_final=False)


class ScannedFix(NamedTuple):
    """A result for a finding, the scanned contents of the files that its run changes, and the scanned directory."""

    result: FixResult
    originals: Mapping[str, bytes]
    below: str


def fixes_of(store: Store, blobs: Blobs, run: Run) -> list[ScannedFix]:
    """Return the newest result for each finding of a scanned run; one with a patch has precedence."""
    with store.read() as session:
        found = [one for one in run_labels.labelled(session, {LABEL: run.id}, MOST_RUNS) if one.kind == FIX]
    newest = dict[str, ScannedFix]()
    for one in reversed(found):
        report = read_fixes(store, blobs, one)
        originals = dict[str, bytes]()
        for result in report.results:
            originals |= {path: file.before for path, file in result.files.items() if path not in originals}
            earlier = newest.get(result.finding.id)
            if result.state == FIXED or earlier is None or earlier.result.state != FIXED:
                newest[result.finding.id] = ScannedFix(result, originals, report.options.below)
    return list(newest.values())


def panel(stored: StoredRun) -> Panel:
    """Return the results so far, for the page of a run."""
    return {"fixes": "\n".join(report_lines(read_fixes(stored.store, stored.blobs, stored.run)))}


def report_lines(report: FixReport) -> Iterator[str]:
    """Yield the lines of the text report: each finding with its state, its gates and its patch."""
    for result in report.results:
        finding = result.finding
        yield plain(f"{finding.id} {finding.place.file}:{finding.place.line} {finding.name}: {result.state}")
        for other in finding.others:
            yield plain(f"  {other.id} {other.place.file}:{other.place.line} {other.name}: same root cause")
        if result.reason:
            yield plain(f"  {result.reason}")
        yield from (plain(f"  {gate.gate}: {_gate_text(gate)}") for gate in result.gates)
        if result.second_look:
            yield from (f"  {line}" for line in result.second_look.lines())
        if result.regression_test:
            yield plain(f"  regression test: {', '.join(sorted(result.regression_test))}")
        if result.patch:
            text = result.patch.decode("utf-8", "backslashreplace").rstrip("\n")
            yield from ("", *(plain(line.expandtabs()) for line in text.split("\n")), "")


def _gate_text(gate: PatchGateResult) -> str:
    """Return the result of a gate on one line."""
    if gate.state == "passed":
        return f"{MEANS[gate.gate]}; {gate.reason}" if gate.reason else MEANS[gate.gate]
    return f"{gate.state}: {short_reason(gate.reason)}"


def document(report: FixReport, *, has_branch: bool = True) -> dict[str, Any]:
    """Return the results as JSON data; no branch is named if it could not be written."""
    is_on_branch = bool(has_branch and report.options.base and report.fixed and report.is_final)
    return {
        "scanned": report.options.scanned,
        "base": report.options.base or None,
        "branch": report.branch if is_on_branch else None,
        "counts": report.counts,
        "fixes": [_fields(result) for result in report.results],
    }


def _fields(result: FixResult) -> Mapping[str, Any]:
    finding = result.finding
    return {
        "id": finding.id,
        "same_root_cause": [other.id for other in finding.others],
        "rule": finding.pattern,
        "title": finding.title or None,
        "file": finding.place.file,
        "line": finding.place.line,
        "state": result.state,
        "reason": result.reason or None,
        "attempts": result.attempts,
        "gates": [{"gate": gate.gate, "state": gate.state, "reason": gate.reason or None} for gate in result.gates],
        "second_look": result.second_look and _second_look(result.second_look),
        "older_errors": [_older(one) for one in result.older],
        "message": result.message if result.state == FIXED else None,
        "text": result.text or None,
        "regression_test": sorted(result.regression_test),
        "patch": result.patch.decode("utf-8", "backslashreplace") or None,
    }


def _second_look(look: SecondLook) -> Mapping[str, Any]:
    found = [{**one.model_dump(), "line": one.line or None, "cwe": one.cwe or None} for one in look.defects]
    return {"function": look.function or None, "still_wrong": found, "reason": look.reason or None}


def _older(error: OlderError) -> Mapping[str, Any]:
    function, file, line = place_of(error.stack)
    place = {"function": function, "file": file, "line": line}
    return {"error": error.stack[0], **place, "finding": error.finding or None}
