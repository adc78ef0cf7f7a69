"""Proofs of small programs with known defects: each vulnerable program is proved, no fixed one and no cheat is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import BoundedSemaphore

import pytest

from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.errors import StepFailed
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import RUNNING, refusal
from jarvis_workers.sec.bench.proof_bench import ProofLimits, ProofTree, open_proof_bench
from jarvis_workers.sec.proof.proof import Attempt, ProofTarget, TreeLine
from jarvis_workers.sec.proof.run_tool import AttemptReport, Outcome, compare, report_on
from jarvis_workers.sec.stages.proof_runner import BenchRunner
from tests.sec.proof.bad_attempts import CHEATS, ELSEWHERE, HOSTILE, MISUSES, OTHER_CLASS, QUEUE
from tests.sec.proof.cases import CASES, Case, harness, stdin

TIERS = [tier for tier in RUNNING if not refusal(tier)]
BY_NAME = {case.name: case for case in (*CASES, QUEUE)}
RECORD = BY_NAME["heap_overflow"]
SECRET = "the-secret-of-the-tree"
Prove = Callable[[Attempt], AttemptReport]


@contextmanager
def opened(
    case: Case,
    place: Path,
    tier: Tier,
    *,
    fixed: bool,
    target: ProofTarget | None = None,
    limits: ProofLimits = ProofLimits(),  # noqa: B008  (frozen)
) -> Iterator[Prove]:
    """Yield a function that makes attempts on a program, compiled once."""
    tree = place / ("fixed" if fixed else "vulnerable")
    finding = case.write(tree, fixed=fixed)
    (tree / "secret.txt").write_text(SECRET)
    with open_proof_bench(place / "benches", ProofTree(tree, str(fixed)), limits, tier, None) as bench:
        aim = target or finding
        runner = BenchRunner(bench, aim, BoundedSemaphore())
        yield lambda attempt: report_on(attempt, runner.attempt(attempt), aim)


@pytest.mark.sample(1, 12)
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.slow
def test_the_vulnerable_program_is_proved_and_the_fixed_one_is_not(case: Case, tier: Tier, tmp_path: Path) -> None:
    with opened(case, tmp_path, tier, fixed=False) as prove:
        vulnerable = prove(case.attempt)
    with opened(case, tmp_path, tier, fixed=True) as prove:
        fixed = prove(case.attempt)

    assert vulnerable.proof is not None, vulnerable.text
    assert vulnerable.proof.state == "proved", vulnerable.text
    assert (fixed.ran, fixed.proof) == (True, None), fixed.text


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
def test_a_harness_that_cheats_proves_nothing_even_of_a_vulnerable_program(tier: Tier, tmp_path: Path) -> None:
    limits = ProofLimits(run_seconds=3, memory_mb=512, disk_mb=16)
    with opened(RECORD, tmp_path, tier, fixed=False, limits=limits) as prove:
        reports = {name: prove(attempt) for name, attempt in CHEATS.items()}

    assert {name: report.text for name, report in reports.items() if report.proof} == {}
    assert len(reports) == 36
    assert not any(SECRET in report.text or "root:" in report.text for report in reports.values())


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", MISUSES)
def test_arguments_that_no_caller_may_pass_prove_nothing(name: str, tier: Tier, tmp_path: Path) -> None:
    with opened(BY_NAME[name], tmp_path, tier, fixed=True) as prove:
        reports = {what: prove(attempt) for what, attempt in MISUSES[name].items()}

    assert {what: report.text for what, report in reports.items() if not report.ran} == {}
    states = {what: report.proof.state if report.proof else "failed" for what, report in reports.items()}
    assert "proved" not in states.values(), states


@pytest.mark.slow
@pytest.mark.parametrize("target", [ELSEWHERE, OTHER_CLASS], ids=["elsewhere", "other class"])
def test_another_error_proves_nothing(target: ProofTarget, tmp_path: Path) -> None:
    with opened(RECORD, tmp_path, TIERS[-1], fixed=False, target=target) as prove:
        report = prove(RECORD.attempt)

    assert (report.ran, report.proof) == (True, None)
    assert "heap-buffer-overflow" in report.text


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_tree_that_knows_that_it_is_proved_proves_nothing(name: str, tmp_path: Path) -> None:
    with opened(HOSTILE[name], tmp_path, TIERS[-1], fixed=False) as prove:
        report = prove(HOSTILE[name].attempt)

    assert report.ran, report.text
    assert report.proof is None or report.proof.state == "reproduced", report.text


LOOP_C = """\
#include "loop.h"
#include <string.h>
/* Count the items of a list: a byte with the length of each, and its bytes. */
int loop_count(const char *list, size_t size)
{
    int count = 0;
    for (size_t at = 0; at < size && list[at]; count++)
        at += (unsigned char)list[at] - 1; /* sink */
    return count;
}
"""
TALLY = 'int tally(const char *list)\n{\n    return loop_count(list ? list : "\\1", 2);\n}\n'
LOOP_MAIN = """\
#include <stdio.h>
#include "loop.h"
int main(void)
{
    char line[64] = {0};
    fread(line, 1, sizeof line - 1, stdin);
    return loop_count(line, sizeof line) < 0;
}
"""
LOOP_H = "#include <stddef.h>\nint loop_count(const char *list, size_t size);\n"
LOOP = Case(
    "endless_loop",
    835,
    {"loop.c": LOOP_C + TALLY, "include/loop.h": LOOP_H, "main.c": LOOP_MAIN},
    ("list[at] - 1", "list[at] + 1"),
    stdin(b"\x01\x01"),
)
CALL = 'char *list = malloc(2);\n    memcpy(list, "\\2\\1", 2);\n    '
HANGS = {
    "an input": (LOOP.attempt, "proved"),
    "a call of the API": (harness(f"{CALL}loop_count(list, 2);".replace("2\\1", "1\\1"), "loop.h"), "proved"),
    "an internal call": (
        Attempt("harness", code="int tally(const char *);\nint main(void)\n{\n    return tally(0);\n}\n"),
        "failed",
    ),
    "an input on which it ends": (stdin(b""), "failed"),
    "a harness that does not end": (harness(f"{CALL}for (;;)\n        loop_count(list, 1);", "loop.h"), "failed"),
    "a long input": (stdin(b"\x01" * 70_000), "failed"),
    "a call beside much memory": (
        harness(f"{CALL}char *other = calloc(2, 1 << 18);\n    loop_count(list, 2 + other[0]);", "loop.h"),
        "failed",
    ),
}
ENDED = ("a harness that does not end", "a call beside much memory")


@pytest.mark.slow
@pytest.mark.parametrize("what", HANGS)
def test_a_loop_that_does_not_end_is_proved_by_the_time_it_takes(what: str, tmp_path: Path) -> None:
    attempt, state = HANGS[what]
    with opened(LOOP, tmp_path, TIERS[-1], fixed=False, limits=ProofLimits(run_seconds=4)) as prove:
        report = prove(attempt)

    assert report.ran, report.text
    assert (report.proof.state if report.proof else "failed") == state, report.text
    assert ("no call into the project took 1 s of CPU time" in report.text) == (what in ENDED)
    if report.proof:
        assert report.proof.stack[0] == "hang"
        assert report.proof.stack[1].startswith("#0 loop_count loop.c:")


@pytest.mark.slow
def test_a_program_that_never_ends_is_no_hang(tmp_path: Path) -> None:
    files = LOOP.files | {"main.c": LOOP_MAIN.replace("char line[64] = {0}", "char line[64] = {1}")}
    waits = Case("endless", 835, files, ("", ""), stdin(b""))
    with opened(waits, tmp_path, TIERS[-1], fixed=False, limits=ProofLimits(run_seconds=4)) as prove:
        empty, other = prove(stdin(b"")), prove(stdin(b"\x01\x01"))

    assert (empty.proof, other.proof) == (None, None)
    assert "did not end in time, and it has no input" in empty.text
    assert "did not end in time, nor does it with an empty input" in other.text


FORKS = """\
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    int status = 0;
    char *text = malloc(1);
    if (!fork())
        text[WRITTEN] = 0;
    wait(&status);
    free(text);
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("written", "outcome"), [("status + 1", "unclear"), ("status", "silent")])
def test_a_run_is_not_silent_if_another_process_of_the_program_fails(
    written: str, outcome: Outcome, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "main.c").write_text(FORKS.replace("WRITTEN", written))
    with open_proof_bench(tmp_path / "benches", ProofTree(tree, ""), ProofLimits(), TIERS[-1], None) as bench:
        result = BenchRunner(bench, ELSEWHERE, BoundedSemaphore()).attempt(Attempt("program", "main.c"))

    assert [run.errors for run in result.runs] == [(), ()]
    again = compare(result, ["heap-buffer-overflow WRITE of size 1"])
    assert (again.outcome, "did not end the run" in again.reason) == (outcome, outcome == "unclear")


