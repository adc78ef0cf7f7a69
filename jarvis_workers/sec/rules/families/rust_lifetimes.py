"""temporary_pointer and double_read: pointers to what has ended, and values that have two owners."""

import re

from jarvis_workers.sec.rules.analysis.rust_context import is_of_tests, softened
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

REACH = 4_096
FROM_BLOCK, OWNED = -0.05, -0.05
CALLED = lazy(rb"\s*\(\s*\)")
MADE = lazy(
    rb"\bCString\s*::\s*new\s*\(|\bString\s*::\s*from\w*\s*\(|\bformat!\s*\(|\bvec!\s*\[|\bVec\s*::\s*from\s*\(|\bBox\s*::\s*new\s*\("
    rb"|\.\s*(?:to_string|to_owned|to_vec|into_bytes|into_boxed_\w+|clone|to_string_lossy|to_uppercase|to_lowercase|into_owned)\s*\(\s*\)"
    rb"|\.\s*collect\s*(?:::\s*<[^;{}]{1,64}>\s*)?\("
)
BOUND = lazy(
    rb"\A\s*(?:let\s+(?:mut\s+)?[\w.]+\s*(?::[^=;]*)?=|[a-z_][\w.]*\s*=(?!=)|[a-z_]\w*\s*:(?!:)|return\b)\s*(?P<value>.*)\Z",
    re.DOTALL,
)
VARIABLE = lazy(rb"(?:\A|[\s(])([a-z_]\w*)\s*\.\s*\Z")
ENDS_BLOCK = lazy(rb"\s*\(\s*\)\s*(?:as\s+\*\s*(?:const|mut)\s+[\w:]+\s*)?\}")
EDGES = (b";", b"{", b"}", b",")
READS = lazy(
    rb"(?:\bptr\s*::\s*|\bManuallyDrop\s*::\s*|\b(?:Box|Arc|Rc|CString|Vec|String)\s*(?:::\s*<[^;{}]{1,64}>\s*)?::\s*)\Z"
)
ARGUMENT = lazy(rb"\s*(?:::\s*<[^;{}()]{1,64}>\s*)?\(")
FORGETS = (
    rb"\bforget\s*\(\s*%b\b|\bManuallyDrop\s*::\s*new\s*\(\s*%b\b"
    rb"|\b%b\s*\.\s*(?:into_raw|leak)\b|\b%b\s*:\s*(?:\w+::)*ManuallyDrop\b"
)
OWNER_TYPE = rb"\b%b\s*:\s*(?:Vec|String|Box|Arc|Rc|T)\b(?:<|\s*[,)=;])"
REFERENCE = lazy(rb"\A\s*&\s*(?:mut\s+)?([a-z_]\w*)\s*\Z")
REPLACED = lazy(
    rb"\bptr\s*::\s*(?:write|copy\w*|replace|swap)\s*\(|\bforget\s*\(|\belse\b|=>|\breturn\b|\bbreak\b|\bcontinue\b"
)
WORDS = lazy(rb"[a-z_]\w*")


def check_temporary(site: Site) -> float | None:
    """Report a pointer to a value that ends with its statement, or with the block that gives the pointer."""
    text = site.source.text
    if not CALLED.match(text, site.at, site.at + 16) or is_of_tests(site):
        return None
    start = _statement(text, site.start)
    before = text[start : site.start]
    if not before.rstrip().endswith(b"."):
        return None
    bound = BOUND.match(before)
    if bound is not None and MADE.search(bound["value"]) and _is_level(bound["value"]):
        return softened(site)
    name = VARIABLE.search(before)
    if name is not None and ENDS_BLOCK.match(text, site.at, site.at + 96) and _is_made_here(site, name[1]):
        return FROM_BLOCK + softened(site)
    return None


