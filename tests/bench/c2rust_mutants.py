"""Measure how many wrong bodies the gates refuse, with seeded mutants of the functions that a library's tests reach.

    python -m tests.bench.c2rust_mutants TREE… [--seed N] [--count N] [--unchanged | --in-c] [-o FILE] [--again FILE]

A TREE is named after a library of c2rust_projects.py.  Each round builds one crate with a mutant of each function,
compiled as by `jarvis c2rust fast`, and each mutant runs alone.  A survivor that rustc optimises to the same object
code as the unchanged body is equivalent and does not count (trivial compiler equivalence).  With --unchanged the bodies
are not mutated; with --in-c the C functions, compiled at -O0, replace them: each difference is a false positive.
"""

import argparse
import json
import os
import platform
import shlex
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple

from jarvis_workers.c2rust.bench.project_bench import PROJECT, TARGET
from jarvis_workers.c2rust.conversion import GateOutcome
from jarvis_workers.c2rust.crate import CrateItem, bench_crate
from jarvis_workers.c2rust.gates import GateReport, SuiteRun, judge_differences
from jarvis_workers.c2rust.mechanical.names import RustBody
from jarvis_workers.c2rust.mechanical.translate import translate_function
from jarvis_workers.c2rust.project import ProjectItem
from jarvis_workers.c2rust.shadow_log import read_shadow_log
from jarvis_workers.c2rust.stages.conversion_project import function_types
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites, baseline
from jarvis_workers.sandbox.confine import WORK
from jarvis_workers.sandbox.limits import BenchLimits
from tests.bench.c2rust_mutations import Mutation, draw_mutations
from tests.bench.c2rust_projects import COMMANDS, TranslatedLibrary, open_library
from tests.bench.shared_statics import RENAMED, share_statics, static_symbols

LIMITS = BenchLimits(build_seconds=1800, test_seconds=600)
LEAST_SECONDS, TIMES_AS_LONG = 60, 60
MOST_ROUNDS = 8


# Slot, place, change.
MutantName = tuple[str, str, str]


class Mutant(NamedTuple):
    """A wrong body, with the file and line of its C code."""

    item: ProjectItem
    mutation: Mutation
    body: CrateItem

    @property
    def name(self) -> MutantName:
        return self.item.slot, self.place, self.mutation.text

    @property
    def place(self) -> str:
        return f"{self.item.file}:{self.mutation.line}"


class MutantVerdict(NamedTuple):
    """The gate results of a mutant: the gate that refuses it, or "", with the failure or why nothing is compared.

    `run` states whether the tests execute its line. `calls` and `inputs` count the compared calls of the tests and with
    generated arguments. An `equivalent` mutant has the same object code as the unchanged body. `name` is the name of
    the function in C, `body` the mutant in Rust.
    """

    library: str
    function: str
    place: str
    change: str
    run: bool
    refused_by: str
    detail: str
    calls: int
    inputs: int = 0
    equivalent: bool = False
    name: str = ""
    body: str = ""


def measure(
    tree: Path,
    count: int,
    seed: int,
    data: Path,
    *,
    unchanged: bool = False,
    in_c: bool = False,
    again: Collection[MutantName] = (),
) -> Iterator[MutantVerdict]:
    """Yield the verdicts on mutants of a library, on those in `again` if there are any, or on all unchanged bodies."""
    commands = COMMANDS[tree.name]
    with open_library(tree, commands, data, LIMITS) as library:
        baselines = [baseline(library.bench, command) for command in commands.tests]
        seconds = max(LEAST_SECONDS, TIMES_AS_LONG * max(suite.seconds for suite, _, _ in baselines))
        library.bench.limits = LIMITS._replace(test_seconds=seconds)
        called = sorted(
            slot
            for slot in frozenset[str]().union(*(reached for _, _, reached in baselines))
            if _is_subject(library, slot)
        )
        if unchanged or in_c:
            yield from _judge_unchanged(library, called, in_c=in_c)
            return
        queues = _queues(library, called, seed, again)
        while queues and count > 0:
            some = _next_round(library, queues, count)
            count -= len(some)
            yield from _judge_round(library, some)


def _is_subject(library: TranslatedLibrary, slot: str) -> bool:
    files = [one.item.file for one in library.project.functions if one.item.slot == slot]
    return slot in library.bodies and not any(fnmatchcase(file, library.commands.oracles) for file in files)


def _unchanged(library: TranslatedLibrary, slot: str) -> Mutant:
    item = next(one.item for one in library.project.functions if one.item.slot == slot)
    return Mutant(item, Mutation(item.definition.extent.line, "unchanged", item.definition.tree), library.bodies[slot])


def _queues(
    library: TranslatedLibrary, called: Sequence[str], seed: int, again: Collection[MutantName]
) -> dict[str, Iterator[Mutant]]:
    """Return the mutants of each function that tests call, in random order."""
    slots = list(called)
    Random(seed).shuffle(slots)
    return {slot: _mutants(library, slot, seed, again) for slot in slots}


