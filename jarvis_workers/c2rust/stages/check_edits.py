"""Run the gates on functions that the user edited in a crate, in a build directory of the conversion that wrote it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from jarvis_workers.c2rust.bench.project_bench import ProjectBench
from jarvis_workers.c2rust.conversion import Conversion, FunctionResult, GateOutcome
from jarvis_workers.c2rust.crate import BODY_LINE
from jarvis_workers.c2rust.crate_edits import FunctionEdit
from jarvis_workers.c2rust.gates import (
    GateReport,
    judge_differences,
    take_back,
    union_culprits,
    verdict,
)
from jarvis_workers.c2rust.stages.body_union import BESIDE
from jarvis_workers.c2rust.stages.check_bodies import run_gates
from jarvis_workers.c2rust.stages.final_bodies import MergeWork
from jarvis_workers.c2rust.stages.final_crate import first_error
from jarvis_workers.c2rust.stages.rustc_checks import check_bodies, run_clippy
from jarvis_workers.c2rust.stages.skeleton import Skeleton, checked_bench, project_bench, with_all_declared
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.errors import StepFailed
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.toolchain.cargo import CargoMessage

Files = Mapping[str, bytes]


class EditedCrate(NamedTuple):
    """The crate as the conversion wrote it, its current files, and the edited functions."""

    before: Files
    now: Files
    edits: Sequence[FunctionEdit]


class EditOutcome(NamedTuple):
    """The edited functions with their gate results, and the results of cargo for the whole crate."""

    functions: tuple[FunctionResult, ...]
    crate: tuple[GateOutcome, ...]


def check_edits(crate: EditedCrate, work: MergeWork, conversion: Conversion, resources: Resources) -> EditOutcome:
    """Return the gate results of the edited functions. Raises StepFailed if there are no programs to test with."""
    skeleton = work.read_skeleton(resources.blobs, conversion)
    types = work.types(resources.blobs)
    with project_bench(resources, work.options) as bench, checked_bench(resources, work.options) as checked:
        suites = BenchSuites(bench, work.options.tests, skeleton.suite_limits, checked)
        reports = _gates(bench, suites, skeleton, crate.edits)
        judged = {slot: judge_differences(report, types(slot)) for slot, report in reports.items()}
        edits = {edit.slot: edit for edit in crate.edits}
        others = [one for one in conversion.functions if one.slot not in edits]
        edited = [
            verdict(_cleared(one, edits[one.slot]), judged[one.slot], work.options.proof)
            for one in conversion.functions
            if one.slot in edits
        ]
        union = [one.slot for one in (*others, *edited) if one.accepted]
        culprits = union_culprits(suites, union)
        settled = [take_back(one, culprits, "different", BESIDE) for one in edited]
        return EditOutcome(tuple(settled), tuple(_cargo_gates(bench, crate)))


def _cleared(function: FunctionResult, edit: FunctionEdit) -> FunctionResult:
    place = replace(function, file=edit.file, line=edit.line)
    return replace(place, state="forwarded", proof="none", cause="not_checked", gates=(), calls=0)


def _gates(
    bench: ProjectBench, suites: BenchSuites, skeleton: Skeleton, edits: Sequence[FunctionEdit]
) -> dict[str, GateReport]:
    """Return the outcomes of all gates of each edited function.

    The library of the bench contains the edited functions that compile.
    """
    static = {edit.slot: edit.gates() for edit in edits}
    formed = [edit for edit in edits if all(gate.passed for gate in static[edit.slot])]
    changed = {edit.slot: skeleton.bodies[edit.slot]._replace(text=edit.text) for edit in formed}
    declared = with_all_declared(skeleton)
    checks = check_bodies(bench, skeleton.types, declared.declared, {**skeleton.bodies, **changed})
    built = replace(declared, bodies=checks.bodies)
    bench.write_crate(built.crate)
    passed, messages = bench.build_library()
    if not passed:
        raise StepFailed(f"the functions do not build: {first_error(messages)}")
    reports = {slot: GateReport(slot, gates) for slot, gates in static.items()}
    for edit in formed:
        if error := checks.errors.get(edit.slot):
            failed = GateOutcome("check", passed=False, detail=_error_text(error, edit))
            reports[edit.slot] = GateReport(edit.slot, (*static[edit.slot], failed))
    tested = [edit.slot for edit in formed if edit.slot not in checks.errors]
    for report in run_gates(suites, skeleton, tested):
        reports[report.slot] = report._replace(gates=(*static[report.slot], *report.gates))
    return reports


def _error_text(error: CargoMessage, edit: FunctionEdit) -> str:
    """Return an error of rustc with its place in the edited file."""
    found = re.search(rf"\bfn {re.escape(edit.name)}\b", edit.text)
    before = edit.text.count("\n", 0, found.start()) if found else 0
    line = edit.line + error.line - before - BODY_LINE
    return f"{edit.file}:{line}: {error.code} {error.text}".replace("  ", " ")


def _cargo_gates(bench: ProjectBench, crate: EditedCrate) -> Iterator[GateOutcome]:
    """Yield whether the crate builds, and whether clippy has new warnings."""
    bench.write_crate(crate.now)
    passed, messages, seconds = bench.cargo("build")
    yield GateOutcome("cargo build", passed, "" if passed else first_error(messages), seconds)
    if passed:
        yield _clippy_gate(bench, crate)


def _clippy_gate(bench: ProjectBench, crate: EditedCrate) -> GateOutcome:
    """Compare the warnings of clippy about the crate of a bench with those before the edits."""
    new = run_clippy(bench)
    if not new.problem:
        bench.write_crate(crate.before)
    before = new if new.problem else run_clippy(bench)
    if before.problem:
        return GateOutcome("clippy", passed=True, detail=f"not run: {before.problem}")
    old, found = Counter((one.file, one.code) for one in before.warnings), []
    for one in new.warnings:
        old[one.file, one.code] -= 1
        if old[one.file, one.code] < 0:
            found.append(one)
    detail = f"{len(found)} new warnings, such as {found[0].file}:{found[0].line}: {found[0].text}" if found else ""
    return GateOutcome("clippy", not found, detail)