BUILD = "cc -c -Isrc src/*.c && ar rcs libtags.a tags.o && cc -o prog main.o libtags.a"
BUILT_MAIN = '#include "tags.h"\nint main(void)\n{\n    return !tag_name("1", 1);\n}\n'


@pytest.mark.slow
@pytest.mark.parametrize("command", [BUILD, "cc -Isrc src/main.c -o prog src/tags.c -lm", "cc -Isrc src/*.c -oprog"])
def test_a_harness_is_linked_with_what_the_build_has_made(command: str, tmp_path: Path) -> None:
    case = BY_NAME["negative_index"]
    files = {f"src/{name}": text for name, text in case.files.items()} | {"src/main.c": BUILT_MAIN}
    with built(tmp_path, Case("built", case.cwe, files, ("", ""), case.attempt), command) as prove:
        harness, program = prove(case.attempt), prove(Attempt("program", "prog"))
        absent = prove(replace(case.attempt, code=case.attempt.code.replace("tag_name(", "tag_label(")))
        by_source = [prove(Attempt("program", name)) for name in ("src/prog.c", "prog/main.c", "./prog")]
        refused = [prove(Attempt("program", name)) for name in ("../../../bin/sh", "src/main.c", "libtags.a", "")]

    assert harness.proof is not None, harness.text
    assert (
        harness.proof.reason == "tag_name is internal: main of the tree calls it, and src/tags.h is not a public header"
    )
    assert (program.ran, program.proof) == (True, None)
    assert [one.ran for one in by_source] == [True] * 3
    assert (
        "tag_label is neither in what was compiled of the tree nor one of those that a harness may call" in absent.text
    )
    assert {(one.ran, one.text) for one in refused} == {
        (False, "It was not run: name the target: a program that the build has made; there are: prog")
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("sleep 3600", "--build 'sleep 3600': stopped at its limit of wall time: "),
        ("cc -c none.c", "--build 'cc -c none.c': exit code 1: "),
        ("echo int x; > src/tags.c && cc -c src/tags.c", ""),
    ],
)
def test_a_build_that_takes_too_long_or_fails_is_said(command: str, says: str, tmp_path: Path) -> None:
    case, limits = BY_NAME["negative_index"], ProofLimits(build_seconds=2)
    files = {f"src/{name}": text for name, text in case.files.items()}
    try:
        with built(tmp_path, Case("built", case.cwe, files, ("", ""), case.attempt), command, limits) as prove:
            text = prove(case.attempt).text
    except StepFailed as error:
        text = str(error)
    assert says in text
    assert "It proves" not in text


