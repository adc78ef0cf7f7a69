"""The functions that a harness declares, from the syntax tree that clang writes as JSON.

clang gives a place as an offset in the preprocessed text, whose line markers say which line of which file it is.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_workers.sec.proof.api_calls import ApiDeclaration, closing, pointed

LINE_MARKER = re.compile(rb'^# (\d+) "((?:[^"\\\n]|\\.)*)"[^\n]*\n', re.MULTILINE)
# Qualifiers of a parameter itself, which do not matter to its caller.
QUALIFIERS = re.compile(r"(?<=\*)\s*(?:\s*(?:const|volatile|restrict|__restrict)\b)+$")


def declarations_of_tree(syntax_tree: bytes, preprocessed: bytes) -> dict[str, ApiDeclaration]:
    """Return the declared functions by name, from what clang writes with -ast-dump=json; none if it cannot be read.

    A function without a prototype is left out.
    """
    try:
        nodes = json.loads(syntax_tree).get("inner", [])
    except (ValueError, RecursionError):
        return {}
    return dict(_declarations(nodes, _Places(preprocessed)))


class _Places:
    """The places of offsets in a preprocessed text."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._markers = [
            (one.end(), one[2].decode(errors="replace"), int(one[1])) for one in LINE_MARKER.finditer(text)
        ]
        self._starts = [start for start, _, _ in self._markers]

    def at(self, offset: int) -> tuple[str, int]:
        """Return the file and the line of an offset."""
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return "", 0
        start, file, first = self._markers[number]
        return file, first + self._text.count(b"\n", start, offset)


def _declarations(nodes: list[Mapping[str, Any]], places: _Places) -> Iterator[tuple[str, ApiDeclaration]]:
    for node in nodes:
        offset = node.get("loc", {}).get("offset")
        if node.get("kind") != "FunctionDecl" or node.get("storageClass") == "static" or offset is None:
            continue
        spelled = node["type"]["qualType"]
        result, _, rest = spelled.partition("(")
        if rest.startswith(")"):
            continue
        if rest.startswith("*"):
            result = pointed(result, rest.partition("(")[0], rest[closing(rest) + 1 :])
        types = [one["type"]["qualType"] for one in node.get("inner", ()) if one.get("kind") == "ParmVarDecl"]
        ends = ["..."] if node.get("variadic") else []
        parameters = (*(QUALIFIERS.sub("", one) for one in types), *ends)
        yield node["name"], ApiDeclaration(*places.at(offset), result.strip(), parameters or ("void",))
