"""Run the tests of a project on a bench, with chosen functions in Rust."""

from collections.abc import Iterable, Sequence

from jarvis_workers.bench.project_bench import CommandResult, ProjectBench
from jarvis_workers.c2rust.gates import SuiteRun
from jarvis_workers.c2rust.shadow_log import MOST_DIFFERENCES, read_shadow_log
from jarvis_workers.steps.c2rust.skeleton import SuiteBaseline

VARIABLE = "JARVIS_C2RUST_"
REACHED, DIFFERENCE = b"reached", b"difference\t"


class BenchSuites:
    """The test commands of a project on a bench whose library is built."""

    def __init__(self, bench: ProjectBench, commands: Sequence[str]) -> None:
        self._bench, self._commands = bench, commands

    def run(self, rust: Sequence[str] = (), *, trap: Sequence[str] = (), shadow: Sequence[str] = ()) -> SuiteRun:
        """Run all test commands until one fails."""
        variables = {"RUST": ",".join(rust), "TRAP": ",".join(trap), "LIBRARY": str(self._bench.library)}
        if shadow:
            variables |= {"SHADOW": ",".join(shadow), "SHAPES": str(self._bench.shapes)}
        environment = {f"{VARIABLE}{name}": value for name, value in variables.items() if value}
        seconds, logs, failure = 0.0, list[bytes](), ""
        for command in self._commands:
            done = self._bench.test(command, environment)
            seconds += done.seconds
            logs.append(done.log)
            if done.failure:
                failure = f"{command}: {done.failure}"
                break
        log = b"".join(logs)
        found = read_shadow_log(log, shadow)
        differences = [line for line in log.splitlines() if line.startswith(DIFFERENCE)] if found.differences else []
        return SuiteRun(
            not failure,
            failure,
            seconds,
            {one.name: one.calls for one in found.compared},
            b"".join(line + b"\n" for line in differences[:MOST_DIFFERENCES]).decode(errors="replace"),
            {one.name: one.reason for one in found.unshadowed},
        )


def baseline(bench: ProjectBench, command: str) -> tuple[SuiteBaseline, CommandResult, frozenset[str]]:
    """Run a test command twice in C, tracing calls; return its facts, the run, and the slots that it calls."""
    first, second = (bench.test(command, {f"{VARIABLE}TRACE": "*"}) for _ in range(2))
    called, again = (frozenset(called_slots(done.log)) for done in (first, second))
    worst = first if first.failure else second
    same = called == again and first.code == second.code
    return SuiteBaseline(command, second.seconds, same), worst, called & again


def called_slots(log: bytes) -> Iterable[str]:
    """Yield the slots that a log names as reached; a test may have written anything into it."""
    for line in log.splitlines():
        event, *fields = line.split(b"\t")
        if event == REACHED and len(fields) > 2:
            yield fields[2].decode(errors="replace")
