"""The score of a reader on a tree: which known fixes it names, what it claims beside them, and what that costs.

A claim is true if it matches a fix or a true label, false if it matches a false label, else unknown: unknown is never
counted as zero. A finding counts for one fix only, so that one report does not find two defects of a function.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_workers.sec.cwe import cwe_number
from jarvis_workers.sec.finding import WITHOUT_RULE
from jarvis_workers.sec.same_defect import is_same_weakness
from tests.bench.reading.recipes import Fix, Tree, is_same_file

# Stages whose tokens are those of reading; all others judge and prove.
READING_STAGES = ("read",)
# One conversation judges and proves, so its answers are those of proofs, too.
JUDGING_STAGES = ("verify", "verify_seen", "prove")
CONFIRMED, PROVED, NAMED = "confirmed", "proved", "named"
# Statuses of findings that a reader claims or doubts; UNNAMED are those of rules that no model has called a risk.
CLAIMED = (PROVED, CONFIRMED, "review", "undecided", NAMED)
UNNAMED = "unnamed"
BY_PROOF = "proof"


class Finding(NamedTuple):
    """What a reader says of a line.

    `status` and `cause`, which findings with one root cause share, are those of the report. The status is NAMED for a
    plain conversation, and UNNAMED where a rule alone speaks.
    """

    file: str
    line: int
    cwe: int
    status: str
    text: str = ""
    cause: str = ""


class Label(NamedTuple):
    """Whether a finding on some lines is a real defect, and by whom it was judged; without `cwes` of any kind."""

    tree: str
    file: str
    first: int
    last: int
    cwes: tuple[int, ...]
    is_real: bool
    by: str

    def covers(self, finding: Finding) -> bool:
        """Return whether a finding is about the label's lines and kind of weakness."""
        there = is_same_file(self.file, finding.file) and self.first <= finding.line <= self.last
        return there and (not self.cwes or any(is_same_weakness(finding.cwe, cwe) for cwe in self.cwes))


class Cost(NamedTuple):
    """What the requests took; None is unknown. `reading` are tokens before verification, `answers` those of judging."""

    tokens: int | None = None
    reading: int | None = None
    dollars: float | None = None
    answers: int | None = None


@dataclass(frozen=True)
class Result:
    """What a reader has said of a tree; `lines_read` is unknown for a plain conversation."""

    tree: str
    reader: str
    findings: tuple[Finding, ...]
    cost: Cost
    proves: bool
    lines_read: int | None = None


@dataclass(frozen=True)
class Score:
    """The score of one result, or the sum of several.

    `named`, `confirmed` and `proved` count fixes; `others` are true defects beside them; `claims` are those confirmed,
    or all that a plain conversation names.
    """

    fixes: int = 0
    named: int = 0
    confirmed: int = 0
    proved: int = 0
    others: int = 0
    claims: int = 0
    false_claims: int = 0
    unknown_claims: int = 0
    proofs: int = 0
    false_proofs: int = 0
    unread_proofs: int = 0
    lines: int = 0
    lines_read: int = 0

    @property
    def true_defects(self) -> int:
        return self.named + self.others

    def __add__(self, other: "Score") -> "Score":
        return Score(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))


def load_result(file: Path, tree: str) -> Result:
    """Read a JSON report of the product, or the list of a plain conversation."""
    try:
        given = json.loads(file.read_text())
        return of_report(given, tree) if "issues" in given else _of_list(given, tree)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file}: neither a JSON report nor a list of findings: {error!r}") from error


def load_labels(file: Path) -> list[Label]:
    """Read labels, those of people before those of proofs."""
    rows = json.loads(file.read_text()) if file.exists() else []
    return sorted((Label(**{**row, "cwes": tuple(row["cwes"])}) for row in rows), key=lambda one: one.by == BY_PROOF)


def score(tree: Tree, result: Result, labels: Sequence[Label]) -> Score:
    """Compare what a reader says with the fixes of a tree and its labels."""
    own = [label for label in labels if label.tree == tree.name]
    claimed = [one for one in result.findings if one.status in CLAIMED]
    claims = [one for one in claimed if one.status in (CONFIRMED, PROVED, NAMED)]
    proofs = [one for one in claimed if one.status == PROVED]
    of_claims = [_is_real(one, tree, own) for one in claims]
    read = [label.is_real for one in proofs if (label := _by_people(one, own))]
    return Score(
        fixes=len(tree.fixes),
        named=len(matches(tree.fixes, claimed)),
        confirmed=len(matches(tree.fixes, [one for one in claims if one.status != NAMED])),
        proved=len(matches(tree.fixes, proofs)),
        others=len(_others(tree, claimed, own)),
        claims=len(claims),
        false_claims=of_claims.count(False),
        unknown_claims=of_claims.count(None),
        proofs=len(proofs),
        false_proofs=read.count(False),
        unread_proofs=len(proofs) - len(read),
        lines=tree.lines,
        lines_read=result.lines_read or 0,
    )


