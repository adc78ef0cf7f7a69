"""A dismissal that quotes a check is refused if the finding is reached without it."""

import pytest

from jarvis_workers.sec.assessment import EvidenceQuote
from jarvis_workers.sec.judge.bypassed_checks import bypassed_checks
from jarvis_workers.sec.judge.slices import CodeIndex
from tests.agents.loop.arrange import Scripted
from tests.sec.slicing import Files
from tests.sec.verifying import SAFE, found, item, prepared, report, verify

SINK = "memcpy(d, s, n);"
CHECK = "if (n > 8)"
BYPASSED = {
    "a sibling": """\
    if (mode)
        CHECK
            return;
    SINK
""",
    "the other branch": """\
    if (mode) {
        CHECK
            n = 8;
    } else {
        SINK
    }
""",
    "another case": """\
    switch (mode) {
    case 1:
        CHECK
            return;
        break;
    case 2:
        SINK
    }
""",
    "a jump": """\
    if (mode)
        goto copy;
    CHECK
        return;
copy:
    SINK
""",
    "in a loop, in a branch": """\
    while (mode--) {
        if (mode == 3)
            CHECK
                return;
        SINK
    }
""",
    "an else": """\
    if (!mode)
        n = 4;
    else if (mode > 2) {
        CHECK
            return;
    } else
        SINK
""",
}
PASSED = {
    "before": """\
    CHECK
        return;
    SINK
""",
    "around": """\
    CHECK {
        SINK
    }
""",
    "around the branch": """\
    CHECK
        return;
    if (mode)
        SINK
""",
    "a loop over all": """\
    for (int i = 0; i < mode; i++)
        CHECK
            return;
    SINK
""",
    "the condition before": """\
    CHECK
        n = 8;
    else if (mode)
        SINK
""",
    "a case that falls through": """\
    switch (mode) {
    case 1:
        CHECK
            return;
    case 2:
        SINK
    }
""",
    "behind": """\
    SINK
    if (mode)
        CHECK
            n = 0;
""",
    "a jump behind": """\
    CHECK
        goto out;
    SINK
out:
    n = 0;
""",
    "none": """\
    SINK
""",
}


def code_of(body: str) -> str:
    body = body.replace("SINK", SINK).replace("CHECK", CHECK)
    return f"void f(char *d, const char *s, int n, int mode)\n{{\n{body}}}\n"


def lines_of(body: str, path: str = "a.c") -> list[int]:
    code = code_of(body)
    lines = code.split("\n")
    evidence = [EvidenceQuote(path, number, line.strip()) for number, line in enumerate(lines, 1) if CHECK in line]
    sink = next(number for number, line in enumerate(lines, 1) if SINK in line)
    return bypassed_checks(CodeIndex(Files({path: code})), found(path, sink), evidence)


@pytest.mark.parametrize("way", BYPASSED)
def test_a_check_in_another_branch_is_bypassed(way: str) -> None:
    (line,) = lines_of(BYPASSED[way])

    assert CHECK in code_of(BYPASSED[way]).split("\n")[line - 1]


@pytest.mark.parametrize("way", PASSED)
def test_a_check_on_each_way_is_passed(way: str) -> None:
    assert lines_of(PASSED[way]) == []


def test_one_check_on_each_way_is_enough() -> None:
    body = BYPASSED["a sibling"] + PASSED["before"]

    assert lines_of(body.replace("SINK", "puts(s);", 1)) == []


def test_only_c_is_read() -> None:
    assert lines_of(BYPASSED["a sibling"], path="a.rs") == []


@pytest.mark.parametrize(("body", "status"), [(BYPASSED["a sibling"], "review"), (PASSED["before"], "dismissed")])
def test_a_dismissal_by_a_bypassed_check_is_for_review(body: str, status: str) -> None:
    code = code_of(body)
    line = 1 + code[: code.index(SINK)].count("\n")
    ready = prepared(found("a.c", line, "unsafe_api"), files={"a.c": code})
    quotes = [{"file": "a.c", "line": 1 + code[: code.index(CHECK)].count("\n"), "quote": CHECK}]
    (verdict,) = verify(Scripted(*[report(item(1, SAFE, evidence=quotes))] * 2), ready)

    assert verdict.status == status
    assert (verdict.reason is None) == (status == "dismissed")
