"""What a model has found has its own title in everything that `jarvis sec fix` and the Python API say of it."""

from jarvis_workers.api.findings import finding_of
from jarvis_workers.sec.fix.fixable import fix_finding
from jarvis_workers.sec.fix.fixing import FixTask, question_lines
from jarvis_workers.sec.fix.result import FixResult, commit_message
from jarvis_workers.sec.fix_runs.fix_results import FixReport, document, report_lines
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.stages.fix_options import FixOptions
from jarvis_workers.store.values import Run
from tests.sec.verdicts import EVERY, judged_body
from tests.support.issues import at

TITLE = "A stated length of 65535\\x1b is copied into name[64]"


def found_by_model() -> Issue:
    issue = judged_body(*EVERY).issues[0]
    return at(issue, pattern="discovered", cwe=787, description=TITLE.replace("\\x1b", "\x1b") + ". More.")


def test_a_defect_that_a_model_has_found_is_called_by_its_title() -> None:
    issue = found_by_model()
    finding = fix_finding(issue, [issue], lambda file: file, "")
    options = FixOptions().encode()
    run = Run("r", "sec.fix", "", b"", "s", "direct", "", options)
    report = FixReport(run, [FixResult(finding=finding, state="refused", reason="why")], is_final=True)
    texts = [*report_lines(report), finding.label, commit_message(finding, ""), *question_lines(FixTask(finding))]

    assert sum(TITLE in text for text in texts) == 5
    assert not any("discovered" in text for text in texts), texts
    (fields,) = document(report)["fixes"]
    assert (fields["rule"], fields["title"]) == ("discovered", TITLE)


def test_the_line_of_a_finding_in_the_python_api_names_its_weakness() -> None:
    line = str(finding_of(found_by_model(), "A long name is copied", None))

    assert line.endswith(": A long name is copied [CWE-787]")


def test_the_name_of_a_rule_stays() -> None:
    issue = judged_body(*EVERY).issues[0]
    finding = fix_finding(issue, [], lambda file: file, "")

    assert (finding.name, finding.title) == (issue.candidate.pattern, "")
    assert str(finding_of(issue, "Title", None)).endswith(f": Title [{issue.candidate.pattern}]")