def matches(fixes: Sequence[Fix], findings: Sequence[Finding]) -> dict[int, int]:
    """Return which finding counts for which fix, by index: a largest matching (augmenting paths)."""
    fitting = [[at for at, one in enumerate(findings) if fits(fix, one)] for fix in fixes]
    used = dict[int, int]()

    def assign(fix: int, seen: set[int]) -> bool:
        for at in fitting[fix]:
            if at not in seen:
                seen.add(at)
                if at not in used or assign(used[at], seen):
                    used[at] = fix
                    return True
        return False

    for fix in range(len(fixes)):
        assign(fix, set())
    return {fix: at for at, fix in used.items()}


def fits(fix: Fix, finding: Finding) -> bool:
    """Return whether a finding has a weakness of the fix, and a line in one of its functions."""
    there = any(place.contains(finding.file, finding.line) for place in fix.places)
    return there and any(is_same_weakness(finding.cwe, cwe) for cwe in fix.cwes)


def proved_labels(tree: Tree, result: Result, labels: Iterable[Label]) -> list[Label]:
    """Return labels for proved findings whose root cause nobody has judged and no fix has."""
    own = [label for label in labels if label.tree == tree.name]
    known = {one.cause for one in result.findings if one.cause and _is_real(one, tree, own) is not None}
    new = list[Label]()
    for one in result.findings:
        if one.status == PROVED and one.cause not in known and _is_real(one, tree, [*own, *new]) is None:
            new.append(Label(tree.name, one.file, one.line, one.line, (one.cwe,), True, BY_PROOF))
            known |= {one.cause} - {""}
    return new


def _is_real(finding: Finding, tree: Tree, labels: Sequence[Label]) -> bool | None:
    label = next((label for label in labels if label.covers(finding)), None)
    if label:
        return label.is_real
    return True if any(fits(fix, finding) for fix in tree.fixes) else None


def _by_people(finding: Finding, labels: Sequence[Label]) -> Label | None:
    return next((label for label in labels if label.by != BY_PROOF and label.covers(finding)), None)


def _others(tree: Tree, findings: Sequence[Finding], labels: Sequence[Label]) -> list[Label]:
    """Return the true labels that are named and are no fix of the tree."""
    beside = [one for one in findings if not any(fits(fix, one) for fix in tree.fixes)]
    return [label for label in labels if label.is_real and any(label.covers(one) for one in beside)]


def of_report(report: Mapping[str, Any], tree: str) -> Result:
    """Return what a JSON report of the product says."""
    run = report["run"]
    issues = [*report["issues"], *report.get("dismissed", ())]
    lines_read = report["summary"].get("reading", {}).get("lines_read")
    return Result(tree, "product", tuple(map(_of_issue, issues)), _cost(run), True, lines_read)


def _of_issue(issue: Mapping[str, Any]) -> Finding:
    place = (issue["file"], issue["line"], issue["cwe"])
    return Finding(*place, _status(issue), issue["description"], issue.get("root_cause", ""))


def _status(issue: Mapping[str, Any]) -> str:
    """Return the status of an issue; a candidate of a rule that models leave open is named by no reader."""
    is_named = issue["pattern"] in WITHOUT_RULE or issue.get("has_risk")
    return str(issue["status"]) if is_named else UNNAMED


def _cost(run: Mapping[str, Any]) -> Cost:
    """Return the cost of a run, unknown if it had answers from the cache, which cost nothing now but did before."""
    model = run.get("model") or {}
    if not model or model["remembered"]:
        return Cost()
    by_stage = {stage: _tokens(used) for stage, used in model["by_stage"].items()}
    reading = sum(by_stage.get(stage, 0) for stage in READING_STAGES)
    answers = sum(model["by_stage"].get(stage, {}).get("calls", 0) for stage in JUDGING_STAGES)
    return Cost(_tokens(model), reading, run.get("cost"), answers)


def _tokens(used: Mapping[str, Any]) -> int:
    return int(used["prompt"] + used["completion"])


def _of_list(given: Mapping[str, Any], tree: str) -> Result:
    rows = given["findings"]
    findings = [Finding(row["file"], int(row["line"]), _cwe(row), NAMED, str(row.get("text", ""))) for row in rows]
    tokens = given.get("tokens")
    return Result(tree, "plain", tuple(findings), Cost(tokens, tokens, given.get("cost")), proves=False)


def _cwe(row: Mapping[str, Any]) -> int:
    number = cwe_number(row["class"])
    if not isinstance(number, int):
        raise ValueError(f"{row['file']}:{row['line']}: class {row['class']!r} is no number of the CWE list")
    return number
