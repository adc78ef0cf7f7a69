"""Reports of other analyzers as alerts, and the lines of a tree that they speak of."""

import codecs
import json
import time
from typing import Any

import pytest

from jarvis_workers.sec.alerts.alert import Alert, FlowStep, UnreadableReport, cwe_in
from jarvis_workers.sec.alerts.candidate_text import description_of, pattern_of
from jarvis_workers.sec.alerts.placement import TreePaths, Unplaced, line_of, parts_of
from jarvis_workers.sec.alerts.report_forms import BYTES_MAX, read_alerts
from tests.support.machine import assert_cpu_within

HERE: dict[str, Any] = {
    "physicalLocation": {"artifactLocation": {"uri": "src/a.c"}, "region": {"startLine": 3, "startColumn": 5}}
}
RULE: dict[str, Any] = {
    "id": "cpp/overflow",
    "shortDescription": {"text": "Overflow"},
    "properties": {"tags": ["security", "external/cwe/cwe-120"]},
    "defaultConfiguration": {"level": "error"},
    "messageStrings": {"far": {"text": "{0} is {1} too far"}},
}


def sarif(*results: dict[str, Any], version: str = "2.1.0", **run: Any) -> bytes:
    driver = {"name": "CodeQL", "rules": [RULE]}
    runs = [{"tool": {"driver": driver}, "results": results, **run}]
    return json.dumps({"version": version, "runs": runs}).encode()


def result(**more: Any) -> dict[str, Any]:
    return {"ruleId": "cpp/overflow", "message": {"text": "too far"}, "locations": [HERE], **more}


def only(content: bytes) -> Alert:
    (alert,) = read_alerts(content).alerts
    return alert


def test_a_result_of_sarif_has_the_texts_and_weakness_of_its_rule() -> None:
    assert only(sarif(result()))._replace(identity=None) == Alert(
        "CodeQL", "cpp/overflow", "too far", "src/a.c", 3, 5, 120, "error", title="Overflow"
    )


def test_what_services_know_a_result_by_is_kept_as_the_report_gives_it() -> None:
    place = {"artifactLocation": {"index": 0}, "region": {"startLine": 3, "startColumn": True, "endColumn": 9}}
    artifacts = {"artifacts": [{"location": {"uri": "a.c", "uriBaseId": "SRC"}}]}
    prints = {"primaryLocationLineHash": "ab:1", "odd": 7, "long": "x" * 9_000} | {f"z{n}": "" for n in range(99)}
    one = result(locations=[{"physicalLocation": place}], partialFingerprints=prints, fingerprints={"v": "1"})
    bases = {"originalUriBaseIds": {"SRC": {"uri": "file:///build/src/"}}}
    alert = only(sarif(one, **artifacts, **bases))

    assert alert.file == "file:///build/src/a.c"
    known = alert.identity
    assert known is not None
    assert (known.uri, known.base, known.region) == ("a.c", "SRC", (("startLine", 3), ("endColumn", 9)))
    assert known.fingerprints == (("v", "1"),)
    assert known.partial_fingerprints[0] == ("primaryLocationLineHash", "ab:1")
    assert len(known.partial_fingerprints) == 20


def test_results_that_differ_in_fingerprints_alone_are_two_alerts() -> None:
    first, second = (result(partialFingerprints={"primaryLocationLineHash": name}) for name in ("a:1", "a:2"))
    assert [one.times for one in read_alerts(sarif(first, second, first)).alerts] == [2, 1]


