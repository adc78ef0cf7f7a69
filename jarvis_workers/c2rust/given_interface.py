"""Interfaces that a user gives: files of a crate that fix types and signatures, with functions that have no body yet.

An answer replaces a whole file. Bodies may change and items may be added; the gate `form` refuses everything else, such
as another type or signature, and code that reaches the process, its environment or the network. It reads text, not
meaning: what passes runs in the sandbox only.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jarvis_workers.c2rust.crate_edits import ATTRIBUTE, ATTRIBUTES, PARAMETER_NAME, QUOTES, UNFINISHED
from jarvis_workers.source.rust.rust_items import RustItem, read_items
from jarvis_workers.source.rust.rust_syntax import masked, without_comments

FILE_MAX, DEPTH_MAX = 400_000, 16
CONTAINERS = ("impl", "trait", "mod")
ADDED = frozenset(("fn", "struct", "enum", "union", "trait", "type", "impl", "const", "static", "use"))
HARMLESS = ATTRIBUTES | {"default", "derive", "repr"}
GLOBALS = re.compile(r"(?:std\s*::\s*)?thread_local\s*!")
DERIVED = re.compile(r"derive\((.*)\)", re.DOTALL)
TEST = re.compile(r"\b(?:test|bench)\b")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\w+|\S', re.DOTALL)
GENERICS = re.compile(r"<[^<>]*>")
# Modules of the standard library that reach the process, its environment or the network.
MODULES = r"(?:r#)?(?:arch|env|net|os|process)\b"
FORBIDDEN = (
    (re.compile(r"\bextern\b"), "no foreign functions or crates"),
    (re.compile(r"\b(?:include(?:_str|_bytes)?|env|option_env|asm|global_asm|naked_asm)\s*!"), "no such macros"),
    (re.compile(rf"\b(?:std|core)\s*::\s*{MODULES}"), "it is not a matter of this crate"),
    (re.compile(rf"\buse\b[^;]*(?:std|core)\s*::\s*\{{[^;]*\b{MODULES}"), "it is not a matter of this crate"),
    (
        re.compile(r"\b(?:std|core)\s*::\s*\*|\b(?:std|core)\s+as\b|\buse\b[^;]*\bself\s+as\b"),
        "it hides what the code uses",
    ),
    (re.compile(r"\blibc\b"), "no foreign functions or crates"),
)


class InterfaceItem(NamedTuple):
    """An item of a file: `head` is what an answer must keep, a signature or else the whole definition.

    `owner` are the heads of the containers around it, `attributes` those that must stay; `missing` is true for a
    function without a body. `line` counts from 1.
    """

    kind: str
    owner: str
    name: str
    head: str
    attributes: frozenset[str] = frozenset()
    line: int = 0
    missing: bool = False
    is_test: bool = False

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What identifies the item in another version of its file."""
        return self.kind, self.owner, self.name, self.head

    @property
    def label(self) -> str:
        """The name of a function with that of its type."""
        plain = self.owner
        while plain != (plain := GENERICS.sub(" ", plain)):
            pass
        words = [one for one in plain.partition(" where ")[0].partition(" for ")[::2] if one.strip()]
        own = re.findall(r"\w+", words[-1]) if words else []
        return f"{own[-1]}::{self.name}" if own else self.name


def interface_items(text: str) -> list[InterfaceItem]:
    """Return the items of a file, with those in implementations, traits and modules."""
    return list(_items(text, "", 1))


def missing_functions(text: str) -> list[InterfaceItem]:
    """Return the functions of a file that have no body yet."""
    return [one for one in interface_items(text) if one.missing]


def interface_problem(given: str, answer: str) -> str:
    """Return why an answer may not replace a file of an interface, or "" if it may."""
    if len(answer) > FILE_MAX:
        return f"it is longer than {FILE_MAX:,} characters"
    return next(_problems(given, answer), "")


def _items(text: str, owner: str, first: int, depth: int = 0) -> Iterator[InterfaceItem]:
    for one in read_items(text):
        line, attributes = first + one.line - 1, _attributes(one)
        test = any(TEST.search(attribute) for attribute in attributes)
        if one.kind in CONTAINERS and one.body is not None and not test and depth < DEPTH_MAX:
            head = _tokens(one.head)
            yield InterfaceItem(one.kind, owner, "", head, attributes, line)
            inner, above = one.text[one.body + 1 : -1], f"{owner} {head}".strip()
            yield from _items(inner, above, line + one.head.count("\n"), depth + 1)
        elif one.kind == "fn" and not test:
            missing = one.body is not None and bool(UNFINISHED.search(masked(one.text), one.body))
            yield InterfaceItem("fn", owner, one.name, _signature(one.head.rstrip(";")), attributes, line, missing)
        else:
            yield InterfaceItem(one.kind, owner, one.name, _tokens(one.definition), attributes, line, is_test=test)


def _problems(given: str, answer: str) -> Iterator[str]:
    code, before = masked(answer), masked(given)
    if any(not one.isascii() and code[place] != " " for place, one in enumerate(answer)):
        yield "it has a character outside of ASCII in its code"
    if "'" in QUOTES.sub("", code):
        yield "it has a quotation mark that is neither a lifetime nor a character"
    old, new = interface_items(given), {one.key: one for one in interface_items(answer)}
    yield from (problem for one in old if (problem := _loss(one, new.get(one.key))))
    keys = {one.key for one in old}
    for one in new.values():
        if one.key not in keys and (one.is_test or not (one.kind in ADDED or GLOBALS.match(one.head))):
            yield f"`{one.head[:60]}` may not be added: only functions, types, constants, statics and `use`"
    attributes = {one[0] for one in ATTRIBUTE.finditer(before)}
    for match in ATTRIBUTE.finditer(code):
        if match[0] not in attributes and (match[1] or match[2] not in HARMLESS):
            yield f"the attribute {match[2]} is not allowed"
    searches = ((pattern.search(code), pattern.search(before), why) for pattern, why in FORBIDDEN)
    found = ((match[0], why) for match, own, why in searches if match and not own)
    yield from (f"`{' '.join(text[-60:].split())}` is not allowed: {why}" for text, why in found)


def _loss(given: InterfaceItem, now: InterfaceItem | None) -> str:
    """Return what an answer lacks of an item; imports may change."""
    if now is None:
        if given.kind == "use" and not given.head.startswith("pub"):
            return ""
        return f"it must keep `{given.head[:300]}`{f' of `{given.owner}`' if given.owner else ''}"
    lost = given.attributes - now.attributes
    return f"it must keep the attribute {min(lost)} of `{given.head[:100]}`" if lost else ""


def _attributes(item: RustItem) -> frozenset[str]:
    """Return the attributes of an item that have an effect; each derived trait is one of its own."""
    found = set[str]()
    for attribute in item.attributes:
        text = _tokens(attribute)
        if derived := DERIVED.fullmatch(without_comments(attribute).strip()):
            found |= {f"derive({name.strip().rpartition('::')[2]})" for name in derived[1].split(",") if name.strip()}
        elif text.partition(" ")[0] not in ATTRIBUTES:
            found.add(text)
    return frozenset(found)


def _signature(text: str) -> str:
    """Return a signature without the names of its parameters."""
    return _tokens(re.sub(r"\bmut\s+self\b", "self", PARAMETER_NAME.sub("_:", text))).removesuffix(" - > ( )")


def _tokens(text: str) -> str:
    """Return code without comments, in a form that depends neither on its layout nor on elided lifetimes."""
    tokens = " ".join(TOKEN.findall(without_comments(text))).replace(" < ' _ >", "")
    return re.sub(r", ([])}>])", r"\1", tokens)
