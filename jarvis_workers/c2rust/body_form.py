"""The form of a translated body: the gate that refuses answers which are more than the function that was asked for.

It reads text, not meaning: what passes runs in the sandbox only, and is compared with C.
"""

import re

from jarvis_workers.c2rust.crate_edits import form_problem, same_signature
from jarvis_workers.c2rust.rust_items import masked, read_items

BODY_MAX = 200_000
ATTRIBUTE = re.compile(r"#\s*(!?)\s*\[\s*(?:unsafe\s*\(\s*)?([\w:]+)")
ATTRIBUTES = frozenset(("allow", "cold", "doc", "expect", "inline", "must_use", "rustfmt::skip"))
# Modules of the standard library that reach the operating system.
MODULES = r"(?:env|fs|net|os|process|thread)"
FORBIDDEN = (
    # Functions with the C calling convention are allowed: callbacks of C functions need them.
    (re.compile(r"\bextern\b(?!\s*(?:\"[^\"]*\"\s*)?fn\b)"), "use the declarations of the crate"),
    (
        re.compile(r"\b(?:include|include_str|include_bytes|env|option_env|asm|global_asm|naked_asm|macro_rules)\s*!"),
        "such macros are not plain code",
    ),
    (
        re.compile(rf"::\s*{MODULES}\b|\b{MODULES}\s*::|\buse\b[^;]*\b{MODULES}\b"),
        "it reaches the operating system other than through C functions",
    ),
)
# Symbols of slots, and the variables of their runtime.
OWN_NAMES = re.compile(r"\bjv[a-z]_\w+|JARVIS_\w*")


def body_problem(text: str, planned: str, name: str) -> str:
    """Return why a text is not the function `name` with the signature of `planned`, or "" if it is."""
    if len(text) > BODY_MAX:
        return f"it is longer than {BODY_MAX:,} characters"
    code = masked(text)
    problems = (_outside(text, name), _forbidden(text, code), form_problem(text))
    wrong = "" if same_signature(planned, text, name) else f"its signature must be `{planned}`"
    return next(filter(None, (*problems, wrong)), "")


def _outside(text: str, name: str) -> str:
    """Return what a text has beside the function."""
    items = list(read_items(text))
    if [(one.kind, one.name) for one in items] == [("fn", name)]:
        return ""
    others = ", ".join(f"{one.kind} {one.name}".strip()[:60] for one in items) or "nothing"
    return f"it must be the function `{name}` and nothing beside it; it has: {others[:300]}"


def _forbidden(text: str, code: str) -> str:
    """Return what a function must not contain; `code` is its text without comments and literals."""
    if any(not one.isascii() and code[place] != " " for place, one in enumerate(text)):
        return "it has a character outside of ASCII in its code"
    if OWN_NAMES.search(text):
        return "it uses a name that is reserved for the comparison with C"
    attributes = (one for one in ATTRIBUTE.finditer(code) if one[1] or one[2] not in ATTRIBUTES)
    if found := next(attributes, None):
        return f"the attribute {found[2]} is not allowed"
    for pattern, why in FORBIDDEN:
        if forbidden := pattern.search(code):
            return f"`{forbidden[0]}` is not allowed: {why}"
    return ""
