"""The CWE list (https://cwe.mitre.org): names of weaknesses, and the category of findings with each.

`cwe.json` has the weaknesses of C, C++ and Rust by category. The rules take precedence, so that a finding of a model is
in the category of the rule for the same weakness.
"""

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jarvis_workers.sec.rules import RULES

# The category of a weakness that is neither in the list nor of a rule.
OTHER = "other"
# The largest number in the CWE list is below this.
CWE_MAX = 2_000
CWE = re.compile(r"\s*(?:CWE\W?)?(\d{1,6})\b", re.IGNORECASE)
# Rules for Rust are about unsafe code, not about a weakness in general.
OF_RULES = {rule.cwe: rule.category for rule in reversed(RULES) if rule.language != "rust"}


def category_of(cwe: int) -> str:
    """Return the category of findings with a weakness, OTHER if there is none."""
    return OF_RULES.get(cwe) or _listed().get(cwe, (OTHER, ""))[0]


def weakness_name(cwe: int) -> str:
    """Return the name of a weakness; of one that is not listed, its number."""
    return _listed()[cwe][1] if cwe in _listed() else f"CWE-{cwe}"


def cwe_number(value: Any) -> Any:
    """Return the number of `CWE-787` or `787: Out-of-bounds Write`, and any other value as it is."""
    match = CWE.match(value) if isinstance(value, str) else None
    return int(match[1]) if match else value


def is_cwe(value: object) -> bool:
    """Return whether a value may be the number of a weakness."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < CWE_MAX


@cache
def _listed() -> dict[int, tuple[str, str]]:
    """Return category and name by number."""
    table = json.loads(files(__package__).joinpath("cwe.json").read_text("utf-8"))
    return {int(cwe): (category, name) for category, names in table.items() for cwe, name in names.items()}
