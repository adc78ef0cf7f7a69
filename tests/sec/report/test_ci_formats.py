"""The formats of CI services: valid by their schemas, escaped, with paths from the top of the repository, and fast."""

import csv
import json
import re
import time
from io import StringIO
from pathlib import Path
from urllib.parse import unquote

import pytest
from jsonschema import Draft7Validator

from jarvis_workers.report_formats import format_of
from jarvis_workers.sec.report import FORMATS
from jarvis_workers.sec.report_document import IssueSuppression
from tests.sec.verdicts import EVERY, hostile, judged_body
from tests.support.issues import at, body_of
from tests.support.machine import assert_cpu_within
from tests.support.workflow_commands import obeyed

DATA = Path(__file__).parents[2] / "data"
SCHEMAS = {
    "gitlab-sast": Draft7Validator(json.loads((DATA / "gitlab-sast-15.json").read_text())),
    "codequality": Draft7Validator(json.loads((DATA / "codequality.json").read_text())),
}
CI = ("gcc", "github", "gitlab-sast", "codequality", "csv")
RUN = {
    "state": "done",
    "version": "1.2",
    "created_at": "2026-01-02T03:04:05.678+00:00",
    "ended_at": "2026-01-02T03:04:06.789+00:00",
    "path_prefix": "lib/net",
}
SUMMARY = {"total": 1, "by_severity": {"high": 1}, "scanned_files": 1}
GAP = [{"file": "b.c", "reason": "too large"}]
HOSTILE = "a,b:c%\r\n::error file=x::y](http://evil)=<&>\x1b[2J\u202e`|"
# reviewdog and Vim read the format `gcc` with the errorformat %f:%l:%c: %t%*[^:]: %m.
GCC = re.compile(r"(?P<f>.+?):(?P<l>\d+):(?P<c>\d+): (?P<t>.)[^:]*: (?P<m>.+)")
COMMAND = re.compile(r"::(?P<name>[a-z]+) (?P<properties>[^:]*)::(?P<message>.*)")


def render(form, body, run=RUN):
    return "".join(FORMATS[form](body, run))


def valid(form, body, run=RUN):
    """Return a JSON report that its schema accepts."""
    report = json.loads(render(form, body, run))
    assert [error.message for error in SCHEMAS[form].iter_errors(report)] == []
    return report


def table(body, run=RUN):
    return list(csv.DictReader(StringIO(render("csv", body, run), newline="")))


def annotations(body, run=RUN):
    """Return the commands as a runner reads them: name, properties and message."""
    read = []
    for line in render("github", body, run).splitlines():
        if line.startswith("::"):
            match = COMMAND.fullmatch(line)
            properties = dict(part.split("=", 1) for part in match["properties"].split(","))
            values = {name: unquote(value) for name, value in properties.items()}
            read.append((match["name"], values, unquote(match["message"])))
    return read


def files_of(form, body, run=RUN):
    if form == "gitlab-sast":
        return [one["location"]["file"] for one in valid(form, body, run)["vulnerabilities"]]
    if form == "codequality":
        return [one["location"]["path"] for one in valid(form, body, run)]
    if form == "github":
        return [properties["file"] for _, properties, _ in annotations(body, run)]
    if form == "csv":
        return [row["file"] for row in table(body, run)]
    return [GCC.fullmatch(line)["f"] for line in render(form, body, run).splitlines()]


@pytest.mark.parametrize("form", CI)
@pytest.mark.parametrize(("prefix", "file"), [("lib/net", "lib/net/a.c"), ("", "a.c")])
def test_paths_begin_at_the_top_of_the_repository(form, prefix, file):
    assert files_of(form, body_of(SUMMARY, issues=[{}]), RUN | {"path_prefix": prefix}) == [file]


def test_junit_paths_begin_at_the_top_of_the_repository():
    assert 'file="lib/net/a.c"' in render("junit", body_of(SUMMARY, issues=[{}]))


def test_gcc_lines_are_compiler_warnings():
    body = body_of(SUMMARY | {"not_checked": GAP}, issues=[{"line": 40, "column": 5}])

    assert render("gcc", body).splitlines() == [
        "lib/net/a.c:40:5: warning: Unbounded string copy (high, CWE-120) [unsafe_api]",
        "lib/net/b.c:1:1: warning: not checked: too large [not-checked]",
    ]


def test_github_annotation_has_the_place_the_rule_and_the_reason():
    body = body_of(SUMMARY, issues=[{"line": 40, "column": 5}])

    assert render("github", body).splitlines() == [
        "::error file=lib/net/a.c,line=40,endLine=40,col=5,title=Unbounded string copy [unsafe_api]"
        "::copies without a bound pass the size",
        "1 finding in 1 file: 1 high",
    ]


