"""Members of structures that belong together, a pointer and the size of its memory, by their names in a header.

zlib's `next_in` and `avail_in`, or `extra` and `extra_max`, are examples.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from jarvis_workers.source.lex import mask

STRUCTURE = re.compile(r"\bstruct\b\s*(\w*)\s*\{([^{}]*)\}\s*([^;{}]*);")
POINTER_TYPE = re.compile(r"\btypedef\s+(?:struct\s+)?(\w+)\s+(?:\w+\s*)?\*\s*(\w+)\s*;")
MEMBER = re.compile(r"(\*?)\s*(\w+)\s*$")
QUALIFIER = re.compile(r"\b(?:const|volatile|struct|FAR)\b|\*")
SIZES = ("_max", "_size", "_cap", "_len", "_length")

Pairs = tuple[tuple[str, str], ...]


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


def _pairs(body: str) -> Iterator[tuple[str, str]]:
    members = [match for one in body.split(";") if (match := MEMBER.search(one.strip()))]
    numbers = {match[2] for match in members if not match[1]}
    for pointer in (match[2] for match in members if match[1]):
        is_next = pointer.startswith("next_")
        sizes = [f"avail_{pointer.removeprefix('next_')}"] if is_next else [f"{pointer}{end}" for end in SIZES]
        yield from chain([(pointer, size) for size in sizes if size in numbers][:1])
