"""The rules of a question that depend on the function: only those that apply are shown."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from jarvis_workers.c2rust.body_question import BodyQuestion
from jarvis_workers.c2rust.shims import RAW_POINTER


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
