"""The gate `rule`: compare what the rules find in the tree before and after a patch.

Findings are counted by file and rule, not by line, since a patch moves lines. Suppressed ones count as well, so that a
comment silences no rule. A text rule that only a data-flow rule had superseded is not new.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from jarvis_workers.sec.finding import fingerprint_of
from jarvis_workers.sec.fix.gates import RULE, PatchGateResult, failed, not_checked, passed

MOST_NAMED = 3


class RuleSite(NamedTuple):
    """A place where a rule fires; `file` is the displayed path, `line` counts from 1."""

    file: str
    pattern: str
    line: int
    evidence: str

    @property
    def rule_of_file(self) -> tuple[str, str]:
        return self.file, self.pattern

    @property
    def identity(self) -> str:
        return fingerprint_of(self.file, self.pattern, self.evidence)

    def __str__(self) -> str:
        return f"{self.pattern} on {self.file}:{self.line}: {self.evidence.strip()}"


class RuleSites(NamedTuple):
    """The findings of a tree: those that a report lists, and all, including those that other rules supersede.

    `problem` says why the tree was not scanned, or not completely.
    """

    reported: tuple[RuleSite, ...] = ()
    fired: tuple[RuleSite, ...] = ()
    problem: str = ""


def check_rule(findings: Sequence[RuleSite], before: RuleSites, after: RuleSites) -> PatchGateResult:
    """Return the result of the gate `rule`; `findings` are those that the patch is for."""
    if problem := before.problem or after.problem:
        return not_checked(RULE, problem)
    old, now = (Counter(one.rule_of_file for one in sites.reported) for sites in (before, after))
    twins, identities = (Counter(one.identity for one in sites.reported) for sites in (before, after))
    seen = [one for one in findings if old[one.rule_of_file]]
    if not seen:
        return not_checked(
            RULE, f"rule {findings[0].pattern} is silent there without a patch: it needs more of the tree"
        )
    own, places = Counter(one.identity for one in seen), Counter(one.rule_of_file for one in seen)
    for finding in seen:
        identity, place = finding.identity, finding.rule_of_file
        if identities[identity] > max(twins[identity] - own[identity], 0) or now[place] > old[place] - places[place]:
            again = [one for one in after.reported if one.rule_of_file == place]
            again.sort(key=lambda one: (one.identity not in own, abs(one.line - finding.line)))
            return failed(RULE, f"the rule still fires: {again[0]}")
    fired = Counter(one.rule_of_file for one in before.fired)
    new = sorted(one for one in after.reported if now[one.rule_of_file] > fired[one.rule_of_file])
    if new:
        return failed(RULE, "the patch brings new findings: " + "; ".join(map(str, new[:MOST_NAMED])))
    return passed(RULE)
