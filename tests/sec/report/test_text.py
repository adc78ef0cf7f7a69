"""The text report: a line a finding, the code below it, a summary last."""

import re
from pathlib import Path

import pytest

from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report import build, gather
from jarvis_workers.sec.report.text import TextOptions, render_text, text_lines
from jarvis_workers.sec.suppressions import WITHOUT_REASON
from jarvis_workers.sec.trace import trail_of
from tests.sec.verdicts import EVERY, judged_body

COPY = Candidate(
    language="c/cpp",
    category="unsafe_api",
    pattern="unsafe_api",
    file="list.c",
    line=40,
    evidence="strcpy(d,   s);",
    description="Copies without a bound.",
    suggestion="Pass the size.",
    confidence=0.85,
    cwe=676,
)
WEAK = COPY._replace(file="map.c", line=7, pattern="own_rule", confidence=0.5, evidence="x();")


def body_of(*candidates, scanned_files=3, **rest):
    return build(gather(enumerate(candidates, start=1)), scanned_files=scanned_files, **rest)


def text(body, **options):
    return "".join(render_text(body, {}, TextOptions(**options)))


def test_findings_are_lines_grouped_by_file_with_the_code_below_and_a_summary_last():
    body = body_of(COPY, COPY._replace(line=50), WEAK)
    title = next(iter(text(body).splitlines())).partition(": high: ")[2]

    assert text(body, prefix="src") == (
        f"src/list.c:40: high: {title}\n    strcpy(d, s);\n"
        f"src/list.c:50: high: {title}\n    strcpy(d, s);\n"
        "\n"
        "src/map.c:7: low: Copies without a bound [own_rule]\n    x();\n"
        "\n"
        "3 findings in 3 files: 2 high, 1 low\n"
    )
    assert title.endswith(" [unsafe_api]")


def test_a_column_is_written_where_it_is_known():
    assert text(body_of(WEAK._replace(column=5))).startswith("map.c:7:5: low: ")


def test_quiet_text_has_the_findings_of_a_severity_alone():
    assert text(body_of(COPY, WEAK), least="high", concise=True).count("\n") == 1
    assert text(body_of(WEAK), least="high", concise=True) == ""


def test_of_many_findings_the_worst_are_listed_and_the_rest_is_counted():
    many = [WEAK._replace(line=line) for line in range(1, 50)]

    shown = text(body_of(*many, COPY), most=2)

    assert [line.partition(": ")[0] for line in shown.splitlines() if "]" in line] == ["list.c:40", "map.c:1"]
    assert "Listed: the 2 worst; 48 more.\n" in shown
    assert "Rules: own_rule 49, unsafe_api 1\n" in shown
    assert shown.endswith("50 findings in 3 files: 1 high, 49 low\n")


def test_two_parts_of_a_file_are_one_file_that_was_not_checked():
    body = body_of(not_checked=[("a.c", "function f was not searched"), ("a.c", "function g was not searched")])

    lines = text(body).splitlines()

    assert body.summary.files_not_checked == 1
    assert lines[0] == "NOT CHECKED, in whole or in part: 1 file"
    assert [line.strip() for line in lines[1:3]] == [f"a.c: function {name} was not searched" for name in "fg"]


def test_what_was_not_checked_is_loud_and_named():
    body = body_of(not_checked=[("big.c", "too large"), ("gone.c", "broken symbolic link")])

    lines = list(text_lines(body, {}, TextOptions("src", names=1)))

    assert [(span.text, span.role) for line in lines for span in line] == [
        ("NOT CHECKED, in whole or in part: 2 files", "alarm"),
        ("    src/big.c: too large", ""),
        ("    1 more", ""),
        ("INCOMPLETE: no findings in the 3 files checked", "alarm"),
    ]


def test_what_is_left_out_is_counted_and_named():
    body = body_of(left_out={"ignored by .gitignore": 12}, excluded=[("vendor", "excluded directory")])

    assert text(body) == (
        "Excluded: 12 files ignored by .gitignore, vendor/ (excluded directory)\n"
        "No findings. No rule fired in 3 files.\n"
    )


def test_comments_that_suppress_nothing_or_say_no_reason_are_named_with_their_place():
    remarks = [
        ("a.c", 9, "jarvis-ignore[unsafe_apy]: x", "no such rule: unsafe_apy"),
        *(("b.c", line, "jarvis-ignore: y", "no rule fires here") for line in (3, 4)),
        ("c.c", 5, "jarvis-ignore", WITHOUT_REASON),
    ]

    assert text(body_of(COPY, remarks=remarks), prefix="src", names=2).splitlines()[3:] == [
        "Unused suppressions: 3",
        "    src/a.c:9: jarvis-ignore[unsafe_apy]: x (no such rule: unsafe_apy)",
        "    src/b.c:3: jarvis-ignore: y (no rule fires here)",
        "    1 more",
        "Suppressions without a reason: 1",
        "    src/c.c:5: jarvis-ignore",
        "1 finding in 3 files: 1 high",
    ]


def test_the_directory_of_git_is_not_listed_as_left_out():
    body = body_of(excluded=[(".git", "excluded directory"), ("deps/lua/.git", "excluded directory")])

    assert text(body) == "No findings. No rule fired in 3 files.\n"


