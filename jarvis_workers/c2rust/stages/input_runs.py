"""Run generated inputs on a bench: determine which are usable in C, and whether Rust gives the same results."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from random import Random
from signal import SIGABRT, SIGALRM, SIGILL, SIGPROF, SIGSEGV, SIGTRAP, SIGXCPU
from types import MappingProxyType
from typing import NamedTuple

from jarvis_workers.c2rust.bench.programs import find_programs
from jarvis_workers.c2rust.bench.project_bench import PROJECT, CommandResult, ProjectBench
from jarvis_workers.c2rust.golden_tests import RecordedCall
from jarvis_workers.c2rust.input_mutations import Operands, ParentInput, mutated_inputs
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
USABLE = re.compile(
    rb"^usable\t[^\t]*\t\d+\t([\w.$]{1,512})\t(\d{1,4})\t(\d{1,7})\t(\d{1,7})$", re.MULTILINE | re.ASCII
)
OPERANDS = re.compile(
    rb"^operands\t[^\t]*\t\d+\t([\w.$]{1,512})\t(\d{1,4})\t((?:[1248]:[0-9a-f]{1,16}:[0-9a-f]{1,16},?)*)$",
    re.MULTILINE | re.ASCII,
)
UNUSABLE = "the C function returns without undefined behaviour for {count} of {all} generated inputs"
BATCH_BYTES, BATCH_FUNCTIONS = 4_000_000, 64
# Inputs made of others, at most, in each of the rounds.
MUTATED, MUTATION_ROUNDS, MOST_PARENTS = 96, 2, 24
ENDED = re.compile(rb"^ended\t[^\t]*\t\d+\t([\w.$]{1,512})\t\d{1,4}\t([a-z]{4,6} \d{1,3})$", re.MULTILINE | re.ASCII)
ENDINGS = {
    f"signal {SIGILL.value}": "undefined behaviour",
    f"signal {SIGTRAP.value}": "undefined behaviour",
    f"signal {SIGSEGV.value}": "out-of-bounds access",
    f"signal {SIGABRT.value}": "abort",
    f"signal {SIGPROF.value}": "a loop",
    f"signal {SIGXCPU.value}": "a loop",
    f"signal {SIGALRM.value}": "a wait",
}


class InputReach(NamedTuple):
    """The new features of the function and of its callees that an input reaches, and its unequal operands."""

    own: int
    callees: int
    operands: tuple[Operands, ...] = ()


class UsableInputs(NamedTuple):
    """The inputs of a function for which C is well defined, and a program that contains it; or why there are too few.

    `recorded` are the first of these calls that have small objects, with their results.
    """

    program: str = ""
    plan: str = ""
    usable: int = 0
    reason: str = ""
    recorded: tuple[RecordedCall, ...] = ()


def find_usable(bench: ProjectBench, plans: Sequence[CallPlan]) -> dict[str, UsableInputs]:
    """Return the usable inputs of functions; the programs of the bench stop at undefined behaviour."""
    found = {plan.slot: UsableInputs(reason=plan.reason or NOT_LINKED) for plan in plans}
    left = {plan.slot: plan for plan in plans if plan.inputs}
    for program in find_programs(bench.place / WORK / PROJECT).programs:
        for batch in _batches(list(left.values())):
            for slot, trial in _try_inputs(bench, program, batch).items():
                found[slot] = trial.usable_inputs(program)
                del left[slot]
    return found


def _batches(plans: Sequence[CallPlan]) -> Iterator[list[CallPlan]]:
    """Yield plans of about BATCH_BYTES and at most BATCH_FUNCTIONS, since the time of a program is limited."""
    batch, size = list[CallPlan](), 0
    for plan in plans:
        batch.append(plan)
        size += sum(map(len, plan.inputs))
        if size > BATCH_BYTES or len(batch) == BATCH_FUNCTIONS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@dataclass
class _Trial:
    """The outcome of a function's inputs in C: the usable ones, by number, and how the others ended."""

    plan: CallPlan
    usable: dict[int, InputReach] = field(default_factory=dict)
    endings: Counter[str] = field(default_factory=Counter)
    recorded: tuple[RecordedCall, ...] = ()

    def parents(self) -> list[int]:
        """Return the inputs that reach new features, first those in the function itself, then the latest."""
        reaching = [number for number, reach in self.usable.items() if reach.own or reach.callees]
        return sorted(reaching, key=lambda number: (not self.usable[number].own, -number))[:MOST_PARENTS]

    def mutated(self) -> "_Trial":
        """Return the trial with further inputs, derived from its parents."""
        plan = self.plan
        parents = [ParentInput(plan.inputs[number], self.usable[number].operands) for number in self.parents()]
        random = Random(sha256(f"{plan.slot}\0{len(plan.inputs)}".encode()).digest())
        more = tuple(mutated_inputs(parents, plan.constants, random, MUTATED))
        return replace(self, plan=plan._replace(inputs=(*plan.inputs, *more)))

    def numbers(self, first: int) -> range:
        """Return the numbers of the inputs from `first` on."""
        return range(first, len(self.plan.inputs))

    def reaches_more(self, first: int) -> bool:
        """Return whether an input from `first` on reaches something new in the function itself."""
        return any(number in self.usable and self.usable[number].own for number in self.numbers(first))

    def usable_inputs(self, program: str) -> UsableInputs:
        """Return the inputs to use, those that reach new features first."""
        reach, everything = self.usable, len(self.plan.inputs)
        ranked = sorted(reach, key=lambda number: (not reach[number].own, not reach[number].callees, number))
        chosen = sorted(ranked[:MOST_USED])
        reason = UNUSABLE.format(count=len(chosen), all=everything)
        if ending := self.endings.most_common(1):
            reason += f"; most others end with {ENDINGS.get(ending[0][0], ending[0][0])}"
        return UsableInputs(program, self.plan.text(chosen), len(chosen), reason, self.recorded)


