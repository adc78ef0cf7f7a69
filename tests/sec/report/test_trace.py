"""The steps that lead to a finding are in every format, whatever they hold."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft4Validator

from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report import build, gather
from jarvis_workers.sec.report.html import render_html
from jarvis_workers.sec.report.json import render_json
from jarvis_workers.sec.report.junit import render_junit
from jarvis_workers.sec.report.markdown import render_markdown
from jarvis_workers.sec.report.sarif import render_sarif
from jarvis_workers.sec.report_json import body_to_json
from jarvis_workers.sec.trace import STEPS_MAX, TRAIL_BYTES, TraceLocation, read_trail, trail_of

SCHEMA = Path(__file__).parents[2] / "data" / "sarif-schema-2.1.0.json"
STEPS = (("lib/a b.c", 5, "release frees it"), (None, 7, "text is freed again"))
TWICE = Candidate(
    language="c/cpp",
    category="memory_mgmt",
    pattern="flow_double_free",
    file="src/end.c",
    line=7,
    evidence="free(text);",
    description="It has been freed already.",
    suggestion="Free it once.",
    confidence=0.85,
    cwe=415,
    trail=trail_of(STEPS, "src/end.c"),
)
PATH = [
    {"file": "lib/a b.c", "line": 5, "note": "release frees it"},
    {"file": "src/end.c", "line": 7, "note": "text is freed again"},
]


def body_of(*candidates):
    return build(gather(enumerate(candidates, 1)), scanned_files=2)


def text_of(render, *candidates):
    return "".join(render(body_of(*candidates), {}))


def test_json_has_a_path_only_where_there_is_one():
    body = body_of(TWICE, TWICE._replace(trail=None, line=9))
    text = "".join(render_json(body, {}))

    assert text == json.dumps({"run": {}, **body_to_json(body)}, indent=2) + "\n"
    assert [issue.get("path") for issue in json.loads(text)["issues"]] == [PATH, None]


def test_sarif_has_a_code_flow_with_places_and_messages():
    log = json.loads(text_of(render_sarif, TWICE))

    assert [error.message for error in Draft4Validator(json.loads(SCHEMA.read_text())).iter_errors(log)] == []
    (flow,) = log["runs"][0]["results"][0]["codeFlows"]
    (thread,) = flow["threadFlows"]
    steps = [place["location"] for place in thread["locations"]]
    assert [step["message"]["text"] for step in steps] == [step["note"] for step in PATH]
    assert [step["physicalLocation"] for step in steps] == [
        {"artifactLocation": {"uri": "lib/a%20b.c", "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 5}},
        {"artifactLocation": {"uri": "src/end.c", "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 7}},
    ]


def test_markdown_numbers_the_steps_below_the_finding():
    lines = text_of(render_markdown, TWICE).splitlines()
    place = next(number for number, line in enumerate(lines) if "free(text);" in line)

    assert lines[place + 1 : place + 3] == [
        "  1. `lib/a b.c` line 5: release frees it",
        "  2. `src/end.c` line 7: text is freed again",
    ]


def test_junit_tells_the_steps_with_the_failure():
    failure = ElementTree.fromstring(text_of(render_junit, TWICE).encode()).find(".//failure")

    assert failure is not None
    assert (failure.text or "").splitlines()[-2:] == [
        "Step 1: lib/a b.c:5: release frees it",
        "Step 2: src/end.c:7: text is freed again",
    ]


def test_html_lists_the_steps_in_the_card_and_for_the_script():
    text = text_of(render_html, TWICE)

    assert '<li><span class="place">lib/a b.c:5</span> release frees it</li>' in text
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    ((_, steps),) = data["paths"].items()
    assert [(data["files"][file], line, note) for file, line, note in steps] == [tuple(step.values()) for step in PATH]


@pytest.mark.parametrize("render", [render_markdown, render_html, render_junit, render_sarif, render_json])
def test_hostile_steps_are_shown_and_not_obeyed(render):
    steps = [("a\x1b[31m\u202e.c", -5, "</script><b>\n# [x](http://evil.invalid) \x1b[2J\u2066")]

    text = text_of(render, TWICE._replace(trail=trail_of(steps, "a.c")))

    assert not {"\x1b", "\u202e", "\u2066"} & set(text)
    assert "</script><b>" not in text or render in (render_json, render_sarif)
    assert "\n# [x]" not in text


def test_what_is_too_much_is_left_out_in_the_middle():
    many = [(f"src/{number}.c", number, "x" * 150) for number in range(1, 100)]
    text = trail_of(many, "a.c")
    assert text is not None
    steps = read_trail(text)

    assert len(text) <= TRAIL_BYTES
    assert 10 < len(steps) <= STEPS_MAX
    assert (steps[0].line, steps[-1].line) == (1, 99)
    (gap,) = [step.note for step in steps if step.note.endswith("more)")]
    assert gap.endswith(f"(then {99 - len(steps)} more)")


def test_few_short_steps_are_kept_as_they_are():
    assert trail_of([], "a.c") is None
    kept = read_trail(str(trail_of([(None, 3, "x")] * STEPS_MAX, "a.c")))
    assert kept == (TraceLocation("a.c", 3, "x"),) * STEPS_MAX
