"""The gate `rule`: compare what the rules find in the tree before and after a patch.

Findings are compared by function and text, not by line, since a patch moves lines. What a patch only edits, and another
use of a value that was not checked before, is not new. Suppressed findings count as well, so that a comment silences no
rule. A text rule that only a data-flow rule had superseded is not new.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from jarvis_workers.sec.finding import FAMILIES, FOREIGN, FUZZ_CRASH, WITHOUT_RULE, fingerprint_of
from jarvis_workers.sec.fix.gates import RULE, PatchGateResult, failed, not_checked, passed

MOST_NAMED = 3
# Findings that are compared with lost ones, lines that each is compared with, and the letters of a line.
COMPARED_MAX, TEXT_MAX = 100, 200
CALL = re.compile(r"\b(?!(?:return|if|while|for|switch|sizeof)\b)(\w+) ?\(")

# Rule or family of rules, file, function.
Group = tuple[str, str, str]


class RuleSite(NamedTuple):
    """A place where a rule fires; `file` is the displayed path, `line` counts from 1, `function` is "" outside of all.

    `cause` is the code of its root cause on line `cause_line`: the call that returns NULL, else its own line, which
    "" and 0 stand for.
    """

    file: str
    pattern: str
    line: int
    evidence: str
    function: str = ""
    cause: str = ""
    cause_line: int = 0

    @property
    def text(self) -> str:
        return _normal(self.evidence)

    @property
    def identity(self) -> str:
        return fingerprint_of(self.file, self.pattern, self.evidence)

    @property
    def group(self) -> Group:
        """The findings of its rule in its function."""
        return self.pattern, self.file, self.function

    @property
    def family(self) -> Group:
        """The findings in its function that may have its root cause."""
        return FAMILIES.get(self.pattern, self.pattern), self.file, self.function

    @property
    def root_cause(self) -> tuple[int, str]:
        return self.cause_line or self.line, _normal(self.cause or self.evidence)

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
    own = _without_patch(findings, before.reported)
    if again := _remaining(own, before, after):
        return failed(RULE, f"the rule still fires: {again}")
    groups = {one.group for one in own}
    gained = sorted(_gained(own, before, after))
    if instead := [one for one in gained if one.group in groups]:
        return failed(RULE, f"the rule still fires: {instead[0]}")
    if gained:
        return failed(RULE, "the patch brings new findings: " + "; ".join(map(str, gained[:MOST_NAMED])))
    return passed(RULE) if own else not_checked(RULE, _silent(findings[0]))


def _silent(finding: RuleSite) -> str:
    if finding.pattern in WITHOUT_RULE:
        finder = "fuzzing" if finding.pattern == FUZZ_CRASH else "a model"
        return f"no rule finds this defect, which {finder} has found; the patch brings no new findings"
    if FOREIGN in finding.pattern:
        tool, _, rule = finding.pattern.partition(FOREIGN)
        return f"{tool} was not run again, which has found this by {rule}; the patch brings no new findings"
    return f"rule {finding.pattern} is silent there without a patch: it needs more of the tree"


def _without_patch(findings: Iterable[RuleSite], reported: Iterable[RuleSite]) -> list[RuleSite]:
    """Return the sites of findings in the tree without the patch, where earlier patches may have moved them."""
    sites = defaultdict[str, list[RuleSite]](list)
    for site in reported:
        sites[site.identity].append(site)
    own = list[RuleSite]()
    for finding in findings:
        if twins := sites[finding.identity]:
            own.append(min(twins, key=lambda one: abs(one.line - finding.line)))
            twins.remove(own[-1])
    return own


def _remaining(own: Iterable[RuleSite], before: RuleSites, after: RuleSites) -> RuleSite | None:
    """Return a finding that the patch is for and that the rule still reports in its file, or None."""
    had, has = (Counter(one.identity for one in sites.reported) for sites in (before, after))
    fixed = Counter(one.identity for one in own)
    for finding in own:
        if has[finding.identity] > had[finding.identity] - fixed[finding.identity]:
            twins = (one for one in after.reported if one.identity == finding.identity)
            return min(twins, key=lambda one: abs(one.line - finding.line))
    return None


def _gained(own: Sequence[RuleSite], before: RuleSites, after: RuleSites) -> Iterator[RuleSite]:
    """Yield the findings that only the patched tree has, but for edited ones and those with an old root cause."""
    old, now = Counter(map(_key, before.fired)), Counter(map(_key, after.fired))
    lost = old - now - Counter(map(_key, own))
    edited = defaultdict[Group, list[str]](list)
    for (group, text), number in lost.items():
        edited[group] += [text] * number
    causes = _OpenCauses(own, before, after)
    for number, site in enumerate(_surplus(after.reported, old)):
        if number >= COMPARED_MAX:  # more than a patch may bring
            yield site
        elif causes.has(site):
            continue
        elif close := _closest(site.text, edited[site.group]):
            edited[site.group].remove(close)
        else:
            yield site


class _OpenCauses:
    """The root causes that stand without the patch and that it is not for."""

    def __init__(self, own: Sequence[RuleSite], before: RuleSites, after: RuleSites) -> None:
        self._old, self._now = _root_causes(before), _root_causes(after)
        self._fixed = {(one.family, one.root_cause[1]) for one in own}

    def has(self, site: RuleSite) -> bool:
        """Return whether a finding is another use of a value with such a root cause on an earlier line."""
        family, (line, cause) = site.family, site.root_cause
        if line == site.line:
            return False
        texts = [text for _, text in sorted(self._old[family])]
        left = [text for text in texts if (family, text) not in self._fixed]
        return _closest(cause, texts) in left and len(self._now[family]) <= len(left)


def _key(site: RuleSite) -> tuple[Group, str]:
    return site.group, site.text


def _surplus(sites: Iterable[RuleSite], old: Counter[tuple[Group, str]]) -> Iterator[RuleSite]:
    """Yield the sites that are more than before in their function and with their text."""
    left = Counter(old)
    for site in sites:
        if left[_key(site)] > 0:
            left[_key(site)] -= 1
        else:
            yield site


def _root_causes(sites: RuleSites) -> defaultdict[Group, set[tuple[int, str]]]:
    causes = defaultdict[Group, set[tuple[int, str]]](set)
    for site in sites.fired:
        causes[site.family].add(site.root_cause)
    return causes


def _closest(text: str, texts: Sequence[str]) -> str:
    """Return the line of code that another one was edited from: similar, or with the same calls; "" if none is."""
    lines = {one[:TEXT_MAX]: one for one in texts[:COMPARED_MAX]}
    calls = _calls(text)
    alike = [one for one in lines if calls and _calls(one) == calls]
    close = get_close_matches(text[:TEXT_MAX], lines, 1) or get_close_matches(text[:TEXT_MAX], alike, 1, 0.0)
    return lines[close[0]] if close else ""


def _calls(text: str) -> set[str]:
    return set(CALL.findall(text[:TEXT_MAX]))


def _normal(code: str) -> str:
    return " ".join(code.split())
