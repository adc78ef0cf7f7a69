"""Decode source text as some compilers do: UTF-8, and UTF-16 or UTF-32 with or without a byte-order mark."""

from collections.abc import Mapping

HEAD_BYTES = 64
LEAST_HEAD_BYTES = 32
WIDE_BY_NULS: Mapping[tuple[bool, ...], str] = {
    (False, True, False, True): "utf-16-le",
    (True, False, True, False): "utf-16-be",
    (False, True, True, True): "utf-32-le",
    (True, True, True, False): "utf-32-be",
}
BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def as_utf8(content: bytes) -> bytes:
    """Return the content in UTF-8, without a byte-order mark."""
    if content[:3] == b"\xef\xbb\xbf":
        return content[3:]
    encoding = _wide_encoding(content)
    return content if encoding is None else content.decode(encoding, "replace").encode("utf-8", "replace")


def _wide_encoding(content: bytes) -> str | None:
    """Detect UTF-32 and UTF-16 by a byte-order mark or else by the positions of NULs in ASCII text."""
    if content[:4] == b"\0\0\xfe\xff" or (content[:4] == b"\xff\xfe\0\0" and content[6:8] == b"\0\0"):
        return "utf-32"
    if content[:2] in BYTE_ORDER_MARKS:
        return "utf-16"
    head = content[: HEAD_BYTES - HEAD_BYTES % 4]
    nul = (
        [head[place::4].count(0) == len(head[place::4]) for place in range(4)] if len(head) >= LEAST_HEAD_BYTES else []
    )
    return WIDE_BY_NULS.get(tuple(nul))
