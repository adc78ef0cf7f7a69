"""The rules of the scan stage: one module per family, with its checks and the names that its rules match.

Their texts and numbers are in rules.json, their examples in examples.c and examples.rs.

A rule matches a name in code whose comments and literals are masked, and returns a confidence.  The rules of `flow`
have no check here: `dataflow` reports them.
"""

from importlib import import_module
from pkgutil import iter_modules

from jarvis_workers.sec.rules import families
from jarvis_workers.sec.rules.rule import Rule
from jarvis_workers.source.identity import code_fingerprint

__all__ = ["RULES", "RULES_BY_PATTERN", "Rule", "rules_fingerprint"]


FAMILIES = sorted(module.name for module in iter_modules(families.__path__))
RULES: tuple[Rule, ...] = tuple(
    rule for family in FAMILIES for rule in import_module(f"{__name__}.families.{family}").RULES
)
RULES_BY_PATTERN = {rule.pattern: rule for rule in RULES}
# The code that determines the result of a scan.
CODE = (
    "jarvis_workers.paths",
    "jarvis_workers.private_files",
    "jarvis_workers.source",
    "jarvis_workers.sec.evidence",
    "jarvis_workers.sec.rules",
    "jarvis_workers.sec.scanner",
    "jarvis_workers.sec.suppressions",
)


def rules_fingerprint() -> str:
    """Return 16 hex digits that change whenever the result of a scan could change."""
    return code_fingerprint(CODE)[:16]
