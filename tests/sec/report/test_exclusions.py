"""What a report sets aside: findings that comments suppress, that people judged false, and that a baseline knew."""

import json
from collections import Counter

from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report import build, every_issue, gather
from jarvis_workers.sec.report.body import REMARKS_MAX
from jarvis_workers.sec.report.html import render_html
from jarvis_workers.sec.report.json import render_json
from jarvis_workers.sec.report.junit import render_junit
from jarvis_workers.sec.report.markdown import render_markdown
from jarvis_workers.sec.report.sarif import render_sarif
from jarvis_workers.sec.report_json import body_from_json, body_to_json, issue_to_json
from jarvis_workers.sec.suppressions import WITHOUT_REASON
from jarvis_workers.sec.triage_states import TriageState, TriageVerdict

COPY = Candidate(
    language="c/cpp",
    category="unsafe_api",
    pattern="unsafe_api",
    file="a.c",
    line=4,
    evidence="strcpy(d, s);",
    description="copies without a bound",
    suggestion="pass the size",
    confidence=0.85,
    cwe=120,
)
BASELINE = {"what": "v1"}
NOISE = {COPY.fingerprint: TriageVerdict(TriageState.FALSE, "both are <NAME_MAX> bytes")}


def like(**changes: object) -> Candidate:
    return COPY._replace(**changes)


def report(*found: Candidate, known=None, judged=None, **rest):
    known_before = None if known is None else dict(Counter(known))
    findings = gather(enumerate(found, start=1), 0.4, baseline=known_before, judged=judged or {})
    baseline = None if known is None else BASELINE | rest.pop("facts", {})
    return body_to_json(build(findings, scanned_files=3, baseline=baseline, **rest))


def compared(*found: Candidate, known, **rest):
    body = report(*found, known=known, **rest)
    return [issue["line"] for issue in body["issues"]], body["summary"]["baseline"]


def test_what_is_suppressed_is_no_issue_and_is_kept_with_its_justification():
    body = report(COPY, like(line=5, suppressed="checked above"))

    assert [issue["line"] for issue in body["issues"]] == [4]
    (suppressed,) = body["suppressed"]
    assert (suppressed["line"], suppressed["id"][0]) == (5, "C")
    assert suppressed["suppression"] == {"kind": "inSource", "justification": "checked above"}
    assert (body["summary"]["total"], body["summary"]["suppressed"]) == (1, 1)
    assert body["summary"]["by_severity"] == {"high": 1}
    assert body["summary"]["score_sum"] == 2.55


def test_what_is_too_unsure_is_that_even_when_suppressed():
    summary = report(like(confidence=0.3, suppressed="x"))["summary"]

    assert (summary["suppressed"], summary["below_min_confidence"]) == (0, 1)


def test_only_what_a_baseline_does_not_know_is_new():
    new = like(line=9, evidence="gets(d);")

    assert compared(COPY, new, known=[COPY.fingerprint]) == ([9], {"known": 1, "gone": 0, "what": "v1"})
    assert compared(COPY, known=[]) == ([4], {"known": 0, "gone": 0, "what": "v1"})


def test_one_more_line_like_two_that_were_known_is_one_new_finding():
    lines, said = compared(COPY, like(line=5), like(line=6), known=[COPY.fingerprint] * 2)

    assert (lines, said["known"]) == ([6], 2)


def test_what_is_not_found_again_is_gone_unless_it_is_only_out_of_sight():
    other = like(evidence="gets(d);")
    known = [COPY.fingerprint] * 2 + [other.fingerprint] * 2

    assert compared(known=known)[1]["gone"] == 4
    assert compared(COPY, known=known)[1]["gone"] == 3
    hidden = like(suppressed="x"), like(evidence="gets(d);", confidence=0.1)
    assert compared(*hidden, known=known)[1] == {"known": 0, "gone": 2, "what": "v1"}


def test_an_unsure_twin_does_not_take_the_place_of_a_known_finding():
    assert compared(like(line=1, confidence=0.2), COPY, known=[COPY.fingerprint])[0] == []


def test_where_only_a_part_was_scanned_nothing_is_called_gone():
    said = report(COPY, known=[], facts={"partial": True})["summary"]["baseline"]

    assert said == {"known": 0, "what": "v1"}


def test_without_a_baseline_nothing_is_said_of_one():
    assert "baseline" not in report(COPY)["summary"]


def test_unused_suppressions_are_listed_by_place_and_those_without_a_reason_apart():
    remarks = [("b.c", 2, "jarvis-ignore", "no rule fires here"), ("a.c", 7, "jarvis-ignore", WITHOUT_REASON)]
    summary = report(remarks=[*remarks, ("a.c", 9, "jarvis-ignore[x]", "no such rule: x")])["summary"]

    assert summary["unused_suppressions"] == [
        {"file": "a.c", "line": 9, "text": "jarvis-ignore[x]", "reason": "no such rule: x"},
        {"file": "b.c", "line": 2, "text": "jarvis-ignore", "reason": "no rule fires here"},
    ]
    assert summary["suppressions_without_reason"] == [{"file": "a.c", "line": 7, "text": "jarvis-ignore"}]


