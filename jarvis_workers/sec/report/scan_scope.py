"""The scope of a scan: the paths, rules, baseline and options that decide what it can find.

Numbers of findings are comparable only between scans of equal scope. A scope is derived from the `run` part of a
report, which a run in the store and a report file have; an option that is not set has no entry.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from jarvis_workers.paths import listing

Part = Mapping[str, Any]
Values = tuple[str, ...]

NAMES_MAX = 3
WHOLE = "the whole tree, all rules"
# Entries of `rules` in the `run` part, with their names in texts.
RULES = {"off": "rules off", "severity": "severities", "project": "own rules", "packages": "rule packages"}
FULL_DEPTH = "flow"
VERIFIED = "sec.agent"


class ScanScope(NamedTuple):
    """The options that decide what a scan can find, by name, in a fixed order."""

    entries: tuple[tuple[str, Values], ...] = ()

    @property
    def id(self) -> str:
        """A short hash of the scope, for addresses; "whole" for a scan of everything."""
        return sha256(repr(self.entries).encode()).hexdigest()[:8] if self.entries else "whole"

    def __str__(self) -> str:
        return "; ".join(f"{name}: {_shown(values)}" for name, values in self.entries) or WHOLE

    def differences(self, later: "ScanScope") -> list[str]:
        """Return what differs from a later scope, as sentences without a verb; empty if the scopes are equal."""
        olds, news = dict(self.entries), dict(later.entries)
        names = [name for name in dict.fromkeys([*olds, *news]) if olds.get(name) != news.get(name)]
        return [f"{name}: {_shown(olds.get(name, ()))} -> {_shown(news.get(name, ()))}" for name in names]


def scope_of(part: Part) -> ScanScope:
    """Return the scope of the scan with this `run` part."""
    return ScanScope(tuple((name, values) for name, values in _entries(part) if values))


def _entries(part: Part) -> Iterator[tuple[str, Values]]:
    rules: Part = part.get("rules") or {}
    yield "paths", _paths(part)
    for name, value in sorted((part.get("selection") or {}).items()):
        # The same revision means other files after each commit.
        own = (str(part.get("snapshot")),) if name == "since" else ()
        yield name.replace("_", " "), (*_values(value), *own)
    for key, name in RULES.items():
        yield name, _values(rules.get(key) or ())
    depth = rules.get("depth") or FULL_DEPTH
    yield "depth", () if depth == FULL_DEPTH else (str(depth),)
    yield "baseline", _values(part.get("baseline") or ())
    yield "verified by agents", ("yes",) if part.get("kind") == VERIFIED else ()


def _paths(part: Part) -> Values:
    """Return the scanned paths from the top of the repository, empty for all of it."""
    prefix = str(part.get("path_prefix") or "")
    named = [str(path) for path in part.get("paths") or ()] or ([""] if prefix else [])
    return tuple(sorted({f"{prefix}/{path}".strip("/") for path in named}))


def _values(value: object) -> Values:
    if isinstance(value, Mapping):
        return tuple(sorted(f"{key}={one}" for key, one in value.items()))
    if isinstance(value, list | tuple):
        return tuple(sorted(map(str, value)))
    return (str(value),)


def _shown(values: Values) -> str:
    return listing(list(values), NAMES_MAX) if values else "not set"