SCAN_C = """\
#include "scan.h"
int scan_last(const char *text, int count)
{
    const char *end = text + count;
    int sum = 0;
    sum += count;
    sum += count;
    sum += count;
    sum += count;
    sum += count;
    return sum + *end;
}
"""


@pytest.mark.slow
def test_an_error_below_the_line_that_computes_its_pointer_is_the_finding_at_that_line(tmp_path: Path) -> None:
    files = {"scan.c": SCAN_C, "scan.h": "int scan_last(const char *text, int count);\n"}
    call = "    char *text = malloc(2);\n    memset(text, 1, 2);\n    scan_last(text, 2);"
    case = Case("moved", 125, files, ("", ""), harness(call, "scan.h"))
    for name, text in files.items():
        (tmp_path / "vulnerable").mkdir(exist_ok=True)
        (tmp_path / "vulnerable" / name).write_text(text)
    aim = ProofTarget(TreeLine("scan.c", 4), 125, 2, 12, code=tuple(SCAN_C.split("\n")[1:12]))
    with open_proof_bench(
        tmp_path / "benches", ProofTree(tmp_path / "vulnerable", ""), ProofLimits(), TIERS[-1], None
    ) as bench:
        report = report_on(case.attempt, BenchRunner(bench, aim, BoundedSemaphore()).attempt(case.attempt), aim)

    assert report.proof is not None, report.text
    assert report.proof.reason == "stopped at line 11, which accesses what line 4 names: end"
    assert "#0 scan_last scan.c:11" in report.proof.stack


