"""Create the user's crate, build it, and run the project's tests with the programs of the crate."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.c2rust.bench.crate_archive import dependencies_in
from jarvis_workers.c2rust.bench.crate_programs import exported_symbols, is_program, run_with_programs
from jarvis_workers.c2rust.bench.project_bench import CRATE, ProjectBench
from jarvis_workers.c2rust.conversion import BUILD, FunctionResult, GateOutcome
from jarvis_workers.c2rust.delivery import CrateText, Delivery, c_interface, deliver
from jarvis_workers.c2rust.gates import take_back
from jarvis_workers.c2rust.golden_tests import golden_tests
from jarvis_workers.c2rust.slots import MAIN, ORIGINAL
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.c2rust.stages.skeleton import Skeleton
from jarvis_workers.paths import listing
from jarvis_workers.toolchain.cargo import CargoMessage

if TYPE_CHECKING:
    from jarvis_workers.c2rust.stages.crate_sources import CrateSources

ATTRIBUTE = "its attribute has an effect on linking or loading: {}"
UNCUT = "it cannot be removed from its C file, so the file is kept"
MOST_CRATES, MOST_PROGRAMS, MOST_NAMES = 4, 200, 5
# The gates.
INTERFACE, TESTS = "C interface", "tests with the crate"


class FinalCrate(NamedTuple):
    """The functions with their final states, the crate, its gate results, and one line about each missing part."""

    functions: list[FunctionResult]
    delivery: Delivery
    gates: tuple[GateOutcome, ...]
    warnings: tuple[str, ...]


def settle(
    functions: list[FunctionResult],
    skeleton: Skeleton,
    sources: "CrateSources",
    bench: ProjectBench,
    options: FastOptions,
) -> FinalCrate:
    """Return a crate that builds, if there is one; functions that cannot be removed from the C files stay in C."""
    before = exported_symbols(bench)
    linked = sources.linked()
    functions = [take_back(one, linked, "refused", ATTRIBUTE.format(linked.get(one.slot))) for one in functions]
    pruned = {one.slot for one in functions if one.state == "pruned"}
    mains = _mains(bench, before)
    built = defaultdict[str, list[str]](list)
    for path, slot in mains.items():
        built[slot].append(PurePosixPath(path).name)

    def delivered(without: Collection[str] = ()) -> Delivery:
        return _delivery(functions, skeleton, sources, without, built, forwarded=options.forward)

    for _ in range(MOST_CRATES):
        delivery = delivered()
        if not delivery.uncut:
            break
        functions = [take_back(one, delivery.uncut, "refused", UNCUT) for one in functions]
    gate = _build(bench, delivery)
    missing = {} if gate.passed else _unlinked(bench, delivery)
    if missing:
        delivery = delivered(missing)
        gate = _build(bench, delivery)
    delivery = delivery._replace(files=delivery.files | dependencies_in(bench.place / CRATE))
    gates = [gate]
    if gate.passed:
        gates += [_interface(bench, sources, before, pruned), *_tested(bench, delivery, options.tests, mains)]
    warnings = (f"the crate has no program {name}: {why}" for name, why in missing.items())
    return FinalCrate(functions, delivery, tuple(gates), tuple(warnings))


def _delivery(
    functions: Collection[FunctionResult],
    skeleton: Skeleton,
    sources: "CrateSources",
    without: Collection[str],
    built: Mapping[str, Collection[str]],
    *,
    forwarded: bool,
) -> Delivery:
    accepted = {one.slot for one in functions if one.accepted}
    bodies = {slot: item for slot, item in skeleton.bodies.items() if slot in accepted}
    pruned = {one.slot for one in functions if one.state == "pruned"}
    calls = {slot: found.recorded for slot, found in skeleton.inputs.items() if slot in bodies}
    tests = golden_tests(sources.project, calls)
    linked = sources.linked()
    variables = {slot: item for slot, item in skeleton.globals.items() if slot not in linked}
    text = CrateText(
        sources.name, skeleton.types, skeleton.declarations, variables, tests, forwarded, pruned, skeleton.wrappers
    )
    return deliver(
        sources.project,
        text,
        bodies,
        sources.commands,
        lambda file: sources.files[file],
        sources.includes,
        without,
        built,
    )


def _mains(bench: ProjectBench, exported: Collection[tuple[str, str]]) -> dict[str, str]:
    """Return the slot of the `main` of each program in the project, by the path of the program."""
    originals = ((path, symbol) for path, symbol in exported if symbol.startswith(ORIGINAL))
    rows = ((path, symbol.removeprefix(ORIGINAL)) for path, symbol in originals if symbol.endswith(f"__{MAIN}"))
    return {path: slot for path, slot in sorted(rows) if is_program(bench, path)}


def _build(bench: ProjectBench, delivery: Delivery) -> GateOutcome:
    bench.write_crate(delivery.files)
    passed, messages, seconds = bench.cargo("build")
    return GateOutcome(BUILD, passed, first_error(messages), seconds)


def _unlinked(bench: ProjectBench, delivery: Delivery) -> dict[str, str]:
    """Return the programs that do not link, with the reasons; none if the library itself does not build."""
    if not bench.cargo("build", "--lib")[0]:
        return {}
    names = [one.name for one in delivery.programs]
    found = {name: bench.cargo("build", "--bin", name) for name in names[:MOST_PROGRAMS]}
    reasons = {name: first_error(messages) for name, (passed, messages, _) in found.items() if not passed}
    return reasons | dict.fromkeys(names[MOST_PROGRAMS:], f"the project has more than {MOST_PROGRAMS} programs")


def _interface(
    bench: ProjectBench, sources: "CrateSources", before: Collection[tuple[str, str]], pruned: Collection[str]
) -> GateOutcome:
    """Compare the symbols that the C objects export, but for the pruned ones, with those of the crate."""
    exported = {symbol for _, symbol in before}.difference(pruned)
    expected = [symbol for symbol in c_interface(sources.project) if symbol in exported]
    has = {symbol for _, symbol in exported_symbols(bench, sources.name)}
    lacks = [symbol for symbol in expected if symbol not in has]
    detail = f"the crate lacks {listing(lacks, MOST_NAMES)}" if lacks else f"{len(expected):,} symbols"
    return GateOutcome(INTERFACE, not lacks, detail)


def _tested(
    bench: ProjectBench, delivery: Delivery, tests: Sequence[str], mains: Mapping[str, str]
) -> list[GateOutcome]:
    """Run the tests of the project with the programs of the crate instead of those of the build."""
    programs = {one.symbol: one.name for one in delivery.programs}
    places = {path: programs[slot] for path, slot in mains.items() if slot in programs}
    gates = []
    for command in tests:
        done, used = run_with_programs(bench, command, places)
        last = done.output.decode(errors="backslashreplace").strip().rpartition("\n")[2]
        detail = f"{done.failure}: {last}" if done.failure else f"{used} of {len(mains)} programs come from the crate"
        gates.append(GateOutcome(TESTS, not done.failure, f"{command}: {detail}", done.seconds))
    return gates


def first_error(messages: Iterable[CargoMessage]) -> str:
    """Return the first error of cargo on one line, or "" if there is none."""
    errors = (one for one in messages if one.level == "error")
    return next((re.sub(r"^:0: ", "", f"{one.file}:{one.line}: {one.text}") for one in errors), "")
