"""capacity_before_realloc: the recorded capacity grows before realloc, and stays so when realloc fails."""

import re

from jarvis_workers.sec.rules.analysis.examined import is_examined
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

BEFORE, AFTER = 480, 480
OF_POINTER, OF_GLOBAL = 0.05, 0.0
MEMBER = rb"(?:\w+(?:\[[^][]*\])?(?:->|\.))+\w+|\*\w+"
GROWS = lazy(
    rb"(?<![\w.>*])(?P<name>"
    + MEMBER
    + rb"|[a-z]\w*)\s*(?:(?:\*|\+|<<)=|=(?!=)[^;=]*?(?:\*\s*2|2\s*\*|\+|<<|\?)|\+\+;)[^;]*;"
)
TARGET = lazy(rb"(?P<name>(?:\w+(?:->|\.))*\w+)\s*=\s*(?:\([\w\s*]+\)\s*)?(?:std\s*::\s*)?\Z")
FAILS = lazy(
    rb"\s*\)?\s*;?\s*(?:if\s*\(\s*(?:!\s*\w+|\w+\s*==\s*(?:NULL|nullptr|0))\s*\)|==\s*(?:NULL|nullptr|0)\s*\))\s*(?P<opens>\{?)"
)
LEAVES = lazy(rb"\b(?:return|goto|break)\b")
DIES = lazy(rb"\b\w*(?:exit|abort|die|fatal|panic|oom)\w*\s*\(")
RELEASES = lazy(rb"\b\w*(?:free|destroy|release|delete|close|cleanup|fini)\w*\s*\(\s*&?\s*(\w+)")
STATIC = rb"\bstatic\b[^;(){}]*\b%b\b"


def check_capacity(site: Site) -> float | None:
    """Report a size in a structure or a static variable that is changed before the call and not restored after it."""
    function = site.function
    size = b"".join(b"".join(site.masked(number) for number in range(1, len(site.arguments.spans))).split())
    end = site.arguments.end
    if function is None or end is None:
        return None
    before = site.source.text[max(function.body[0], site.start - BEFORE) : site.start]
    target = TARGET.search(before)
    handled = _handled(site.source.text[end : min(function.body[1], end + AFTER)])
    if target is None or handled is None or _is_released(handled, target["name"], size):
        return None
    if not is_examined(site, "capacity_before_realloc"):
        return None
    grown = [one for one in GROWS.finditer(before) if one["name"] in size and one["name"] != target["name"]]
    return _of_name(site, grown[-1]["name"], handled) if grown else None


def _handled(behind: bytes) -> bytes | None:
    """Return what is done when the allocation fails, if the function is left and the program goes on."""
    failure = FAILS.match(behind)
    if failure is None:
        return None
    handled = behind[failure.end() :].partition(b"}" if failure["opens"] else b";")[0]
    return handled if LEAVES.search(handled) and not DIES.search(handled) else None


def _of_name(site: Site, name: bytes, handled: bytes) -> float | None:
    """Return the adjustment for a size that outlives the function, unless the failure restores it."""
    if re.search(re.escape(name) + rb"\s*(?:[-+/]=|=(?!=)|--)", handled):
        return None
    if re.match(MEMBER, name):
        return OF_POINTER
    return OF_GLOBAL if re.search(STATIC % re.escape(name), site.source.text) else None


def _is_released(handled: bytes, *expressions: bytes) -> bool:
    """Return whether the object is released when the allocation fails."""
    return any(match[1] in one for match in RELEASES.finditer(handled) for one in expressions)


RULES: tuple[Rule, ...] = (
    rule("capacity_before_realloc", check_capacity, calls=("realloc", "reallocarray", "krealloc")),
)
