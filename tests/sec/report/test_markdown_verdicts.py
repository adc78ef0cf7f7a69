"""The Markdown of a report with verdicts: what a person must act on first, and nothing open that reads as safe."""

import re
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from jarvis_workers.sec.proof.proof import Proof, ProofSource
from jarvis_workers.sec.report import FORMATS
from jarvis_workers.sec.report.markdown import render_markdown
from jarvis_workers.sec.report.markdown_verdicts import proof_lines
from jarvis_workers.sec.report.verdicts import lead
from jarvis_workers.sec.report_document import (
    CanaryOutcome,
    ReadingOutcome,
    ReportBody,
    Summary,
)
from jarvis_workers.sec.report_json import body_from_json, body_to_json
from jarvis_workers.sec.trace import trail_of
from jarvis_workers.words import ENGLISH
from tests.sec.verdicts import COPY, EVERY, NO_RISK, OPEN_END, RISK, RUN, hostile, judged_body, like


def report(*decided, run=RUN, **rest):
    return "".join(render_markdown(judged_body(*decided, **rest), run))


def section(text, title):
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_head_counts_the_verdicts_and_says_what_is_open():
    head = report(*EVERY, not_checked=[("x.c", "too large")]).partition("## Summary")[0]

    assert "**2 confirmed findings, 1 to review, 2 undecided in 3 files.**" in head
    assert "It dismissed 2 of them." in head
    assert "> **To review: 1 finding.** Manual review needed" in head
    assert "> **Undecided: 2 findings.** No verdict. This does not mean that the code is safe." in head
    assert "> **Not checked: 1 file.**" in head


@pytest.mark.parametrize(
    ("decided", "facts", "says"),
    [
        ([(COPY, OPEN_END)], {}, "**No confirmed finding, 1 undecided in 3 files.**"),
        ([(COPY, NO_RISK)], {}, "**No confirmed finding in 3 files.**"),
        ([(COPY, NO_RISK)], {"not_checked": [("x.c", "gone")]}, "**Incomplete: not everything was checked. No confirm"),
    ],
)
def test_a_report_without_a_confirmed_finding_does_not_read_as_clean(decided, facts, says):
    text = report(*decided, **facts)

    assert says in text
    assert "No findings" not in text
    assert ("does not mean that the code is safe" in text) or ("does not prove that the code is" in text)


def test_a_confirmed_finding_has_all_that_a_person_must_know_to_mend_it():
    told = section(report(*EVERY), "Confirmed")

    assert re.findall(r"^### (\w+): `(\w+)`", told, re.MULTILINE) == [
        ("C3795a7", "unsafe_api"),
        ("C05f435", "flow_double_free"),
    ]
    for line in (
        "- **Preconditions:** s comes from the network.",
        "- **Trigger path:** main reads it.<br>list_add copies it.",
        "- **Consequences:** The stack is overwritten.",
        "- **What to do:** Use strlcpy with sizeof d.",
        "- `src/list.c` line 38: `char d[8];`",
        "  read(fd, s, 4096);",
        "1. `lib/free.c` line 5: release frees it",
        "```bash\ngrep -n strcpy src/list.c\ncat src/main.c\n```",
    ):
        assert f"\n{line}\n" in told


def test_what_is_open_stands_with_its_reason_and_what_is_dismissed_with_what_speaks_against_it():
    text = report(*EVERY)

    assert "- **Reason for review:** its evidence does not stand where it was said to" in section(text, "To review")
    assert "**unavailable: no answer from the model for 600 s** (2 findings)" in section(text, "Undecided")
    first, second = re.findall(r"^- .*$", section(text, "Dismissed"), re.MULTILINE)
    assert "line 51, `unsafe_api`: None: the length is checked. Evidence in `src/list.c` line 50: `if (" in first
    assert second.endswith("line 52, `unsafe_api`: `strcpy(e, t);`")


def test_one_reason_stands_once_for_a_thousand_undecided_findings():
    text = report(*((like(COPY, line=line), OPEN_END) for line in range(1, 1_001)))

    assert text.count("no answer from the model") == 1
    assert len(re.findall(r"^- \*\*C", section(text, "Undecided"), re.MULTILINE)) == 1_000


def test_dismissed_findings_that_are_not_listed_are_counted():
    body = judged_body((COPY, RISK), (like(COPY, line=50), NO_RISK))
    body = body._replace(summary=body.summary._replace(dismissed=31))

    assert "Not listed: 30 dismissed findings." in "".join(render_markdown(body, RUN))


@pytest.mark.parametrize("status", ["confirmed", "dismissed", "undecided"])
@pytest.mark.parametrize("found", [[], [(COPY, RISK)]])
def test_a_known_bug_that_was_missed_is_told_before_all_else_in_every_format(status, found):
    body = judged_body(*found)
    body = body._replace(summary=body.summary._replace(canary=CanaryOutcome(status, "votes differ <b>")))
    said = {form: "".join(render(body, RUN)) for form, render in FORMATS.items() if form != "json"}

    missed = status != "confirmed"
    assert all(("The canary, a known bug, was not confirmed" in text) == missed for text in said.values())
    assert ('"executionSuccessful":false' in said["sarif"]) == missed
    assert (len(ElementTree.fromstring(said["junit"].encode()).findall(".//error")) == 1) == missed
    if missed:
        assert (
            f"> **The canary, a known bug, was not confirmed.** Its status is {status} (votes differ &lt;b&gt;): do not"
            in said["markdown"]
        )
        assert said["markdown"].index("known bug") < said["markdown"].index("## ")


def test_what_no_model_has_looked_at_is_told_apart():
    text = report((COPY, RISK), (like(COPY, line=50), {"status": "heuristic"}))

    assert "> **Not verified: 1 finding.** Flagged by a rule, not verified by a model." in text
    assert "line 50" in section(text, "Not verified")