CLOCK_C = """\
#include "time.h"
int clock_name(const char *text, long size)
{
    return text[size]; /* sink */
}
"""
CLOCK_CALL = "int clock_name(const char *text, long size)"
CLOCK = {
    "src/clock.c": CLOCK_C,
    "adapters/poll.h": "int clock_poll(int);\n",
    "src/time.h": "#ifndef OWN_TIME\n#define OWN_TIME\n" + CLOCK_CALL + ";\n#endif\n",
}


def test_a_header_of_the_tree_wins_over_that_of_the_system_with_the_same_name(tmp_path: Path) -> None:
    call = "    char *text = malloc(2);\n    memset(text, 1, 2);\n    clock_name(text, 2);"
    case = Case("same_name", 125, CLOCK, ("", ""), harness(call, "time.h"))
    with opened(case, tmp_path, TIERS[-1], fixed=False) as prove:
        quoted = prove(case.attempt)
        code = case.attempt.code.replace('"time.h"', "<time.h>").replace("int main", f"{CLOCK_CALL};\nint main")
        other = prove(replace(case.attempt, code=code))

    assert quoted.proof is not None, quoted.text
    assert (quoted.proof.state, quoted.proof.kind) == ("proved", "api")
    assert "; include src/time.h in quotes: <> takes the header of the system" in other.text


SPAN_H = """\
typedef struct { long first, last; } span;
typedef void (notify)(int);
notify *span_notify(notify *called);
int span_at(const char *text, const span of, const double scale);
"""
SPAN_C = """\
#include "span.h"
static notify *current;
notify *span_notify(notify *called)
{
    return current = called;
}
int span_at(const char *text, const span of, const double scale)
{
    return text[of.last] > scale; /* sink */
}
"""


@pytest.mark.slow
def test_structures_and_numbers_passed_by_value_and_pointers_to_functions_are_no_hindrance(tmp_path: Path) -> None:
    call = (
        '    char *text = malloc(2);\n    memcpy(text, "a", 2);\n'
        "    span_notify(NULL);\n    span_at(text, (span){0, 2}, 1.5);"
    )
    case = Case("span", 125, {"span.c": SPAN_C, "span.h": SPAN_H}, ("", ""), harness(call, "span.h"))
    with opened(case, tmp_path, TIERS[-1], fixed=False) as prove:
        report = prove(case.attempt)

    assert report.proof is not None, report.text
    assert (report.proof.state, report.proof.reason) == ("proved", "")