def test_a_verdict_stands_before_the_title_and_undecided_ones_are_loud():
    shown = text(judged_body(*EVERY))

    assert ": confirmed: " in shown
    assert "Undecided: " in shown
    assert "undecided" in shown.splitlines()[-1]


def test_what_the_baseline_did_not_cover_is_said():
    body = body_of(COPY, baseline={"what": "main", "known": 0, "state": "incomplete", "not_listed": 3})

    assert text(body).splitlines()[-3:-1] == [
        "The baseline itself did not list 3 findings: they count as new.",
        "The run over the baseline is incomplete: findings in files that it did not check count as new.",
    ]


@pytest.mark.parametrize("width", range(60, 90))
def test_a_rule_stays_with_its_number_at_every_width(width):
    body = body_of(*(WEAK._replace(pattern=f"rule_{n % 8}", line=n) for n in range(1, 33)))

    shown = text(body, width=width)
    rules = " ".join(line.strip() for line in shown[shown.index("Rules: ") :].splitlines()[:-1])
    assert all(f"rule_{n} 4" in shown for n in range(8)), shown
    assert "\0" not in rules


@pytest.mark.parametrize("width", [50, 80, 120])
def test_on_a_terminal_code_is_cut_and_the_summary_is_wrapped(width):
    body = body_of(COPY._replace(evidence="f(" + "a" * 190 + ");"), left_out={"why " * 60: 2})

    lines = text(body_of(COPY, not_checked=[("a.c", "why " * 40)]), width=width).splitlines()
    assert [len(line) - len(line.lstrip()) for line in lines if "why" in line][:2] == [4, 6]
    lines = text(body, width=width).splitlines()

    assert max(map(len, lines[1:])) <= width
    assert lines[1].endswith("…")


def test_hostile_names_and_code_stay_on_their_line():
    evil = COPY._replace(file="a\n\x1b[2J.c", evidence="x\x1b]8;;http://evil\x07\ny")

    shown = text(body_of(evil, not_checked=[("b\n.c", "bad\x1b[1m")]))

    assert "\x1b" not in shown
    assert "\\n" in shown
    assert shown.splitlines()[0].startswith("a\\n\\x1b[2J.c:40: high: ")


def test_findings_of_low_severity_are_counted_unless_they_are_asked_for_or_confirmed():
    body = body_of(COPY, WEAK, WEAK._replace(line=8))

    assert "map.c" in text(body)
    shown = text(body, low=False)
    assert "map.c" not in shown
    assert shown.splitlines()[2:4] == ["", "2 of low severity not listed: -v"]
    assert shown.endswith("3 findings in 3 files: 1 high, 2 low\n")
    assert text(body_of(WEAK), low=False).splitlines()[0] == "1 of low severity not listed: -v"
    confirmed = body._replace(issues=[one._replace(status="confirmed") for one in body.issues])
    assert text(confirmed, low=False).count("map.c") == 2


def test_unchecked_allocations_come_after_other_findings_of_their_severity():
    oom = COPY._replace(file="a.c", pattern="malloc_no_null_check", cwe=690, confidence=0.95)
    packet = trail_of([("b.c", 3, "n is a number read from the bytes of a buffer")], "b.c")
    length = COPY._replace(file="b.c", pattern="flow_buffer_overflow", cwe=787, confidence=0.41, trail=packet)

    lines = text(body_of(oom, length)).splitlines()
    assert [line.partition(": ")[0] for line in lines if "]" in line] == ["b.c:40", "a.c:40"]


def test_a_root_cause_is_one_finding_with_its_other_places_below():
    way = [("table.c", 8, "calloc(1, n) may return NULL"), ("table.c", 13, "t is NULL here and is dereferenced")]
    same = [
        COPY._replace(pattern="flow_null_dereference", file=file, line=line, confidence=sure, trail=trail_of(way, file))
        for file, line, sure in [("a.c", 3, 0.4), ("a.c", 7, 0.4), ("b.c", 5, 0.5), ("table.c", 13, 0.6)]
    ]
    body = body_of(*same, WEAK)
    lines = text(body).splitlines()
    many = [*same, *(same[0]._replace(file=f"{n}.c") for n in range(10, 20))]

    heads = [line.partition(":")[0] for line in lines if line[:1].strip()]
    assert heads == ["table.c", "map.c", "5 findings, 2 root causes in 3 files"]
    assert "    Same root cause: a.c:3,7, b.c:5" in lines
    assert "b.c:5, 10.c:3, 11.c:3, 12.c:3, 13.c:3, 14.c:3, 15.c:3, 4 more\n" in text(body_of(*many))
    assert len(text(body, concise=True).splitlines()) == 5


@pytest.mark.parametrize("causes", [1, 4])
def test_ci_finds_the_count_of_a_scan_by_its_pattern(causes):
    script = (Path(__file__).parents[3] / ".ci" / "pythons").read_text()
    (pattern,) = re.findall(r"grep -Eq '([^']+)'", script)
    same = [
        COPY._replace(line=line, trail=trail_of([("a.c", 3, "here"), ("a.c", 9, "there")], "a.c")) for line in (1, 2, 3)
    ]
    body = body_of(*(same if causes == 1 else [COPY._replace(file=f"{n}.c") for n in range(4)]))

    assert re.search(pattern, text(body), re.MULTILINE)