def test_github_annotations_are_the_ten_worst_of_each_level():
    severities = ["low", "medium", "high"] * 15
    issues = [{"line": line, "severity": severities[line], "score": line / 10} for line in range(45)]
    body = body_of(SUMMARY | {"total": 45, "not_checked": GAP}, issues=issues)

    read = annotations(body)
    levels = [name for name, _, _ in read]
    lines = [int(properties["line"]) for name, properties, _ in read if name == "warning"]

    assert (levels.count("error"), levels.count("warning"), levels.count("notice")) == (10, 10, 10)
    assert lines == sorted(lines, reverse=True) and lines[0] == 43
    assert read[0][1:] == ({"title": "Not checked"}, "1 file not checked; first: lib/net/b.c: too large")
    assert render("github", body).splitlines()[-1].endswith("(16 of them not annotated)")


def test_github_commands_cannot_be_injected():
    body = judged_body(*hostile(HOSTILE), not_checked=[(HOSTILE, HOSTILE)])

    written = render("github", body)
    lines = written.splitlines()

    assert all(COMMAND.fullmatch(line) for line in lines[:-1]) and len(lines) == 1 + 3 + 1
    assert {properties.get("file") for _, properties, _ in annotations(body)} == {None, f"lib/net/{HOSTILE}"}
    assert not set("\r\x1b\u202e") & set(re.sub("file=[^,]*", "", written))


ORDERS = (
    "##[add-mask]x.c",
    "a ##[stop-commands]x.c",
    "###[group]x.c",
    "##vso[task.setvariable variable=x]y.c",
    "##VSO[task.complete]y.c",
    "##teamcity[buildProblem]z.c",
    "#\u034f#[error]x.c",
    "::stop-commands::x.c",
    " ::add-mask::x.c",
    ":",
)


@pytest.mark.parametrize("text", ORDERS)
def test_gcc_lines_give_no_orders_to_a_build_server(text):
    body = judged_body(*hostile(text), not_checked=[(text, text)])

    lines = render("gcc", body, {}).splitlines()

    assert obeyed(lines) == [] and not [line for line in lines if line.lstrip().startswith("::")]
    assert not re.search(r"(?i)##\[|##(vso|teamcity)\[", "".join(lines).replace("\u034f", ""))
    assert all(GCC.fullmatch(line) for line in lines)


def test_gcc_changes_only_paths_that_are_orders():
    names = ["::stop-commands::x.c", "a/::b.c", "a##b[1].c", "a/##[group]x.c"]

    found = files_of("gcc", body_of(SUMMARY, issues=[{"file": name} for name in names]), {})

    assert found == ["./::stop-commands::x.c", "a/::b.c", "a##b[1].c", r"a/#\x23[group]x.c"]


@pytest.mark.parametrize("text", ORDERS)
def test_github_report_gives_no_orders_but_annotations(text):
    body = judged_body(*hostile(text), not_checked=[(text, text)])

    assert set(obeyed(render("github", body, {}).splitlines())) == {"error"}


def test_gitlab_vulnerability_is_tracked_by_its_fingerprint():
    def report(line):
        issue = {"line": line, "fingerprint": "0123456789abcdef"}
        return valid("gitlab-sast", body_of(SUMMARY, issues=[issue]))

    (one,), (moved,) = report(40)["vulnerabilities"], report(50)["vulnerabilities"]

    assert (one["severity"], one["location"]["start_line"], moved["location"]["start_line"]) == ("High", 40, 50)
    assert (one["id"], one["identifiers"][1]["value"]) == (moved["id"], "120")
    assert [item["signatures"] for item in one["tracking"]["items"]] == [
        [{"algorithm": "hash", "value": "0123456789abcdef:1"}]
    ]


def test_gitlab_scan_with_gaps_is_a_failure_with_messages():
    whole, less = (
        valid("gitlab-sast", body_of(SUMMARY | more, issues=[{}]))["scan"] for more in ({}, {"not_checked": GAP})
    )

    assert (whole["status"], whole["start_time"]) == ("success", "2026-01-02T03:04:05")
    assert less["status"] == "failure"
    assert less["messages"] == [{"level": "warn", "value": "Not checked: lib/net/b.c: too large"}]


def test_code_quality_gap_is_a_blocker_and_fingerprints_are_unique():
    issues = valid("codequality", body_of(SUMMARY | {"not_checked": GAP}, issues=[{}, {"line": 2}]))

    assert [issue["severity"] for issue in issues] == ["blocker", "critical", "critical"]
    assert len({issue["fingerprint"] for issue in issues}) == 3