def _mutants(library: TranslatedLibrary, slot: str, seed: int, again: Collection[MutantName]) -> Iterator[Mutant]:
    one = next(one for one in library.project.functions if one.item.slot == slot)
    item, names = one.item, library.project.names[one.item.unit.file]
    for mutation in draw_mutations(item.definition.tree, item.unit.types, f"{seed} {slot}"):
        if again and (slot, f"{item.file}:{mutation.line}", mutation.text) not in again:
            continue
        body = translate_function(item.definition._replace(tree=mutation.tree), item.unit, names)
        if isinstance(body, RustBody) and body.text != library.bodies[slot].text:
            yield Mutant(item, mutation, library.bodies[slot]._replace(text=body.text))


def _next_round(library: TranslatedLibrary, queues: dict[str, Iterator[Mutant]], count: int) -> list[Mutant]:
    """Take the next mutant of each function that compiles."""
    chosen: dict[str, Mutant] = {}
    for _ in range(MOST_ROUNDS):
        for slot in [one for one in queues if one not in chosen][: max(0, count - len(chosen))]:
            if (mutant := next(queues[slot], None)) is None:
                del queues[slot]
            else:
                chosen[slot] = mutant
        errors = library.check({slot: mutant.body for slot, mutant in chosen.items()}).errors
        chosen = {slot: mutant for slot, mutant in chosen.items() if slot not in errors}
        if not errors:
            break
    return list(chosen.values())


def _judge_unchanged(library: TranslatedLibrary, called: Sequence[str], *, in_c: bool) -> Iterator[MutantVerdict]:
    """Yield the results of the shadow gate for correct bodies."""
    runs = _build_unoptimised(library) if in_c else _build(library, {})
    for slot in called:
        # Several functions in Rust at once hide differences: C then calls some of them, too.
        found = _verdict(library, _unchanged(library, slot), runs.run([slot], shadow=[slot]))
        yield found if found.refused_by else _with_inputs(library, runs, found)


def _build_unoptimised(library: TranslatedLibrary) -> BenchSuites:
    """Replace the Rust functions with those of the C sources, compiled without optimisation."""
    runs, objects = _build(library, {}), []
    _share_statics(library)
    for number, unit in enumerate(library.units):
        place, words = shlex.quote(os.fsdecode(unit.directory) or "."), shlex.join(unit.arguments)
        source = shlex.quote(os.path.relpath(os.fsdecode(unit.file), os.fsdecode(unit.directory) or "."))
        target = f"{library.bench.place}/{WORK}/unit{number}.o"
        objects.append(target)
        script = f"cd {place} && cc {words} -O0 -U_FORTIFY_SOURCE -fPIC -w -c {source} -o {target}"
        rename = f"nm {target} | sed -n 's/.* jvc_\\(.*\\)/jvc_\\1 jvr_\\1/p; {RENAMED}' > {target}.names"
        done = library.bench.run(f"{script} && {rename} && objcopy --redefine-syms={target}.names {target}", {}, 300)
        assert not done.failure, done.output
    flags = "-shared -Wl,-z,lazy -Wl,-z,muldefs -Wl,--unresolved-symbols=ignore-all"
    done = library.bench.run(f"/usr/bin/cc {flags} {' '.join(objects)} -o {library.bench.library} -lm", {}, 300)
    assert not done.failure, done.output
    return runs


def _share_statics(library: TranslatedLibrary) -> None:
    """Edit the sources until the next test: C in a library uses static symbols of the program, as Rust does."""
    bench = library.bench
    for file, symbols in static_symbols(library.project.project.items).items():
        path = f"{PROJECT}/{file}"
        text = share_statics(bench.in_work('cat "$1"', [path]), file, symbols)
        edited = bench.write_file("edited", text)
        bench.in_work('cat "$1" > "$2"', [str(edited), path])


def _build(library: TranslatedLibrary, bodies: Mapping[str, CrateItem]) -> BenchSuites:
    library.write_crate(bodies, platform.machine())
    passed, messages = library.bench.build_library()
    assert passed, messages[-1]
    return BenchSuites(library.bench, library.commands.tests, checked=library.checked)


def _judge_round(library: TranslatedLibrary, mutants: Sequence[Mutant]) -> Iterator[MutantVerdict]:
    runs = _build(library, {one.item.slot: one.body for one in mutants})
    survivors = list[tuple[Mutant, MutantVerdict]]()
    for one in mutants:
        suite = runs.run([one.item.slot])
        doubled = runs.run([one.item.slot], shadow=[one.item.slot]) if suite.passed else None
        found = _verdict(library, one, doubled, suite.failure)
        found = found if found.refused_by else _with_inputs(library, runs, found)
        if found.refused_by:
            yield found
        else:
            survivors.append((one, found))
    for one, found in survivors:
        bodies = library.bodies[one.item.slot], one.body
        yield found._replace(equivalent=len({_object_code(library, body) for body in bodies}) == 1)


