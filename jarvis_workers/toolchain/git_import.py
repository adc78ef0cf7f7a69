"""Add commits to a branch of a local repository; its working tree, index and hooks are not touched."""

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import is_unsafe, plain
from jarvis_workers.toolchain.git import MAX_ANSWER_BYTES, local_environment
from jarvis_workers.toolchain.gittree import GitFailed, run

SECONDS = 600
FILE_MODES = ("100644", "100755")
# The exit code of git where what it looks for does not exist.
NOTHING = 1
PLAIN = re.compile(rb"[^A-Za-z0-9_./-]")


class Author(NamedTuple):
    """The name and the e-mail address of an author."""

    name: str
    email: str

    def __str__(self) -> str:
        return f"{_plain_word(self.name)} <{_plain_word(self.email)}>"


class FileVersion(NamedTuple):
    """The new content of a file, None if it is removed, and its mode in git."""

    content: bytes | None
    mode: str = "100644"


class BranchCommit(NamedTuple):
    """A commit to write: its parent, its message, author and time (seconds since 1970), and the files that it changes.

    Without a parent, it follows the commit that was written before it, if there is one.
    """

    base: str | None
    message: str
    author: Author
    seconds: int
    files: Mapping[str, FileVersion]


AUTHOR = Author("Jarvis Workers", "jarvis@localhost")


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
    parent = find_commit(repository.top, f"refs/heads/{branch}", environ)
    parent = parent or find_commit(repository.top, "HEAD", environ)
    removed = repository.prefix if replace_directory else ""

    def written() -> Iterator[BranchCommit]:
        for number, commit in enumerate(commits):
            files = {removed: FileVersion(None)} if removed and not number else {}
            for name, content in commit.files.items():
                files[f"{repository.prefix}/{name}" if repository.prefix else name] = FileVersion(content)
            yield BranchCommit(None if number else parent, commit.message, AUTHOR, seconds, files)

    return write_commits(repository.top, branch, written(), environ)


def write_commits(top: Path, branch: str, commits: Iterable[BranchCommit], environ: Mapping[str, str]) -> str:
    """Write commits to a branch, each on the one before, and return the last one. Raises UsageError."""
    with tempfile.TemporaryFile() as stream:
        for commit in commits:
            _write_commit(stream, branch, commit)
        stream.seek(0)
        words = ["-C", str(top), "fast-import", "--quiet"]
        run(words, local_environment(environ), seconds=SECONDS, max_output=MAX_ANSWER_BYTES, stdin=stream)
    return find_commit(top, f"refs/heads/{branch}", environ) or ""


def _write_commit(stream: IO[bytes], branch: str, commit: BranchCommit) -> None:
    """Write a commit for `git fast-import`, which would also write a path out of the tree, or one of git's own."""
    message = commit.message.encode("utf-8", "replace")
    who = b"%b %d +0000\n" % (str(commit.author).encode("utf-8", "replace"), commit.seconds)
    stream.write(b"commit refs/heads/%b\nauthor %bcommitter %b" % (branch.encode(), who, who))
    stream.write(b"data %d\n%b\n" % (len(message), message))
    stream.write(f"from {commit.base}\n".encode() if commit.base else b"")
    for path, version in sorted(commit.files.items()):
        if is_unsafe(path) or version.mode not in FILE_MODES:
            raise UsageError(f"{plain(path)!r}, {plain(version.mode)}: no commit may have such a path or mode")
        if version.content is None:
            stream.write(b"D %b\n" % _quoted(path))
        else:
            facts = (version.mode.encode(), _quoted(path), len(version.content), version.content)
            stream.write(b"M %b inline %b\ndata %d\n%b\n" % facts)


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


def _quoted(path: str) -> bytes:
    return b'"%b"' % PLAIN.sub(lambda match: b"\\%03o" % match[0][0], os.fsencode(path))


def _plain_word(text: str) -> str:
    """Return a name without what has a meaning in a commit."""
    return " ".join(text.translate(dict.fromkeys(map(ord, "<>\0"), " ")).split())