@pytest.mark.parametrize(
    ("more", "run", "expected"),
    [
        ({"ruleId": "x", "ruleIndex": 0}, {}, {"rule": "x", "cwe": 120}),
        ({"message": {"id": "far", "arguments": ["p", "4"]}}, {}, {"text": "p is 4 too far"}),
        ({"message": {"text": "see [the call](1) of [f](file:///x)"}}, {}, {"text": "see the call of f"}),
        ({"level": "note"}, {}, {"level": "note"}),
        ({"taxa": [{"id": "787", "toolComponent": {"name": "CWE"}}], "ruleId": "other"}, {}, {"cwe": 787}),
        ({"taxa": [{"id": "10", "toolComponent": {"name": "MISRA"}}], "ruleId": "other"}, {}, {"cwe": 0}),
        ({"suppressions": [{"kind": "external", "status": "underReview"}]}, {}, {"suppressed": None}),
        ({"locations": [{"logicalLocations": [{"name": "f"}]}, HERE]}, {}, {"line": 3}),
        ({"suppressions": [{"kind": "inSource"}]}, {}, {"suppressed": "suppressed (inSource)"}),
        ({"suppressions": [{"kind": "external", "justification": "a test"}]}, {}, {"suppressed": "a test"}),
        ({"suppressions": [{"kind": "external", "status": "rejected"}]}, {}, {"suppressed": None}),
        (
            {"locations": [{"physicalLocation": {"artifactLocation": {"index": 1}, "region": {"startLine": 8}}}]},
            {"artifacts": [{}, {"location": {"uri": "lib/b.c", "uriBaseId": "ROOT"}}],
             "originalUriBaseIds": {"ROOT": {"uri": "file:///home/me/project/"}}},
            {"file": "file:///home/me/project/lib/b.c", "line": 8},
        ),
        ({"locations": []}, {}, {"file": "", "line": 0}),
        ({"locations": "none"}, {}, {"file": "", "line": 0}),
        ({"rule": {"id": "ext", "index": 0, "toolComponent": {"index": 0}}, "ruleId": None}, {}, {"rule": "ext"}),
    ],
)  # fmt: skip
def test_what_a_result_refers_to_is_found(more: dict[str, Any], run: dict[str, Any], expected: dict[str, Any]) -> None:
    alert = only(sarif(result(**more), **run))._asdict()
    assert {name: alert[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("external/cwe/cwe-120", 120),
        ("CWE-078: OS command", 78),
        ("https://cwe.mitre.org/data/definitions/91.html", 91),
        ("cwe", 0),
        ("CWE-12345", 0),
        ("concwe-5", 0),
    ],
)
def test_weaknesses_have_several_forms(text: str, number: int) -> None:
    assert cwe_in([None, {}], text) == number


def test_parts_of_a_wrong_type_count_as_missing_and_entries_are_counted() -> None:
    gitlab = {"version": "15", "vulnerabilities": [{"identifiers": 5, "location": {"file": "a.c", "start_line": 6}}, 7]}
    report = read_alerts(json.dumps(gitlab).encode())
    assert (report.alerts[0].line, report.left_out) == (6, {"no object": 1})
    own = {"issues": [{"pattern": "p", "path": 5, "file": "a.c", "line": 6}, None]}
    report = read_alerts(json.dumps(own).encode())
    assert (report.alerts[0].line, report.left_out) == (6, {"no object": 1})
    failed = sarif(result(), 5, None, invocations=[{"executionSuccessful": False}])  # type: ignore[arg-type]
    assert read_alerts(failed).left_out == {"no object": 2, "a run of the analyzer that failed": 1}
    shifted = {"physicalLocation": {"artifactLocation": {"index": 1}, "region": {"startLine": 8}}}
    artifacts = [None, {"location": {"uri": "b.c"}}]
    assert only(sarif(result(locations=[shifted]), artifacts=artifacts)).file == "b.c"


@pytest.mark.parametrize(
    ("written", "line"), [("NaN", 0), ("1e999", 0), ("-1", 0), ("true", 0), ('"3"', 0), ("3.5", 0), ("3.0", 3)]
)
def test_a_line_that_is_no_number_is_none(written: str, line: int) -> None:
    assert only(sarif(result()).replace(b'"startLine": 3', f'"startLine": {written}'.encode())).line == line


def test_of_equal_keys_the_last_counts() -> None:
    runs = sarif(result()).removeprefix(b'{"version": "2.1.0", ')
    assert only(b'{"version": "1.0.0", "runs": [], "version": "2.1.0", ' + runs).line == 3


