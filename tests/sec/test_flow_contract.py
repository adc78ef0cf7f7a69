"""What the flow engine promises to the stages that use it."""

from pathlib import Path
from typing import NoReturn

import pytest

import jarvis_workers.dataflow
from jarvis_workers.dataflow import DECIDING_FILES, FileAnalysis, FlowResult, analyze, flow_fingerprint, summarize
from jarvis_workers.dataflow.state.context import AnalysisContext, Mode
from jarvis_workers.errors import GivenUp
from jarvis_workers.sec.rules.families.flow import HARMLESS
from tests.sec.flow_faults import expected
from tests.sec.following import follow, look_nowhere, model_of, stored, tell

TWICE = b"void f(char *p)\n{\n    free(p);\n    free(p);\n}\n"


def test_a_file_of_another_language_has_no_model() -> None:
    assert summarize(b"fn f() { free(p); free(p); }", language="rust", header=False, test=False, path="a.rs") is None


def test_a_file_in_which_nothing_matters_has_no_model() -> None:
    assert model_of(b"/* nothing */\n") is None
    assert model_of(b"") is None


def test_a_finding_in_test_code_is_less_sure() -> None:
    model = model_of(TWICE)
    assert model is not None

    (plain, _), _ = analyze(stored(model), look_nowhere, test=False)
    (tested, _), _ = analyze(stored(model), look_nowhere, test=True)

    assert tested.line == plain.line == 4
    assert tested.confidence == pytest.approx(min(0.79, plain.confidence - 0.1))


def test_findings_come_by_line_and_pattern() -> None:
    hits = tell(TWICE + TWICE.replace(b"f(", b"g("))

    assert [(hit.line, hit.pattern) for hit in hits] == sorted((hit.line, hit.pattern) for hit in hits)
    assert len(hits) == 2


@pytest.mark.parametrize("_", [expected("contract:pure", "analyze")])
def test_to_follow_a_model_leaves_it_as_it_was(_: str) -> None:
    helper = b"static void d(char *p)\n{\n    free(p);\n}\n"
    model = model_of(helper + b"void f(void)\n{\n    char *p = malloc(4);\n    d(p);\n    d(p);\n}\n")
    assert model is not None
    before = stored(model)

    analyze(model, look_nowhere, test=False)

    assert model == before


def result_of(content: bytes) -> FlowResult:
    model = model_of(content)
    assert model is not None
    return analyze(stored(model), look_nowhere, test=False)


def branches(number: int) -> bytes:
    """Return a function with a number of branches before a double free in its last line."""
    head = b"void f(int a)\n{\n    char *p = malloc(10);\n    if (!p) return;\n"
    lines = b"".join(b"    if (a == %d) a += %d;\n" % (k, k) for k in range(number))
    return head + lines + b"    free(p); free(p);\n}\n"


@pytest.mark.parametrize(("number", "end"), [(300, None), (1_400, None), (9_000, "it is longer than 120,000 bytes")])
def test_a_defect_behind_branches_is_found_or_its_function_is_named(number: int, end: str | None) -> None:
    hits, gaps = result_of(branches(number))

    found = [(hit.pattern, hit.line) for hit in hits if hit.pattern not in HARMLESS]
    assert found == ([] if end else [("flow_double_free", number + 5)])
    assert [tuple(gap) for gap in gaps] == ([("f", 1, end)] if end else [])


def facts_of(content: bytes) -> set[tuple[str, int]]:
    return {(hit.pattern, hit.line) for hit in result_of(content).hits if hit.pattern in HARMLESS}


def test_text_rules_leave_results_to_the_engine_where_it_followed_all_paths() -> None:
    head = b"int f(void)\n{\n    char *p = malloc(8);\n"
    tested = head + b"    if (!p)\n        return 1;\n    *p = 1;\n    free(p);\n    return 0;\n}\n"

    assert facts_of(tested) == {("followed_null", 3), ("followed_leak", 3)}
    assert facts_of(head + b"    hand(p);\n    return 0;\n}\n") == set()


def test_text_rules_leave_a_release_to_the_engine_where_it_reports_what_follows() -> None:
    used = b"int f(char *p)\n{\n    free(p);\n    note(7);\n    return p[0];\n}\n"

    assert facts_of(used) == {("followed_free", 3)}
    assert {"uaf_suspect", "double_free_and_free_non_heap"} <= {*HARMLESS["followed_free"]}
    assert facts_of(used.replace(b"p[0]", b"0")) == set()


