"""What no rule has found has its own title, weakness and severity in every format, and the worst comes first."""

import csv
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft4Validator

from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.cwe import category_of
from jarvis_workers.sec.finding import DISCOVERED, FUZZ_CRASH, SEEN_BY_MODEL, Candidate, fingerprint_of
from jarvis_workers.sec.proof.proof import Proof, ProofSource
from jarvis_workers.sec.report import FORMATS, gather
from jarvis_workers.sec.report.diff import Difference
from jarvis_workers.sec.report.diff_formats import DIFFERENCE_FORMS, Sides
from jarvis_workers.sec.report.fired_rules import finding_title
from jarvis_workers.sec.report.text import TextOptions, render_text
from jarvis_workers.sec.report_document import ReportBody, ReportPatch
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.run_reports.baselines import read_report
from jarvis_workers.sec.run_reports.report_files import read_report_file
from tests.sec.report.test_sarif import SCHEMA
from tests.sec.verdicts import COPY, RISK, RUN, judged_body

LEVELS = {"high": "error", "medium": "warning", "low": "note"}
ANNOTATIONS = {"error": "high", "warning": "medium", "notice": "low"}
CODECLIMATE = {"critical": "high", "major": "medium", "minor": "low"}


class Shown(NamedTuple):
    """What a format shows of a finding, by its place."""

    place: str
    title: str
    cwe: int | None
    severity: str | None


# In the order of files; two are on one line.
TOLD = (
    Shown("a.c:5", "A negative length is read as a size of 4 GiB", 195, "low"),
    Shown("b.c:7", "Prefixing home writes past the end of path", 787, "medium"),
    Shown("b.c:7", "The length of the packet wraps around", 190, "high"),
    Shown("c.c:9", "A name with dots leaves the served directory", 22, "high"),
    Shown("d.c:3", "The title is written without its terminator", 170, "medium"),
    Shown("e.c:4", "A length of -1 writes before the block", 787, "high"),
)
WORST_FIRST = ["A length of -1", "A name with", "The length of", "Prefixing", "The title", "A negative"]


def candidate(one: Shown) -> Candidate:
    file, _, line = one.place.partition(":")
    assert one.cwe
    pattern = {"a.c": FUZZ_CRASH, "d.c": SEEN_BY_MODEL}.get(file, DISCOVERED)
    return Candidate(
        language="c/cpp",
        category=category_of(one.cwe),
        pattern=pattern,
        file=file,
        line=int(line),
        evidence=f"f_{file[0]}(p);",
        description=f"{one.title}. More is said here of {one.place} and CWE-{one.cwe}.",
        suggestion=f"Check what CWE-{one.cwe} needs.",
        confidence=0.65,
        cwe=one.cwe,
    )


def report(**proved: Any) -> ReportBody:
    """Return a report of confirmed findings, the last of which is proved."""
    rated = [
        (candidate(one), RISK | {"severity": one.severity, "verdict_severity": one.severity, "exposure": "file"})
        for one in TOLD
    ]
    body = judged_body(*rated)
    last = body.issues[-1]._replace(status="proved", **proved)
    return body._replace(issues=[*body.issues[:-1], last])


def rendered(form: str, body: ReportBody | None = None) -> str:
    return "".join(FORMATS[form](body or report(), RUN))


def of_text(text: str) -> Iterator[Shown]:
    line = re.compile(r"^(\S+:\d+): (\w+): \w+ \(file\): (.+) \(The stack .*\) \[\w+, CWE-(\d+)\]$", re.M)
    yield from (Shown(place, title, int(cwe), severity) for place, severity, title, cwe in line.findall(text))


def of_json(text: str) -> Iterator[Shown]:
    for one in json.loads(text)["issues"]:
        yield Shown(f"{one['file']}:{one['line']}", one["description"].partition(". ")[0], one["cwe"], one["severity"])


def of_markdown(text: str) -> Iterator[Shown]:
    head = r"^### C\w+: (.+) \(`\w+/cwe-(\d+)`\) in `(\S+)` line (\d+)\n\n(\w+) severity, .*, CWE-(\d+)"
    for title, cwe, file, line, severity, same in re.findall(head, text, re.M):
        assert cwe == same
        yield Shown(f"{file}:{line}", title.replace("\\", ""), int(cwe), severity.lower())


def of_sarif(text: str) -> Iterator[Shown]:
    log = json.loads(text)
    Draft4Validator(json.loads(SCHEMA.read_text())).validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for one in run["results"]:
        rule = rules[one["ruleIndex"]]
        assert rule["id"] == one["ruleId"]
        cwe = int(rule["id"].partition("/cwe-")[2])
        assert f"external/cwe/cwe-{cwe:03}" in rule["properties"]["tags"]
        (relation,) = rule["relationships"]
        assert relation["target"]["id"] == str(cwe)
        place = one["locations"][0]["physicalLocation"]
        severity = one["properties"]["verdict_severity"]
        # A low confirmed finding is a warning.
        assert one["level"] == LEVELS[severity] or (severity, one["level"]) == ("low", "warning")
        score = rule["properties"].get("security-severity")
        assert score in (None, {"high": "8.0", "medium": "5.5", "low": "3.0"}[severity])
        title = one["message"]["text"].partition(": ")[2].partition(". ")[0]
        where = f"{place['artifactLocation']['uri']}:{place['region']['startLine']}"
        yield Shown(where, title, cwe, severity)