def test_model_money_time_and_sandbox_stand_in_the_last_section_alone():
    text = report(*EVERY)

    assert "| cost | 0.0421 dollars |" in section(text, "Run")
    assert "| answers | 12, 3 of them cached |" in section(text, "Run")
    assert "| tokens | 81,000 in (20,000 of them cached), 4,200 out |" in section(text, "Run")
    assert "| sandbox | tier A |" in section(text, "Run")
    other = report(*EVERY, run=RUN | {"cost": 1.5, "sandbox": [], "model": {"group": "other"}})
    assert other.partition("## Run")[0] == text.partition("## Run")[0]
    assert "| sandbox | no script was run |" in other


def shapes(text):
    """What a reader of Markdown makes of it: headings, cells, code, but none of the words."""
    blocks = MarkdownIt("commonmark").enable("table").parse(text)
    parts = [part for block in blocks for part in (block, *(block.children or []))]
    return [part.type for part in parts if part.type not in ("text", "text_special")]


@pytest.mark.parametrize(
    "line",
    [
        "# a",
        "- a",
        "1. a",
        "===",
        "```",
        "> a",
        "| a |",
        "    a",
        "</details>",
        "[a](http://evil)",
        "<!-- a",
        "\x1b[2J\u202e",
    ],
)
def test_hostile_words_of_a_model_change_nothing_around_them(line):
    mild, text = ("".join(render_markdown(judged_body(*hostile(f"{one}\n{one}")), RUN)) for one in ("mild", line))

    assert shapes(text) == shapes(mild)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)


def test_a_confirmed_root_cause_is_told_once_with_its_places():
    way = [("table.c", 8, "calloc(1, n) may return NULL"), ("table.c", 13, "t is NULL here and is dereferenced")]
    null = [
        like(COPY, pattern="flow_null_dereference", file=file, trail=trail_of(way, file)) for file in ("a.c", "b.c")
    ]
    text = "".join(render_markdown(judged_body((null[0], RISK), (null[1], RISK), (COPY, RISK)), RUN))

    assert text.startswith("# Security report\n\n**3 confirmed findings, 2 root causes in 3 files.**")
    assert text.count("\n### C") == 2
    assert re.search(r"\n- Same root cause:\n  - \*\*\w+\*\* `b.c` line 40, `flow_null_dereference`\n", text)


@pytest.mark.parametrize(
    ("proved", "confirmed", "says"),
    [
        (0, 0, "No confirmed finding in 1 file."),
        (0, 3, "3 confirmed findings, 2 root causes in 1 file."),
        (1, 0, "1 proved finding in 1 file."),
        (1, 3, "1 proved finding, 3 confirmed findings, 2 root causes in 1 file."),
    ],
)
def test_the_root_causes_of_confirmed_findings_are_counted_beside_a_proof(proved, confirmed, says):
    causes = 2 if confirmed else 0
    statuses = {"proved": proved, "confirmed": confirmed}

    assert lead(Summary(by_status=statuses, confirmed_root_causes=causes, scanned_files=1))[0] == says


@pytest.mark.parametrize(
    ("statuses", "says"),
    [
        ({"confirmed": 2, "dismissed": 1}, "A model verified the locations flagged by rules."),
        ({"confirmed": 2, "undecided": 1, "heuristic": 2}, "A model verified 2 of 5 locations flagged by rules."),
        ({"undecided": 3}, "A model verified 0 of 3 locations flagged by rules."),
        ({}, "A model was given no location to verify. It read 0 of 3 files whole, 0% of the lines"),
    ],
)
def test_locations_without_a_verdict_are_not_called_verified(statuses, says):
    dismissed, reading = statuses.pop("dismissed", 0), ReadingOutcome(3, 0, 1, 98, 0)
    summary = Summary(by_status=statuses, total=sum(statuses.values()), dismissed=dismissed, reading=reading)

    assert lead(summary)[1].startswith(says)


def test_a_report_without_a_location_says_what_was_read_and_that_this_proves_nothing():
    body = ReportBody(summary=Summary(by_status={}, scanned_files=1, reading=ReadingOutcome(1, 1, 1, 4, 4)))
    texts = ["".join(FORMATS[name](body, RUN)) for name in ("text", "markdown", "html")]

    assert all("It read 1 of 1 files whole, 100% of the lines, in 1 conversation." in text for text in texts)
    assert all("This does not prove that the code is free of defects." in text for text in texts)


def test_an_empty_file_of_a_proof_is_text():
    proof = Proof("proved", sources=(ProofSource("stdin", ""), ProofSource("image", base64="AAA=")))

    assert list(proof_lines(proof, ENGLISH))[1:] == ["`stdin`:", "```\n\n```", "`image`:", "```base64\nAAA=\n```"]


def test_what_models_said_of_a_defect_is_told_in_every_format_that_tells_a_verdict():
    body = judged_body((COPY, RISK | {"also_reported": ["name may have no NUL", "a <b> too long"]}))

    assert body_from_json(body_to_json(body)) == body
    texts = {name: "".join(FORMATS[name](body, RUN)) for name in ("json", "markdown", "html", "sarif")}
    assert all("name may have no NUL" in text for text in texts.values())
    assert "**Also reported:** name may have no NUL" in texts["markdown"]


def test_what_a_model_reported_and_nobody_was_asked_about_is_listed_with_its_words():
    seen = like(COPY, pattern="seen_by_model", description="name may have no NUL")

    assert "seen_by_model" in (line := next(row for row in report((seen, OPEN_END)).splitlines() if "no NUL" in row))
    assert line.startswith("- **C")
