"""Which errors of sanitizers prove a finding."""

from dataclasses import replace

import pytest

from jarvis_workers.sec.proof.judgement import judge
from jarvis_workers.sec.proof.proof import (
    CallArgument,
    ModuleAddress,
    ProofRun,
    ProofTarget,
    SanitizerError,
    StackFrame,
    TreeLine,
)
from jarvis_workers.sec.proof.sanitizer_log import addresses_of, read_log, with_stack

TARGET = ProofTarget(TreeLine("a.c", 20), 122, 10, 40, (TreeLine("b.c", 7), TreeLine("a.c", 20)))
SYSTEM = StackFrame("memcpy", "", 0, "system")
AT_SINK = StackFrame("f", "a.c", 21, "tree")
MAIN = StackFrame("main", "harness.c", 5, "harness")
ERROR = SanitizerError("heap-buffer-overflow", "WRITE of size 4", (SYSTEM, AT_SINK, MAIN))
LOG = """\
/w/project/a.c:3:9: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'
    #0 0x401  (/w/p+0x401)
    #1 0x900  (/lib/libc.so+0x900)

=================================================================
==14==ERROR: AddressSanitizer: heap-use-after-free on address 0x602 at pc 0x1 bp 0x2 sp 0x3
READ of size 1 at 0x602000000015 thread T0
    #0 0x402  (/w/p+0x402)
    #1 0x403  (/w/p+0x403)

0x602000000015 is located 5 bytes inside of 10-byte region [0x602000000010,0x60200000001a)
freed by thread T0 here:
    #0 0x404  (/w/p+0x404)

previously allocated by thread T0 here:
    #0 0x405  (/w/p+0x405)

SUMMARY: AddressSanitizer: heap-use-after-free
"""


def judged(*errors: SanitizerError, target: ProofTarget = TARGET, arguments: tuple[CallArgument, ...] = ()) -> str:
    """Return "proved", or the reason of the judgement of two equal runs."""
    judgement = judge([ProofRun("ended normally", "", errors, arguments)] * 2, target)
    return judgement.reason or judgement.internal or "proved"


def test_an_error_at_the_sink_or_on_the_path_proves() -> None:
    on_path = replace(ERROR, stack=(StackFrame("g", "b.c", 7, "tree"), MAIN))
    below = replace(ERROR, stack=(StackFrame("copy", "c.c", 3, "tree"), AT_SINK, MAIN))
    allocated = replace(ERROR, stack=(StackFrame("use", "c.c", 3, "tree"),), allocated=(SYSTEM, AT_SINK))
    assert [judged(error) for error in (ERROR, on_path, below, allocated)] == ["proved"] * 4


@pytest.mark.parametrize(("line", "outcome"), [("copy(a,", "proved"), ("copy(a);", "neither at the sink")])
def test_an_error_below_a_call_is_at_the_sink_if_the_call_is_in_its_statement(line: str, outcome: str) -> None:
    code = ("",) * 9 + (line, "strcpy(d, s));")
    target = replace(TARGET, path=(), code=code)
    error = replace(ERROR, stack=(StackFrame("copy", "c.c", 3, "tree"), AT_SINK._replace(line=19), MAIN))
    assert outcome in judged(error, target=target)
    assert judged(replace(error, stack=(error.stack[0], AT_SINK._replace(line=20))), target=target) == "proved"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (replace(ERROR, stack=(SYSTEM, MAIN, AT_SINK)), "the harness itself fails"),
        (replace(ERROR, stack=(SYSTEM,)), "no function of the tree"),
        (replace(ERROR, stack=(AT_SINK._replace(line=39), MAIN)), "neither at the sink"),
        (replace(ERROR, stack=(AT_SINK._replace(file="c.c"), MAIN)), "neither at the sink"),
        (replace(ERROR, name="out-of-memory"), "does not show a weakness of class CWE-122"),
        (replace(ERROR, name="stack-overflow"), "does not show a weakness"),
        (replace(ERROR, allocated=(SYSTEM, MAIN), region=(16, 20)), "the memory belongs to the harness"),
        (replace(ERROR, frame=(MAIN,)), "the memory belongs to the harness"),
        (replace(ERROR, variable="made/harness.c"), "the memory belongs to the harness"),
    ],
)
def test_another_error_does_not(error: SanitizerError, reason: str) -> None:
    assert reason in judged(error)