def test_a_function_that_takes_too_many_steps_is_named_and_keeps_what_was_found() -> None:
    code = (
        b"int f(char *p, int n)\n{\n    free(p);\n    free(p);\n" + b"    n = g(n);\n" * 5_000 + b"    return n;\n}\n"
    )

    hits, gaps = result_of(code)

    assert [(hit.pattern, hit.line) for hit in hits if hit.pattern not in HARMLESS] == [("flow_double_free", 4)]
    assert [tuple(gap) for gap in gaps] == [("f", 1, "it takes more than 5,000 steps")]


def costly(number: int) -> bytes:
    """Return a function with a number of evaluations in a loop, which is followed twice."""
    calls = (b"g(" + b"n," * 1_000 + b"n);\n") * (number // 1_000)
    return (
        b"int f(char *p, int n)\n{\n    free(p);\n    free(p);\n    while (n) {\n" + calls + b" }\n    return n;\n}\n"
    )


def nested(levels: int) -> bytes:
    return b"void f(char *p)\n{\n    free(p);\n" + b"if (p) {" * levels + b"free(p);" + b"}" * levels + b"\n}\n"


def test_a_function_that_is_nested_too_deeply_is_named() -> None:
    assert [hit.pattern for hit in result_of(nested(20)).hits] == ["flow_double_free", "followed_free"]
    assert result_of(nested(20)).gaps == ()
    assert [tuple(gap) for gap in result_of(nested(2_000)).gaps] == [("f", 1, "it is nested deeper than 100 levels")]


def test_a_function_that_takes_too_many_evaluations_is_named_and_keeps_what_was_found() -> None:
    hits, gaps = result_of(costly(40_000))

    assert [(hit.pattern, hit.line) for hit in hits if hit.pattern not in HARMLESS] == [("flow_double_free", 4)]
    assert [tuple(gap) for gap in gaps] == [("f", 1, "it takes more than 60,000 evaluations")]


def test_a_function_that_the_parser_does_not_find_is_named() -> None:
    gaps = result_of(b"CASE(OP_X, 3) {\n    char *p = malloc(4);\n    free(p);\n}\n").gaps

    assert [tuple(gap) for gap in gaps] == [("CASE", 1, "the parser does not find its body")]


def test_functions_behind_costly_ones_are_named_when_the_budget_of_the_file_is_spent() -> None:
    model = model_of(costly(10_000) + costly(10_000).replace(b"int f", b"int h") + TWICE.replace(b"f(", b"z("))
    assert model is not None

    hits, gaps = FileAnalysis(stored(model), look_nowhere, test=False, evaluations=10_000).run()

    assert [hit.line for hit in hits if hit.pattern not in HARMLESS] == [4, 22]
    assert [tuple(gap) for gap in gaps] == [
        ("z", 37, "the functions before it took the 25,000 evaluations of its file")
    ]


def test_how_deep_code_may_be_does_not_depend_on_the_depth_of_the_caller() -> None:
    content = b"int f(char *p, int n)\n{\n    free(p);\n    n = " + b"- " * 95 + b"n;\n    return p[0];\n}\n"

    def deeper(levels: int) -> FlowResult:
        return deeper(levels - 1) if levels else result_of(content)

    assert deeper(800) == deeper(0)


def test_what_was_found_before_an_analysis_was_stopped_is_kept_and_the_rest_is_named() -> None:
    lost = b"void g(void)\n{\n    char *p = malloc(4);\n    lost(p);\n    p[0] = 1;\n}\n"
    model = model_of(TWICE + lost + TWICE.replace(b"f(", b"h("))
    assert model is not None

    def stop(name: str, /, *, near: str | None = None) -> NoReturn:
        raise GivenUp(name)

    analysis = FileAnalysis(stored(model), lambda name, near=None: stop(name) if name == "lost" else (), test=False)
    with pytest.raises(GivenUp):
        analysis.run()
    hits, gaps = analysis.stopped("the limit is reached")

    assert ("flow_double_free", 4) in [(hit.pattern, hit.line) for hit in hits]
    assert [tuple(gap) for gap in gaps] == [("g", 6, "the limit is reached"), ("h", 12, "the limit is reached")]


def test_an_element_that_a_moved_pointer_is_set_to_is_read_once() -> None:
    assert result_of(b"void f(void *a, char *p)\n{\n    *a = *p++;\n    free(p);\n    free(p);\n}\n").gaps == ()


def test_a_function_that_two_files_define_is_not_looked_into() -> None:
    frees, keeps = b"void d(char *p)\n{\n    free(p);\n}\n", b"void d(char *p)\n{\n    p[0] = 0;\n}\n"
    caller = b"void f(int n)\n{\n    char *p = malloc(4);\n    if (!p)\n        return;\n    d(p);\n    free(p);\n}\n"

    assert [hit.pattern for hit in follow({"a.c": caller, "b.c": frees})["a.c"]] == ["flow_double_free"]
    assert follow({"a.c": caller, "b.c": frees, "c.c": keeps})["a.c"] == []


def test_a_lambda_with_a_parameter_named_like_a_tag_is_no_call() -> None:
    hits = tell(b"void f(char *p)\n{\n    run([](char c) { g(c); });\n    free(p);\n    free(p);\n}\n", "a.cpp")

    assert [(hit.pattern, hit.line) for hit in hits if hit.pattern not in HARMLESS] == [("flow_double_free", 5)]


def test_the_fingerprint_holds_every_file_that_decides() -> None:
    root = Path(jarvis_workers.dataflow.__path__[0])
    files = {file.relative_to(root.parents[1]).as_posix() for file in root.rglob("*.py")}

    named = {f"{package.replace('.', '/')}/{name}" for package, names in DECIDING_FILES.items() for name in names}
    assert {name for name in named if "/dataflow/" in name} == files


def test_the_fingerprint_is_sixteen_digits_and_stays() -> None:
    assert flow_fingerprint() == flow_fingerprint()
    assert len(f"{int(flow_fingerprint(), 16):016x}") == 16


CALLERS = b"""
int first(void) { struct lamp *l = malloc(sizeof(*l)); light(l); free(l); return 0; }
int second(void) { struct lamp *l = malloc(sizeof(*l)); light(l); free(l); return 1; }
int third(void) { struct lamp *l = malloc(sizeof(*l)); dim(l); free(l); return 2; }
"""
SINKS = b"""struct lamp { int on; };
void light(struct lamp *l) { l->on = 1; }
void dim(struct lamp *l) { l->on = 0; }
"""


def test_callers_of_one_sink_in_another_file_have_one_finding_that_lists_them() -> None:
    first, third = follow({"callers.c": CALLERS, "sinks.c": SINKS})["callers.c"]

    assert (first.line, third.line) == (2, 4)
    assert first.steps[-1] == ("sinks.c", 2, "l is used without a NULL check (also from line 3)")
    assert third.steps[-1] == ("sinks.c", 3, "l is used without a NULL check")


def test_a_defect_within_a_function_is_reported_in_its_file_alone() -> None:
    log = b"""
int log_it(const char *text)
{
    char *copy = malloc(100);
    strcpy(copy, text);
    free(copy);
    return 0;
}
"""
    start = b"""
int start(void)
{
    char *name = strdup("a");
    if (name)
        log_it(name);
    free(name);
    return 0;
}
"""
    hits = follow({"log.c": log, "start.c": start})

    assert [(hit.pattern, hit.line) for hit in hits["log.c"]] == [("flow_unchecked_null", 5)]
    assert hits["start.c"] == []


def test_the_statements_of_a_macro_are_one_step() -> None:
    head = b"#define ADD(n) do { total += (n); count++; rest--; } while (0)\n"
    uses = b"ADD(1);\n" * 250
    function = b"int f(int total, int count, int rest) {\n" + uses + b"char *p = malloc(3); p[3] = 0; free(p);\n}\n"

    (hit,) = [one for one in follow({"a.c": head + function})["a.c"] if one.pattern == "flow_buffer_overflow"]

    assert hit.line == 253


def test_code_apart_from_the_path_gets_a_state_of_its_own() -> None:
    """Whatever depends on a path is put back after code apart from it, whose findings count for nothing."""
    context = AnalysisContext({**(model_of(TWICE) or {}), "functions": []}, look_nowhere)
    context.mode = before = context.mode.at_address(True)
    execution = context.execution

    with context.aside(7):
        assert context.mode == Mode(quiet=True)
        assert (context.execution.steps, context.execution.steps_max) == (0, 7)

    assert (context.mode, context.execution) == (before, execution)


@pytest.mark.parametrize(
    ("use", "pattern"),
    [(b"return strdup(%b);", "flow_use_after_free"), (b"free(%b); return strdup(word);", "flow_double_free")],
)
def test_a_use_of_another_element_than_the_released_one_is_less_sure(use: bytes, pattern: str) -> None:
    head = b"struct slot { char *name; };\nstatic struct slot *slots;\nchar *f(char *word, size_t a, size_t b)\n"
    code = head + b"{\n    free(slots[a].name);\n    %b\n}\n"

    (same,), (other,) = tell(code % (use % b"slots[a].name")), tell(code % (use % b"slots[b].name"))

    assert same.pattern == other.pattern == pattern
    assert same.confidence > 0.6
    assert other.confidence < same.confidence - 0.1