def test_runs_without_results_have_none() -> None:
    runs = [{"tool": {"driver": {"name": "T"}}, "results": None}, {"tool": None}, None, 5]
    report = read_alerts(json.dumps({"version": "2.1.0", "runs": runs}).encode())
    assert report == ((), {})


def test_half_characters_are_shown_as_escapes() -> None:
    alert = only(sarif(result(ruleId="\ud800r", message={"text": "bad \udfff"})))
    assert pattern_of(alert) == "codeql:r"
    assert description_of(alert) == "CodeQL (warning): bad \\udfff"


def test_a_document_type_elsewhere_is_not_fetched() -> None:
    xml = b'<!DOCTYPE results SYSTEM "http://127.0.0.1:9/x.dtd">' + CPPCHECK.partition(b"?>")[2]
    assert len(read_alerts(xml).alerts) == 2


def test_a_place_is_found_by_code_that_is_there_once() -> None:
    assert line_of(Alert("t", "r", "", "a.c", code="free(p);"), ("{", " free(p);", "}")) == 2
    assert line_of(Alert("t", "r", "", "a.c", code="}"), ("}", "}")) == Unplaced("it names no line")


def test_what_is_noted_beside_a_place_are_its_steps() -> None:
    note = {"id": 1, "physicalLocation": HERE["physicalLocation"], "message": {"text": "[freed](1) here"}}
    assert only(sarif(result(relatedLocations=[note, {}]))).steps == (FlowStep("src/a.c", 3, "freed here"),)
    flow = [{"threadFlows": [{"locations": [{"location": {**note, "message": {"text": "flow"}}}]}]}]
    assert [step.text for step in only(sarif(result(relatedLocations=[note], codeFlows=flow))).steps] == ["flow"]


def test_the_steps_of_a_flow_are_kept() -> None:
    place = {"location": {"physicalLocation": HERE["physicalLocation"], "message": {"text": "source"}}}
    flow = [{"threadFlows": [{"locations": [place, {}, place]}]}]
    step = FlowStep("src/a.c", 3, "source")
    assert only(sarif(result(codeFlows=flow))).steps == (step, step)


def test_results_that_are_no_failures_are_counted() -> None:
    report = read_alerts(sarif(result(kind="pass"), result(baselineState="absent"), result(kind="open")))
    assert len(report.alerts) == 1
    assert report.left_out == {"passed": 1, "gone since its baseline": 1}


def test_equal_results_are_one_with_their_number() -> None:
    alert = only(sarif(*[result()] * 10))
    assert alert.times == 10
    assert description_of(alert) == "CodeQL (error): too far, reported 10 times"


def test_numbers_and_texts_of_any_size_are_bounded() -> None:
    huge = {
        "physicalLocation": {"artifactLocation": {"uri": "a.c"}, "region": {"startLine": 10**30, "startColumn": -4}}
    }
    alert = only(sarif(result(locations=[huge], message={"text": "[" * 1_000_000}, level="x" * 5_000)))
    assert (alert.line, alert.column) == (0, 0)
    assert max(len(alert.text), len(alert.level)) <= 1_000
    wide = only(sarif(result(message={"text": "{0}" * 100_000, "arguments": ["y" * 100_000]})))
    assert len(wide.text) == 1_000


