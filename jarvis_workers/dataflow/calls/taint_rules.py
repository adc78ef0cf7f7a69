"""A project's own taint rules: effects of calls by the name of the called function.

Rows are those of rule files (`mode: taint`), validated before they get here. Each rule has the propagators of LIBRARY.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from jarvis_workers.dataflow.queries.name_heuristics import listed
from jarvis_workers.source.call_patterns import CallPattern, ConditionPattern, parse_call, parse_condition

SOURCE, SINK, SANITIZER, PROPAGATOR = "source", "sink", "sanitizer", "propagator"
RETURNS, ANY_ARGUMENT = "returns", ""
# The functions of a file are searched for the names of the rules.
CALLED = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")
# A macro: its name, with the parenthesis of its parameters, and the rest of its definition.
DEFINED = re.compile(rb"^[ \t]*+#[ \t]*+define[ \t]++(\w++)((?>[^\\\n]++|\\.)*+)", re.DOTALL | re.MULTILINE)
MACROS_DEEP = 2
# Library functions that pass on taint: their arguments, where it comes from and where it goes.
COPIES = (
    "strcpy stpcpy strcat strncpy stpncpy strncat strlcpy strlcat memcpy memmove mempcpy wcscpy wcscat wcsncpy wcsncat"
)
RETURNED = """
    strdup strndup strdupa xstrdup xstrndup g_strdup g_strndup wcsdup strchr strrchr strstr strcasestr strpbrk strtok
    strtok_r strsep memchr basename dirname realpath canonicalize_file_name toupper tolower abs labs atoi atol atoll
    atof strtol strtoul strtoll strtoull strtoimax strtoumax strtod ntohs ntohl htons htonl
"""
LIBRARY = (
    *((f"{name}($TO, $FROM, ...)", "$FROM", "$TO") for name in listed(COPIES)),
    *((f"{name}($FROM, ...)", "$FROM", RETURNS) for name in listed(RETURNED)),
    *((f"{name}($TO, ..., $FROM, ...)", "$FROM", "$TO") for name in listed("sprintf snprintf swprintf asprintf")),
    *((f"{name}($FROM, $FORMAT, ..., $TO, ...)", "$FROM", "$TO") for name in listed("sscanf swscanf")),
    ("bcopy($FROM, $TO, ...)", "$FROM", "$TO"),
)
CLEARED = "memset bzero explicit_bzero wmemset"


class Effect(NamedTuple):
    """What a call does: `focus` is a metavariable, RETURNS, or ANY_ARGUMENT; `origin` where a propagator takes from.

    A sanitizer with a `condition` has its effect only where this holds.
    """

    kind: str
    call: CallPattern
    focus: str
    origin: str = ""
    condition: ConditionPattern | None = None


class TaintRule(NamedTuple):
    """A rule; methods are in `effects` under `.name`. `sources` and `sinks` are the names of functions and methods."""

    id: str
    confidence: float
    in_tests: bool
    effects: Mapping[str, tuple[Effect, ...]]
    names: frozenset[str]
    sources: frozenset[str]
    sinks: frozenset[str]


def taint_rule(row: Mapping[str, Any]) -> TaintRule:
    """Return the rule of a row."""
    own = [
        *(_effect(SOURCE, one, RETURNS) for one in row["sources"]),
        *(_effect(SINK, one, ANY_ARGUMENT) for one in row["sinks"]),
        *(_effect(SANITIZER, one, RETURNS) for one in row.get("sanitizers", ())),
        *(_effect(PROPAGATOR, one, one["to"]) for one in row.get("propagators", ())),
    ]
    return TaintRule(
        id=row["id"],
        confidence=row["confidence"],
        in_tests=not row.get("not_in_tests", False),
        effects=_by_name(own),
        names=names_of(own),
        sources=names_of(one for one in own if one.kind == SOURCE),
        sinks=names_of(one for one in own if one.kind == SINK),
    )


def names_of(effects: Iterable[Effect]) -> frozenset[str]:
    """Return the last words of the names of functions."""
    return frozenset(one.call.name.rpartition("::")[2] for one in effects)


def names_in(rules: Iterable[TaintRule]) -> frozenset[bytes]:
    """Return the names that select functions: those of all effects."""
    return frozenset(name.encode() for rule in rules for name in rule.names)


def words_for(text: bytes, names: frozenset[bytes]) -> dict[bytes, frozenset[bytes]]:
    """Return which of the names each word of a file's masked text stands for: itself, or those in a macro's text."""
    words = {name: frozenset((name,)) for name in names}
    for _ in range(MACROS_DEEP) if names else ():
        for word, body in DEFINED.findall(text):
            behind = [words[one] for one in CALLED.findall(body) if one in words]
            alias = words.get(body.strip())
            if behind or alias:
                words[word] = words.get(word, frozenset()).union(alias or (), *behind)
    return words


def names_called(body: bytes, words: Mapping[bytes, frozenset[bytes]]) -> list[str]:
    """Return the names that the called words in the masked text of a function stand for, sorted."""
    called = words.keys() & CALLED.findall(body)
    return sorted(name.decode() for name in frozenset[bytes]().union(*(words[one] for one in called)))


def root_functions(rule: TaintRule, functions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the functions to analyze: those with a source or a sink, and callers of one function with a source and one
    with a sink in the same file."""
    reached = {one["name"]: frozenset(one.get("marks", ())) for one in functions}
    roots = []
    for function in functions:
        own = reached[function["name"]]
        called = frozenset[str]().union(own, *(reached.get(name, frozenset()) for name in function["calls"]))
        if not (rule.sources | rule.sinks).isdisjoint(own) or not (
            rule.sources.isdisjoint(called) or rule.sinks.isdisjoint(called)
        ):
            roots.append(function)
    return roots


def _effect(kind: str, row: Mapping[str, Any], focus: str) -> Effect:
    condition = parse_condition(row["pattern"]) if kind == SANITIZER else None
    call = condition.call if condition else parse_call(row["pattern"])
    if condition is not None:
        focus = call.metavariables[0]
    return Effect(kind, call, row.get("focus", focus), row.get("from", ""), condition)


def _by_name(own: Sequence[Effect]) -> dict[str, tuple[Effect, ...]]:
    effects = defaultdict[str, list[Effect]](list)
    for one in (*own, *library_effects()):
        effects[f".{one.call.name}" if one.call.receiver else one.call.name].append(one)
    return {name: tuple(several) for name, several in effects.items()}


@cache
def library_effects() -> tuple[Effect, ...]:
    """Return the effects of library functions on the taint of every rule."""
    cleared = (Effect(SANITIZER, parse_call(f"{name}($TO, ...)"), "$TO") for name in listed(CLEARED))
    passed = (Effect(PROPAGATOR, parse_call(pattern), to, origin) for pattern, origin, to in LIBRARY)
    return (*passed, *cleared)
