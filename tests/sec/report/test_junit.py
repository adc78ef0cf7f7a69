"""JUnit: what build servers show, compare and refuse."""

import time
from collections import Counter
from xml.etree import ElementTree

import pytest

from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report import build, gather
from jarvis_workers.sec.report.junit import render_junit
from jarvis_workers.sec.report_document import IssueSuppression
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from tests.sec.verdicts import DOUBT, NO_RISK, OPEN_END, RISK, hostile, judged_body
from tests.support.issues import at
from tests.support.machine import assert_cpu_within

COPY = Candidate(
    language="c/cpp",
    category="unsafe_api",
    pattern="unsafe_api",
    file="src/list.c",
    line=40,
    evidence='strcpy(d, "<&>");',
    description="Copies without a bound.",
    suggestion="Pass the size.",
    confidence=0.85,
    cwe=120,
)
RUN = {"id": "a1", "state": "done", "stages": {"scan": {"jobs": 2}}}


def copy(**changes):
    return COPY._replace(**changes)


def body_of(*candidates, scanned_files=3, **rest):
    return build(gather(enumerate(candidates, start=1)), scanned_files=scanned_files, **rest)


def junit(body, run=RUN):
    """Return the root element, its counts checked against what is in it."""
    root = ElementTree.fromstring("".join(render_junit(body, run)).encode())
    for element in (root, *root):
        for kind, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert element.get(kind) == str(len(list(element.iter(tag))))
    return root


def names(root):
    return [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]


def test_a_clean_scan_is_one_test_that_passes():
    root = junit(body_of())

    assert names(root) == [("jarvis.scan", "every file was checked")]
    assert (root.get("failures"), root.get("errors")) == ("0", "0")


def test_a_finding_is_a_failure_of_its_rule_with_all_that_one_must_know():
    root = junit(body_of(COPY))
    case = root.find("testsuite[@name='unsafe_api']/testcase")
    failure = case.find("failure")

    assert case.attrib == {
        "classname": "jarvis.unsafe_api",
        "name": 'src/list.c: strcpy(d, "<&>");',
        "file": "src/list.c",
        "line": "40",
    }
    assert failure.attrib == {"type": "high", "message": RULES_BY_PATTERN["unsafe_api"].title}
    assert failure.text.splitlines() == [
        'src/list.c:40: strcpy(d, "<&>");',
        "Severity high, confidence 0.85, CWE-120, C3795a7.",
        "Why: Copies without a bound.",
        "What to do: Pass the size.",
    ]


def test_what_was_not_checked_is_an_error_and_nothing_passes():
    root = junit(body_of(not_checked=[("a.c", "too large"), ("a.c", "gone")]))

    assert names(root) == [("jarvis.scan", "a.c: gone"), ("jarvis.scan", "a.c: too large")]
    assert [error.text for error in root.iter("error")] == [
        "a.c was not checked: gone",
        "a.c was not checked: too large",
    ]


def test_a_scan_of_nothing_does_not_pass():
    assert junit(body_of(scanned_files=0)).get("errors") == "1"


def test_twins_have_names_of_their_own_that_hold_no_line():
    before = names(junit(body_of(COPY, copy(line=50))))

    assert before == names(junit(body_of(copy(line=51), copy(line=61))))
    assert max(Counter(before).values()) == 1


def test_a_suppressed_finding_is_skipped_with_its_reason():
    body = body_of(COPY, copy(line=50))
    one, other = body.issues
    quiet = [other._replace(suppression=IssueSuppression("inSource", why)) for why in ("checked above", None)]

    root = junit(body._replace(issues=[one], suppressed=quiet))

    assert root.get("failures") == "1"
    assert [skipped.get("message") for skipped in root.iter("skipped")] == ["checked above", "suppressed"]


def test_what_is_not_listed_is_said():
    findings = gather([(1, COPY), (2, copy(line=50))], most=1)

    root = junit(build(findings, scanned_files=1))

    assert root.find("testsuite/system-out").text == "1 findings with lower scores are not listed."


