"""Write a change as a patch in the format of `git diff`, from the contents of its files alone.

The text depends on nothing else, so that equal changes have equal patches on every machine.
"""

import difflib
from collections.abc import Iterator

from jarvis_workers.sec.fix.gates import Changes, FileContents

CONTEXT = 3
NO_NEWLINE = b"\n\\ No newline at end of file\n"
PLAIN_BYTES = frozenset(range(0x20, 0x7F)) - {ord('"'), ord("\\")}


def patch_text(changes: Changes) -> bytes:
    """Return the patch of changed files; `git apply` takes it at the top of the tree."""
    return b"".join(piece for path in sorted(changes) for piece in _file_patch(path, changes[path]))


def _file_patch(path: str, file: FileContents) -> Iterator[bytes]:
    """Yield the parts of the patch of an existing file."""
    old, new = _name("a/", path), _name("b/", path)
    yield b"diff --git %b %b\n--- %b\n+++ %b\n" % (old, new, old, new)
    before, after = (_lines(content or b"") for content in file)
    hunks = difflib.diff_bytes(difflib.unified_diff, before, after, n=CONTEXT, lineterm=b"\n")
    for number, line in enumerate(hunks):
        if number > 1:  # the two lines with the names are above
            yield line if line.endswith(b"\n") else line + NO_NEWLINE


def _lines(content: bytes) -> list[bytes]:
    """Return the lines as git splits them: only a newline ends a line."""
    parts = content.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _name(side: str, path: str) -> bytes:
    """Return a name as git writes it: quoted if it has unusual bytes."""
    raw = (side + path).encode("utf-8", "surrogateescape")
    if PLAIN_BYTES.issuperset(raw):
        return raw
    return b'"%b"' % b"".join(bytes([byte]) if byte in PLAIN_BYTES else b"\\%03o" % byte for byte in raw)
