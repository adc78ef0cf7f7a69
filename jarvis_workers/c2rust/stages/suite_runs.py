"""Run the tests of a project on a bench, with chosen functions in Rust."""

import platform
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from time import monotonic
from types import MappingProxyType

from jarvis_workers.c2rust.bench.project_bench import FALLBACK_LIBRARY, CommandResult, ProjectBench
from jarvis_workers.c2rust.bench.tree_state import LIMIT
from jarvis_workers.c2rust.crate import SHAPES
from jarvis_workers.c2rust.gates import LEAST_INPUTS, NO_INPUTS, InputRun, SuiteRun
from jarvis_workers.c2rust.shadow_log import MOST_DIFFERENCES, confirmed_in, read_shadow_log
from jarvis_workers.c2rust.slots import unit_name
from jarvis_workers.c2rust.stages.input_runs import UsableInputs, call_program, read_events
from jarvis_workers.c2rust.stages.skeleton import SuiteBaseline
from jarvis_workers.errors import StepFailed
from jarvis_workers.paths import as_text
from jarvis_workers.sandbox.limits import UNLIMITED, CommandLimit

VARIABLE = "JARVIS_C2RUST_"
# The slot of no function: the library is loaded and not used.
NO_FUNCTION = "-"
# Calls of a function in a process that are repeated with other arguments.
VARIED = "256"
ADDRESSES = "depends on addresses: another run differs in other places"
REACHED, DIFFERENCE = b"reached", b"difference\t"


class BenchSuites:
    """The test commands of a project on a bench with a built library; `limits` apply with functions in Rust.

    With `checked`, a bench whose programs stop at undefined behaviour, compared calls are repeated with varied
    arguments.
    """

    def __init__(
        self,
        bench: ProjectBench,
        commands: Sequence[str],
        limits: Mapping[str, CommandLimit] = MappingProxyType({}),
        checked: ProjectBench | None = None,
    ) -> None:
        self._bench, self._commands, self._limits, self._checked = bench, commands, limits, checked

    def run(self, rust: Sequence[str] = (), *, trap: Sequence[str] = (), shadow: Sequence[str] = ()) -> SuiteRun:
        """Run all test commands until one fails."""
        names = {"RUST": rust, "TRAP": trap, "SHADOW": shadow}
        variables = {name: self._bench.name_list(name, some) for name, some in names.items()}
        variables |= {"LIBRARY": str(self._bench.library), "SHAPES": str(self._bench.shapes) if shadow else ""}
        variables["VARY"] = VARIED if shadow and self._checked else ""
        environment = {f"{VARIABLE}{name}": value for name, value in variables.items() if value}
        seconds, logs, failure = 0.0, list[bytes](), ""
        for command in self._commands:
            done = self._bench.test(command, environment, UNLIMITED if shadow else self._limits.get(command, UNLIMITED))
            seconds += done.seconds
            logs.append(done.log)
            if done.failure:
                failure = f"{command}: {done.failure}"
                break
        log = b"".join(logs)
        found = read_shadow_log(log, shadow)
        differences = _differences(log) if found.differences else ""
        for slot in shadow:
            differences = self._confirmed(differences, slot, self._run_checked)
        return SuiteRun(
            not failure,
            failure,
            seconds,
            {one.name: one.calls for one in found.compared},
            differences,
            {one.name: one.reason for one in found.unshadowed},
        )

    def call(self, slot: str, inputs: UsableInputs | None) -> InputRun:
        """Call a function in Rust with its usable inputs, each compared with C."""
        if inputs is None or inputs.usable < LEAST_INPUTS:
            return NO_INPUTS
        # Earlier tests may have left other files, which change what a function does.
        self._bench.restore()
        variables = {"LIBRARY": str(self._bench.library), "SHAPES": str(self._bench.shapes)}
        variables |= {"RUST": slot, "SHADOW": slot, "VARY": VARIED if self._checked else ""}
        done = call_program(self._bench, inputs.program, inputs.plan, variables)
        found = read_shadow_log(done.log, [slot])
        differences = _differences(done.log) if found.differences else ""
        events = [(event, number) for event, name, number in read_events(done.log) if name == slot]
        # The functions of C that prepare arguments may fail, as they depend on files.
        called = {number for event, number in events if event == "called"}
        returned = {number for event, number in events if event == "returned"} & called
        if LIMIT in done.failure:
            # The call that the limit of the program stopped proves nothing, unlike those that ended by themselves.
            called &= returned | {number for event, number in events if event == "ended"}
        run = InputRun(
            len(called),
            len(returned),
            sum(one.calls for one in found.compared),
            f"a call with generated arguments does not return {_ending(done.log, called)}",
            self._confirmed(differences, slot, partial(self._call_checked, inputs)),
            next((one.reason for one in found.unshadowed), ""),
            done.seconds,
        )
        if run.log and not _recurs(
            run.log, call_program(self._bench, inputs.program, inputs.plan, variables).log, slot
        ):
            return run._replace(compared=0, log="", unshadowed=ADDRESSES)
        return run

    def _confirmed(self, log: str, slot: str, run: Callable[[ProjectBench, str], bytes]) -> str:
        """Return a log without differences in varied calls that do not recur where C stops at undefined behaviour."""
        if self._checked and any(one.variation for one in read_shadow_log(log.encode(), [slot]).differences):
            return confirmed_in(run(self._checked, slot), log, slot)
        return log

    def _run_checked(self, checked: ProjectBench, slot: str) -> bytes:
        environment = {f"{VARIABLE}{name}": value for name, value in self._varied(checked, slot).items()}
        return b"".join(checked.test(command, environment).log for command in self._commands)

    def _call_checked(self, inputs: UsableInputs, checked: ProjectBench, slot: str) -> bytes:
        return call_program(checked, inputs.program, inputs.plan, self._varied(checked, slot)).log

    def _varied(self, checked: ProjectBench, slot: str) -> dict[str, str]:
        shapes = checked.write_file(SHAPES, self._bench.shapes.read_bytes())
        paths = self._bench.library.with_name(FALLBACK_LIBRARY), self._bench.library
        _, library = (checked.write_file(one.name, self._bench.in_work('cat "$1"', [str(one)])) for one in paths)
        return {"LIBRARY": str(library), "RUST": slot, "SHADOW": slot, "VARY": VARIED, "SHAPES": str(shapes)}

    def first_calls(self) -> dict[str, dict[int, int]]:
        """Return in which processes the tests call each slot, with the place of the first call in the log."""
        log = b"".join(self._bench.test(command, {f"{VARIABLE}TRACE": "*"}).log for command in self._commands)
        calls: dict[str, dict[int, int]] = {}
        for at, (process, slot) in enumerate(_reached_slots(log)):
            calls.setdefault(slot, {}).setdefault(process, at)
        return calls

    def load_failure(self) -> str:
        """Return why the test programs cannot load the library, or "" if they can; the test runs all functions in C."""
        failure = self.run([NO_FUNCTION]).failure
        return failure and f"the programs cannot load a Rust library built for {platform.machine()} ({failure})"


