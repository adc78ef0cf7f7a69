"""The structures that headers of the tree declare: pairs of members, and what of them a harness may not set.

A pair is a pointer and the size of its memory, by their names: zlib's `next_in` and `avail_in`, or `extra` and
`extra_max`.  A harness may set the members of structures of its own and of the system, and, of a variable, those of
structures that public headers declare, as callers of zlib do.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from jarvis_workers.source.lex import mask

STRUCTURE = re.compile(r"\bstruct\b\s*(\w*)\s*\{([^{}]*)\}\s*([^;{}]*);")
POINTER_TYPE = re.compile(r"\btypedef\s+(?:struct\s+)?(\w+)\s+(?:\w+\s*)?\*\s*(\w+)\s*;")
MEMBER = re.compile(r"(\*?)\s*(\w+)\s*$")
QUALIFIER = re.compile(r"\b(?:const|volatile|struct|FAR)\b|\*")
SIZES = ("_max", "_size", "_cap", "_len", "_length")

# A brace; one that opens has before it the head of a structure with members, or of a function that returns one.
BRACE = re.compile(r"\b(?:struct|union)\b[^;{}]*\{|[{}]")
WORD = re.compile(r"[A-Za-z_]\w*")
DEFINED = re.compile(r"\b(?:struct|union)\s+(\w+)\s*\{")
NAMED = re.compile(r"\b(?:struct|union)\s+(\w+)")
TYPE_NAME = re.compile(r"\btypedef\s+(?:struct|union)\s+(\w+)\s*\**\s*(\w+)\s*;")
OWN_NAME = re.compile(r"\}\s*(\w+)\s*;")
KEYWORDS = frozenset(("return", "sizeof", "else", "case"))
CAST = re.compile(r"\(\s*(?:const\s+)?(?:struct\s+|union\s+)?(\w+)[\s*]*\)\s*&")

Pairs = tuple[tuple[str, str], ...]


class TreeStructures(NamedTuple):
    """What headers of the tree that a harness includes declare.

    `members` may have more names than those of members, and `hidden` those of headers that are not public. `opaque` are
    the tags and names of structures whose members no header declares.
    """

    members: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    opaque: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, parts: Iterable[tuple[str, str]], is_public: Callable[[str], bool], system: str = ""
    ) -> "TreeStructures":
        """Return the structures in parts of a preprocessed harness, each with the header of the tree that it is from.

        `system` is the text of the headers of the system.
        """
        parts = list(parts)
        every = "".join(text for _, text in parts)
        hidden = "".join(text for header, text in parts if not is_public(header))
        tags = set(NAMED.findall(every)) - set(DEFINED.findall(every + system))
        names = {name for tag, name in TYPE_NAME.findall(every) if tag in tags}
        return cls(frozenset(_words(every)), frozenset(_words(hidden)), frozenset(tags | names))

    def are_own(self, code: str, name: str) -> bool:
        """Return whether each declaration of a variable in code has a type that the code itself makes."""
        words = set(re.findall(rf"\b(\w+)[\s*]+{re.escape(name)}\b", code)) - KEYWORDS
        return bool(words) and words <= {*DEFINED.findall(code), *OWN_NAME.findall(code)} - self.opaque

    def disguise(self, code: str) -> str:
        """Return the name of an opaque structure whose members code declares, or which it casts to, "" for none."""
        return next((name for name in (*DEFINED.findall(code), *CAST.findall(code)) if name in self.opaque), "")


def sized_members(texts: Iterable[str]) -> Mapping[str, Pairs]:
    """Return the pairs of pointer and size of each type of a structure, or of a pointer to one, in some headers."""
    found: dict[str, Pairs] = {}
    for text in texts:
        code = mask(text.encode("utf-8", "replace"), "c/cpp").text.decode("utf-8", "replace")
        for name, body, others in STRUCTURE.findall(code):
            pairs = tuple(_pairs(body))
            found |= {one: pairs for one in (name, *re.findall(r"\w+", others)) if one and pairs}
        found |= {pointer: found[name] for name, pointer in POINTER_TYPE.findall(code) if name in found}
    return found


def base_type(parameter: str) -> str:
    """Return the name of the type that a parameter is, or points to."""
    return QUALIFIER.sub("", parameter).strip()


def _words(text: str) -> Iterator[str]:
    """Yield the words between the braces of structures."""
    depth = inside = start = 0
    for match in BRACE.finditer(text):
        if match[0] != "}":
            depth += 1
            if not inside and len(match[0]) > 1:
                inside, start = depth, match.end()
            continue
        if inside == depth:
            yield from WORD.findall(text[start : match.start()])
            inside = 0
        depth = max(depth - 1, 0)
    if inside:
        yield from WORD.findall(text[start:])


def _pairs(body: str) -> Iterator[tuple[str, str]]:
    members = [match for one in body.split(";") if (match := MEMBER.search(one.strip()))]
    numbers = {match[2] for match in members if not match[1]}
    for pointer in (match[2] for match in members if match[1]):
        is_next = pointer.startswith("next_")
        sizes = [f"avail_{pointer.removeprefix('next_')}"] if is_next else [f"{pointer}{end}" for end in SIZES]
        yield from chain([(pointer, size) for size in sizes if size in numbers][:1])
