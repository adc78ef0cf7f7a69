"""Run generated inputs on a bench: which of them are usable in C, and whether Rust does the same with these."""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from signal import SIGABRT, SIGALRM, SIGILL, SIGSEGV, SIGTRAP, SIGXCPU
from typing import NamedTuple

from jarvis_workers.bench.programs import find_programs
from jarvis_workers.bench.project_bench import PROJECT, CommandResult, ProjectBench
from jarvis_workers.c2rust.golden_tests import RecordedCall
from jarvis_workers.c2rust.inputs import MOST_USED, CallPlan
from jarvis_workers.sandbox.confine import WORK

VARIABLE = "JARVIS_C2RUST_"
PLAN = "inputs.plan"
NOT_LINKED = "no program of the build contains it"
# Slot, number of the input, registers of the result, objects.
RECORDED = re.compile(
    rb"^recorded\t[^\t]*\t\d+\t([\w.$]{1,512})\t(\d{1,4})\t([0-9a-f]{1,16})\t([0-9a-f]{1,16})\t((?:(?:[0-9a-f]{2})*,?)*)$",
    re.MULTILINE | re.ASCII,
)
UNUSABLE = "C returns without undefined behaviour for {count} of {all} generated inputs"
BATCH_BYTES = 4_000_000
ENDED = re.compile(rb"^ended\t[^\t]*\t\d+\t([\w.$]{1,512})\t\d{1,4}\t([a-z]{4,6} \d{1,3})$", re.MULTILINE | re.ASCII)
ENDINGS = {
    f"signal {SIGILL.value}": "undefined behaviour",
    f"signal {SIGTRAP.value}": "undefined behaviour",
    f"signal {SIGSEGV.value}": "access outside of objects",
    f"signal {SIGABRT.value}": "abort",
    f"signal {SIGXCPU.value}": "a loop",
    f"signal {SIGALRM.value}": "a wait",
}


class UsableInputs(NamedTuple):
    """The inputs of a function for which C is well defined, and the program that has it; or why there are too few.

    `recorded` are the first of these calls that have small objects, with their results.
    """

    program: str = ""
    plan: str = ""
    usable: int = 0
    reason: str = ""
    recorded: tuple[RecordedCall, ...] = ()


def find_usable(bench: ProjectBench, plans: Sequence[CallPlan]) -> dict[str, UsableInputs]:
    """Return the usable inputs of functions; the programs of the bench end at undefined behaviour."""
    found = {plan.slot: UsableInputs(reason=plan.reason or NOT_LINKED) for plan in plans}
    left = {plan.slot: plan for plan in plans if plan.inputs}
    for program in find_programs(bench.place / WORK / PROJECT).programs:
        for batch in _batches(list(left.values())):
            log = call_program(bench, program, "".join(plan.text() for plan in batch), {}).log
            for slot, inputs in _usable_inputs(log, batch, program):
                found[slot] = inputs
                del left[slot]
    return found


def _batches(plans: Sequence[CallPlan]) -> Iterator[list[CallPlan]]:
    """Yield plans whose text is about BATCH_BYTES."""
    batch, size = list[CallPlan](), 0
    for plan in plans:
        batch.append(plan)
        size += sum(map(len, plan.inputs))
        if size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _usable_inputs(log: bytes, plans: Sequence[CallPlan], program: str) -> Iterator[tuple[str, UsableInputs]]:
    """Yield the usable inputs of the functions that a program has."""
    numbers, endings = defaultdict[str, set[int]](set), defaultdict[str, Counter[str]](Counter)
    tried = set[str]()
    for event, slot, number in read_events(log):
        if event == "tried":
            tried.add(slot)
        elif event == "usable":
            numbers[slot].add(number)
    for match in ENDED.finditer(log):
        endings[match[1].decode()][match[2].decode()] += 1
    for plan in plans:
        if plan.slot not in tried:
            continue
        chosen = sorted(number for number in numbers[plan.slot] if number < len(plan.inputs))[:MOST_USED]
        reason = UNUSABLE.format(count=len(chosen), all=len(plan.inputs))
        if ending := endings[plan.slot].most_common(1):
            reason += f"; most others end with {ENDINGS.get(ending[0][0], ending[0][0])}"
        recorded = tuple(_recorded_calls(log, plan))
        yield plan.slot, UsableInputs(program, plan.text(chosen), len(chosen), reason, recorded)


def _recorded_calls(log: bytes, plan: CallPlan) -> Iterator[RecordedCall]:
    """Yield the recorded calls of a function; the log may hold arbitrary text."""
    for match in RECORDED.finditer(log):
        slot, number, general, vector, objects = (field.decode() for field in match.groups())
        if slot == plan.slot and int(number) < len(plan.inputs):
            content = tuple(objects.split(",")) if objects else ()
            yield RecordedCall(plan.inputs[int(number)], int(general, 16), int(vector, 16), content)


def call_program(bench: ProjectBench, program: str, plan: str, variables: Mapping[str, str]) -> CommandResult:
    """Run a plan in place of a program; return its outcome with the log of the runtime."""
    project = bench.place / WORK / PROJECT
    libraries = ":".join(str(project / folder) for folder in find_programs(project).libraries)
    environment = {"INPUTS": str(bench.write_text(PLAN, plan)), **variables}
    named = {f"{VARIABLE}{name}": value for name, value in environment.items()}
    words = shlex.quote(str(project / program))
    return bench.run(words, named | {"LD_LIBRARY_PATH": libraries}, bench.limits.test_seconds)


def read_events(log: bytes) -> Iterator[tuple[str, str, int]]:
    """Yield event, slot and number of the lines about inputs; the log may hold arbitrary text."""
    for line in log.split(b"\n"):
        fields = line.decode(errors="replace").split("\t")
        if (
            len(fields) > 4
            and fields[0] in ("tried", "usable", "called", "returned", "ended")
            and fields[4].isdecimal()
        ):
            yield fields[0], fields[3], int(fields[4][:9])
