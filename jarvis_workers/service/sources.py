"""What `-p` can name: a directory or file, or a git address with a revision."""

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.toolchain import git

ADDRESS = re.compile(r"(?P<url>(?:https|ssh|file)://[^/\s]*/\S+?|[\w.-]+@[\w.-]+:\S+?)(?:@(?P<revision>[^@:\s]+))?\Z")
PASSWORD = re.compile(r"\A\w+://[^/@]*:[^/@]*@|\Ahttps://[^/@]+@")
TOKEN_VARIABLE = "JARVIS_GIT_TOKEN"


class Source(NamedTuple):
    """A tree on this machine, and what it is called in reports."""

    path: Path
    root: bytes


@contextmanager
def open_source(named: str, environ: Mapping[str, str] = os.environ) -> Iterator[Source]:
    """Give the tree that `named` means; a repository's is fetched, and deleted at the end. Raises UsageError."""
    if PASSWORD.match(named):
        raise UsageError(f"-p: credentials do not belong in an address, where others see them; set {TOKEN_VARIABLE}")
    match = ADDRESS.match(named)
    if match is None or os.path.lexists(named):
        yield Source(Path(named), os.fsencode(Path(named).absolute()))
        return
    url, revision = match["url"], match["revision"] or "HEAD"
    if revision.startswith("-"):
        raise UsageError(f'-p: "{revision}" is not a revision')
    with tempfile.TemporaryDirectory(prefix="jarvis-source-") as directory:
        commit = git.fetch(url, revision, Path(directory), token=environ.get(TOKEN_VARIABLE), environ=environ)
        yield Source(Path(directory), f"{url}@{commit}".encode())