def test_memory_of_the_harness_counts_if_it_was_passed_with_its_size() -> None:
    error = replace(ERROR, allocated=(SYSTEM, MAIN), region=(16, 20))
    assert judged(error, arguments=(CallArgument("f", 1, "", 16, 20),)) == "proved"
    assert "belongs to the harness" in judged(error, arguments=(CallArgument("f", 1, "", 16, 24),))


BELOW = StackFrame("add", "list.c", 21, "project")


def test_functions_of_the_project_that_the_scan_does_not_select_are_code_under_proof() -> None:
    error = replace(ERROR, stack=(SYSTEM, BELOW, AT_SINK, MAIN), allocated=(SYSTEM, BELOW, MAIN), region=(16, 20))
    assert judged(error) == "proved"
    assert error.lines()[1] == "#0 add list.c:21"
    freed = replace(error, freed=(SYSTEM, MAIN))
    assert judged(freed) == "the harness frees memory that the tree allocated"
    only = replace(error, stack=(SYSTEM, BELOW, MAIN))
    assert judged(only).endswith("in add list.c:21: neither at the sink a.c:20 nor on the path to it")


def test_memory_grows_anywhere_in_the_function_of_a_finding_but_one_size_at_its_line() -> None:
    growth = SanitizerError("memory-growth", stack=(SYSTEM, AT_SINK._replace(line=38), MAIN))
    assert judged(growth, target=replace(TARGET, cwe=770)) == "proved"
    assert "neither at the sink" in judged(growth, target=replace(TARGET, cwe=789))
    assert judged(replace(growth, stack=(SYSTEM, AT_SINK, MAIN)), target=replace(TARGET, cwe=789)) == "proved"
    assert "does not show a weakness of class CWE-190" in judged(growth, target=replace(TARGET, cwe=190))


def test_a_loop_that_allocates_may_be_stopped_by_its_time_in_one_run_and_by_its_memory_in_the_other() -> None:
    growth, hang = (SanitizerError(name, stack=(AT_SINK, MAIN)) for name in ("memory-growth", "hang"))
    runs = [ProofRun("was stopped", "", (error,)) for error in (growth, hang)]
    assert judge(runs, replace(TARGET, cwe=770)).error == growth


def test_a_line_of_a_file_that_the_build_has_changed_is_none_of_the_finding() -> None:
    changed = AT_SINK._replace(owner="project")
    assert "neither at the sink" in judged(replace(ERROR, stack=(changed, MAIN)))
    hang = replace(ERROR, name="hang", stack=(changed, MAIN))
    assert "neither at the sink" in judged(hang, target=replace(TARGET, cwe=835))


def test_a_misuse_of_the_api_proves_nothing() -> None:
    null = replace(ERROR, name="load of null pointer of type 'int'")
    assert "argument 2 of f is not valid memory" in judged(ERROR, arguments=(CallArgument("f", 2, "invalid"),))
    assert "argument 1 of f is a null" in judged(
        null, target=replace(TARGET, cwe=476), arguments=(CallArgument("f", 1, "null"),)
    )
    assert judged(ERROR, arguments=(CallArgument("f", 1, "null"),)) == "proved"


def test_a_hang_in_the_function_of_the_finding_proves_that_it_does_not_end() -> None:
    callee = StackFrame("step", "c.c", 3, "tree")
    first, second = (SanitizerError("hang", stack=(callee, AT_SINK._replace(line=line), MAIN)) for line in (12, 38))
    runs = [ProofRun("", "", (first,)), ProofRun("", "", (second,))]

    judgement = judge(runs, replace(TARGET, cwe=835))

    assert judgement.error is not None
    assert judgement.error.lines() == ("hang", "#0 f a.c:12", "#1 main harness.c:5")
    assert "does not show a weakness" in judged(first)
    assert "neither at the sink" in judged(
        replace(first, stack=(callee, AT_SINK._replace(line=41))), target=replace(TARGET, cwe=835)
    )


