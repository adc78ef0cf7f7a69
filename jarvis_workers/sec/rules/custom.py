"""Custom rules of a project, built from data: names to find, and conditions on the arguments.

A rule with `mode: taint` has no check: `dataflow` reports it.

Rule files are validated before they reach this module.  If a call is too long to be parsed to its end, conditions
that cannot be evaluated count as met: a false positive is better than a missed finding.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jarvis_workers.sec.rules.analysis.literals import is_constant
from jarvis_workers.sec.rules.analysis.rust_context import is_in_tests
from jarvis_workers.sec.rules.rule import Check, Rule, Site, title_of
from jarvis_workers.source.lazy_regex import lazy
from jarvis_workers.source.safe_regex import compile_linear

SEARCHED_BYTES = 4_096
NUMBER = lazy(rb"[-+~]?\s*(?:0[xX][0-9a-fA-F]+|[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?)[uUlLfF]*")
# In C, the scanner distinguishes definitions from calls.
DEFINED = lazy(rb"\bfn\s+\Z")
DEFINED_REACH = 64

# What a model of functions has in common with rules, which it is listed with; it reports nothing itself.
MODEL = {
    "language": "c/cpp",
    "category": "models",
    "cwe": 710,
    "confidence": 0.4,
    "message": "Tells the data-flow rules what functions do",
    "suggestion": "Nothing is reported.",
}

Condition = Callable[[Site], bool]


def custom_rule(row: Mapping[str, Any]) -> Rule:
    """Return a rule built from the fields of its rule file; optional fields may be missing.

    Raises ImportError for a regular expression if google-re2 is missing, and ValueError for an invalid one.
    """
    if row.get("mode") == "model":
        row = {**MODEL, **row}
    return Rule(
        pattern=row["id"],
        language=row["language"],
        category=row["category"],
        cwe=row["cwe"],
        confidence=row["confidence"],
        check=None if row.get("mode") else _check(tuple(_conditions(row))),
        title=row.get("title") or title_of(row["message"]),
        description=row["message"],
        suggestion=row["suggestion"],
        verification=row.get("verification", ""),
        bad=row.get("bad", ""),
        good=row.get("good", ""),
        calls=tuple(row.get("calls", ())),
        words=tuple(row.get("words", ())),
        taint=row if row.get("mode") else None,
    )


def _check(conditions: tuple[Condition, ...]) -> Check:
    def check(site: Site) -> float | None:
        return 0.0 if all(holds(site) for holds in conditions) else None

    return check


def _conditions(row: Mapping[str, Any]) -> Iterator[Condition]:
    if row["language"] == "rust" and "calls" in row:
        yield lambda site: not DEFINED.search(site.before(DEFINED_REACH))
    if row.get("not_in_tests"):
        yield lambda site: not (site.source.test or (site.source.language == "rust" and is_in_tests(site)))
    if "argument_count" in row:
        yield _has_so_many(row["argument_count"].get("min", 0), row["argument_count"].get("max"))
    for condition in row.get("argument", ()):
        if "literal" in condition:
            yield _is_literal(condition["index"], condition["literal"])
        if "regex" in condition:
            yield _matches(condition["index"], compile_linear(condition["regex"]))


def _has_so_many(least: int, most: int | None) -> Condition:
    def holds(site: Site) -> bool:
        count = len(site.arguments.spans)
        return site.arguments.end is None or (least <= count and (most is None or count <= most))

    return holds


def _is_literal(index: int, expected: bool) -> Condition:
    def holds(site: Site) -> bool:
        text = site.masked(index - 1).strip()
        if not text:
            return site.arguments.end is None
        return (is_constant(text) or NUMBER.fullmatch(text) is not None) == expected

    return holds


def _matches(index: int, search: Callable[[bytes], bool]) -> Condition:
    def holds(site: Site) -> bool:
        text = site.masked(index - 1).strip()[:SEARCHED_BYTES]
        return search(text) if text else site.arguments.end is None

    return holds
