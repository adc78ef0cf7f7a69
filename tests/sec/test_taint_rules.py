"""A project's own taint rules go through the data-flow analysis, and change nothing else in it."""

import time

import pytest

from jarvis_workers.dataflow import analyze, summarize
from jarvis_workers.dataflow.calls.taint_rules import names_in, taint_rule
from jarvis_workers.dataflow.calls.tainting import implies
from jarvis_workers.sec.rules.families.flow import HARMLESS
from tests.sec.following import look_nowhere, tell
from tests.sec.taint import ROW, own_hits
from tests.support.machine import assert_cpu_within

DIRECT = "void f(struct db *db)\n{\n    char *name = get_param(1);\n    run_query(db, name);\n}\n"


def test_a_finding_has_its_path_and_the_confidence_of_the_rule():
    (hit,) = own_hits({"a.c": DIRECT})["a.c"]

    assert (hit.line, hit.confidence) == (4, 0.8)
    assert [(line, text) for _, line, text in hit.steps] == [
        (3, "get_param(1) is a source of tainted data"),
        (4, "run_query(db, name) is a sink, and name is tainted"),
    ]


def test_data_is_followed_across_files():
    files = {
        "serve.c": "void f(struct db *db)\n{\n    char *p = next_name();\n    find(db, p);\n    run_query(db, 1);\n}\n",
        "names.c": "char *next_name(void)\n{\n    return get_param(1);\n}\n",
        "db.c": "void find(struct db *db, char *name)\n{\n    run_query(db, name);\n}\n",
    }

    hits = own_hits(files)

    assert {name: [hit.line for hit in found] for name, found in hits.items() if found} == {"serve.c": [4]}
    assert [step[0] for step in hits["serve.c"][0].steps] == ["names.c", None, "db.c"]


def test_the_body_of_a_named_function_is_not_looked_at():
    code = 'static char *get_param(int n)\n{\n    return "x";\n}\n' + DIRECT

    assert [hit.line for hit in own_hits({"a.c": code})["a.c"]] == [8]


def test_two_checks_of_one_argument_are_told_apart():
    both = "    if (first(name) && second(name))\n        run_query(db, name);\n"
    none = "    if (!first(name) && second(name) > 3)\n        run_query(db, name);\n"
    sanitizers = [{"pattern": "if (first($X))"}, {"pattern": "if (second($X) == 0)"}]

    for body, lines in ((both, []), (none, [5])):
        code = DIRECT.replace("    run_query(db, name);\n", body)
        assert [hit.line for hit in own_hits({"a.c": code}, sanitizers=sanitizers)["a.c"]] == lines


def test_a_source_is_found_through_a_few_callees():
    levels = "".join(f"static char *g{n}(void)\n{{\n    return g{n + 1}();\n}}\n" for n in range(400))
    code = DIRECT.replace("get_param(1)", "g0()")

    near = own_hits({"a.c": levels.replace("g3()", "get_param(1)") + code})["a.c"]
    far = own_hits({"a.c": levels.replace("g400()", "get_param(1)") + code})["a.c"]

    assert [hit.line for hit in near] == [1604]
    assert far == []


def test_a_long_callee_is_followed_for_the_rule():
    filler = "    count += other(count);\n" * 40
    callee = f"static void g(struct db *db, char *name)\n{{\n    int count = 0;\n{filler}    run_query(db, name);\n}}\n"
    caller = "void f(struct db *db)\n{\n    g(db, get_param(1));\n}\n"

    assert [hit.line for hit in own_hits({"a.c": callee + caller})["a.c"]] == [44]


def test_a_rule_may_leave_out_test_code():
    assert own_hits({"a.c": DIRECT}, test=True, not_in_tests=True) == {"a.c": []}
    assert [hit.confidence for hit in own_hits({"a.c": DIRECT}, test=True)["a.c"]] == [0.7]


def test_built_in_findings_stay_the_same():
    code = DIRECT + "void g(char *p)\n{\n    recv(0, p, get_param(1), 0);\n    free(p);\n    free(p);\n}\n"
    rule = taint_rule({**ROW, "sources": [{"pattern": "recv(...)"}, {"pattern": "free(...)"}]})

    model = summarize(code.encode(), language="c/cpp", header=False, test=False, path="a.c", names=names_in([rule]))
    assert model is not None
    hits, _ = analyze(model, look_nowhere, test=False, rules=[rule])

    assert [hit for hit in hits if hit.pattern not in ("own", *HARMLESS)] == tell(code.encode())


@pytest.mark.parametrize(
    ("holds", "wanted", "expected"),
    [
        (("!=", 0), ("!=", 0), True),
        (("==", 1), ("!=", 0), True),
        ((">", 0), ("!=", 0), True),
        ((">=", 0), ("!=", 0), False),
        (("<", 0), ("!=", 0), True),
        (("==", 0), ("==", 0), True),
        (("!=", 1), ("==", 0), False),
        (("!=", 0), (">", 0), False),
        ((">", 3), (">=", 1), True),
        (("<=", 0), ("<", 1), True),
        (("<=", 1), ("<", 1), False),
        (("==", 0), (">=", 0), True),
    ],
)
def test_what_a_comparison_implies(holds, wanted, expected):
    assert implies(holds, wanted) is expected


@pytest.mark.parametrize(
    ("pattern", "call", "matches"),
    [
        ("f($X, $X)", "f(a, a)", True),
        ("f($X, $X)", "f(a, b)", False),
        ("f($X)", "f(a, b)", False),
        ("f($X, ...)", "f(a)", True),
        ("f(..., $X)", "f(1, 2, a)", True),
        ("f(..., $X)", "f()", False),
        ("f(...)", "f()", True),
        ("f($X, 2)", "f(a, TWO)", True),
        ("f($X, 3)", "f(a, TWO)", False),
        ("f($X, MODE)", "f(a, (int)MODE)", True),
        ("f($X, MODE)", "f(a, OTHER)", False),
        ("f($X, NULL)", "f(a, 0)", False),
        ("f($X, NULL)", "f(a, NULL)", True),
        ('f($X, "w")', 'f(a, "w")', True),
        ('f($X, "w")', 'f(a, "r")', False),
        ('f($X, "...")', 'f(a, "r")', True),
        ('f($X, "...")', "f(a, b)", False),
    ],
)
def test_what_a_pattern_matches(pattern, call, matches):
    code = f"#define TWO 2\nvoid g(char *a, char *b)\n{{\n    char *p = {call};\n    run_query(0, p);\n}}\n"

    hits = own_hits({"a.c": code}, sources=[{"pattern": pattern}])

    assert bool(hits["a.c"]) is matches


@pytest.mark.parametrize(
    "call",
    [
        "run_query(" + ", ".join(["name"] * 5_000) + ")",
        "run_query(db, " + "(" * 300 + "name" + ")" * 300 + ")",
        "run_query()",
        "run_query(db, run_query(db, run_query(db, name)))",
        "(run_query)(db, name)",
        "db->run_query(db, name)",
    ],
)
def test_hostile_code_takes_no_time(call):
    code = DIRECT.replace("run_query(db, name)", call)
    sinks = [{"pattern": "run_query(..., $SQL, ...)", "focus": "$SQL"}]

    began = time.process_time()
    own_hits({"a.c": code}, sinks=sinks)

    assert_cpu_within(1.0, since=began)