@pytest.mark.parametrize("form", ["gitlab-sast", "codequality"])
def test_json_formats_are_valid_for_verdicts_gaps_and_hostile_text(form):
    for body in (judged_body(*EVERY), judged_body(*hostile(HOSTILE)), body_of({"scanned_files": 3}, issues=[])):
        valid(form, body)
    body = body_of(SUMMARY, issues=[{}, {"line": 2}])
    quiet = body._replace(
        issues=body.issues[:1], suppressed=[body.issues[1]._replace(suppression=IssueSuppression("inSource"))]
    )
    assert len(files_of(form, quiet)) == 1
    assert len(files_of(form, judged_body(*EVERY))) == 5


@pytest.mark.parametrize("text", ['=HYPERLINK("http://evil")', "+1", "-1", "@SUM(A1)", "\t=1", "＝1"])
def test_csv_cells_are_no_formulas(text):
    body = body_of(SUMMARY, issues=[{"file": text, "evidence": text, "description": text}])

    (row,) = table(body, {})

    assert row["file"].startswith("'") and row["evidence"].startswith("'") and row["message"].startswith("'")


def test_csv_has_crlf_quotes_and_a_row_for_every_finding_and_gap():
    body = judged_body(*EVERY, not_checked=[("b.c", "too large")])
    issue = at(body.issues[0], evidence='a "b", c')

    rows = table(body._replace(issues=[issue, *body.issues[1:]]))
    text = render("csv", body)

    assert [row["status"] for row in rows].count("dismissed") == 2
    assert (rows[0]["evidence"], rows[-1]["file"], rows[-1]["status"]) == ('a "b", c', "lib/net/b.c", "not checked")
    assert text.count("\r\n") == len(rows) + 1 and "\n" not in text.replace("\r\n", "")


def test_github_summary_has_numbers_worst_findings_and_gaps_within_its_limit():
    issues = [{"line": line, "severity": "low" if line else "high", "file": "ä" * 4_000} for line in range(150)]
    summary = SUMMARY | {"total": 150, "by_severity": {"high": 1, "low": 149}, "not_checked": GAP * 50}

    text = render("github-summary", body_of(summary, issues=issues))

    assert text.startswith("### Jarvis: 150 findings in 1 file: 1 high, 149 low\n")
    assert "**Not checked, in whole or in part: 50 files.**" in text and "- `lib/net/b.c`: too large" in text
    assert (text.count("| low |"), text.count("| high |")) == (99, 1)
    assert "50 more findings" in text and len(text.encode()) < 100_000


def test_github_summary_escapes_text_of_the_tree():
    text = render("github-summary", judged_body(*hostile(HOSTILE), not_checked=[(HOSTILE, HOSTILE)]))

    assert "&lt;&amp;&gt;" in text and r"y\](http&#58;//evil)" in text
    assert not set("\r\x1b\u202e") & set(text)
    assert text.count("\n| ") == 1 + 1 + 3


@pytest.mark.slow
@pytest.mark.parametrize("form", CI)
def test_25_000_findings_are_rendered_quickly(form):
    rows = [{"line": line, "file": f"src/{line % 500}.c"} for line in range(25_000)]
    body = body_of(SUMMARY | {"total": 25_000}, issues=rows)

    began = time.process_time()
    size = len(render(form, body))

    assert_cpu_within(5, since=began)
    assert size > (1_000 if form == "github" else 1_000_000)


@pytest.mark.parametrize(
    ("name", "form"),
    [("gl-sast-report.json", "gitlab-sast"), ("gl-code-quality-report.json", "codequality"), ("r.csv", "csv")],
)
def test_file_name_selects_the_format(name, form):
    assert format_of(name, "text") == form


@pytest.mark.parametrize("form", ["csv", "junit", "github", "gitlab-sast", "codequality"])
def test_what_other_analyzers_say_is_in_the_text(form):
    texts = ["gcc (warning): twice freed", *[f"cppcheck: {HOSTILE}"] * 30]
    witnesses = [{"rule": "gcc:use-after-free", "line": 40, "text": text} for text in texts]
    body = body_of(SUMMARY, issues=[{"witnesses": witnesses}])
    shown = render(form, body)

    assert "gcc (warning): twice freed" in shown.replace("\\", "")
    assert "and 21 more" in shown
    assert "\x1b" not in shown and "\u202e" not in shown
    if form == "github":
        assert [name for name, _, _ in annotations(body)] == ["error"]
    if form in SCHEMAS:
        valid(form, body)
