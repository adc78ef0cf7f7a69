"""The Markdown of a report: what it says first, what it says once, and what it does not obey."""

import re

import pytest
from markdown_it import MarkdownIt

from jarvis_workers.escape import code, prose
from jarvis_workers.report_formats import format_of
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report import build, gather
from jarvis_workers.sec.report.markdown import render_markdown
from jarvis_workers.sec.trace import trail_of

COPY = Candidate(
    language="c/cpp",
    category="unsafe_api",
    pattern="unsafe_api",
    file="src/list.c",
    line=40,
    evidence="strcpy(d, s);",
    description="Copies without a bound.",
    suggestion="Pass the size.",
    confidence=0.85,
    cwe=676,
)


def copy(**changes):
    return COPY._replace(**changes)


def report(*candidates, run=None, scanned_files=3, most=100_000, **rest):
    body = build(gather(enumerate(candidates, start=1), 0.4, most), scanned_files=scanned_files, **rest)
    return "".join(render_markdown(body, run or {"id": "a1"}))


def test_the_verdict_comes_first_and_names_what_was_not_checked():
    text = report(COPY, copy(line=41, confidence=0.5), not_checked=[("x.c", "no permission"), ("y.c", "no permission")])
    head = text.partition("## Summary")[0]

    assert "2 findings in 3 files: 1 high, 1 low." in head
    assert "Not checked: 2 files." in head
    assert "no permission (2)" in head


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"not_checked": [("x.c", "too large")]}, "**Incomplete.**"),
        ({"scanned_files": 0}, "**Nothing was checked.**"),
        ({}, "**No findings.** No rule fired in 3 files."),
    ],
)
def test_only_a_whole_scan_without_findings_reads_as_one(facts, says):
    text = report(**facts)

    assert says in text
    assert ("No findings" in text) == (says.startswith("**No findings"))


def test_a_rule_is_explained_once_however_often_it_fired():
    text = report(*(copy(line=line) for line in range(300)))

    assert text.count("Copies without a bound.") == 1
    assert text.count("Pass the size.") == 1
    assert text.count("`strcpy(d, s);`") == 300
    assert "CWE-676" in text


def test_a_finding_that_has_its_own_explanation_keeps_it():
    text = report(COPY, COPY, copy(line=41, description="Copies into a fixed buffer."))

    assert text.count("Copies without a bound.") == 1
    assert "\n  - Why: Copies into a fixed buffer.\n" in text


def test_findings_are_grouped_by_severity_then_file():
    text = report(
        copy(file="a.c", confidence=0.5),
        copy(file="b.c"),
        copy(file="a.c", line=41, confidence=0.7),
        copy(file="a.c", line=42),
    )

    places = re.findall(r"^(?:### (\w+) severity|#### `(.*)`)$", text, re.MULTILINE)
    assert ["".join(place) for place in places] == ["High", "b.c", "a.c", "Medium", "a.c", "Low", "a.c"]


def test_risk_reasons_and_trees_are_listed():
    text = report(
        COPY,
        copy(confidence=0.1),
        not_checked=[("x.c", "too large")],
        left_out={"not a source file": 9},
        excluded=[("vendor", "excluded directory")],
    )

    assert "| `src/list.c` | 1 | 2.55 |" in text
    assert "Not listed: 1 weaker finding" in text
    assert "**too large** (1 file)\n\n- `x.c`" in text
    assert "- 9 files: not a source file" in text
    assert "- `vendor`: excluded directory" in text
    assert "Ban unbounded copy functions" in text.partition("## Advice")[2]


def test_what_is_not_listed_is_said_at_once_and_how_to_get_it():
    text = report(COPY, copy(line=41), copy(line=42, category="crypto", confidence=0.5), most=1)
    head, _, rest = text.partition("## Summary")

    assert "**3 findings in 3 files: 2 high, 1 low.**" in head
    assert "> **Not listed: 2 findings.**" in head
    assert all(way in head for way in ("`--min-confidence`", "`--include`", "`jarvis runs export`"))
    assert "| category | total |\n| --- | ---: |\n| unsafe_api | 2 |\n| crypto | 1 |\n| **all** | 3 |" in rest
    assert "| file | listed findings | listed score |" in rest
    assert (rest.count("line 40"), rest.count("line 41")) == (1, 0)
    assert "Not listed" not in report(COPY, copy(line=41), most=2)


