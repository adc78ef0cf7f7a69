"""Names of tools towards a provider, which allows 64 letters, digits, "_" and "-": dots become "__".

A name that is too long, or that has "__" itself, is cut and ends with a hash of the whole name, so that different
names stay different.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256

from jarvis_workers.models.platforms.protocol import ToolCall, ToolSpec

LETTERS_MAX, HASH_LETTERS = 64, 8
ALLOWED = re.compile(rf"[A-Za-z0-9_-]{{1,{LETTERS_MAX}}}")


def wire_name(name: str) -> str:
    """Return the name of a tool towards a provider."""
    if ALLOWED.fullmatch(name) and "__" not in name:
        return name
    short = name.replace(".", "__")
    if ALLOWED.fullmatch(short) and "__" not in name and short.replace("__", ".") == name:
        return short
    cut = re.sub(r"[^A-Za-z0-9_-]", "_", short)[: LETTERS_MAX - HASH_LETTERS - 1]
    return f"{cut}_{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:HASH_LETTERS]}"


def own_names(calls: Iterable[ToolCall], tools: Iterable[ToolSpec]) -> tuple[ToolCall, ...]:
    """Return the calls of an answer with the names that this program uses; other names stay as they are."""
    names = {wire_name(tool.name): tool.name for tool in tools}
    return tuple(replace(call, name=names.get(call.name, call.name)) for call in calls)
