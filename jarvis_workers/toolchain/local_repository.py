"""A user's git repository: read its state, and write branches and worktrees beside the user's own.

Hooks never run, and the working tree, the index, the branch and the configuration of the user stay as they are, but for
`accept_merge` and `accept_patch`. Contents are those of git's objects: no filter, and no conversion of line ends.
"""

import gzip
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO

from jarvis_workers.toolchain.git import borrow, local_environment
from jarvis_workers.toolchain.git_import import (
    SECONDS,
    Author,
    BranchCommit,
    find_commit,
    find_line,
    find_repository,
    write_commits,
)
from jarvis_workers.toolchain.gittree import TreeBounds, check_bounds, list_tree, run
from jarvis_workers.toolchain.temporary import temporary_directory

SUBMODULE = b"160000"
TEMPORARY = "jarvis-git"
MAX_OUTPUT_BYTES = 256 << 20
# The highest precedence of all attributes: `git archive` writes every file as it is in the object.
RAW_ATTRIBUTES = "* -text -eol -filter -ident -working-tree-encoding -export-ignore -export-subst\n"
COPY_MESSAGE = "Uncommitted changes\n"


class LocalRepository:
    """The repository whose working tree is at `top`. All methods raise UsageError if git fails."""

    def __init__(self, top: Path, environ: Mapping[str, str]) -> None:
        self.top = top
        self._environ = environ

    @classmethod
    def around(cls, place: Path, environ: Mapping[str, str] = os.environ) -> "LocalRepository | None":
        """Return the repository whose working tree contains a directory, or None."""
        repository = find_repository(place, environ)
        return cls(repository.top, environ) if repository else None

    @property
    def head(self) -> str | None:
        """The commit that is checked out, None before the first commit."""
        return self.commit_of("HEAD")

    @property
    def branch(self) -> str | None:
        """The branch that is checked out, None if HEAD is detached."""
        return find_line(self.top, self._environ, "symbolic-ref", "--quiet", "--short", "HEAD")

    def commit_of(self, revision: str) -> str | None:
        """Return the commit of a revision, or None."""
        return find_commit(self.top, revision, self._environ)

    def author(self) -> Author | None:
        """Return the configured author, or None if the name or the address is not set."""
        ask = partial(find_line, self.top, self._environ, "config", "--get")
        name = self._environ.get("GIT_AUTHOR_NAME") or ask("user.name")
        email = self._environ.get("GIT_AUTHOR_EMAIL") or ask("user.email")
        return Author(name, email) if name and email else None

    def dirty_paths(self) -> set[str]:
        """Return the paths that differ from HEAD, untracked ones included; submodules are left out."""
        words = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames")
        return {os.fsdecode(entry[3:]) for entry in self.git(*words).split(b"\0") if entry}

    def submodules(self, commit: str, bounds: TreeBounds) -> list[str]:
        """Return the paths of the submodules of a commit."""
        tree = list_tree(self.top, commit, bounds, local_environment(self._environ))
        return [os.fsdecode(entry.path) for entry in tree if entry.mode == SUBMODULE]

    def pack(self, commit: str, bounds: TreeBounds) -> bytes:
        """Return the files of a commit as a compressed tar archive; equal commits have equal archives."""
        with temporary_directory(TEMPORARY) as place:
            borrowed = borrow(self.top, commit, place / "objects", self._environ, bounds)
            check_bounds(borrowed.place, commit, bounds, borrowed.environ)
            info = borrowed.place / ".git" / "info"
            info.mkdir(exist_ok=True)
            (info / "attributes").write_text(RAW_ATTRIBUTES)
            words = ["-C", str(borrowed.place), "-c", "tar.umask=0022", "archive", "--format=tar", commit]
            # A tar archive has a header and padding for each file, and pads itself.
            most = 2 * bounds.bytes + 2_000_000
            return gzip.compress(run(words, borrowed.environ, seconds=SECONDS, max_output=most), 1, mtime=0)

    def copy_changes(self, head: str | None, author: Author, seconds: int, closed: Sequence[str]) -> str:
        """Commit the uncommitted changes to no branch, and return the commit; `head` if there are none.

        The user's index is copied, and not changed. Submodules, `closed`, are left out.
        """
        with temporary_directory(TEMPORARY) as place:
            index = place / "index"
            own = Path(self._text("rev-parse", "--path-format=absolute", "--git-path", "index"))
            if own.is_file():
                # With its time, by which git recognizes files that changed just after the index was written.
                shutil.copy2(own, index)
            date = f"@{seconds} +0000"
            more = {"GIT_INDEX_FILE": str(index), "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
            for role in ("AUTHOR", "COMMITTER"):
                more |= {f"GIT_{role}_NAME": author.name, f"GIT_{role}_EMAIL": author.email}
            self.git("add", "--all", "--", ".", *(f":(exclude,top,literal){path}" for path in closed), more=more)
            tree = self._text("write-tree", more=more)
            if head and tree == self._text("rev-parse", f"{head}^{{tree}}"):
                return head
            parents = ["-p", head] if head else []
            return self._text("commit-tree", tree, *parents, "-m", COPY_MESSAGE, more=more)

    def write_branch(self, branch: str, commit: BranchCommit) -> str:
        """Write a branch with one commit, and return the commit; a branch that exists is left as it is.

        Raises UsageError for a path that is out of the tree or belongs to git.
        """
        ref = f"refs/heads/{branch}"
        return self.commit_of(ref) or write_commits(self.top, branch, [commit], self._environ)

    def is_ancestor(self, commit: str, other: str) -> bool:
        """Return whether a commit is an ancestor of another one, or the same."""
        return find_line(self.top, self._environ, "merge-base", commit, other) == commit

    def git(
        self,
        *words: str,
        more: Mapping[str, str] | None = None,
        stdin: IO[bytes] | None = None,
        good: Collection[int] = (0,),
    ) -> bytes:
        """Run git in the repository, and return its output; an exit code in `good` is no failure."""
        environ = local_environment(self._environ, {"commit.gpgSign": "false", "merge.gpgSign": "false"})
        command = ["-C", str(self.top), *words]
        options = {} if stdin is None else {"stdin": stdin}
        variables = environ | dict(more or {})
        return run(command, variables, seconds=SECONDS, max_output=MAX_OUTPUT_BYTES, good=good, **options)

    def _text(self, *words: str, more: Mapping[str, str] | None = None) -> str:
        return os.fsdecode(self.git(*words, more=more).rstrip(b"\n"))


def names_in(output: bytes) -> set[str]:
    """Return the paths in output of git in which a NUL ends each."""
    return {os.fsdecode(path) for path in output.split(b"\0") if path}
