"""Select functions by the lifetime of what their variables hold: copies that outlive a release, addresses that outlive
a variable, and variables that are read where only some paths have set them.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jarvis_workers.dataflow.text_uses import FOLLOWS, NEAR, TRIES, WORD, before, first, next_use

RETURNS_ADDRESS = re.compile(rb"\breturn\s*+&\s*+([a-z_]\w*+)\s*+(?:\.\s*+\w++\s*+)?;")
# A variable or object gets the address of a variable: the place, its variable, the operator, and the variable.
STORES_ADDRESS = re.compile(
    rb"(?<![\w>.])((?>\*\s*+)?+([A-Za-z_]\w*+)\s*+(?>\[[^];]*+\]\s*+)?+(->|\.)?[\w.>-]*+)\s*+=\s*+&\s*+([a-z_]\w*+)[^;]*+;"
)
# A copy of a pointer, also by a cast, as the address of a member, moved, or as an argument of a macro with a member.
COPIED = re.compile(
    rb"""(?<![\w>.])([a-z_]\w*+(?>(?:->|\.)\w++)*+) \s*+=(?!=)\s*+ (?:\([\w\s]++\*\s*+\)\s*+)?
    (?: \w++\s*+\((?=[^;,()]*,[^;,()]*,[^;,()]*\)\s*;) | [(\s]*\(\s*char\s*\*\s*\)\s*(?=[^;]*-)
    | &\s*+(?=\w+->\w+\s*;) )?
    \s*+(\*?+[a-z_]\w*+(?>(?:->|\.)\w++(?!\s*\())*+)\s*+[;+,)-]""",
    re.VERBOSE,
)
# A call that may release its argument.
DISPOSERS = (
    *(b"ree", b"REE", b"elease", b"estroy", b"ispose", b"unref", b"elete", b"rop", b"del", b"lear", b"wipe", b"emove"),
    *(b"iscard", b"kill", b"lose", b"lean", b"fini", b"put"),
)
DISPOSES = re.compile(
    rb"""(?i:free | release | destroy | dispose | unref | delete | drop | del | clear | wipe | remove | discard | kill
    | close | clean | fini | put)\w*+\s*+(?:\[\s*\])?\s*+\(?\s*+(\*?+(?>\w|->|\.)++)\s*+\)?\s*+;""",
    re.VERBOSE,
)
UNSET = re.compile(
    rb"""[;{}]\s*(?!return|goto|else|case|typedef|va_list)
    (?:(?:unsigned|signed|long|short|struct|const)\s+)*\w+(?:\s+|\s*\*+\s*)(\w+)(?:\s*,\s*\*?\w+)*\s*(?=;)""",
    re.VERBOSE,
)
# What follows a variable: a member of it, and whether it is assigned to.
PART = re.compile(rb"(?>\.(\w++))?+(?!\s*+(?:\[|\(|->|\.))\s*+(=(?!=))?")
# The beginning of a statement that is a call, or of a condition that compares one.
STATEMENT = re.compile(rb"[;{})]\s*+(?:\(void\)\s*+|if\s*+\(\s*+!?)?([a-z_]\w*+)\s*+\((?:[^;{}()]*,)?\s*+&\s*+\Z")
# A longer function than this one returns the address of something else than a parameter.
TINY = 240
DECLARING = WORD | {b"*"}


def copy_outlives(body: bytes) -> bool:
    """Return whether a function uses a copy of a pointer after a call that may release what it points to."""
    if not any(word in body for word in DISPOSERS):
        return False
    disposed = [*first(DISPOSES, body)]
    copies = [(match[1], match[2]) for match in COPIED.finditer(body)] if disposed else []
    return any(
        _is_used_behind(body, other, end)
        for name, end in disposed
        for pair in copies
        for other in _other_names(pair, name)
    )


def _other_names(pair: tuple[bytes, bytes], name: bytes) -> Iterator[bytes]:
    """Yield the name that refers to the same object as a name that is released."""
    copy, origin = pair
    if name == copy:
        yield origin
    elif name in (origin, origin.partition(b"->")[0]):
        yield copy


def _is_used_behind(body: bytes, name: bytes, since: int) -> bool:
    if name + b" = " + name + b"->" in body:
        return True
    start = next_use(body, name, since)
    behind = FOLLOWS.match(body, start + len(name)) if start >= 0 else None
    return behind is not None and behind[1] != b"="


def address_outlives(body: bytes) -> bool:
    """Return whether a function returns the address of a variable of its own, or stores it where it may outlive it."""
    if b"= &" not in body and b"=&" not in body and b"return &" not in body:
        return False
    returned = RETURNS_ADDRESS.search(body) if b"return &" in body else None
    if returned is not None and (len(body) <= TINY or _is_declared(body, returned[1])):
        return True
    return any(_leaves(body, match) for match in STORES_ADDRESS.finditer(body))


def _leaves(body: bytes, match: re.Match[bytes]) -> bool:
    """Return whether a place may outlive a variable whose address it gets."""
    place, owner, member, name = match.groups()
    if not _is_declared(body, name):
        return False
    is_target = place.startswith(b"*") and before(body, match.start())[-1:] not in WORD
    if is_target or member == b"->" or not _is_declared(body, owner):
        return True
    if member == b".":
        return b"return " + owner + b";" in body
    return any(mark + owner + b";" in body for mark in (b"return ", b"= ")) or _is_in_block(body, name)


def _is_declared(body: bytes, name: bytes) -> bool:
    """Return whether the first mention of a name is its declaration."""
    ahead = before(body, next_use(body, name, 0))
    return ahead[-1:] in DECLARING and not ahead.endswith(b"return")


def _is_in_block(body: bytes, name: bytes) -> bool:
    at = next_use(body, name, 0)
    return body.count(b"{", 1, at) > body.count(b"}", 1, at)


def reads_unset(body: bytes) -> bool:
    """Return whether a function reads a variable, or a member of it, that is declared without a value."""
    body = b";" + body
    return any(_is_used_next(body, *one) or _is_read_unset(body, *one) for one in first(UNSET, body))


def _is_used_next(body: bytes, name: bytes, since: int) -> bool:
    start = next_use(body, name, since)
    match = FOLLOWS.match(body, start + len(name)) if start >= 0 else None
    ahead, behind = before(body, start)[-1:], match[1] if match is not None else None
    if start < 0 or behind in (b"[", b".") or ahead in (b"&", b">"):
        return False
    return behind != b"=" or ahead in (b")", b"e")


def _is_read_unset(body: bytes, name: bytes, since: int) -> bool:
    """Return whether a variable, or a member of it, is read outside of the blocks in which alone it is set before."""
    maybe: set[bytes] = set()
    for mention in _mentions(body, name, since):
        member, ahead = mention.member, mention.before
        if ahead == b"&":
            return False
        if mention.is_set:
            if mention.depth <= 0 and ahead not in (b")", b"e", b":"):
                if not member and b"goto " in body[since : mention.start]:
                    # A jump may skip the assignment.
                    return True
                if not member:
                    return False
                maybe.discard(member)
                member = b"=" + member
            maybe.add(member)
        elif mention.depth <= 0 and (member in maybe or (member and b"=" + member not in maybe and maybe)):
            return True
    return False


class _Mention(NamedTuple):
    """A mention of a variable or its member: the token before, how deep it is, and whether it is assigned to."""

    member: bytes
    before: bytes
    depth: int
    is_set: bool
    start: int


def _mentions(body: bytes, name: bytes, since: int) -> Iterator[_Mention]:
    depth = 0
    for _ in range(TRIES):
        start = next_use(body, name, since)
        if start < 0:
            return
        depth += body.count(b"{", since, start) - body.count(b"}", since, start)
        since = start + len(name)
        rest = PART.match(body, since)
        if rest is not None:
            yield _Mention(rest[1] or b"", before(body, start)[-1:], depth, rest[2] is not None, start)


def ignored_outputs(body: bytes) -> Iterator[bytes]:
    """Yield the functions that get the address of an unset variable, by a call whose result is ignored or tested."""
    body = b";" + body
    for name, since in first(UNSET, body) if b"&" in body else ():
        start = next_use(body, name, since)
        if start >= 0 and before(body, start)[-1:] == b"&":
            call = STATEMENT.search(body, max(0, start - NEAR), start)
            if call is not None and next_use(body, name, start + len(name)) >= 0:
                yield call.group(1)
