"""Add commits to a branch of a local repository; its working tree, index and hooks are not touched."""

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.toolchain.git import MAX_ANSWER_BYTES, local_environment
from jarvis_workers.toolchain.gitstream import GitFailed, run

SECONDS = 600
AUTHOR = "Jarvis Workers <jarvis@localhost>"
# The exit code of git where what it looks for does not exist.
NOTHING = 1
PLAIN = re.compile(rb"[^A-Za-z0-9_./-]")


class NewCommit(NamedTuple):
    """A commit: its message, and the contents of the files that it adds or changes."""

    message: str
    files: Mapping[str, bytes]


class Repository(NamedTuple):
    """The top directory of a repository, and the path of a directory in it, "" for the top itself."""

    top: Path
    prefix: str


def find_repository(place: Path, environ: Mapping[str, str]) -> Repository | None:
    """Return the repository that contains a directory, which need not exist, or None."""
    real = Path(os.path.realpath(place))
    existing = next(one for one in (real, *real.parents) if one.is_dir())
    try:
        output = _git(existing, environ, "rev-parse", "--show-toplevel")
    except UsageError:
        return None
    top = Path(os.path.realpath(os.fsdecode(output.rstrip(b"\n"))))
    return Repository(top, "" if real == top else os.fspath(real.relative_to(top)))


def create_repository(place: Path, environ: Mapping[str, str]) -> Repository:
    """Create a repository without commits."""
    place.mkdir(parents=True, exist_ok=True)
    _git(place, environ, "init", "--quiet")
    return Repository(Path(os.path.realpath(place)), "")


def check_branch(repository: Repository, branch: str, environ: Mapping[str, str]) -> None:
    """Raise UsageError for a name that git refuses, and for a branch that is checked out."""
    _git(repository.top, environ, "check-ref-format", f"refs/heads/{branch}")
    trees = _git(repository.top, environ, "worktree", "list", "--porcelain").splitlines()
    if f"branch refs/heads/{branch}".encode() in trees:
        raise UsageError(f"{repository.top}: branch {branch} is checked out; check out another, or use another name")


def add_commits(
    repository: Repository,
    branch: str,
    commits: Iterable[NewCommit],
    seconds: int,
    environ: Mapping[str, str],
    *,
    replace_directory: bool = True,
) -> str:
    """Add commits to a branch, which begins at HEAD if it is new, and return the last one.

    The first commit replaces the directory of the repository's prefix if `replace_directory` is set; all have the time
    `seconds`, in seconds since 1970.
    """
    ref = f"refs/heads/{branch}"
    parent = find_commit(repository.top, ref, environ) or find_commit(repository.top, "HEAD", environ)
    with tempfile.TemporaryFile() as stream:
        for number, commit in enumerate(commits):
            message = commit.message.encode()
            stream.write(b"commit refs/heads/%b\ncommitter %b %d +0000\n" % (branch.encode(), AUTHOR.encode(), seconds))
            stream.write(b"data %d\n%b\n" % (len(message), message))
            if not number:
                stream.write(f"from {parent}\n".encode() if parent else b"")
                removed = repository.prefix if replace_directory else ""
                stream.write(b"D %b\n" % quoted_path(removed) if removed else b"")
            for name, content in sorted(commit.files.items()):
                path = quoted_path(f"{repository.prefix}/{name}".lstrip("/"))
                stream.write(b"M 100644 inline %b\ndata %d\n%b\n" % (path, len(content), content))
        stream.seek(0)
        words = ["-C", str(repository.top), "fast-import", "--quiet"]
        run(words, local_environment(environ), seconds=SECONDS, max_output=MAX_ANSWER_BYTES, stdin=stream)
    return find_commit(repository.top, ref, environ) or ""


def find_commit(top: Path, revision: str, environ: Mapping[str, str]) -> str | None:
    """Return the commit of a revision, or None. Raises UsageError if git fails."""
    return find_line(top, environ, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")


def find_line(top: Path, environ: Mapping[str, str], *words: str) -> str | None:
    """Return the line that a command of git prints; None if it prints nothing, with exit code 0 or 1.

    Raises UsageError for other failures: they do not say that there is nothing.
    """
    try:
        return os.fsdecode(_git(top, environ, *words)).strip() or None
    except GitFailed as failed:
        if failed.code != NOTHING or failed.output:
            raise
        return None


def _git(place: Path, environ: Mapping[str, str], *words: str) -> bytes:
    return run(["-C", str(place), *words], local_environment(environ), seconds=SECONDS, max_output=MAX_ANSWER_BYTES)


def quoted_path(path: str) -> bytes:
    return b'"%b"' % PLAIN.sub(lambda match: b"\\%03o" % match[0][0], os.fsencode(path))
