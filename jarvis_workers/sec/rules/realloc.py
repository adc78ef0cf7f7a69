"""realloc_assign_back: the result of realloc goes to the only pointer to the old block."""

import re

from jarvis_workers.sec.rules.rule import Site

__all__ = ["check_realloc"]

TARGET = re.compile(rb"(?P<target>[^;{}=]{1,200})=\s*(?:\([\w\s*:]{1,80}\)\s*|(?:static|reinterpret)_cast<[^<>]{1,80}>\s*\(\s*)*(?:std\s*)?(?:::\s*)?\Z")
CAST = re.compile(rb"\((?:const|void|char|unsigned|struct|\w+_t|\w+\s*\*|\s|\*)+\)(?=[\w(*])")
GIVES_UP = re.compile(rb"\b(?:abort|_?exit|die|fatal|panic|oom|out_of_memory|err|errx|nomem)\w*\s*\(", re.IGNORECASE)


def check_realloc(site: Site) -> float | None:
    """Less sure where the program ends when there is no memory, as nothing can leak then."""
    source = site.source
    match = TARGET.search(source.text[max(0, site.start - 320) : site.start])
    pointer = b"".join(CAST.sub(b"", site.masked(0)).split())
    if match is None or not pointer:
        return None
    target = b"".join(match["target"].split())
    before = target[: -len(pointer)]
    if not target.endswith(pointer) or before[-1:] in (b".", b">", b"*", b"&", b"]") or _joins(match["target"], pointer):
        return None
    return -0.2 if GIVES_UP.search(site.after(160)) else 0.0


def _joins(target: bytes, pointer: bytes) -> bool:
    """Tell whether the pointer's name is only the end of a longer one."""
    head = re.match(rb"\w+", pointer)
    tail = re.search(rb"(\w+)\W*\Z", target) if head and head[0] == pointer else None
    return tail is not None and head is not None and tail[1] != head[0]
