"""The available rules, and the selection of rules for a run.

Available are the built-in rules, those of installed packages, and those of the project's files. Rule ids in jarvis.yaml
and flags are checked against all of them before any work is done.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

from jarvis_workers.depth import FLOW_DEPTH, Depth
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sec.rules import RULES, Rule
from jarvis_workers.sec.rules.custom import custom_rule
from jarvis_workers.sec.rulesets.rule_files import read_rules, rule_files
from jarvis_workers.sec.runs.scan_input import Chosen
from jarvis_workers.sec.stages.options import RuleFacts
from jarvis_workers.sec.stages.ruleset import RuleSet, installed

Place = Callable[[str], str]


class RuleOverrides(Protocol):
    """A user's settings for rules by id, from `RulesSettings` or from the options of the Python API."""

    @property
    def enable_only(self) -> Sequence[str]: ...
    @property
    def disable(self) -> Sequence[str]: ...
    @property
    def categories(self) -> Sequence[str]: ...
    @property
    def severity(self) -> Mapping[str, str]: ...
    @property
    def depth(self) -> Depth: ...


@dataclass(frozen=True, slots=True)
class Rulebook:
    """All available rules; `project` are the rows of files as data, `packages` fingerprints by name."""

    rules: tuple[Rule, ...]
    project: tuple[Mapping[str, Any], ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict)


def open_rulebook(paths: Sequence[Path] = ()) -> Rulebook:
    """Collect the rules: built-in, of packages, and of the files and directories in `paths`."""
    packages = installed()
    project = read_rules(rule_files(paths))
    rules = [*RULES, *(rule for package in packages for rule in package.rules), *map(custom_rule, project)]
    _refuse_twins(rules)
    return Rulebook(tuple(rules), tuple(project), {package.name: package.fingerprint for package in packages})


def choose(
    book: Rulebook, overrides: RuleOverrides, excluded: Sequence[str] = (), *, place: Place = "{}".format
) -> Chosen:
    """Return the rules of a run. Raises UsageError for an unknown id, and if no rule is left."""
    rules = select(book, overrides, excluded, place=place)
    if not rules:
        raise UsageError("no rule is enabled; list the rules with: jarvis sec rules")
    return _chosen(book, rules, overrides)


def select(
    book: Rulebook, overrides: RuleOverrides, excluded: Sequence[str] = (), *, place: Place = "{}".format
) -> tuple[Rule, ...]:
    """Return the rules that the user has not disabled; `excluded` is in addition to the settings.

    `place` names the origin of a setting in messages. Raises UsageError for an unknown id.
    """
    ids = [rule.pattern for rule in book.rules]
    categories = sorted({rule.category for rule in book.rules})
    for names, where in (
        (overrides.enable_only, "enable_only"),
        (overrides.disable, "disable"),
        (overrides.severity, "severity"),
    ):
        _refuse_unknown(names, ids, f"{place(where)}: unknown rule")
    _refuse_unknown(excluded, ids, "--exclude-rules: unknown rule")
    _refuse_unknown(overrides.categories, categories, f"{place('categories')}: unknown category")
    barred = {*overrides.disable, *excluded}
    return tuple(rule for rule in book.rules if rule.pattern not in barred and _is_selected(rule, overrides))


def find_rule(book: Rulebook, named: str) -> Rule:
    """Return a rule by id. Raises UsageError."""
    result = {rule.pattern: rule for rule in book.rules}
    _refuse_unknown([named], list(result), "unknown rule")
    return result[named]


def _is_selected(rule: Rule, overrides: RuleOverrides) -> bool:
    if overrides.depth != FLOW_DEPTH and rule.check is None:
        return False
    named = not overrides.enable_only or rule.pattern in overrides.enable_only
    return named and (not overrides.categories or rule.category in overrides.categories)


def _chosen(book: Rulebook, rules: tuple[Rule, ...], overrides: RuleOverrides) -> Chosen:
    on = {rule.pattern for rule in rules}
    off = tuple(rule.pattern for rule in book.rules if rule.pattern not in on)
    own = [rule["id"] for rule in book.project if rule["id"] in on]
    content = RuleSet(off, tuple(rule for rule in book.project if rule["id"] in on), book.packages).encode()
    facts = RuleFacts(
        blob=hashlib.sha256(content).hexdigest() if content else None,
        off=sorted(off),
        severity=dict(sorted(overrides.severity.items())),
        project=own,
        packages=dict(book.packages),
        depth=overrides.depth,
    )
    return Chosen(rules, content, facts)


def _refuse_unknown(requested_names: Iterable[str], names: Sequence[str], says: str) -> None:
    for name in requested_names:
        if name not in names:
            close = get_close_matches(name, names, n=1)
            hint = f' (did you mean "{close[0]}"?)' if close else ""
            raise UsageError(f'{says} "{plain(name)}"{hint}; see all with: jarvis sec rules')


def _refuse_twins(rules: Iterable[Rule]) -> None:
    seen = set()
    for rule in rules:
        if rule.pattern in seen:
            raise UsageError(
                f'rule "{plain(rule.pattern)}" is defined twice, in packages or files; rename or remove one'
            )
        seen.add(rule.pattern)