def of_html(text: str) -> Iterator[Shown]:
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    for row in data["findings"]:
        rule, category, cwe, pattern, anchor = data["rules"][row[3]]
        assert category == category_of(cwe)
        assert (rule, f'id="{anchor}"' in text) == (f"{pattern}/cwe-{cwe}", True)
        title, severity = data["titles"][row[13]], data["severities"][row[6]]
        assert f'<span class="name">{title} <span class="rule">{rule}</span></span>' in text
        yield Shown(f"{data['files'][row[1]]}:{row[2]}", title, cwe, severity)


def of_junit(text: str) -> Iterator[Shown]:
    for case in ET.fromstring(text.partition("\n")[2]).iter("testcase"):
        for failure in case.iter("failure"):
            cwe = re.search(r", CWE-(\d+), C", failure.text or "")
            place = f"{case.get('file')}:{case.get('line')}"
            yield Shown(place, failure.get("message", ""), int(cwe[1]) if cwe else 0, failure.get("type"))


def of_gcc(text: str) -> Iterator[Shown]:
    line = re.compile(r"^(\S+):\d+: warning: (?:Proved|Confirmed): (.+) \((\w+), CWE-(\d+)\) \[\w+\]$", re.M)
    yield from (Shown(place, title, int(cwe), severity) for place, title, severity, cwe in line.findall(text))


def of_github(text: str) -> Iterator[Shown]:
    line = re.compile(r"^::(\w+) file=(\S+?),line=(\d+),.*title=\w+%3A (.+) \[\w+\]::", re.M)
    for level, file, number, title in line.findall(text):
        yield Shown(f"{file}:{number}", title, None, ANNOTATIONS[level])


def of_github_summary(text: str) -> Iterator[Shown]:
    row = re.compile(r"^\| (\w+) \| `(\S+)` \| \w+: (.+) \| `\w+` \|$", re.M)
    yield from (Shown(place, title.replace("\\", ""), None, severity) for severity, place, title in row.findall(text))


def of_gitlab_sast(text: str) -> Iterator[Shown]:
    for one in json.loads(text)["vulnerabilities"]:
        (cwe,) = (int(mark["value"]) for mark in one["identifiers"] if mark["type"] == "cwe")
        place = f"{one['location']['file']}:{one['location']['start_line']}"
        yield Shown(place, one["name"].partition(": ")[2], cwe, one["severity"].lower())


def of_codequality(text: str) -> Iterator[Shown]:
    for one in json.loads(text):
        place = f"{one['location']['path']}:{one['location']['lines']['begin']}"
        title = re.fullmatch(r"\w+: (.+): f_\w\(p\);", one["description"])
        yield Shown(place, title[1] if title else "", None, CODECLIMATE[one["severity"]])


def of_csv(text: str) -> Iterator[Shown]:
    for row in csv.DictReader(StringIO(text, newline="")):
        yield Shown(f"{row['file']}:{row['line']}", row["title"], int(row["cwe"]), row["severity"])


READERS: dict[str, Callable[[str], Iterator[Shown]]] = {
    "text": of_text,
    "json": of_json,
    "markdown": of_markdown,
    "sarif": of_sarif,
    "html": of_html,
    "junit": of_junit,
    "gcc": of_gcc,
    "github": of_github,
    "github-summary": of_github_summary,
    "gitlab-sast": of_gitlab_sast,
    "codequality": of_codequality,
    "csv": of_csv,
}
# Lists that people read.
SORTED = ("text", "markdown", "sarif", "html", "github-summary")


def test_every_format_is_read() -> None:
    assert READERS.keys() == FORMATS.keys()


@pytest.mark.parametrize("form", FORMATS)
def test_every_finding_of_a_model_has_its_own_title_weakness_and_severity(form: str) -> None:
    shown = list(READERS[form](rendered(form)))

    wanted = [one._replace(cwe=one.cwe if any(found.cwe for found in shown) else None) for one in TOLD]
    assert sorted(shown) == sorted(wanted)


@pytest.mark.parametrize("form", SORTED)
def test_formats_for_people_show_the_worst_finding_first(form: str) -> None:
    titles = [one.title for one in READERS[form](rendered(form))]

    assert [title.startswith(start) for title, start in zip(titles, WORST_FIRST, strict=True)] == [True] * 6


@pytest.mark.parametrize("form", ["json", "gcc", "gitlab-sast", "codequality", "csv"])
def test_formats_for_programs_are_in_the_order_of_files(form: str) -> None:
    assert [one.place for one in READERS[form](rendered(form))] == [one.place for one in TOLD]


def test_quiet_text_is_worst_first_too() -> None:
    lines = list(render_text(report(), RUN, TextOptions(concise=True)))

    assert [any(start in line for start in (first,)) for line, first in zip(lines, WORST_FIRST, strict=True)] == [
        True
    ] * 6


