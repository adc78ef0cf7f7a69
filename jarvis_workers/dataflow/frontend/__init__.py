"""Front end for C and C++: lower functions to nested lists, and collect the declarations that their code may refer to.

Only the selected functions are parsed, each by itself; regular expressions read the rest of the file.
"""

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from jarvis_workers.dataflow.frontend.branches import branches
from jarvis_workers.dataflow.frontend.file_declarations import Outside
from jarvis_workers.dataflow.frontend.lowering import ParsedSource, blanked, function, name_of
from jarvis_workers.dataflow.frontend.places import FunctionPlace, places
from jarvis_workers.dataflow.frontend.unread_code import UnreadCode, partly_read, skipped_parts, unread_code
from jarvis_workers.source.functions import Function, functions
from jarvis_workers.source.lex import with_punctuators

__all__ = ["is_cpp", "model"]

# Each alternative begins with a literal byte, so that the regex engine can search for it at full speed. All words of
# C++ are names in C: of tags (`struct new x;`), functions (`int catch(const char *s)`), bit-fields and operands
# (`private : 3`, `a ? private : b`, `template < 3`), or the end of one (`struct pid_namespace {`).
CPP = re.compile(
    rb"""
      class(?<=\bclass)\s++\w++[^;(){}=]{0,200}\{ | namespace(?<=\bnamespace)(?<!struct\snamespace)\s*+\w*+\s*+\{
    | template(?<=\btemplate)\s*+<\s*+(?:> | (?:typename|class|template|auto|bool|int|unsigned|char)\b
      | (?!sizeof\b)[\w:]++\s++\w)
    | using(?<=\busing)\s++namespace\b | ::(?<=\w::)~?\w
    | new(?<=[=(,\s]new)(?<!struct\snew)\s++\w[\w:<>]*+\s*+[\[(;]
    | delete(?<=[;{}\s]delete)(?<!struct\sdelete)\s*+(?>\[\s*+\]\s*+)?+\w++\s*+;
    | _cast(?:(?<=static_cast)|(?<=dynamic_cast)|(?<=reinterpret_cast)|(?<=const_cast))\s*+<
    | p(?:ublic|rivate|rotected)(?:(?<=[;{}\s]public)|(?<=[;{}\s]private)|(?<=[;{}\s]protected))
      (?:(?<!\?\spublic)(?<!\?\sprivate)(?<!\?\sprotected))\s*+:(?!\s*+\w++\s*+[;,])
    | catch(?<=[};\s]catch)(?<!\w\scatch)(?<!\*\scatch)\s*+\(\s*+(?:const|\.\.\.|\w++\s*+&)
    | include[ \t]*+<\w++>
    """,
    re.VERBOSE,
)

INCLUDED = re.compile(rb'"(?:[^"\n]*/)?([^"/\n]+)"')


def model(
    content: bytes,
    text: bytes,
    is_selected: Callable[[Function, bytes], bool],
    *,
    header: bool,
    language: str = "c/cpp",
    cpp: bool | None = None,
    defines: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the summary of a file from its `c_text` and its masked text, compiled with macros such as `SIZE=8`.

    "others" are the names of its functions that are not selected, "ending" those of prototypes that say that a function
    never returns; "included" are the names of the headers that it includes itself, without directories; "cpp": whether
    it was parsed as C++; "unsearched": the offset behind which functions were not searched, or None; "unread": code
    that is not lowered, by name, line, reason and text.
    """
    content = with_punctuators(content, text)
    is_in_cpp, searched = is_cpp(text) if cpp is None else cpp, functions(text, language)
    source = ParsedSource(content, text, branches(text, cpp=is_in_cpp, defined=_names_of(defines)), is_in_cpp)
    code = blanked(text, source.branches.blank(0, len(text)))
    locations = places(text, code, searched)
    outside = Outside(source, locations.outside, header=header, defines=defines)
    bodies, others, unread = _lowered(source, locations.functions, outside, is_selected)
    unread += unread_code(source, code, locations.functions, outside.opaque)
    _mark_partial(bodies, partly_read(source, locations.functions, unread))
    return {
        "functions": bodies,
        "others": others,
        "globals": outside.globals,
        "macros": outside.macros,
        "types": outside.types,
        "typedefs": outside.typedefs,
        "ending": sorted(outside.ending),
        "opaque": sorted(outside.opaque),
        "included": _included(source),
        "cpp": is_in_cpp,
        "unsearched": searched.unsearched,
        "unread": [[*one[:3], one.code.decode("latin-1")] for one in unread],
    }


def _names_of(defines: Sequence[str]) -> frozenset[bytes]:
    return frozenset(one.partition("=")[0].partition("(")[0].encode("utf-8", "surrogateescape") for one in defines)


def _lowered(
    source: ParsedSource,
    found: Sequence[FunctionPlace],
    outside: Outside,
    is_selected: Callable[[Function, bytes], bool],
) -> tuple[list[dict[str, Any]], list[str], list[UnreadCode]]:
    """Return the selected functions, the names of the others, and the code of functions that was skipped.

    Of several with a name, the last one counts: those of excluded branches, such as for Windows, come first.
    """
    bodies: list[dict[str, Any]] = []
    excluded: list[dict[str, Any]] = []
    twins = _twins(source, found)
    others: set[str] = set()
    unread: list[UnreadCode] = []
    line, at = 1, 0
    for place in found:
        first, last = place.function.body
        if source.branches.is_directive(first):
            continue
        if not is_selected(place.function, source.text[first:last]) and name_of(place) not in twins:
            others.add(name_of(place))
            continue
        line, at = line + source.content.count(b"\n", at, place.start), place.start
        lowered, reading = function(source, place, line, outside.names)
        outside.note(reading)
        unread += skipped_parts(lowered, reading)
        (excluded if source.branches.is_excluded(first) else bodies).append(lowered)
    bodies = excluded + bodies
    return bodies, sorted(others.difference(one["name"] for one in bodies)), unread


def _mark_partial(bodies: Sequence[dict[str, Any]], names: Collection[str]) -> None:
    """Mark the functions of these names, and those that cannot be lowered, as read in part."""
    for one in bodies:
        if "gap" in one or one["name"] in names:
            one["partial"] = True


def _twins(source: ParsedSource, found: Sequence[FunctionPlace]) -> set[str]:
    """Return the names of the functions that stand both in an excluded branch and outside of one."""
    excluded: set[str] = set()
    others: set[str] = set()
    for place in found:
        (excluded if source.branches.is_excluded(place.function.body[0]) else others).add(name_of(place))
    return excluded & others


def _included(source: ParsedSource) -> list[str]:
    """Return the names of the headers of the project that a file includes, without their directories."""
    lines = [source.content[one.start : one.end] for one in source.branches.live() if one.word == b"include"]
    return sorted({found[1].decode("latin-1") for line in lines if (found := INCLUDED.search(line))})


def is_cpp(text: bytes) -> bool:
    """Return whether masked text is C++ and not C."""
    return CPP.search(text) is not None