def _object_code(library: TranslatedLibrary, body: CrateItem) -> bytes:
    """Return the assembly of a single function, optimised as in a release."""
    bench, project = library.bench, library.project
    symbols = sorted({one.item.slot for one in project.items})
    bench.write_crate(bench_crate(project.types, project.declarations().values(), [body], symbols))
    bench.in_work(f"rm -rf {TARGET}/release/deps", [])
    passed, messages, _ = bench.cargo("build", "--release", flags="--emit=asm -Ccodegen-units=1")
    assert passed, messages[-1]
    return bench.in_work(f"cat {TARGET}/release/deps/*.s", [])


def _with_inputs(library: TranslatedLibrary, runs: BenchSuites, found: MutantVerdict) -> MutantVerdict:
    """Return the verdict with the results of calls with generated arguments."""
    called = runs.call(found.function, library.inputs.get(found.function))
    outcome = next((one for one in called.outcomes() if not one.passed), None)
    if outcome is None:
        return found._replace(inputs=called.compared)
    detail = _difference(library, found.function, called.log) if called.log else outcome.detail
    return found._replace(refused_by="inputs" if detail else "", detail=detail, inputs=called.compared)


def _verdict(library: TranslatedLibrary, mutant: Mutant, doubled: SuiteRun | None, failure: str = "") -> MutantVerdict:
    """Return the verdict on a mutant: failing tests, or else the result of the run that compared its calls."""
    slot, item = mutant.item.slot, mutant.item
    run = library.coverage.get((item.file, item.definition.name), {}).get(mutant.mutation.line, False)
    gate, detail, calls = "suite", failure, 0
    if doubled:
        difference = _difference(library, slot, doubled.log)
        gate, detail = "shadow" if difference else "", difference or doubled.unshadowed.get(slot, "") or doubled.failure
        calls = doubled.compared.get(slot, 0)
    about = library.name, slot, mutant.place, mutant.mutation.text
    return MutantVerdict(*about, run, gate, detail, calls, name=item.definition.name, body=mutant.body.text)


def _difference(library: TranslatedLibrary, slot: str, log: str) -> str:
    """Return the first difference of a function outside padding, formatted as in a report."""
    if not read_shadow_log(log.encode(), [slot]).differences:
        return ""
    types = function_types(library.project.project)(slot)
    gates = (GateOutcome("shadow", passed=False, detail="a call differs"),)
    gate = judge_differences(GateReport(slot, gates, 0, log), types).gates[0]
    return "" if gate.passed else gate.detail


def table(verdicts: Sequence[MutantVerdict]) -> Iterator[str]:
    """Yield the lines of a table with one row per library: percentages refused, of all lines and of executed lines."""
    columns = "suite | + shadow | + inputs"
    yield f"| library | mutants | {columns} | on lines run | {columns} | survivors | equivalent |"
    yield f"|{' --- |' * 11}"
    for name in [*dict.fromkeys(one.library for one in verdicts), "all"]:
        all_ = [one for one in verdicts if name in (one.library, "all")]
        some = [one for one in all_ if not one.equivalent]
        on_lines_run = [one for one in some if one.run or one.refused_by == "inputs"]
        survivors = sum(not one.refused_by for one in some)
        yield f"| {name} | {_shares(some)} | {_shares(on_lines_run)} | {survivors} | {len(all_) - len(some)} |"


def _shares(verdicts: Sequence[MutantVerdict]) -> str:
    gates, total = Counter(one.refused_by for one in verdicts), max(1, len(verdicts))
    refused = list(accumulate(gates[name] for name in ("suite", "shadow", "inputs")))
    return " | ".join([str(len(verdicts)), *(f"{100 * count / total:.0f} %" for count in refused)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60, help="mutants per library")
    parser.add_argument("--unchanged", action="store_true", help="count false positives of correct bodies")
    parser.add_argument("--in-c", action="store_true", help="count false positives of C at -O0 in place of Rust")
    parser.add_argument("-o", "--output", type=Path, help="file for the verdicts, one JSON object per line")
    parser.add_argument("--again", type=Path, help="earlier output with the same seed; retry its survivors")
    asked = parser.parse_args()
    rows = [json.loads(line) for line in asked.again.read_text().splitlines()] if asked.again else []
    survivors = [one for one in rows if not (one["refused_by"] or one["equivalent"])]
    again = {(one["function"], one["place"], one["change"]) for one in survivors}
    verdicts = list[MutantVerdict]()
    with tempfile.TemporaryDirectory(prefix="jarvis-mutants") as data:
        for tree in asked.trees:
            for one in measure(
                tree, asked.count, asked.seed, Path(data), unchanged=asked.unchanged, in_c=asked.in_c, again=again
            ):
                verdicts.append(one)
                print(_line(one), flush=True)
                if asked.output:
                    with asked.output.open("a") as file:
                        file.write(json.dumps(one._asdict()) + "\n")
    print(*table(verdicts), sep="\n")


def _line(one: MutantVerdict) -> str:
    run = "run" if one.run else "not run"
    state = "equivalent" if one.equivalent else "SURVIVES"
    outcome = f"{one.refused_by or state} {one.detail}".strip()
    return f"{one.library} {one.place} {one.function}: {one.change}: {run}, {one.calls} + {one.inputs} calls: {outcome}"


if __name__ == "__main__":
    main()