OVERFLOW = SanitizerError("stack-overflow", stack=(SYSTEM, BELOW, *[AT_SINK._replace(line=38), AT_SINK] * 9, MAIN))
RECURSION = replace(TARGET, cwe=674)


def test_a_recursion_through_the_function_of_the_finding_is_stopped_anywhere() -> None:
    elsewhere = replace(OVERFLOW, stack=(AT_SINK._replace(line=38), SYSTEM, *OVERFLOW.stack[3:]))
    judgement = judge([ProofRun("", "", (OVERFLOW,)), ProofRun("", "", (elsewhere,))], RECURSION)

    assert judgement.error is not None, judgement.reason
    assert judgement.error.lines() == ("stack-overflow", "#0 f a.c:38", "#1 f a.c:21", "#2 main harness.c:5")
    assert "does not show" in judged(OVERFLOW)
    far = replace(OVERFLOW, stack=(BELOW, AT_SINK._replace(line=41), MAIN))
    assert "neither at the sink" in judged(far, target=RECURSION)
    assert "neither at the sink" in judged(
        replace(OVERFLOW, stack=(AT_SINK._replace(line=38), MAIN)), target=replace(TARGET, cwe=770)
    )


def test_a_stack_that_the_harness_fills_proves_no_recursion() -> None:
    deep = (CallArgument("f", 0, "deep"),)
    assert judged(OVERFLOW, target=RECURSION, arguments=deep) == (
        "stack-overflow: the harness itself fills the stack before it calls f"
    )
    called_back = replace(OVERFLOW, stack=(*[AT_SINK, MAIN._replace(function="on_item")] * 2, MAIN))
    assert judged(called_back, target=RECURSION) == "stack-overflow: the harness itself recurses, in on_item"
    assert judged(ERROR, arguments=deep) == "proved"


def test_what_could_not_be_checked_is_named() -> None:
    assert "allocated before it calls set, since there is too much" in judged(
        ERROR, arguments=(CallArgument("set", 0, "unchecked"),)
    )


MOVED_CODE = {20: "p = in + length;", 27: "value = *p;", 28: "out[0] = *p;", 29: "copy(p);", 30: "size = p * 2;"}


def moved(line: int, **fields: object) -> str:
    code = tuple(MOVED_CODE.get(number, "") for number in range(10, 41))
    error = replace(ERROR, stack=(AT_SINK._replace(line=line, **fields), MAIN))
    judgement = judge([ProofRun("", "", (error,))] * 2, replace(TARGET, code=code))
    return judgement.moved or judgement.reason


def test_an_error_elsewhere_in_the_function_counts_if_it_accesses_only_what_the_sink_names() -> None:
    assert moved(27) == "stopped at line 27, which accesses what line 20 names: p"
    others = [moved(line) for line in (28, 29, 30, 35)] + [moved(27, file="c.c")]
    assert {"neither at the sink" in reason for reason in others} == {True}
    below = replace(ERROR, stack=(SYSTEM, AT_SINK._replace(line=27), MAIN))
    code = tuple(MOVED_CODE.get(number, "") for number in range(10, 41))
    assert "neither at the sink" in judged(below, target=replace(TARGET, code=code))


LOOPS = """\
{{
    {open}
        a = 1;
        b = 2;
        c = 3;
        d = 4;
        e = 5;
        {line}
    {close}
    out[i] = 1;
}}
"""


