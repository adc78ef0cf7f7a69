"""Patches in reports: their lines, what the gates said of them, and the fixes of SARIF."""

import json

from jsonschema import Draft4Validator

from jarvis_workers.sec.proof.proof import Proof, ProofSource
from jarvis_workers.sec.report.html import render_html
from jarvis_workers.sec.report.i18n import words_of
from jarvis_workers.sec.report.markdown import render_markdown
from jarvis_workers.sec.report.patches import LINES_MAX, patch_lines, patch_summary
from jarvis_workers.sec.report.sarif import render_sarif
from jarvis_workers.sec.report.text import render_text
from jarvis_workers.sec.report_document import PatchReplacement, ReportBody, ReportPatch
from tests.sec.report.test_sarif import SCHEMA
from tests.sec.verdicts import EVERY, RUN, judged_body

DIFF = "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@\n int f;\n-<b>gets(s);\n+fgets(s, 8, stdin);\n"
FIXED = ReportPatch(
    "fixed",
    passed=("build", "rule"),
    unchecked=("proof",),
    message="Bound it\n",
    diff=DIFF,
    replacements=(PatchReplacement("a.c", 2, 3, "fgets(s, 8, stdin);\n"),),
)
REFUSED = ReportPatch("refused", reason="rule: the rule still fires: a\x1b.c:3")


def patched(patch: ReportPatch) -> ReportBody:
    body = judged_body(*EVERY)
    return body._replace(patches={issue.id: patch for issue in body.issues if issue.status == "confirmed"})


def test_the_gates_of_a_patch_are_named_in_the_language_of_the_report() -> None:
    assert patch_summary(FIXED) == "Passed: build, rule. Not checked: proof."
    proved = FIXED._replace(passed=("proof", "rule"), unchecked=())
    assert patch_summary(proved) == "Its proof no longer fires. Passed: proof, rule."
    assert patch_summary(proved, words_of({"lang": "zh"})).startswith("其证明不再触发。")
    assert patch_summary(REFUSED) == "Refused: rule: the rule still fires: a\x1b.c:3"
    assert patch_summary(ReportPatch("not done", "stopped"), words_of({"lang": "zh"})) == "未完成：stopped"


def test_an_older_error_that_the_input_of_a_proof_reaches_is_named_in_every_report() -> None:
    older = FIXED._replace(older=("division by zero in share, a.c:9 (finding C12ab34)",))
    words = "an older error, which also occurs without the patch: division by zero in share, a.c:9 (finding C12ab34)."

    for render in (render_html, render_markdown, render_sarif, render_text):
        assert words in "".join(render(patched(older), RUN)), render


def test_lines_of_a_patch_have_kinds_and_a_limit() -> None:
    kinds = [kind for kind, _ in patch_lines(FIXED)]
    long = list(patch_lines(FIXED._replace(diff=DIFF + "+x\n" * LINES_MAX)))

    assert kinds == ["file", "file", "file", "hunk", "", "removed", "added"]
    assert (len(long), long[-1]) == (LINES_MAX + 1, ("hunk", "… 7 more lines"))


def test_html_shows_the_patch_escaped_in_the_card_and_for_the_script() -> None:
    page = "".join(render_html(patched(FIXED), RUN))
    refused = "".join(render_html(patched(REFUSED), RUN))

    assert '<span class="line removed">-&lt;b&gt;gets(s);\n</span>' in page
    assert "<b>gets" not in page
    assert '"patches":{' in page
    assert "Refused: rule: the rule still fires: a\\x1b.c:3" in refused
    assert '<pre class="code diff"' not in refused


def test_the_first_section_has_the_worst_finding_with_its_proof_and_its_patch() -> None:
    stack = ("heap-buffer-overflow WRITE of size 100", "#0 copy a.c:3", "#1 main a.c:9", "#2 start a.c:11")
    sources = (ProofSource("stdin", "AAAA"),)
    proof = Proof("proved", "program", 1, "./program < stdin", sources=sources, stack=stack)
    body = patched(FIXED)
    first, *rest = body.issues
    proved = body._replace(issues=[first._replace(status="proved", proof=proof), *rest])
    worst = "".join(render_html(proved, RUN)).partition('<section class="worst">')[2].partition("</section>")[0]
    text = "".join(render_markdown(proved, RUN))

    assert "./program &lt; stdin" in worst
    assert "#1 main a.c:9" in worst
    assert "#2 start" not in worst
    assert "AAAA" in worst
    assert worst.index("Proved by execution") < worst.index('class="code diff"')
    assert "What to do" not in worst
    assert (
        text.index("./program < stdin") < text.index("```diff") < text.index("## Confirmed") < text.index("## Summary")
    )


def test_markdown_shows_the_patch_as_a_diff() -> None:
    text = "".join(render_markdown(patched(FIXED), RUN))

    assert "**Patch.** Passed: build, rule. Not checked: proof." in text
    assert "```diff\ndiff --git a/a.c b/a.c\n" in text
    assert "**Patch.** Refused: rule" in "".join(render_markdown(patched(REFUSED), RUN))


def test_sarif_has_fixes_relative_to_the_repository() -> None:
    body = patched(FIXED)
    results = json.loads("".join(render_sarif(body, RUN | {"path_prefix": "lib"})))["runs"][0]["results"]

    fixes = [result["fixes"] for result in results if "fixes" in result]
    assert len(fixes) == len(body.patches)
    assert fixes[0] == [
        {
            "description": {"text": "Bound it. Passed: build, rule. Not checked: proof."},
            "artifactChanges": [
                {
                    "artifactLocation": {"uri": "lib/a.c", "uriBaseId": "%SRCROOT%"},
                    "replacements": [
                        {
                            "deletedRegion": {"startLine": 2, "startColumn": 1, "endLine": 3, "endColumn": 1},
                            "insertedContent": {"text": "fgets(s, 8, stdin);\n"},
                        }
                    ],
                }
            ],
        }
    ]
    refused = json.loads("".join(render_sarif(patched(REFUSED), RUN)))["runs"][0]["results"]
    assert not any("fixes" in result for result in refused)


def test_sarif_says_what_of_a_proof_ran_before_and_after_the_patch() -> None:
    stack = ("heap-buffer-overflow WRITE of size 100", "#0 copy a.c:3")
    proof = Proof("proved", "program", 1, "./program '[x](y)' < stdin", stack=stack)
    body = patched(FIXED._replace(passed=("build", "proof", "rule"), unchecked=("tests",)))
    first, *rest = body.issues
    log = json.loads("".join(render_sarif(body._replace(issues=[first._replace(proof=proof), *rest]), RUN)))

    Draft4Validator(json.loads(SCHEMA.read_text())).validate(log)
    results = log["runs"][0]["results"]
    (text,) = (one["fixes"][0]["description"] for one in results if "proof" in one["properties"])
    assert text["text"].replace("\\", "") == (
        "Bound it. Before the patch, a sanitizer stopped ./program '[x](y)' < stdin with heap-buffer-overflow WRITE of"
        " size 100. Its proof no longer fires. Passed: build, proof, rule. Not checked: tests."
    )
    assert "[x](y)" not in text["text"]
