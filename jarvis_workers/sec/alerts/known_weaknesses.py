"""The weaknesses (CWE) that rules of compilers, clang-tidy, clang's analyzer, cppcheck and clippy report.

`known_weaknesses.json` has the rules by tool and weakness: what the documentation of a rule says clearly, no style.
"""

import json
import re
from functools import cache
from importlib.resources import files

from jarvis_workers.sec.alerts.alert import Alert

# The names of tools in reports: clang prints warnings of a compiler too, "GNU C17" is gcc.
TOOLS = (
    (re.compile(r"gcc|g\+\+|\bgnu\b|clang", re.IGNORECASE), "compilers"),
    (re.compile(r"clang", re.IGNORECASE), "clang"),
    (re.compile(r"cppcheck", re.IGNORECASE), "cppcheck"),
    (re.compile(r"clippy", re.IGNORECASE), "clippy"),
    (re.compile(r"clippy|rustc", re.IGNORECASE), "rustc"),
)
PREFIX = re.compile(r"(?:-W|clang-analyzer-|clang-diagnostic-|clippy::)")
# Rules for several weaknesses, which their text tells apart.
BY_TEXT = {
    "core.CallAndMessage": ((r"\bnull\b", 476), (r"uninitialized|undefined|garbage", 457)),
    "core.NullDereference": ((r"undefined pointer", 457),),
    "core.VLASize": ((r"garbage|undefined", 457), (r"tainted", 789), (r"negative|zero", 131)),
}
FREED = (
    (r"released memory|already (?:been )?(?:freed|deleted)", 415),
    (r"after it is (?:freed|released|deleted)|after (?:free|delete)", 416),
    (r"\bleak", 401),
    (r"offset by", 761),
    (r"not (?:memory )?(?:allocated|owned)|non-owned", 590),
    (r"zero-allocated", 119),
)
STREAM = ((r"\bleak|never closed", 775), (r"already closed|might be closed", 910), (r"\bNULL\b", 476))
BY_TEXT |= dict.fromkeys(("unix.Malloc", "cplusplus.NewDelete"), FREED)
BY_TEXT |= dict.fromkeys(("unix.Stream", "alpha.unix.Stream", "alpha.unix.SimpleStream"), STREAM)
# What cppcheck gives to rules of any kind: code quality, control of a resource, undefined behaviour.
UNSPECIFIC = frozenset((0, 398, 664, 758))


def with_weakness(alert: Alert) -> Alert:
    """Return an alert with the weakness of its rule, if its report names none, or one that says little."""
    if alert.cwe not in UNSPECIFIC:
        return alert
    return alert._replace(cwe=_by_rule(alert) or alert.cwe)


def _by_rule(alert: Alert) -> int:
    rule = PREFIX.sub("", alert.rule.split(",")[0], count=1).partition("=")[0]
    tables = [name for tool, name in TOOLS if tool.search(alert.tool)]
    if "clang" in tables:
        for words, cwe in BY_TEXT.get(rule, ()):
            if re.search(words, alert.text, re.IGNORECASE):
                return cwe
    return next((cwe for name in tables if (cwe := _rules()[name].get(rule, 0))), 0)


def rules_of(kind: str) -> tuple[str, ...]:
    """Return the rules of a kind of tools that report a weakness."""
    return tuple(_rules()[kind])


@cache
def _rules() -> dict[str, dict[str, int]]:
    """Return weaknesses by rule, by the kind of the tool."""
    text = files(__package__).joinpath("known_weaknesses.json").read_text("utf-8")
    return {
        tool: {rule: int(cwe) for cwe, rules in by_cwe.items() for rule in rules}
        for tool, by_cwe in json.loads(text).items()
    }