def _statement(text: bytes, at: int) -> int:
    """Return the start of the statement, or of the field of a literal, that contains an offset."""
    depth = 0
    for place in range(at - 1, max(0, at - REACH), -1):
        mark = text[place : place + 1]
        depth += (mark in b")]") - (mark in b"([")
        if mark in EDGES and depth <= 0:
            return place + 1
        if depth < 0:
            # Within the arguments of a call, which ends before the temporary does.
            return at
    return max(0, at - REACH)


def _is_level(value: bytes) -> bool:
    return value.count(b"(") == value.count(b")") and value.count(b"[") == value.count(b"]")


def _is_made_here(site: Site, name: bytes) -> bool:
    """Return whether the block around the site makes an owner of a name, and its value outlives the block."""
    text, depth = site.source.text, 0
    for place in range(site.start - 1, max(0, site.start - REACH), -1):
        depth += (text[place : place + 1] == b"}") - (text[place : place + 1] == b"{")
        if depth < 0:
            block, head = text[place : site.start], text[max(0, place - 200) : place].rstrip()
            made = re.search(rb"\blet\s+(?:mut\s+)?%b\s*(?::[^=;]*)?=([^;]*);" % re.escape(name), block)
            is_used = (
                head.endswith((b"=", b"(", b"unsafe"))
                or re.search(rb"->\s*\*\s*(?:const|mut)\b[^;{}]*\Z", head) is not None
            )
            return is_used and made is not None and MADE.search(made[1]) is not None
    return False


def check_double(site: Site) -> float | None:
    """Report the second owner that is made of the same memory, or one of a variable that is dropped, too."""
    text, function = site.source.text, site.function
    before = text[max(0, site.start - 80) : site.start]
    opened = ARGUMENT.match(text, site.at, site.at + 96)
    is_method = site.name == b"assume_init_read"
    if function is None or opened is None or is_of_tests(site) or not (is_method or READS.search(before)):
        return None
    argument = Site(site.source, site.name, site.start, opened.end() - 1).masked(0).strip()
    subject = re.search(rb"([\w.\[\]]+)\s*\.\s*\Z", before) if is_method else None
    argument = subject[1] if subject else argument
    if len(argument) < 1 or b"(" in argument.replace(b"()", b""):
        return None
    earlier = re.escape(site.name) + rb"\s*(?:::\s*<[^;{}()]*>\s*)?\(\s*" + re.escape(argument) + rb"\s*[,)]"
    if is_method:
        earlier = re.escape(argument) + rb"\s*\.\s*assume_init_read\s*\("
    reach = max(function.body[0], site.start - REACH)
    first = next(reversed(list(re.finditer(earlier, text[reach : _statement(text, site.start)]))), None)
    if first is not None and _is_unchanged(text[reach + first.end() : site.start], argument):
        return softened(site)
    owned = REFERENCE.match(argument)
    whole = text[function.start : function.body[1]]
    if site.name != b"read" or owned is None or re.search(FORGETS % ((re.escape(owned[1]),) * 4), whole):
        return None
    return OWNED + softened(site) if re.search(OWNER_TYPE % re.escape(owned[1]), whole) else None


def _is_unchanged(between: bytes, argument: bytes) -> bool:
    """Return whether nothing between two reads repairs the first, leaves its block, or changes what it names."""
    depth = 0
    for mark in re.finditer(rb"[{}]", between):
        depth += 1 if mark[0] == b"{" else -1
        if depth < -1:
            return False
    if REPLACED.search(between):
        return False
    names = b"|".join(re.escape(word) for word in WORDS.findall(argument)) or rb"\Z\A"
    return re.search(rb"\b(?:%b)\s*(?:[-+*]?=(?!=)|\.\s*(?:next|pop|write|add_assign)\b)" % names, between) is None


RULES: tuple[Rule, ...] = (
    rule("temporary_pointer", check_temporary, words=("as_ptr", "as_mut_ptr")),
    rule(
        "double_read",
        check_double,
        words=("read", "from_raw", "from_raw_parts", "take", "drop_in_place", "assume_init_read"),
    ),
)