def _differences(log: bytes) -> str:
    # Those of varied calls, which have a field more, come last: a later step may leave them out.
    lines = sorted((line for line in log.splitlines() if line.startswith(DIFFERENCE)), key=lambda one: one.count(b"\t"))
    return b"".join(line + b"\n" for line in lines[:MOST_DIFFERENCES]).decode(errors="replace")


def _recurs(log: str, again: bytes, slot: str) -> bool:
    """Return whether at least half of the differences are in the same places when the program runs again.

    The second run has other addresses, and some functions choose where to store by an address, such as that of a
    literal.
    """
    first, second = (
        {(one.call, one.region, one.variation) for one in read_shadow_log(text, [slot]).differences}
        for text in (log.encode(), again)
    )
    return 2 * len(first & second) >= len(first)


def _ending(log: bytes, called: Collection[int]) -> str:
    """Return how the first call that did not return ended, such as "(signal 11)"; "" if it ended the program."""
    ended = (line.decode(errors="replace").split("\t") for line in log.split(b"\n") if line.startswith(b"ended\t"))
    some = (fields for fields in ended if len(fields) > 5 and fields[4].isdecimal() and int(fields[4][:9]) in called)
    return next((f"({fields[5][:40]})" for fields in some), "")


def baseline(bench: ProjectBench, command: str) -> tuple[SuiteBaseline, CommandResult, frozenset[str]]:
    """Run a test command twice in C, tracing calls; return its facts, the run, and the slots that it calls."""
    began = monotonic()
    first, second = (bench.test(command, {f"{VARIABLE}TRACE": "*"}) for _ in range(2))
    called, again = (frozenset(called_slots(done.log)) for done in (first, second))
    worst = first if first.failure else second
    same = called == again and first.code == second.code
    return SuiteBaseline(command, second.seconds, same, (monotonic() - began) / 2), worst, called & again


def baselines(bench: ProjectBench, commands: Sequence[str]) -> tuple[list[SuiteBaseline], set[str]]:
    """Return the facts of test commands in C, and the slots that they call. Raises StepFailed if one fails."""
    suites, called = list[SuiteBaseline](), set[str]()
    for command in commands:
        suite, run, reached = baseline(bench, command)
        if run.failure:
            tail = run.output.decode(errors="backslashreplace").splitlines()[-3:]
            why = ": ".join(filter(None, (run.failure, " | ".join(tail))))
            raise StepFailed(f"--test {command}: fails before anything is translated: {why}")
        suites.append(suite)
        called |= reached
    return suites, called


def called_slots(log: bytes) -> Iterator[str]:
    """Yield the slots that a log lists as reached; a test may have written arbitrary text to the log."""
    return (slot for _, slot in _reached_slots(log))


def _reached_slots(log: bytes) -> Iterator[tuple[int, str]]:
    """Yield the process and the slot of each call that a log lists.

    A global function has its name as a static one of its file, too, which it may be in another variant of the file.
    """
    for line in log.splitlines():
        event, *fields = line.split(b"\t")
        if event == REACHED and len(fields) > 2:
            process, name = int(fields[1]) if fields[1].isdigit() else 0, fields[2].decode(errors="replace")
            yield process, name
            if len(fields) > 3 and not name.startswith(prefix := f"{unit_name(as_text(fields[3]))}__"):
                yield process, prefix + name
