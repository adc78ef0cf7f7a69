"""Errors that fuzzing finds: their titles, weaknesses, severities and roots, and how inputs are mutated."""

from dataclasses import replace

import pytest

from jarvis_workers.sandbox.mutations import INPUT_MAX, Mutator
from jarvis_workers.sec.bench.fuzz_loop import STOPPING
from jarvis_workers.sec.bench.proof_bench import ProofLimits
from jarvis_workers.sec.bench.proof_run import sanitizer_options
from jarvis_workers.sec.cwe import is_cwe
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.proof.crashes import (
    ErrorRoot,
    candidate_of,
    repeats_error,
    repeats_finding,
    severity_of_error,
    title_of_error,
    tree_frame,
)
from jarvis_workers.sec.proof.proof import HANG, ProofRun, SanitizerError, StackFrame
from jarvis_workers.sec.proof.sanitizer_log import read_log
from jarvis_workers.sec.proof.weaknesses import BY_CHANCE, SHOWN, WEAKNESSES, fits, weakness_of

COPY = StackFrame("memcpy", "", 0, "system")
PARSE = StackFrame("parse_header", "src/parse.c", 12, "tree")
MAIN = StackFrame("main", "src/main.c", 30, "tree")
READ = SanitizerError("heap-buffer-overflow", "READ of size 4", (COPY, PARSE, MAIN))
WRITE = replace(READ, access="WRITE of size 1")
SUM = SanitizerError("signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'", "", (PARSE, MAIN))


def hang(*stack: StackFrame) -> ProofRun:
    return ProofRun("was stopped by a sanitizer", "", (SanitizerError(HANG, "", stack),))


@pytest.mark.parametrize("name", [name for name, classes in SHOWN if classes - BY_CHANCE])
def test_each_error_that_shows_weaknesses_has_one_that_it_shows(name: str) -> None:
    found = {weakness_of(name, "READ of size 1"), weakness_of(name, "WRITE of size 1")}

    assert all(is_cwe(cwe) and fits(name, cwe) for cwe in found), found
    assert {one for one, _, _ in WEAKNESSES} <= {one for one, _ in SHOWN}


def test_a_read_from_the_null_page_is_a_null_dereference() -> None:
    assert weakness_of("SEGV", "READ", is_null=True) == 476
    assert weakness_of("SEGV", "READ") == 125


@pytest.mark.parametrize(
    ("message", "cwe"),
    [
        ("requested allocation size 0xfffffffffffffff0 (0x7f0 after adjustments) exceeds maximum supported size", 789),
        ("calloc parameters overflow: count * size (-1 * 8) cannot be represented in type size_t", 789),
        ("out of memory: allocator is trying to allocate 0x100000000 bytes", 789),
        ("attempting double-free on 0x602000000010 in thread T0:", 415),
    ],
)
def test_errors_of_the_allocator_are_read_by_their_names(message: str, cwe: int) -> None:
    (error,) = read_log(f"==7==ERROR: AddressSanitizer: {message}\n    #0 0x1 (p+0x1)\n", lambda _: [PARSE])

    assert fits(error.name, cwe) and weakness_of(error.name, error.access) == cwe


def test_the_title_of_an_error_says_what_happens_where() -> None:
    assert title_of_error(READ, PARSE) == "heap-buffer-overflow reading 4 bytes in parse_header"
    assert title_of_error(WRITE, PARSE) == "heap-buffer-overflow writing 1 byte in parse_header"
    assert title_of_error(hang(PARSE).errors[0], PARSE) == "a loop without an end in parse_header"


def test_a_candidate_has_the_line_of_the_tree_and_a_title_of_its_own() -> None:
    candidate = candidate_of(READ, PARSE, "  x = *p;", "Fuzzing of fuzz/parse.c made an input")

    assert candidate is not None
    assert (candidate.file, candidate.line, candidate.cwe, candidate.evidence) == ("src/parse.c", 12, 125, "x = *p;")
    title, _, rest = candidate.description.partition(". ")
    assert (title, rest[:24]) == (title_of_error(READ, PARSE), "Fuzzing of fuzz/parse.c ")
    assert candidate_of(replace(READ, name="unknown-crash"), PARSE, "", "") is None