def test_a_report_may_begin_with_a_mark_of_its_encoding() -> None:
    assert only(codecs.BOM_UTF8 + sarif(result())).line == 3
    assert only(codecs.BOM_UTF16_LE + sarif(result()).decode().encode("utf-16-le")).line == 3


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (b"hello", "it is none of SARIF"),
        (b"{}", "it is none of SARIF"),
        (b"[1]", "it is none of SARIF"),
        (b'{"runs": ', "the JSON is damaged"),
        (b'{"version": "2.1.0", "runs": [{"x": ' + b"[" * 50_000 + b"]" * 50_000 + b"}]}", "the JSON is damaged"),
        (sarif(result()).replace(b'"startLine": 3', b'"startLine": ' + b"9" * 5_000), "the JSON is damaged"),
        (sarif(result()).decode().encode("utf-16-le"), "the JSON is damaged"),
        (b"[" * 200_000, "the JSON is damaged"),
        (sarif(version="2.0.0"), "SARIF 2.0.0 is not supported"),
        (b'<results version="2"><errors>', "the XML is damaged"),
        (b'<results><error file="a.c" line="1" id="x"/></results>', "not that of cppcheck of version 2"),
        (b"<html>404</html>", "not that of cppcheck"),
        (b'{"runs": "x", "version": "2.1.0"}', "it is none of SARIF"),
        (b'{"issues": [{"rule": "S1"}]}', "it is none of SARIF"),
        (b'{"vulnerabilities": [{"from": []}]}', "it is none of SARIF"),
        (b'<!DOCTYPE r [<!ENTITY a "b">]><results>&a;</results>', "the XML declares entities"),
        (b'<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><results>&b;</results>', "the XML declares entities"),
        (b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><results>&a;</results>', "the XML declares entities"),
        (b'<!DOCTYPE r [<!ENTITY % a SYSTEM "http://x/a"> %a;]><results/>', "the XML declares entities"),
    ],
)
def test_what_is_no_report_is_refused_with_the_reason(content: bytes, says: str) -> None:
    with pytest.raises(UnreadableReport, match=says):
        read_alerts(content)


def test_a_report_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jarvis_workers.sec.alerts.report_forms.BYTES_MAX", 10)
    assert BYTES_MAX > 100_000_000
    with pytest.raises(UnreadableReport, match="more than"):
        read_alerts(sarif(result()))


@pytest.mark.slow
def test_a_hundred_thousand_results_take_seconds() -> None:
    many = [result(message={"text": f"number {number}"}) for number in range(100_000)]
    content, began = sarif(*many), time.process_time()
    assert len(read_alerts(content).alerts) == 100_000
    assert_cpu_within(20, since=began)


LOG = b"""src/a.c: In function 'f':
src/a.c:6:5: warning: double-'free' of 'p' [CWE-415] [-Wanalyzer-double-free]
    6 |     free(p);
      |     ^~~~~~~
src/a.c:5:5: note: first 'free' here
/home/me/b.cpp:9:3: error: call of \x1b[1mstrcpy\x1b[0m is insecure [clang-analyzer-security.insecureAPI.strcpy,-warnings-as-errors]
        strcpy(a, b);
        ^
src/a.c:8:1: warning: unused variable
src/a.c:8:1: warn"""  # noqa: E501


def test_a_log_has_warnings_with_rules_and_their_notes() -> None:
    report = read_alerts(LOG)
    first, second = report.alerts
    assert first == Alert(
        "gcc", "analyzer-double-free", "double-'free' of 'p'", "src/a.c", 6, 5, 415, "warning", "free(p);",
        steps=(FlowStep("src/a.c", 5, "first 'free' here"),),
    )  # fmt: skip
    assert (second.tool, second.rule) == ("clang-tidy", "clang-analyzer-security.insecureAPI.strcpy")
    assert (second.file, second.code) == ("/home/me/b.cpp", "strcpy(a, b);")
    assert report.left_out == {"without a rule": 1, "cut in its line": 1}


def test_a_warning_without_code_has_not_that_of_the_next() -> None:
    log = b"""a.h:35:9: warning: macro 'R' used to declare a constant [cppcoreguidelines-macro-usage]
a.h:39:8: warning: accessing fields in struct 'radio' is inefficient [altera-struct-pack-align]
   39 | struct radio {
      |        ^"""
    assert [(alert.line, alert.code) for alert in read_alerts(log).alerts] == [(35, ""), (39, "struct radio {")]


