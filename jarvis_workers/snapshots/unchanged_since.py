"""Detect files that are unchanged since a git revision, by git's content hashes.

Neither git's index nor its filters are used, since they belong to the scanned repository: a file that git stores in
another form counts as changed, except for line endings.
"""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

SHA1_DIGITS = 40


class Unchanged(NamedTuple):
    """A revision as named by the user, and the hash of each of its files, by path relative to the root."""

    revision: str
    blobs: Mapping[bytes, str]

    @property
    def reason(self) -> str:
        return f"not changed since {self.revision}"

    def holds(self, path: bytes, content: bytes) -> bool:
        """Return whether the revision has a file with this path and content."""
        blob = self.blobs.get(path)
        if blob is None:
            return False
        return blob in (_hash(blob, form) for form in (content, content.replace(b"\r\n", b"\n")))


def _hash(object_format: str, content: bytes) -> str:
    kind = hashlib.sha1 if len(object_format) == SHA1_DIGITS else hashlib.sha256
    return kind(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
