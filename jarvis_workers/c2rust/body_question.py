"""The question for the body of a function: C text, planned signature, types and declarations.

It depends on the C code and on the skeleton, never on another translated body, so that the same code asks the same
question in every run, whatever was translated before.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from jarvis_workers.c2rust.crate import CrateItem
from jarvis_workers.c2rust.crate_edits import signature
from jarvis_workers.c2rust.shims import RAW_POINTER
from jarvis_workers.source.lex import mask
from jarvis_workers.source.rust.rust_items import RustItem, read_items
from jarvis_workers.source.rust.rust_syntax import masked

TYPES_MAX, DECLARATIONS_MAX, CODE_MAX = 12_000, 8_000, 60_000
PROJECTS_MAX = 2
WORD = re.compile(r"\b[A-Za-z_]\w*")


class BodyQuestion(NamedTuple):
    """A function to translate: its name in Rust and its planned signature, and the untrusted texts of a prompt.

    `shim` is the function that C calls, which calls the translated one. `mechanical` is the mechanical translation, ""
    if there is none. `libraries` says which items of crates replace the function with what it uses. `safe` are the
    signatures of safe functions that call functions of the library. `foreign` are the names of crates that do not
    replace the function, and are not part of the question.
    """

    slot: str
    name: str
    head: str
    shim: str
    c: str
    mechanical: str
    types: str
    declarations: str
    notes: str = ""
    libraries: str = ""
    safe: str = ""
    foreign: frozenset[str] = frozenset()

    @property
    def about(self) -> str:
        """Hash that identifies the question."""
        return sha256(repr(tuple(self[:-1])).encode("utf-8", "backslashreplace")).hexdigest()

    @property
    def original(self) -> str:
        """The code of the function without comments: the mechanical translation, and C after the signature.

        Macros are expanded only in the former; the latter is complete if the former is cut.
        """
        c = mask(self.c.encode(), "c").text.decode("utf-8", "replace")
        return f"{masked(self.mechanical)}\n{c.partition('{')[2]}"

    @property
    def first_line(self) -> int:
        """The line of `item` on which the body begins."""
        return self.shim.count("\n") + 3

    def item(self, forwarded: CrateItem, text: str) -> CrateItem:
        """Return the item of the crate for a translated body."""
        return forwarded._replace(text=f"{self.shim}\n\n{text.strip()}\n")


def body_question(
    forwarded: CrateItem,
    forwarder: str,
    name: str,
    c: str,
    mechanical: str,
    types: str,
    declarations: Mapping[str, str],
    notes: str = "",
) -> BodyQuestion:
    """Return the question for a function; `forwarded` is its shim with its forwarder, which the body replaces.

    `name` is the name of the function to write, `forwarder` that of the forwarder. `types` and `declarations` (by Rust
    name) are those of the whole project.
    """
    shim = next(one.text for one in read_items(forwarded.text) if one.kind == "fn" and one.name == forwarded.name)
    head = signature(forwarded.text, forwarder).replace(f"fn {forwarder}(", f"fn {name}(", 1)
    if not RAW_POINTER.search(head):
        head = head.removeprefix("unsafe ")
    shim = re.sub(rf"\b{re.escape(forwarder)}\(", f"{name}(", shim)
    mentioned = set(WORD.findall(f"{shim}\n{head}\n{mechanical}\n{c}"))
    return BodyQuestion(
        forwarded.slot,
        name,
        head,
        shim,
        c[:CODE_MAX],
        mechanical[:CODE_MAX],
        mentioned_types(types, mentioned),
        _cut(
            (text for one, text in sorted(declarations.items()) if one.removeprefix("r#") in mentioned),
            DECLARATIONS_MAX,
        ),
        notes,
    )


def safe_functions(question: BodyQuestion, wrappers: Mapping[str, str]) -> str:
    """Return the signatures of the wrappers that a function may call; `wrappers` are by the name of what they wrap."""
    mentioned = set(WORD.findall(f"{question.mechanical}\n{question.c}"))
    chosen = (text for one, text in sorted(wrappers.items()) if one.removeprefix("r#") in mentioned)
    heads = (text.partition(" {\n")[0].removeprefix("pub ") + ";" for text in chosen)
    return _cut((head for head in heads if f"fn {question.name}(" not in head), DECLARATIONS_MAX)


def mentioned_types(types: str, names: Collection[str]) -> str:
    """Return the definitions of types that the names mention, and of those that these contain; without assertions."""
    items = _named_items(types)
    sought, found = set(names), set[str]()
    while new := {one.name for one, _ in items if one.name in sought} - found:
        found |= new
        sought = {word for one, words in items if one.name in new for word in words}
    return _cut((one.text for one, _ in items if one.name in found), TYPES_MAX)


@lru_cache(PROJECTS_MAX)
def _named_items(types: str) -> list[tuple[RustItem, frozenset[str]]]:
    """Return the items that have a name, each with the words in its text; all questions of a run need them."""
    items = (one for one in read_items(types) if one.name not in ("", "_"))
    return [(one, frozenset(WORD.findall(masked(one.text)))) for one in items]


def _cut(texts: Iterable[str], most: int) -> str:
    cut, size = list[str](), 0
    for text in texts:
        size += len(text) + 1
        if size > most:
            cut.append("// … omitted: too many to list")
            break
        cut.append(text)
    return "\n".join(cut)


# The rules of a question that depend on the function: only those that apply are shown.


class RuleCondition(NamedTuple):
    """A rule applies if its pattern occurs in one of these texts of the question."""

    texts: tuple[str, ...]
    pattern: re.Pattern[str]


# By the name of the rule in prompts/translate_rules.md.
CONDITIONS: Mapping[str, RuleCondition] = {
    "raw_pointers": RuleCondition(("head", "mechanical"), RAW_POINTER),
    "foreign": RuleCondition(("declarations",), re.compile(r"\bfn\b")),
    "unsigned": RuleCondition(("c",), re.compile(r"\bunsigned\b|\bu?int(?:8|16|32|64|ptr)_t\b|\bsize_t\b|\b\d+[uU]")),
    "conversions": RuleCondition(("mechanical",), re.compile(r"\bas [iu](?:8|16|32|64|128|size)\b")),
    "floats": RuleCondition(("head", "mechanical"), re.compile(r"\bf(?:32|64)\b")),
    "strings": RuleCondition(("head", "c"), re.compile(r"\bCStr\b|\bstr(?:n?cmp|n?cpy|n?cat|len|r?chr|str)\s*\(")),
    "slices": RuleCondition(("head",), re.compile(r"&(?:mut )?\[")),
    "results": RuleCondition(("head", "safe"), re.compile(r"\bErrorCode<|\bNonNull<")),
    "enums": RuleCondition(("types",), re.compile(r"#\[repr\([iu]\d+\)\]")),
    "flags": RuleCondition(("types",), re.compile(r"#\[repr\(transparent\)\]")),
    "options": RuleCondition(("head",), re.compile(r"\bOption<")),
    "uninitialized": RuleCondition(("head",), re.compile(r"\bMaybeUninit\b")),
    "globals": RuleCondition(("declarations",), re.compile(r"\bstatic mut\b")),
    "allocation": RuleCondition(("c",), re.compile(r"\b(?:[mc]|re)alloc\s*\(|\bfree\s*\(")),
    "callbacks": RuleCondition(("head", "types"), re.compile(r'extern "C" fn\s*\(')),
    "unions": RuleCondition(("types",), re.compile(r"\bunion\b")),
    "jumps": RuleCondition(("c",), re.compile(r"\bgoto\b|\bswitch\b")),
}


def applicable_rules(question: BodyQuestion) -> dict[str, bool]:
    """Return for each rule whether it applies to a function."""
    return {
        name: any(condition.pattern.search(getattr(question, text)) for text in condition.texts)
        for name, condition in CONDITIONS.items()
    }
