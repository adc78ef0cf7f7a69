"""Pointers known to be NULL at a use: in the branch taken if they are NULL, or after `p = NULL`."""

import re

from jarvis_workers.sec.rules.analysis.mentions import next_mention
from jarvis_workers.sec.rules.analysis.pointer_uses import (
    DEREFERENCING,
    PRINTING,
    Mention,
    follow,
    is_unevaluated,
    plain_pointer,
)
from jarvis_workers.sec.rules.rule import Site
from jarvis_workers.source.lazy_regex import lazy

LEFT, BRANCH_MAX, NEXT_MAX = 128, 400, 4_096
SHAPES = (r"\(! ?[A-Za-z_][A-Za-z0-9_]*\)", r"== ?(?:NULL|nullptr)\)", r"= ?(?:NULL|nullptr);")
IN_BRANCH, BEHIND_BRANCH, ASSIGNED = 0.2, 0.0, 0.15
NEGATED = lazy(rb"\(! ?(\w++)\)")
NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.>-"
CONDITION = lazy(rb"\bif\s*+(?P<wrapped>\(\s*+unlikely\s*+)?\Z")
POINTED = lazy(rb"\w[ \t]*+\*+\Z")
OPENS = lazy(rb"\s*+(?>(?P<brace>\{))?+(?!\s*+(?:&&|\|\||[)?,=<>]))")
USED = lazy(rb"\s*+\)*+\s*+(?:->|\[)")
CALLED = lazy(rb"\b([A-Za-z_]\w*+)\s*+\(")
LEAVES = lazy(rb"\b(?:goto|return|break|continue|throw)\b")


def check_known_null(site: Site) -> float | None:
    text = site.source.text
    if text[site.start : site.start + 1] == b"(":
        return _negated(site)
    if text[site.start : site.start + 2] == b"==":
        return _compared(site)
    return _assigned(site)


def _negated(site: Site) -> float | None:
    """Check the branch of `if (!p)`."""
    text = site.source.text
    match = NEGATED.match(text, site.start)
    condition = _condition(text[max(0, site.start - 32) : site.start])
    return _in_branch(site, match[1], _behind(text, match.end(), condition)) if match and condition else None


def _compared(site: Site) -> float | None:
    """Check the branch of `if (p == NULL)`."""
    text = site.source.text
    name, rest = _name_before(text, site.start)
    condition = _condition(rest[:-1]) if rest.endswith(b"(") else None
    if condition is None:
        return None
    return _in_branch(site, name, _behind(text, text.find(b")", site.start) + 1, condition))


def _condition(before: bytes) -> re.Match[bytes] | None:
    return CONDITION.search(before) if before.rstrip().endswith((b"if", b"unlikely")) else None


def _name_before(text: bytes, at: int) -> tuple[bytes, bytes]:
    """Return the name that ends before an offset, and the text before that name."""
    before = text[max(0, at - LEFT) : at].rstrip()
    rest = before.rstrip(NAME_BYTES)
    return before[len(rest) :], rest.rstrip(b" \t")


def _behind(text: bytes, at: int, condition: re.Match[bytes]) -> int:
    """Return the start of the branch, or -1 if the condition continues."""
    if condition["wrapped"]:
        at = text.find(b")", at, at + 8) + 1
    opens = OPENS.match(text, at) if at else None
    return opens.end() if opens else -1


def _assigned(site: Site) -> float | None:
    text = site.source.text
    given, rest = _name_before(text, site.start)
    start = text.find(b";", site.start)
    if not given or not _is_used_next(text, given, start) or rest[-1:] in b"])":
        return None
    name = None if rest.endswith(b"*") and not POINTED.search(rest) else plain_pointer(given)
    if name is None or site.function is None:
        return None
    for mention in follow(site, name, start):
        if mention.kind == "dereference" and not (mention.left or mention.inner or is_unevaluated(text, mention.at)):
            return ASSIGNED
        if mention.kind != "other":
            return None
    return None


def _is_used_next(text: bytes, name: bytes, start: int) -> bool:
    """Return whether the next mention dereferences the name (a quick test that rejects most sites)."""
    at = next_mention(text, name, start, start + NEXT_MAX)
    return at >= 0 and (text[at - 1 : at] == b"*" or USED.match(text, at + len(name)) is not None)


def _in_branch(site: Site, expression: bytes, start: int) -> float | None:
    text = site.source.text
    name = plain_pointer(expression)
    if start < 0 or name is None or not _is_worth_following(text, name, start) or site.function is None:
        return None
    for mention in follow(site, name, start):
        use = _used(text, mention)
        if use is None:
            return None
        if use:
            return _weighed(text, start, mention)
    return None


def _is_worth_following(text: bytes, name: bytes, start: int) -> bool:
    """Return whether the branch mentions the name or falls through (a quick test: most branches just exit)."""
    braced = text[start - 1 : start] == b"{"
    end = text.find(b"}" if braced else b";", start, start + BRANCH_MAX)
    if end < 0 or next_mention(text, name, start, end) >= 0:
        return True
    return braced and _only_tells(text, start, end + 1)


def _weighed(text: bytes, start: int, mention: Mention) -> float | None:
    if mention.left == 0:
        return IN_BRANCH - (0.05 if mention.inner else 0.0)
    only_tells = mention.left == 1 and mention.inner == 0 and _only_tells(text, start, mention.at)
    return BEHIND_BRANCH if only_tells else None


def _used(text: bytes, mention: Mention) -> bool | None:
    if mention.kind == "dereference":
        return None if is_unevaluated(text, mention.at) else True
    if mention.kind == "argument":
        return True if mention.callee in DEREFERENCING - PRINTING else False if mention.callee in PRINTING else None
    return False if mention.kind in ("other", "test") else None


def _only_tells(text: bytes, start: int, end: int) -> bool:
    """Return whether the branch only prints something: it neither leaves the function nor changes anything."""
    branch = text[start : text.find(b"}", start, end)] if text.find(b"}", start, end) >= 0 else b""
    called = CALLED.findall(branch)
    return bool(called) and PRINTING.issuperset(called) and b"=" not in branch and not LEAVES.search(branch)
