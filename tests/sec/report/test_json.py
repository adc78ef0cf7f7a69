"""The JSON of a report is what the standard encoder writes, only sooner."""

import json
import time

import pytest

from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report import build, gather, json_line
from jarvis_workers.sec.report.json import render_json as pieces
from jarvis_workers.sec.report_json import body_to_json, issue_to_json, summary_to_json
from tests.support.issues import body_of
from tests.support.machine import assert_cpu_within

RUN = {"id": "a1", "scanned_root": "/src", "stages": {"scan": {"jobs": 2}}}


def render_json(body, run):
    return "".join(pieces(body, run))


def candidates(count):
    return [
        (
            number,
            Candidate(
                language="c/cpp",
                category="unsafe_api",
                pattern="unsafe_api",
                file=f"src/é{number % 97}.c",
                line=number,
                evidence='strcpy(d, "a, b: \\"c\\"");\x1b',
                description="copies without a bound",
                suggestion="pass the size",
                confidence=0.85,
                cwe=120,
            ),
        )
        for number in range(1, count + 1)
    ]


def test_it_is_the_text_of_the_standard_encoder():
    body = build(gather(candidates(3)), scanned_files=1, not_checked=[("x", "y")])

    text = render_json(body, RUN)

    assert text == json.dumps({"run": RUN, **body_to_json(body)}, indent=2, ensure_ascii=False) + "\n"


def test_a_report_without_findings_is_whole():
    body = build(gather([]), scanned_files=0)

    assert render_json(body, {}) == json.dumps({"run": {}, **body_to_json(body)}, indent=2) + "\n"


def test_half_a_character_is_written_as_its_number():
    body = build(gather([]), scanned_files=0, not_checked=[("a\udc80", "gone")])

    text = render_json(body, {})

    assert "a\\udc80" in text.encode("utf-8").decode()
    assert json.loads(text)["summary"] == summary_to_json(body.summary)


@pytest.mark.slow
@pytest.mark.timing
def test_a_large_report_is_written_at_once():
    body = build(gather(candidates(25_000)), scanned_files=97)
    started = time.process_time()

    text = render_json(body, RUN)

    assert_cpu_within(2, since=started)
    assert len(json.loads(text)["issues"]) == 25_000


@pytest.mark.parametrize(
    "letter", list("\x80\x9b\x9f\u061c\u200b\u200f\u202a\u202e\u2066\u2069\ufeff\U000e0001\U000e007f")
)
def test_what_a_terminal_would_obey_is_written_as_its_number(letter):
    hostile = f"é\U0001f600{letter}\\u"
    body = body_of(
        {"not_checked": [{"file": hostile, "reason": hostile}]}, issues=[{"file": hostile, "evidence": hostile}]
    )
    run = RUN | {"scanned_root": hostile}

    text, line = render_json(body, run), json_line(issue_to_json(body.issues[0]))

    assert letter not in text + line
    assert "é\U0001f600" in text
    assert json.loads(text) == {"run": run, **body_to_json(body)}
    assert json.loads(line) == issue_to_json(body.issues[0])
    assert line.count("\n") == 1