def test_two_runs_differ_in_the_last_section_alone():
    one, other = report(COPY, run={"id": "a1", "cost": 0.0}), report(COPY, run={"id": "b2", "stages": {"scan": "x|y"}})

    assert one.partition("## Run")[0] == other.partition("## Run")[0]
    assert "| id | `a1` |" in one
    assert '| stages | `{"scan": "x\\|y"}` |' in other
    assert "## Run" not in "".join(render_markdown(build(gather([]), scanned_files=1), {}))


HOSTILE = "a`b``|<script>\n# [x](http://evil)\x1b[2J\u202e.c"


def shapes(text):
    """What a reader of Markdown makes of it: headings, cells, code, but none of the words."""
    blocks = MarkdownIt("commonmark").enable("table").parse(text)
    parts = [part for block in blocks for part in (block, *(block.children or []))]
    return [part.type for part in parts if part.type not in ("text", "text_special")]


def test_a_hostile_name_changes_nothing_around_it():
    mild, hostile = (
        report(copy(file=name, evidence=name), not_checked=[(name, name)], excluded=[(name, name)], left_out={name: 1})
        for name in ("mild", HOSTILE)
    )

    assert len(hostile.splitlines()) == len(mild.splitlines())
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", hostile)
    assert not any(line.startswith("# ") for line in hostile.splitlines()[1:])
    assert shapes(hostile) == shapes(mild)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain_name (see it)!", "plain_name (see it)!"),
        (
            "_a_ *b* <c> & [d](e) `f` | ~g~ $h$",
            "\\_a\\_ \\*b\\* &lt;c&gt; &amp; \\[d\\](e) \\`f\\` \\| \\~g\\~ \\$h\\$",
        ),
        ("https://evil www.evil a@b", "https&#58;//evil www&#46;evil a&#64;b"),
        ("a\u180e\u3164\ufff9\ufffb\U000e0041", "a\\u180e\\u3164\\ufff9\\ufffb\\U000e0041"),
        ("one\r\ntwo\x00\x9b\u2028\udc80", "one\\r\\ntwo\\x00\\x9b\\u2028\\udc80"),
    ],
)
def test_prose_is_shown_as_it_stands(text, shown):
    assert prose(text).replace("\\\\", "\\") == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb", "`a b`"),
        ("a`b", "``a`b``"),
        ("`a``", "``` `a`` ```"),
        ("  ", "(blank)"),
        ("a\nb", "`a\\nb`"),
    ],
)
def test_code_is_one_span_whatever_it_holds(text, shown):
    assert code(text) == shown


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("report.json", "json"),
        ("a/b.MD", "markdown"),
        ("x.markdown", "markdown"),
        ("-", "html"),
        ("x.txt", "text"),
        ("x.pdf", None),
    ],
)
def test_the_suffix_names_the_format(path, form):
    assert format_of(path, "html") == form


def null(file, line, confidence=0.5):
    way = [("table.c", 8, "calloc(1, n) may return NULL"), ("table.c", 13, "t is NULL here and is dereferenced")]
    return copy(pattern="flow_null_dereference", file=file, line=line, confidence=confidence, trail=trail_of(way, file))


def test_a_root_cause_is_told_once_with_its_places():
    text = report(null("a.c", 3), null("b.c", 5), null("table.c", 13, 0.9), copy(line=7))
    told = text.partition("## Findings")[2]

    assert "4 findings, 2 root causes in 3 files" in text
    assert re.findall(r"^#### `(.*)`$", told, re.MULTILINE) == ["src/list.c", "table.c"]
    assert re.findall(r"^  - (Same.*)$|^    - \*\*\w+\*\* (.*), `flow_null_dereference`$", told, re.MULTILINE) == [
        ("Same root cause:", ""),
        ("", "`a.c` line 3"),
        ("", "`b.c` line 5"),
    ]