def test_the_run_is_in_the_properties_alone():
    one, other = ("".join(render_junit(body_of(COPY), run)).splitlines() for run in (RUN, RUN | {"id": "b2"}))

    changed = [line for line, before in zip(other, one, strict=True) if line != before]
    assert changed == ['<property name="run.id" value="b2"/>']
    assert '<property name="run.stages" value="{&quot;scan&quot;:{&quot;jobs&quot;:2}}"/>' in one
    assert "<properties>" not in "".join(render_junit(body_of(), {}))


@pytest.mark.parametrize("letter", [*map(chr, range(32)), "\x7f", "\x9b", "\u202e", "\ud800", "\ufffe", "\uffff"])
def test_what_xml_forbids_or_a_terminal_obeys_is_written_out(letter):
    hostile = f"]]><!--&{letter}\"'</failure>"
    body = body_of(copy(evidence=hostile, description=hostile), not_checked=[(hostile, hostile)])
    body = body._replace(issues=[at(issue, file=hostile) for issue in body.issues])

    root = junit(body, {"scanned_root": hostile})

    text = "".join(render_junit(body, {"scanned_root": hostile}))
    assert letter in "\n " or letter not in text
    assert "]]><!--&" in root.find("testsuite[@name='unsafe_api']/testcase").get("name")


def test_an_endless_path_does_not_make_an_endless_name():
    (_, (_, name)) = names(junit(body_of(copy(file="d/" * 30_000 + "a.c"))))

    assert len(name) < 600
    assert "d/a.c: strcpy" in name


@pytest.mark.slow
@pytest.mark.timing
def test_a_large_report_is_written_soon_and_within_what_gitlab_takes():
    body = body_of(*(copy(file=f"src/{number % 97}.c", line=number) for number in range(1, 25_001)))
    started = time.process_time()

    text = "".join(render_junit(body, RUN))

    assert_cpu_within(3, since=started)
    assert len(text) < 30_000_000


def endings(root):
    """Say of each test how it ended, and with which words."""
    return [
        [(child.tag, child.get("type"), child.get("message")) for child in case]
        for case in root.iter("testcase")
        if case.get("classname") != "jarvis.scan"
    ]


def test_what_is_undecided_or_to_review_is_an_error_and_what_is_dismissed_has_passed():
    decided = [(COPY, RISK), (COPY, DOUBT), (COPY, OPEN_END), (COPY, NO_RISK), (COPY, {"status": "dismissed"})]
    root = junit(judged_body(*decided))
    title = RULES_BY_PATTERN["unsafe_api"].title

    assert endings(root) == [
        [("failure", "high", title)],
        [("error", "review", f"{title}: {DOUBT['reason']}")],
        [("error", "undecided", f"{title}: {OPEN_END['reason']}")],
        [("system-out", None, None)],
        [("system-out", None, None)],
    ]
    assert [(root.get(kind)) for kind in ("failures", "errors", "skipped")] == ["1", "2", "0"]
    assert next(root.iter("system-out")).text == "Dismissed: None: the length is checked."


def test_a_confirmed_finding_says_how_it_is_a_risk_what_shows_it_and_how_to_repeat_it():
    lines = junit(judged_body((COPY, RISK))).find(".//failure").text.splitlines()

    assert lines[3:] == [
        "Preconditions: s comes from the network.",
        "Trigger path: main reads it.",
        "list_add copies it.",
        "Consequences: The stack is overwritten.",
        "What to do: Use strlcpy with sizeof d.",
        "Evidence: src/list.c:38: char d[8];",
        "Evidence: src/main.c:9: read(fd, s, 4096);",
        "list_add(s);",
        "To reproduce, with bash:",
        "grep -n strcpy src/list.c",
        "cat src/main.c",
    ]


@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\u202e", "\ud800", "\uffff", "]]></failure>"])
def test_hostile_words_of_a_model_are_written_out(letter):
    text = "".join(render_junit(judged_body(*hostile(f"a{letter}b")), RUN))

    assert len(endings(ElementTree.fromstring(text.encode()))) == 4
    assert f"a{letter}b" not in text