def test_of_very_many_unused_suppressions_the_first_are_listed_and_the_rest_counted():
    remarks = [("a.c", line, "jarvis-ignore: x", "no rule fires here") for line in range(REMARKS_MAX + 5)]
    summary = report(remarks=remarks)["summary"]

    assert len(summary["unused_suppressions"]) == REMARKS_MAX
    assert summary["unused_suppressions_not_listed"] == 5


def test_markdown_says_what_was_set_aside():
    remarks = [("`a`.c", 2, "jarvis-ignore[<b>]", "no such rule: <b>"), ("a.c", 3, "jarvis-ignore", WITHOUT_REASON)]
    facts = {"not_listed": 7, "state": "incomplete"}
    body = report(like(suppressed="x"), known=[COPY.fingerprint], facts=facts, remarks=remarks)

    text = "".join(render_markdown(body_from_json(body), {}))

    assert "**Nothing new.** No new location was flagged in 3 files." in text
    assert "0 findings of the baseline `v1` still exist, 0 no longer found." in text
    assert "did not list 7 findings: they count as new" in text
    assert "The run over the baseline is incomplete" in text
    assert "Not listed: 1 finding suppressed by comments in the code." in text
    assert "- `` `a`.c `` line 2: `jarvis-ignore[<b>]`: no such rule: &lt;b&gt;" in text
    assert "## Suppressions without a reason\n\n- `a.c` line 3: `jarvis-ignore`" in text


def test_a_tree_in_which_all_is_suppressed_or_unchanged_does_not_read_as_clean():
    assert "**No findings** except those suppressed or dismissed in 3 files." in "".join(
        render_markdown(body_from_json(report(like(suppressed="x"))), {})
    )
    idle = build(gather([]), scanned_files=0, left_out={"not changed since v*1": 3})
    assert "No source file has changed since v\\*1." in "".join(render_markdown(idle, {}))


def test_json_counts_what_is_suppressed_and_lists_it_not():
    text = "".join(render_json(body_from_json(report(like(suppressed="x"))), {}))

    assert '"suppressed": 1' in text
    assert '"issues": []' in text


def test_what_was_judged_false_is_no_issue_and_is_kept_with_the_reason():
    other = like(line=9, evidence="gets(d);")
    body = report(COPY, other, like(line=5), like(line=7, suppressed="in the code"), judged=NOISE)

    assert [issue["line"] for issue in body["issues"]] == [9]
    external = {"kind": "external", "justification": "both are <NAME_MAX> bytes"}
    assert [(one["line"], one["suppression"]) for one in body["suppressed"]] == [
        (4, external),
        (5, external),
        (7, {"kind": "inSource", "justification": "in the code"}),
    ]
    summary = body["summary"]
    assert (summary["total"], summary["judged_false"], summary["suppressed"]) == (1, 2, 1)
    assert summary["by_severity"] == {"high": 1}


def test_what_was_judged_true_stays_and_says_so():
    real = {COPY.fingerprint: TriageVerdict(TriageState.TRUE, "")}
    found = [COPY, like(line=9, evidence="gets(d);")]
    body = report(*found, judged=real)

    assert [issue.get("judged") for issue in body["issues"]] == [True, None]
    assert "judged_false" not in body["summary"]
    every = every_issue(lambda: enumerate(found, start=1), 0.4, judged=real)
    assert list(map(issue_to_json, every)) == body["issues"]


def test_what_was_judged_false_is_not_gone_from_a_baseline_and_not_known_to_it():
    lines, said = compared(COPY, like(line=5), known=[COPY.fingerprint] * 2, judged=NOISE)

    assert (lines, said["known"], said["gone"]) == ([], 0, 0)


def test_what_is_too_unsure_is_that_even_when_judged():
    summary = report(like(confidence=0.3), judged=NOISE)["summary"]

    assert (summary["below_min_confidence"], summary.get("judged_false")) == (1, None)


def test_every_format_counts_what_was_judged_false():
    body = report(COPY, judged=NOISE)

    text = "".join(render_markdown(body_from_json(body), {}))
    assert "**No findings** except those suppressed or dismissed in 3 files." in text
    assert "Not listed: 1 finding marked false in triage." in text
    assert '"judged_false": 1' in "".join(render_json(body_from_json(body), {}))
    (result,) = json.loads("".join(render_sarif(body_from_json(body), {})))["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "external", "justification": "both are <NAME_MAX> bytes"}]
    page = "".join(render_html(body_from_json(body), {}))
    assert "Marked as false positives in triage: 1." in page
    assert "both are &lt;NAME_MAX&gt; bytes" in page
    assert 'skipped="1"' in "".join(render_junit(body_from_json(body), {}))