def crash(error: SanitizerError, frame: StackFrame = PARSE) -> Candidate:
    candidate = candidate_of(error, frame, "", "An attempt. It is a SEGV in main")
    assert candidate is not None
    return candidate


def test_an_error_of_the_same_kind_at_the_same_line_as_a_proof_repeats_it() -> None:
    proof = replace(READ, access="READ of size 8", stack=(COPY, PARSE)).lines()
    loop = SanitizerError(HANG, "", (PARSE, MAIN)).lines()

    assert [repeats_error(crash(one), proof) for one in (READ, WRITE, SUM)] == [True, True, False]
    assert repeats_error(crash(SUM), replace(SUM, name=SUM.name.replace("2147483647", "7")).lines())
    assert not repeats_error(crash(READ, PARSE._replace(line=13)), proof)
    hangs = [crash(SanitizerError(HANG), one) for one in (PARSE._replace(line=3), MAIN)]
    assert [repeats_error(one, loop) for one in hangs] == [True, False]
    assert not repeats_error(crash(READ), (HANG,)) and not repeats_error(hangs[0], proof)


@pytest.mark.parametrize(
    ("cwe", "line", "repeats"), [(125, 12, True), (252, 12, False), (125, 13, False), (787, 12, False)]
)
def test_an_error_at_the_line_of_a_finding_repeats_it_if_it_shows_its_weakness(
    cwe: int, line: int, repeats: bool
) -> None:
    assert repeats_finding(crash(READ), crash(READ)._replace(cwe=cwe, line=line, description="A read.")) is repeats


def test_severity_follows_what_an_error_may_do() -> None:
    used = SanitizerError("heap-use-after-free", "READ of size 4", (PARSE,))

    assert [severity_of_error(one) for one in (WRITE, used, READ, SUM)] == ["high", "high", "medium", "low"]


def test_errors_of_a_kind_at_one_line_have_one_root_whatever_their_numbers_and_callers() -> None:
    elsewhere = replace(READ, access="READ of size 8", stack=(COPY, PARSE, StackFrame("other", "a.c", 1, "tree")))
    other_sum = replace(SUM, name=SUM.name.replace("2147483647", "2147483600").replace("+ 1", "+ 99"))
    next_line = replace(READ, stack=(COPY, PARSE._replace(line=13)))

    assert ErrorRoot.of(READ.lines()) == ErrorRoot.of(elsewhere.lines())
    assert ErrorRoot.of(SUM.lines()) == ErrorRoot.of(other_sum.lines())
    assert ErrorRoot.of(READ.lines()) != ErrorRoot.of(next_line.lines())


def test_a_loop_is_in_the_innermost_function_that_every_run_was_in() -> None:
    first, second = hang(StackFrame("step", "a.c", 3, "tree"), PARSE, MAIN), hang(PARSE._replace(line=14), MAIN)

    assert tree_frame(first.errors[0], [first, second]) == PARSE
    assert ErrorRoot.of(first.errors[0].lines()) == ErrorRoot.of(second.errors[0].lines())


def test_an_error_outside_of_the_tree_is_none_of_it() -> None:
    in_harness = replace(READ, stack=(COPY, StackFrame("main", "harness.c", 3, "harness"), PARSE))

    assert tree_frame(READ, []) == PARSE
    assert tree_frame(in_harness, []) is None


def test_mutations_are_the_same_for_the_same_number_and_never_longer_than_inputs_may_be() -> None:
    seeds = [b"TRACK 01 AUDIO\n", b"", bytes(INPUT_MAX)]
    first, again = (Mutator(seeds, 7) for _ in range(2))
    inputs = [first.mutate() for _ in range(2_000)]

    assert inputs == [again.mutate() for _ in inputs]
    assert max(map(len, inputs)) <= INPUT_MAX
    assert len(set(inputs)) > 1_500
    assert any(b"TRACK 4294967" in one or b"TRACK 2147483" in one for one in inputs)


def test_the_loop_changes_an_option_that_programs_are_run_with() -> None:
    options = sanitizer_options("/log", 70, ProofLimits(), 5)

    assert options.count(STOPPING) == 1
    assert options.endswith("|5")