DEPTH_C = """\
#include "depth.h"
#include <stdio.h>
#include <stdlib.h>
static int limit = 1 << 30;
void depth_limit(int most)
{
    limit = most;
}
int depth_of(const char *text, int depth)
{
    char name[24];
    snprintf(name, sizeof name, "%d", depth);
    char *copy = malloc(8);
    int found = *text == '[' && depth < limit
        ? depth_of(text + 1, depth + 1) /* sink */
        : depth;
    free(copy);
    return found + (name[0] == 'x');
}
"""
DEPTH_H = "void depth_limit(int most);\nint depth_of(const char *text, int depth);\n"
DEEP = "    char *text = calloc(1, 1000001);\n    memset(text, '[', 1000000);\n    "
FILLED = "    volatile char taken[8200000];\n    taken[0] = 0;\n"
DEPTHS = {
    "no limit": (f"{DEEP}depth_of(text, 0);", ""),
    "a limit": (f"{DEEP}depth_limit(4000);\n    depth_of(text, 0);", "no sanitizer reported an error"),
    "a limit, and little stack": (
        f"{FILLED}{DEEP}depth_limit(4000);\n    depth_of(text, 0);",
        "itself fills the stack",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", DEPTHS)
def test_a_recursion_without_a_limit_is_proved_wherever_it_is_stopped(what: str, tmp_path: Path) -> None:
    call, reason = DEPTHS[what]
    case = Case("depth", 674, {"depth.c": DEPTH_C, "depth.h": DEPTH_H}, ("", ""), harness(call, "depth.h"))
    with opened(case, tmp_path, TIERS[-1], fixed=False) as prove:
        report = prove(case.attempt)

    assert (report.proof is None) == bool(reason), report.text
    assert reason in report.text
    if report.proof:
        assert report.proof.stack[0] == "stack-overflow"
        assert {line.partition(" ")[2].partition(":")[0] for line in report.proof.stack[1:]} == {
            "depth_of depth.c",
            "main harness.c",
        }


BOX_H = """\
#include <stddef.h>
struct box { int used, room; };
struct box *box_make(void);
long box_sum(const char *text, size_t length);
int box_put(struct box *box, char letter);
"""
BOX_C = """\
#include "box.h"
#include <stdlib.h>
struct box *box_make(void)
{
    struct box *made = calloc(1, 16);
    if (made)
        made->room = 8;
    return made;
}
long box_sum(const char *text, size_t length)
{
    return length ? text[0] : 0;
}
int box_put(struct box *box, char letter)
{
    if (box->used >= box->room)
        return -1;
    ((char *)(box + 1))[box->used++] = letter; /* sink */
    return 0;
}
"""


@pytest.mark.slow
def test_a_change_of_memory_is_recorded_after_any_number_of_calls(tmp_path: Path) -> None:
    calls = (
        "    struct box *box = box_make();\n    int n = 99;\n    char *text = calloc(1, 2);\n"
        "    for (int i = 0; i < 10100; i++)\n        box_sum(text, 2);\n"
        "    memcpy((char *)box + 4, &n, sizeof n);\n    for (int i = 0; i < 20; i++)\n        box_put(box, 'a');"
    )
    case = Case("box", 787, {"box.c": BOX_C, "box.h": BOX_H}, ("", ""), harness(calls, "box.h"))
    with opened(case, tmp_path, TIERS[-1], fixed=False) as prove:
        report = prove(case.attempt)

    assert report.proof is not None, report.text
    assert report.proof.state == "reproduced", report.text
    assert "the harness changes memory that the tree allocated before it calls box_put" in report.proof.reason


LIST_C = """\
#include "list.h"
#include <stdlib.h>
struct item { struct item *next; int number; };
int list_make(const unsigned char *text, size_t size)
{
    struct item *first = NULL;
    int sum = 0;
    for (unsigned left = size > 2 && text[0] == 'x' ? text[1] << 24 | text[2] : 0; left; left--) {
        struct item *one = malloc(sizeof *one);
        if (!one)
            abort();
        one->next = first;
        one->number = left & 1;
        sum += one->number;
        first = one; /* sink */
    }
    return sum + (first != NULL);
}
int list_room(const unsigned char *text, size_t size)
{
    unsigned room = size > 2 ? text[1] << 24 | text[2] : 0;
    char *made = malloc(room + 1);
    int is_made = made != NULL;
    free(made);
    return is_made;
}
size_t list_copy(const unsigned char *text, size_t size)
{
    char *copy = malloc(size + 1);
    size_t length = copy ? size : 0;
    free(copy);
    return length + text[0];
}
"""
LIST_MAIN = """\
#include <stdio.h>
#include "list.h"
int main(void)
{
    static unsigned char text[1 << 20];
    size_t size = fread(text, 1, sizeof text, stdin);
    return list_make(text, size) == 7 || list_room(text, size) == 7;
}
"""
LIST_H = """\
#include <stddef.h>
int list_make(const unsigned char *text, size_t size);
int list_room(const unsigned char *text, size_t size);
size_t list_copy(const unsigned char *text, size_t size);
"""
LIST = Case("list", 770, {"list.c": LIST_C, "include/list.h": LIST_H, "main.c": LIST_MAIN}, ("", ""), stdin(b""))
ROOM = next(number for number, line in enumerate(LIST_C.split("\n"), 1) if "malloc(room" in line)
COPY = next(number for number, line in enumerate(LIST_C.split("\n"), 1) if "malloc(size" in line)
AIMS = {
    "a list": None,
    "a size": ProofTarget(TreeLine("list.c", ROOM), 789, ROOM - 3, ROOM + 4),
    "a copy": ProofTarget(TreeLine("list.c", COPY), 789, COPY - 2, COPY + 4),
    "a number": ProofTarget(TreeLine("list.c", ROOM), 190, ROOM - 3, ROOM + 4),
}
SMALL = "    unsigned char text[] = {'x', 100, 0};\n    "
LARGE = "    unsigned char *text = calloc(1, 100000000);\n    "
STATIC = "    static unsigned char text[100000000];\n    "
MANY = "    unsigned char text[] = {'x', 0, 200};\n    for (int number = 0; number < 10000; number++)\n        "
GROWN = ProofLimits(growth_mb=64)
GROWTHS = {
    "a list of items": ("a list", stdin(b"x\x64\0"), "proved"),
    "a list of some items": ("a list", stdin(b"x\0\x64"), "failed"),
    "a long input": ("a list", stdin(b"x\x64\0" + b"x" * 70_000), "failed"),
    "a call of the API": ("a list", harness(f"{SMALL}list_make(text, 3);", "list.h"), "proved"),
    "many calls": ("a list", harness(f"{MANY}list_make(text, 3);", "list.h"), "failed"),
    "one block": ("a size", stdin(b"y\x64\0"), "proved"),
    "a list elsewhere": ("a size", stdin(b"x\x64\0"), "failed"),
    "one block for another class": ("a number", stdin(b"y\x64\0"), "failed"),
    "static memory of the harness": ("a copy", harness(f"{STATIC}list_copy(text, 100000000);", "list.h"), "failed"),
    "memory of the harness": ("a copy", harness(f"{LARGE}list_copy(text, 100000000);", "list.h"), "failed"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", GROWTHS)
def test_memory_without_a_limit_is_proved_by_how_much_a_small_input_takes(what: str, tmp_path: Path) -> None:
    aim, attempt, state = GROWTHS[what]
    with opened(LIST, tmp_path, TIERS[-1], fixed=False, target=AIMS[aim], limits=GROWN) as prove:
        report = prove(attempt)

    assert report.ran, report.text
    assert (report.proof.state if report.proof else "failed") == state, report.text
    assert not report.proof or report.proof.stack[0] == "memory-growth"


@pytest.mark.slow
def test_a_program_that_takes_much_memory_without_an_input_proves_nothing(tmp_path: Path) -> None:
    files = LIST.files | {"main.c": LIST_MAIN.replace("text[1 << 20];", "text[1 << 20] = {'x', 100, 1};")}
    files["main.c"] = files["main.c"].replace("text, size)", "text, 3)")
    with opened(replace(LIST, files=files), tmp_path, TIERS[-1], fixed=False, limits=GROWN) as prove:
        empty, other = prove(stdin(b"")), prove(stdin(b"x\x64\0"))

    assert "took 64 MB of memory, and it has no input" in empty.text
    assert "took 64 MB of memory, and does so with an empty input" in other.text


TAIL_C = """\
#include "tail.h"
#include <stdlib.h>
char *made;
int tail_end(size_t size)
{
    made = malloc(size);
    int last = size - 1;
    if (made)
        made[last] = 0; /* sink */
    return made != NULL;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("cwe", [787, 190])
def test_blocks_above_two_gigabytes_are_allocated(cwe: int, tmp_path: Path) -> None:
    files = {"tail.c": TAIL_C, "tail.h": "#include <stddef.h>\nint tail_end(size_t size);\n"}
    case = Case("tail", cwe, files, ("int last", "size_t last"), harness("    tail_end(3000000000);", "tail.h"))
    with opened(case, tmp_path, TIERS[-1], fixed=False) as prove:
        report = prove(case.attempt)
    with opened(case, tmp_path, TIERS[-1], fixed=True) as prove:
        fixed = prove(case.attempt)

    assert report.proof is not None, report.text
    assert (report.proof.state, report.proof.stack[1]) == ("proved", "#0 tail_end tail.c:9")
    assert fixed.proof is None, fixed.text


ROWS_C = """\
#include "rows.h"
#include <stdlib.h>
int rows_first(size_t count)
{
    int *made = calloc(count, sizeof *made);
    made[0] = 1; /* sink */
    free(made);
    return 1;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("cwe", "error"), [(690, "null pointer"), (789, "allocation-size-too-big")])
def test_an_allocation_that_is_too_large_fails_where_its_result_is_in_question(
    cwe: int, error: str, tmp_path: Path
) -> None:
    files = {"rows.c": ROWS_C, "rows.h": "#include <stddef.h>\nint rows_first(size_t count);\n"}
    case = Case("rows", cwe, files, ("made[0] = 1", "if (made)\n        made[0] = 1"), harness(CALL, "rows.h"))
    with opened(case, tmp_path, TIERS[-1], fixed=False) as prove:
        report = prove(case.attempt)
    with opened(case, tmp_path, TIERS[-1], fixed=True) as prove:
        fixed = prove(case.attempt)

    assert report.proof and error in report.proof.stack[0], report.text
    assert (fixed.proof is None) == (cwe == 690), fixed.text


CALL = "    rows_first(30000000000);"
STORE_H = """\
#include "part.h"
typedef struct store store;
typedef int (*store_read)(void *user, char *to, int most);
struct store_options { int room; };
store *store_open(const struct store_options *options);
int store_load(store *to, store_read read, void *user);
"""
STORE_C = """\
#include "store.h"
#include <stdlib.h>
struct store { char *items; };
store *store_open(const struct store_options *options)
{
    store *made = malloc(sizeof *made);
    if (made)
        made->items = malloc(options->room);
    return made;
}
int store_load(store *to, store_read read, void *user)
{
    char part[64];
    int count = read(user, part, sizeof part);
    for (int at = 0; at < count; at++)
        to->items[at] = part_of(part[at]); /* sink */
    return count;
}
"""
STORE = {
    "store.h": STORE_H,
    "store.c": STORE_C,
    "part.h": "struct part { int room; };\nint part_of(int one);\n",
    "part.c": '#include "part.h"\nint part_of(int one)\n{\n    return one + 1;\n}\n',
}
STORE_CALLS = """\
    struct reader from = {0};
    struct store_options options;
    from.left = 40;
    OPTIONS
    store_load(store_open(&options), read_some, &from);"""
STORE_READER = """\
struct reader { int left; };
static int read_some(void *user, char *to, int most)
{
    struct reader *from = user;
    int count = from->left < most ? from->left : most;
    from->left -= count;
    memset(to, 'a', count);
    return count;
}
int main"""


@pytest.mark.slow
def test_a_harness_sets_members_of_its_own_structures_and_of_public_ones_beside_a_private_header(
    tmp_path: Path,
) -> None:
    calls = STORE_CALLS.replace("OPTIONS", "memset(&options, 0, sizeof options);\n    ((int *)&options)[0] = 8;")
    attempt = harness(calls, "store.h")
    attempt = replace(attempt, code=attempt.code.replace("int main", STORE_READER))
    mirrored = replace(
        attempt, code=attempt.code.replace("struct reader {", "struct store { char *a; };\nstruct reader {")
    )
    private = replace(attempt, code=attempt.code.replace("from.left = 40", "from.left = 40; struct part p; p.room = 1"))
    with opened(Case("store", 787, STORE, ("", ""), attempt), tmp_path, TIERS[-1], fixed=False) as prove:
        reports = [prove(one) for one in (attempt, mirrored, private)]

    shown = [(one.proof.state, one.proof.reason.partition("it ")[2]) if one.proof else one.text for one in reports]
    assert shown == [
        ("proved", ""),
        ("reproduced", "makes a structure store, whose members no header declares"),
        ("reproduced", "changes the member room of a structure that no public header declares"),
    ]


TOTAL_C = "int depth_total(const char *text)\n{\n    return 1 + depth_of(text, 0); /* sink */\n}\n"


@pytest.mark.slow
def test_a_function_that_begins_a_recursion_is_on_its_stack(tmp_path: Path) -> None:
    files = {
        "depth.c": DEPTH_C.replace(" /* sink */", "") + TOTAL_C,
        "depth.h": f"{DEPTH_H}int depth_total(const char *text);\n",
    }
    case = Case("depth", 674, files, ("", ""), harness(f"{DEEP}depth_total(text);", "depth.h"))
    with opened(case, tmp_path, TIERS[-1], fixed=False) as prove:
        report = prove(case.attempt)

    assert report.proof is not None, report.text
    assert report.proof.stack == ("stack-overflow", "#0 depth_total depth.c:22", "#1 main harness.c:9")


LIST_H = """\
void *list_new(int size);
static inline int list_at(const int *list, int at)
{
    return list[at];
}
"""
LIST_C = """\
#include "list.h"
#include <stdlib.h>
void *list_new(int size)
{
    return malloc((size_t)size * 4);
}
"""
FIRST_C = """\
#include "first.h"
#include "list.h"
int first_item(const void *list, int at)
{
    return list_at(list, at); /* sink */
}
"""
SELECTED = {"first.c": FIRST_C, "first.h": "int first_item(const void *list, int at);\n"}


@pytest.mark.slow
def test_functions_of_files_that_the_scan_does_not_select_are_of_the_project(tmp_path: Path) -> None:
    call = harness("    void *list = list_new(2);\n    first_item(list, 3);", "first.h list.h")
    whole = Case("whole", 125, SELECTED | {"list.c": LIST_C, "list.h": LIST_H}, ("", ""), call)
    whole.write(tmp_path / "whole")
    case = replace(whole, files=SELECTED)
    with built(tmp_path, case, "cc -c *.c", archived=tmp_path / "whole") as prove:
        report = prove(case.attempt)

    assert report.proof is not None, report.text
    assert report.proof.state == "proved", report.proof.reason
    assert report.proof.stack[1:4] == ("#0 list_at list.h:4", "#1 first_item first.c:5", "#2 main harness.c:9")
    assert "#0 list_new list.c:5" in report.proof.stack


LAST_C = """\
#include "last.h"
#include "log.h"
int last_of(const char *text, long size)
{
    log_call("last_of");
    return text[size]; /* sink */
}
"""
LAST_MAIN = """\
#include "last.h"
#include "log.h"
static int calls;
void log_call(const char *name) { calls += name != 0; }
int main(int count, char **words) { return count > 1 ? main(count - 1, words) : last_of(words[0], 0) + calls; }
"""
LAST = {
    "last.c": LAST_C,
    "include/last.h": "int last_of(const char *text, long size);\n",
    "log.h": "void log_call(const char *name);\n",
    "daemon.c": LAST_MAIN,
    "client.c": "int absent(void);\nint calls;\nint main(void) { return absent() + calls; }\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["", "for f in *.c; do cc -Iinclude -c $f; done", "cc -Iinclude -o d [dl]*.c"])
def test_a_harness_is_linked_with_what_only_a_program_of_the_tree_defines(command: str, tmp_path: Path) -> None:
    call = "    char *text = malloc(2);\n    memset(text, 1, 2);\n    last_of(text, 2);"
    case = Case("program", 125, LAST, ("", ""), harness(call, "last.h"))
    bench = built(tmp_path, case, command) if command else opened(case, tmp_path, TIERS[-1], fixed=False)
    with bench as prove:
        report = prove(case.attempt)
        is_program = prove(Attempt("program", "daemon.c")).ran if not command else True

    assert report.proof is not None, report.text
    assert (report.proof.state, report.proof.kind, is_program) == ("proved", "api", True)


@contextmanager
def built(
    place: Path,
    case: Case,
    command: str,
    limits: ProofLimits = ProofLimits(),  # noqa: B008  (frozen)
    archived: Path | None = None,
) -> Iterator[Prove]:
    """Yield a function that makes attempts on a program that a command builds of a directory, the tree itself."""
    target = case.write(place / "tree")
    tree = ProofTree(place / "tree", "1", command, pack_project(archived or place / "tree", 10))
    with open_proof_bench(place / "benches", tree, limits, TIERS[-1], None) as bench:
        runner = BenchRunner(bench, target, BoundedSemaphore())
        yield lambda attempt: report_on(attempt, runner.attempt(attempt), target)
