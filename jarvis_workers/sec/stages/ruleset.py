"""The rules of a run: built-in ones, the project's own and those of installed packages, except disabled ones.

They are fixed when a run is submitted, and passed as a blob to workers, which have no jarvis.yaml. The blob contains a
project's rules as data, but only the name and fingerprint of a package, since code is not transferred.
"""

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple

from jarvis_workers.agents.loop.plugins import ForeignError, call_foreign
from jarvis_workers.errors import StepFailed, UsageError
from jarvis_workers.sec.rules import RULES, RULES_BY_PATTERN, Rule
from jarvis_workers.sec.rules.custom import custom_rule

GROUP = "jarvis_workers.rules"
ID = re.compile(r"[a-z][a-z0-9_]{1,63}")
CODE = ("check", "dismisses")


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The set of rules: disabled ids, a project's rules, and packages with fingerprints."""

    off: tuple[str, ...] = ()
    project: tuple[Mapping[str, Any], ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> bytes | None:
        """Return the blob, or None if the rules are exactly the built-in ones."""
        if not (self.off or self.project or self.packages):
            return None
        fields = {"off": sorted(self.off), "project": list(self.project), "packages": dict(self.packages)}
        return json.dumps(fields, sort_keys=True).encode()


class Package(NamedTuple):
    """An entry point with rules. `fingerprint` changes with the rules and with the modules of their checks."""

    name: str
    rules: tuple[Rule, ...]
    fingerprint: str


def rules_of(content: bytes | None) -> tuple[Rule, ...]:
    """Decode the output of `RuleSet.encode`. Raises StepFailed if this machine lacks some of the rules."""
    if content is None:
        return RULES
    fields = json.loads(content)
    off = frozenset(fields["off"])
    packages = [rule for name, version in sorted(fields["packages"].items()) for rule in _same(name, version)]
    try:
        project = [custom_rule(one) for one in fields["project"] if one["id"] not in off]
    except ImportError as error:
        raise StepFailed("a project rule has a regular expression: install google-re2 on this worker") from error
    return tuple(rule for rule in (*RULES, *packages, *project) if rule.pattern not in off)


def conditions_of(content: bytes | None) -> dict[str, str]:
    """Return the condition to verify for each rule that is available without loading a package."""
    own = json.loads(content)["project"] if content else ()
    return {rule.pattern: rule.verification for rule in RULES} | {row["id"]: row.get("verification", "") for row in own}


def installed() -> list[Package]:
    """Load the rules of installed packages, sorted by name. Raises UsageError if a package cannot be loaded."""
    result: dict[str, Package] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        result.setdefault(entry.name, _load(entry))
    return list(result.values())


def _same(name: str, fingerprint: str) -> tuple[Rule, ...]:
    entries = list(entry_points(group=GROUP, name=name))
    if not entries:
        raise StepFailed(f'the package with the rules "{name}" ({GROUP}) is not installed on this worker; install it')
    package = _load(entries[0])
    if package.fingerprint != fingerprint:
        raise StepFailed(
            f'the rules "{name}" ({GROUP}) have a different version on this worker; install the same version'
        )
    return package.rules


def _load(entry: EntryPoint) -> Package:
    place = f'entry point "{entry.name}" ({GROUP}, {entry.value})'
    try:
        rows = call_foreign(_rows, place, entry)
    except ForeignError as foreign:
        error = foreign.__cause__
        says = " ".join(str(error).split())
        raise UsageError(f"{place} cannot be loaded: {type(error).__name__}: {says}; fix or uninstall it") from error
    for row in rows:
        if problem := _problem(row):
            raise UsageError(f"{place}: {problem}")
    return Package(entry.name, rows, _fingerprint(rows))


def _rows(entry: EntryPoint) -> tuple[Any, ...]:
    value = entry.load()
    return tuple(value() if callable(value) else value)


def _problem(row: object) -> str | None:
    if not isinstance(row, Rule):
        return f"provides a {type(row).__name__}, expected rows of jarvis_workers.sec.rules.Rule"
    if not ID.fullmatch(row.pattern):
        return f'"{row.pattern}" is not a valid id; use at most 64 lower-case letters, digits and _'
    if row.pattern in RULES_BY_PATTERN:
        return f'"{row.pattern}" is the id of a built-in rule; choose another id'
    if row.check is None:
        return f'rule "{row.pattern}" has no check; only the rules of `dataflow` have none'
    if row.language not in ("c/cpp", "rust"):
        return f'rule "{row.pattern}": "{row.language}" is not c/cpp or rust'
    return None


def _fingerprint(rules: Iterable[Rule]) -> str:
    digest, modules = hashlib.sha256(), set[str]()
    for rule in rules:
        fields = {name: value for name, value in rule._asdict().items() if name not in CODE}
        digest.update(json.dumps(fields, sort_keys=True).encode())
        modules |= {str(getattr(code, "__module__", "")) for code in (rule.check, rule.dismisses) if code}
    for name in sorted(modules):
        digest.update(_source(name))
    return digest.hexdigest()[:16]


def _source(module: str) -> bytes:
    spec = getattr(sys.modules.get(module), "__spec__", None)
    read = getattr(getattr(spec, "loader", None), "get_data", None)
    return bytes(read(spec.origin)) if read and spec and spec.has_location else module.encode()