def _try_inputs(bench: ProjectBench, program: str, plans: Sequence[CallPlan]) -> dict[str, _Trial]:
    """Run the inputs of the functions in a program, then the inputs derived from them."""
    log = call_program(bench, program, "".join(plan.text() for plan in plans), {}).log
    tried = {slot for event, slot, _ in read_events(log) if event == "tried"}
    trials = {plan.slot: _Trial(plan) for plan in plans if plan.slot in tried}
    for slot, trial in trials.items():
        trials[slot] = replace(trial, recorded=tuple(_recorded_calls(log, trial.plan)))
    _read_reach(log, trials)
    left = trials
    for _ in range(MUTATION_ROUNDS):
        counts = {slot: len(trial.plan.inputs) for slot, trial in left.items()}
        mutated = {slot: trial.mutated() for slot, trial in left.items()}
        texts = [trial.plan.text([*trial.parents(), *trial.numbers(counts[slot])]) for slot, trial in mutated.items()]
        _read_reach(call_program(bench, program, "".join(texts), {}).log, mutated, counts)
        trials |= mutated
        left = {slot: trial for slot, trial in mutated.items() if trial.reaches_more(counts[slot])}
    return trials


def _read_reach(log: bytes, trials: Mapping[str, _Trial], first: Mapping[str, int] = MappingProxyType({})) -> None:
    """Add the results in a log about inputs, from the number `first` on for each function."""
    for match in USABLE.finditer(log):
        slot, number = match[1].decode(), int(match[2])
        if slot in trials and first.get(slot, 0) <= number < len(trials[slot].plan.inputs):
            trials[slot].usable[number] = InputReach(int(match[3]), int(match[4]))
    for match in OPERANDS.finditer(log):
        slot, number = match[1].decode(), int(match[2])
        if slot in trials and number in trials[slot].usable:
            triples = (one.split(":") for one in match[3].decode().split(",") if one)
            operands = tuple(Operands(int(size), int(one, 16), int(other, 16)) for size, one, other in triples)
            trials[slot].usable[number] = trials[slot].usable[number]._replace(operands=operands)
    for match in ENDED.finditer(log):
        if (slot := match[1].decode()) in trials:
            trials[slot].endings[match[2].decode()] += 1


def _recorded_calls(log: bytes, plan: CallPlan) -> Iterator[RecordedCall]:
    """Yield the recorded calls of a function; the log may contain arbitrary text."""
    for match in RECORDED.finditer(log):
        slot, number, general, vector, objects = (field.decode() for field in match.groups())
        if slot == plan.slot and int(number) < len(plan.inputs):
            content = tuple(objects.split(",")) if objects else ()
            yield RecordedCall(plan.inputs[int(number)], int(general, 16), int(vector, 16), content)


def call_program(bench: ProjectBench, program: str, plan: str, variables: Mapping[str, str]) -> CommandResult:
    """Run a plan in place of a program; return its outcome with the log of the runtime."""
    project = bench.place / WORK / PROJECT
    libraries = ":".join(str(project / folder) for folder in find_programs(project).libraries)
    environment = {"INPUTS": str(bench.write_file(PLAN, plan.encode())), **variables}
    named = {f"{VARIABLE}{name}": value for name, value in environment.items()}
    words = shlex.quote(str(project / program))
    return bench.run(words, named | {"LD_LIBRARY_PATH": libraries}, bench.limits.test_seconds)


def read_events(log: bytes) -> Iterator[tuple[str, str, int]]:
    """Yield event, slot and number of the lines about inputs; the log may contain arbitrary text."""
    for line in log.split(b"\n"):
        fields = line.decode(errors="replace").split("\t")
        if (
            len(fields) > 4
            and fields[0] in ("tried", "usable", "called", "returned", "ended")
            and fields[4].isdecimal()
        ):
            yield fields[0], fields[3], int(fields[4][:9])