@pytest.mark.parametrize(
    ("open_", "line", "close", "is_proof"),
    [
        ("for (i = 0; i < n; i++) {", "out[i] = 1;", "}", True),
        ("while (*p != 0) {", "p->next[2] = p[1];", "}", False),
        ("while (*p != 0) {", "n = *p;", "}", True),
        ("while (i < n) {", "out[0] = in[i];", "}", False),
        ("while (i < n) {", "out[k][i + 1] = in[i];", "}", True),
        ("while (1) {", "out[i] = 1;", "}", False),
        ("for (;;) {", "out[i] = 1;", "}", False),
        ("if (i < n) {", "out[i] = 1;", "}", False),
        ("while (i < n) {", "f(i);", "}", False),
        ("while (i < n) {", "}", "out[i] = 1;", False),
        ("do {", "out[i] = 1;", "} while (i < n);", False),
    ],
)
def test_an_error_in_the_body_of_a_loop_is_at_its_condition_if_that_decides_what_is_accessed(
    open_: str, line: str, close: str, is_proof: bool
) -> None:
    code = tuple(LOOPS.format(open=open_, line=line, close=close).split("\n"))
    target = replace(TARGET, sink=TreeLine("a.c", 11), first=10, last=20, code=code, path=())
    judged_at = [judged(replace(ERROR, stack=(AT_SINK._replace(line=one), MAIN)), target=target) for one in (17, 19)]

    assert judged_at[0] == "proved" if is_proof else "neither at the sink" in judged_at[0]
    assert "neither at the sink" in judged_at[1]  # behind the loop


def test_the_condition_of_a_do_loop_is_behind_its_body() -> None:
    code = ("{", "do {", "out[i] = 1;", *[""] * 6, "} while (i < n);", "}")
    target = replace(TARGET, sink=TreeLine("a.c", 19), first=10, last=20, code=code, path=())

    assert judged(replace(ERROR, stack=(AT_SINK._replace(line=12), MAIN)), target=target) == "proved"


def test_both_runs_must_report_the_same_error() -> None:
    runs = [ProofRun("", "", (ERROR,)), ProofRun("ended normally", "")]
    assert "time or chance" in judge(runs, TARGET).reason
    assert judge(runs[::-1], TARGET).error is None
    stopped = ProofRun("ended: stopped at its limit of wall time", "", is_unclear=True)
    assert judge([runs[0], stopped], TARGET).reason.endswith(
        "in the other, which ended: stopped at its limit of wall time"
    )
    other = replace(ERROR, access="READ of size 1")
    assert "time or chance" in judge([runs[0], ProofRun("", "", (other,))], TARGET).reason


def test_a_log_is_read_with_the_stacks_resolved_outside() -> None:
    names = {0x401: "sum", 0x402: "use", 0x403: "main", 0x404: "drop", 0x405: "make"}

    def resolve(address: ModuleAddress) -> list[StackFrame]:
        name = names.get(address.offset)
        return [StackFrame(name, "a.c", address.offset & 15, "tree") if name else SYSTEM]

    overflow, freed = read_log(LOG, resolve)
    assert [hex(one.offset) for one in addresses_of(LOG)] == ["0x401", "0x900", "0x402", "0x403", "0x404", "0x405"]
    assert overflow.name == "signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'"
    assert [frame.function for frame in overflow.stack] == ["sum", "memcpy"]
    assert (freed.name, freed.access, freed.region) == (
        "heap-use-after-free",
        "READ of size 1",
        (0x602000000010, 0x60200000001A),
    )
    assert [[frame.function for frame in stack] for stack in (freed.stack, freed.freed, freed.allocated)] == [
        ["use", "main"],
        ["drop"],
        ["make"],
    ]
    assert "0x" not in "\n".join((*overflow.lines(), *freed.lines()))


def test_a_stack_overflow_gets_the_frames_that_addresssanitizer_has_not() -> None:
    def log(frames: int) -> str:
        shown = [f"    #{number} 0x1  (/w/p+0x{number:x})" for number in range(frames)] or ["    <empty stack>"]
        return "\n".join(
            ["==4==ERROR: AddressSanitizer: stack-overflow on address 0x7 (pc 0x1)", *shown, "", "SUMMARY"]
        )

    def offsets(frames: int) -> list[int]:
        return [one.offset for one in addresses_of(with_stack(log(frames), followed))]

    followed = "".join(f"    #0 0x0  (/w/p+0x{0x1000 + number:x})\n" for number in range(90))
    assert offsets(0) == list(range(0x1000, 0x1000 + 90))
    assert offsets(20) == list(range(20))
    assert offsets(250) == [*range(250), *range(0x1000 + 26, 0x1000 + 90)]
    assert with_stack(LOG, followed) == LOG