def test_findings_that_no_model_has_verified_have_their_titles_in_markdown_and_text() -> None:
    numbered = enumerate(map(candidate, TOLD), 1)
    body = report()._replace(issues=gather(numbered).issues)

    for form in ("markdown", "text"):
        text = rendered(form, body).replace("\\", "")
        assert [one.title in text for one in TOLD] == [True] * len(TOLD)


def test_a_rule_of_sarif_has_a_severity_only_if_its_findings_agree() -> None:
    (run,) = json.loads(rendered("sarif"))["runs"]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}

    scores = {name: rule["properties"].get("security-severity") for name, rule in rules.items()}
    assert scores == {
        "discovered/cwe-190": "8.0",
        "fuzz_crash/cwe-195": "3.0",
        "discovered/cwe-22": "8.0",
        "discovered/cwe-787": None,
        "seen_by_model/cwe-170": "5.5",
    }
    assert rules["discovered/cwe-787"]["shortDescription"]["text"] == "Out-of-bounds write (found by a model)"


def test_a_rating_of_one_finding_is_not_the_severity_of_a_projects_own_rule() -> None:
    own = COPY._replace(pattern="own_rule", confidence=0.65)
    (issue,) = gather([(1, own)]).issues
    body = judged_body((own, RISK))
    rated = issue.with_verdict(Verdict(1, "confirmed", True, severity="high"), "", None)
    (run,) = json.loads(rendered("sarif", body._replace(issues=[rated])))["runs"]

    assert run["tool"]["driver"]["rules"][0]["properties"]["security-severity"] == "5.5"
    assert run["results"][0]["level"] == "error"


def test_a_sarif_report_is_a_baseline_under_the_same_fingerprints(tmp_path: Any) -> None:
    sarif, moved = tmp_path / "r.sarif", tmp_path / "moved.sarif"
    sarif.write_text(rendered("sarif"))
    moved.write_text("".join(FORMATS["sarif"](report(), RUN | {"path_prefix": "lib"})))
    issues = report().issues

    assert sorted(read_report(str(sarif)).counts.elements()) == sorted(one.fingerprint for one in issues)
    # From the top of the repository, the fingerprints are computed anew, from the pattern.
    from_top = [
        fingerprint_of(f"lib/{one.candidate.file}", one.candidate.pattern, one.candidate.evidence) for one in issues
    ]
    assert sorted(read_report(str(moved), b"").counts.elements()) == sorted(from_top)
    read = read_report_file(str(sarif)).body.issues
    rules = ({(one.candidate.pattern, one.candidate.cwe) for one in some} for some in (read, issues))
    assert next(rules) == next(rules)


def test_findings_on_one_line_have_their_own_ids_and_root_causes() -> None:
    first, second = (one for one in report().issues if one.candidate.file == "b.c")

    assert first.id != second.id
    assert first.root_cause != second.root_cause


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_comparison_names_findings_by_their_titles(form: str) -> None:
    difference = Difference(new=list(report().issues))
    text = "".join(DIFFERENCE_FORMS[form](Sides(RUN, RUN, difference))).replace("\\", "")

    assert [one.title in text for one in TOLD] == [True] * len(TOLD)


def test_first_is_the_worst_proved_finding_with_its_input_and_its_patch() -> None:
    proof = Proof(
        "proved",
        "program",
        command="./program input",
        stack=("heap-buffer-overflow WRITE of size 1", "#0 f_e e.c:4"),
        sources=(ProofSource("input", "LENGTH=-1\n" + "A" * 5_000),),
    )
    body = report(proof=proof)
    diff = "--- a/e.c\n+++ b/e.c\n@@ -4 +4 @@\n-f_e(p);\n+if (n > 0) f_e(p);\n"
    body = body._replace(patches={body.issues[-1].id: ReportPatch("fixed", passed=("proof", "rule"), diff=diff)})
    worst = rendered("html", body).partition('<section class="worst">')[2].partition("</section>")[0]

    lines = rendered("text", body).splitlines()
    assert lines[0].startswith("e.c:4: high: proved (file): A length of -1 writes before the block")
    assert lines[2] == "    Proved by execution: ./program input; heap-buffer-overflow WRITE of size 1"
    assert lines[3].startswith("    Input: input: LENGTH=-1 AAA")
    assert lines[4] == "    Patch: Its proof no longer fires. Passed: proof, rule."
    order = ["A length of -1", "Proved by execution", "LENGTH=-1", "+if (n &gt; 0)", "The length of the packet wraps"]
    assert [worst.index(text) for text in order] == sorted(worst.index(text) for text in order)
    assert len(worst) < 5_000
    assert worst.count("<li>") == 5  # four of the five that follow, and how many more there are


def test_a_finding_of_a_rule_has_the_title_that_a_model_gives_it() -> None:
    (plain,) = judged_body((COPY, RISK)).issues
    said = plain._replace(also_reported=("parse copies n bytes of the packet into name[64] (reach: remote)", "other"))

    assert finding_title(said).startswith("parse copies n bytes of the packet into name[64]")
    assert finding_title(plain) == RULES_BY_PATTERN[plain.candidate.pattern].title