DRAWN = """\
a.c:12:9: warning: leak of ‘p’ [CWE-401] [-Wanalyzer-malloc-leak]
   12 |         return n;
      |                ^
  ‘main’: events 1-2
    |
    |    9 |         char *p = make(n);
    |      |         ~         ~~~~~~~
    |      |         |         |
    |      |         |         (2) calling ‘make’ from ‘main’
    |      |         (1) entry to ‘main’ (x)
    |
    +--> ‘make’: event 3
           |
           |    4 |         return malloc(n); // (7) no step
           |      |                ^~~~~~~~~
           |      |                |
           |      |                (3) allocated here
           |
    <------+
    |
  ‘main’: events 4-6
    |
    |   10 |         if (p) use(p);
    |      |            ~   ~~~
    |      |            |   |
    |      |            |   (5) ...to here
    |      |            (4) following ‘true’ branch (when ‘p’ is non-NULL)...
    |......
    |   12 |         return n;
    |      |                ~
    |      |                (6) ‘p’ leaks here; was allocated at (3)
    |
b.c:1:1: warning: odd [-Wodd]
"""


def test_the_steps_that_gcc_draws_in_the_function_of_a_warning_are_kept() -> None:
    leak, odd = read_alerts(DRAWN.encode()).alerts
    assert [(step.file, step.line, step.text.partition(" ")[0]) for step in leak.steps] == [
        ("a.c", 9, "entry"), ("a.c", 9, "calling"), ("a.c", 10, "following"), ("a.c", 10, "...to"), ("a.c", 12, "‘p’")
    ]  # fmt: skip
    assert leak.steps[-1].text == "‘p’ leaks here; was allocated at (3)"
    assert (leak.code, odd.steps) == ("return n;", ())


@pytest.mark.parametrize(
    ("tail", "left_out"),
    [
        (b"b.c:4:1: warning: second th", {"without a rule": 1}),
        (b"b.c:4:1: warn", {"cut in its line": 1}),
        (b"b.c:4:", {"cut in its line": 1}),
        (b"2 warnings generated.", {}),
    ],
)
def test_output_that_is_cut_says_so(tail: bytes, left_out: dict[str, int]) -> None:
    report = read_alerts(b"a.c:3:1: warning: first [bugprone-x]\n" + tail)
    assert [alert.text for alert in report.alerts] == ["first"]
    assert report.left_out == left_out


CPPCHECK = b"""<?xml version="1.0"?><results version="2"><cppcheck version="2.10"/><errors>
<error id="nullPointer" severity="error" msg="Null pointer: p" verbose="Null pointer dereference: p" cwe="476">
  <location file="src\\a.c" line="7" column="3" info="used"/><location file="src/a.c" line="4" info="assigned"/></error>
<error id="missingInclude" severity="information" msg="x"/>
<error id="odd" severity="style" msg="y" cwe="x"><location file="src/a.c" line="99999999999999"/></error>
</errors></results>"""


def test_cppcheck_gives_the_place_first() -> None:
    report = read_alerts(CPPCHECK)
    first, second = report.alerts
    assert first[:8] == ("cppcheck", "nullPointer", "Null pointer dereference: p", "src\\a.c", 7, 3, 476, "error")
    assert [step.text for step in first.steps] == ["assigned", "used"]
    assert (second.line, second.cwe) == (0, 0)
    assert report.left_out == {"about the run of cppcheck": 1}


def test_gitlab_and_own_reports_are_read() -> None:
    row = {"name": "Overflow", "severity": "High", "location": {"file": "a.c", "start_line": 4},
           "identifiers": [{"type": "semgrep_id", "value": "c.overflow"}, {"type": "cwe", "value": "120"}],
           "scanner": {"name": "Semgrep"}}  # fmt: skip
    gitlab = json.dumps({"version": "15.0.0", "vulnerabilities": [row]}).encode()
    assert only(gitlab)[:8] == ("Semgrep", "c.overflow", "Overflow", "a.c", 4, 0, 120, "high")
    issue = {"pattern": "unsafe_api", "file": "a.c", "line": 2, "cwe": 120, "description": "d", "severity": "high"}
    own = only(json.dumps({"issues": [issue, 5]}).encode())
    assert own[:8] == ("jarvis", "unsafe_api", "d", "a.c", 2, 0, 120, "high")


