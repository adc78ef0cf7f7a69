"""Find the members of structures that a file allocates memory for, and neither releases nor hands to anyone."""

import re

# A member, and a call by which it gets memory.
STORED = re.compile(rb"(?:->|\.)(?>(\w++)\.)?+(\w++)\s*+=\s*+(?>\([^();]*+\)\s*+)?+(\w++)\s*+\(")
MAKES = re.compile(rb"(?i:alloc|strn?dup|_dup|_?create|_new)\d?\Z|[a-z](?:New|Dup)\Z")
# The functions that end a structure, by their names.
ENDS = re.compile(rb"(?i:free|destroy|dispose|de_?init|uninit|fini|dtor|releas|delete|clean_?up)")
# Those that release what they get.
RELEASERS = re.compile(
    rb"(?:(?i:free|clos|destroy|dispos|releas|delete|unref|clean|clear|fini|detach|drop|discard)|(?i:(?<![a-z])put))\w*"
)
RELEASES = re.compile(RELEASERS.pattern + rb"\s*+(?:\[\s*\]\s*+)?[(\s][^;{}]*\Z")
TAKES = re.compile(
    rb"(?:[\w\s)\]]=|\breturn\b)\s*+(?:\([^()]*+\)\s*+)?(?>\w|->|\.|\[[^\]]*+\])(?>\w|->|\.|\[[^\]]*+\])*+\Z"
)
NEAR = 160
END_OF_VALUE = re.compile(rb"\s*+[;,]")
STATEMENT = re.compile(rb"[;{}]")


def unreleased_members(text: bytes) -> frozenset[bytes]:
    """Return the names of such members, from masked text."""
    stored = {match.group(2, 1) for match in STORED.finditer(text) if MAKES.search(match[3])}
    return frozenset(name for name, around in stored if not _leaves(text, name, around))


def _leaves(text: bytes, name: bytes, around: bytes | None) -> bool:
    """Return whether a member, in the member `around`, goes to a function that releases, or to a variable."""
    for match in re.finditer(rb"(?>(?:->|\.)(\w++)(?=->|\.))?+(?:->|\.)%b\b(?!\s*+(?:->|\.|\[|=[^=]))" % name, text):
        if around is not None and match[1] is not None and match[1] != around:
            continue
        before = STATEMENT.split(text[max(0, match.start() - NEAR) : match.start()])[-1]
        if RELEASES.search(before) or (END_OF_VALUE.match(text, match.end()) and TAKES.search(before)):
            return True
    return False