@pytest.mark.parametrize(
    ("tool", "rule", "pattern"),
    [
        ("CodeQL", "cpp/overflow", "codeql:cpp/overflow"),
        ("Snyk Code", "c/\x1b[31mRed<b>", "snyk_code:c/_31mRed_b"),
        ("", "\n", "unknown:unknown"),
    ],
)
def test_the_id_of_a_rule_has_plain_characters(tool: str, rule: str, pattern: str) -> None:
    assert pattern_of(Alert(tool, rule, "", "a.c")) == pattern


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("src/a.c", ("src", "a.c")),
        ("./src/../src//a.c", ("src", "a.c")),
        ("file:///home/me/my%20project/src/a.c", ("home", "me", "my project", "src", "a.c")),
        ("file://host/share/a.c", ("share", "a.c")),
        ("file:///C:/work/a.c", ("work", "a.c")),
        ("file:///C%3A/work/a.c", ("work", "a.c")),
        ("file://C:\\work\\a.c", ("work", "a.c")),
        ("file://HOST/D:/work/a.c", ("work", "a.c")),
        ("\\\\server\\share\\a.c", ("server", "share", "a.c")),
        ("C:\\work\\src\\a.c", ("work", "src", "a.c")),
        ("src/my%20file.c", ("src", "my file.c")),
        ("../../etc/passwd", ("etc", "passwd")),
        ("100%.c", ("100%.c",)),
        ("", ()),
    ],
)
def test_paths_of_other_machines_have_parts(name: str, parts: tuple[str, ...]) -> None:
    assert parts_of(name) == parts


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("src/a.c", b"src/a.c"),
        ("/home/me/project/src/a.c", b"src/a.c"),
        ("a.c", Unplaced("2 files of the tree end with a.c")),
        ("b.c", b"lib/b.c"),
        ("other/b.c", Unplaced("no file that is scanned is other/b.c")),
        ("main.c", b"main.c"),
        ("deep/main.c", b"main.c"),
        ("c.c", Unplaced("no file that is scanned is c.c")),
        ("", Unplaced("it names no file")),
        ("../lib/a.c", b"lib/a.c"),
    ],
)
def test_the_longest_common_end_decides(name: str, found: bytes | Unplaced) -> None:
    assert TreePaths([b"src/a.c", b"lib/a.c", b"lib/b.c", b"main.c"]).find(name) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [("top%20file.c", b"top file.c"), ("src/a%20b.c", b"src/a%20b.c"), ("src%2Fb.c", b"src/b.c")],
)
def test_a_name_is_looked_for_as_it_is_before_it_is_decoded(name: str, found: bytes) -> None:
    assert TreePaths([b"top file.c", b"src/a%20b.c", b"src/b.c"]).find(name) == found


def test_code_is_found_by_a_part_of_its_line_and_without_what_encodings_differ_in() -> None:
    lines = ("{", "    strcpy(buf, in); /* gr\ufffd\ufffde */")
    for code in ("strcpy(buf, in)", "strcpy(buf, in); /* gr\\xf6\\xdfe */", "strcpy(buf, in); /* größe */"):
        assert line_of(Alert("t", "r", "", "a.c", 1, code=code), lines) == 2


@pytest.mark.parametrize(
    ("line", "code", "found"),
    [
        (2, "", 2),
        (2, "free( p );", 2),
        (3, "free(p);", 2),
        (1, "free(q);", 4),
        (9, "free(q);", 4),
        (2, "free(x);", Unplaced("the code of {lines} is not in the file", 2)),
        (5, "", Unplaced("no {lines} in the file (it ends at line 4)", 5)),
        (0, "free(p);", 2),
        (0, "", Unplaced("it names no line")),
    ],
)
def test_the_line_is_where_its_code_is(line: int, code: str, found: int | Unplaced) -> None:
    alert = Alert("t", "r", "", "a.c", line, code=code)
    assert line_of(alert, ("{", "  free(p);", "  free(x2);", "  free(q);")) == found
