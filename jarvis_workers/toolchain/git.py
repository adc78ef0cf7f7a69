"""Run git on untrusted repositories: fetch one revision of a remote repository, or read a local one.

Credentials are read from the environment and passed to git only in its environment, never in arguments, addresses or
logs. Hooks, prompts, `ext::` transports and the system-wide git configuration are disabled.

The configuration of a local repository may name programs (filters, file system monitors, transports). Therefore only
commit names are read from it directly; its objects are read through a separate repository that has it as an alternate.
"""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.toolchain.git_credentials import GitCredentials
from jarvis_workers.toolchain.gittree import TreeBounds, check_bounds, check_count, list_tree, run

FETCH_SECONDS = 1800
MAX_ANSWER_BYTES = 1 << 20
MAX_RENAME_BYTES = 256 << 20
SHA256_DIGITS = 64
FETCHED_BRANCH = re.compile(r"[0-9a-f]+\t\tbranch '([^'\s]{1,200})' of ")
USUAL_BRANCHES = ("main", "master")
HEAD_BRANCH = re.compile(r"ref: refs/heads/([^'\s]{1,200})\tHEAD\n")
REGULAR_FILE = b"100"
SYMBOLIC_LINK, SUBMODULE = b"120000", b"160000"
PASSED_VARIABLES = (
    *("PATH", "HOME", "LANG", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "GIT_SSL_CAINFO"),
    *("https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"),
)
CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.symlinks": "true",
    # Larger blobs are streamed instead of loaded; the mapped windows of pack files stay within RLIMIT_AS.
    "core.bigFileThreshold": "16m",
    "core.packedGitWindowSize": "32m",
    "core.packedGitLimit": "512m",
    "protocol.allow": "never",
    "protocol.https.allow": "always",
    "protocol.ssh.allow": "always",
    "protocol.file.allow": "always",
    "transfer.fsckObjects": "true",
    "advice.detachedHead": "false",
}


class Fetched(NamedTuple):
    """The commit of a fetched revision, and the branch if the revision is a branch."""

    commit: str
    branch: str | None


def fetch(
    url: str,
    revision: str,
    into: Path,
    *,
    credentials: GitCredentials,
    environ: Mapping[str, str],
    bounds: TreeBounds,
    seconds: float = FETCH_SECONDS,
) -> Fetched:
    """Check a revision out into an empty directory. Only the fetch command gets the credentials.

    `seconds` limits the fetch. Raises UsageError with git's message, or if the tree exceeds its bounds; then nothing
    has been checked out.
    """
    variables = _network_environment(environ)
    admitted = _admitted(url, credentials, environ)
    create(into, environ)
    command = ["-C", str(into), "fetch", "--quiet", "--depth", "1", "--no-tags", "--", url, revision]
    run(command, admitted, seconds=seconds, max_output=MAX_ANSWER_BYTES)
    commit = _git(["-C", str(into), "rev-parse", "--verify", "FETCH_HEAD^{commit}"], variables).decode().strip()
    check_bounds(into, commit, bounds, variables)
    _git(["-C", str(into), "checkout", "--quiet", "--detach", commit], variables)
    return Fetched(commit, _branch(into))


def create(into: Path, environ: Mapping[str, str]) -> None:
    """Create a repository without commits in an empty directory."""
    _git(["init", "--quiet", str(into)], _network_environment(environ))


def head_branch(url: str, *, credentials: GitCredentials, environ: Mapping[str, str], seconds: float) -> str | None:
    """Return the branch that HEAD of a remote repository names, or main or master if that branch does not exist.

    None means that the repository is empty. Raises UsageError.
    """
    admitted = _admitted(url, credentials, environ)
    command = ["ls-remote", "--symref", "--", url, "HEAD", *(f"refs/heads/{name}" for name in USUAL_BRANCHES)]
    output = run(command, admitted, seconds=seconds, max_output=MAX_ANSWER_BYTES).decode("utf-8", "replace")
    if match := HEAD_BRANCH.match(output):
        return match[1]
    return next((name for name in USUAL_BRANCHES if f"\trefs/heads/{name}\n" in output), None)


def push(
    place: Path, url: str, branch: str, *, credentials: GitCredentials, environ: Mapping[str, str], seconds: float
) -> None:
    """Push a branch to a remote repository, which must not have other commits. Raises UsageError."""
    refs = f"refs/heads/{branch}:refs/heads/{branch}"
    command = ["-C", str(place), "push", "--quiet", "--no-verify", "--", url, refs]
    run(command, _admitted(url, credentials, environ), seconds=seconds, max_output=MAX_ANSWER_BYTES)


class Borrowed(NamedTuple):
    """A separate repository at `place` with the repository of the working tree `top` as its alternate.

    `commit` is the requested commit, `head` the commit checked out in `top`, if any.
    """

    place: Path
    top: Path
    commit: str
    head: str | None
    environ: Mapping[str, str]
    bounds: TreeBounds


def borrow(place: Path, revision: str, into: Path, environ: Mapping[str, str], bounds: TreeBounds) -> Borrowed:
    """Create a repository at `into` that borrows the objects of the repository around `place`. Raises UsageError."""
    variables = local_environment(environ)
    inside = ["-C", str(place if place.is_dir() else place.parent), "rev-parse"]
    top = _top(place, inside, variables)
    objects = _path(_git([*inside, "--path-format=absolute", "--git-path", "objects"], variables))
    commit = _commit(inside, revision, variables)
    if commit is None:
        raise UsageError(f'"{plain(revision)}" is not a revision of {plain(str(top))}; see: git log')
    form = "sha256" if len(commit) == SHA256_DIGITS else "sha1"
    _git(["init", "--quiet", f"--object-format={form}", str(into)], variables)
    alternates = into / ".git" / "objects" / "info" / "alternates"
    alternates.write_bytes(_quoted(os.fsencode(objects)) + b"\n")
    return Borrowed(into, top, commit, _commit(inside, "HEAD", variables), variables, bounds)


def local_environment(environ: Mapping[str, str], config: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for reading a local repository: no programs from its configuration, no network."""
    variables = {name: environ[name] for name in PASSED_VARIABLES if name in environ} | _settings(config)
    return variables | {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def check_out(borrowed: Borrowed) -> None:
    """Check the commit out into the borrowing repository. Raises UsageError if the tree exceeds its bounds."""
    check_bounds(borrowed.place, borrowed.commit, borrowed.bounds, borrowed.environ)
    _git(["-C", str(borrowed.place), "checkout", "--quiet", "--detach", borrowed.commit], borrowed.environ)


def files_of(borrowed: Borrowed) -> dict[bytes, str]:
    """Return the hash of each regular file of the commit, by path from the top."""
    entries = list_tree(borrowed.place, borrowed.commit, borrowed.bounds, borrowed.environ)
    return {entry.path: entry.hash for entry in entries if entry.mode.startswith(REGULAR_FILE)}


def renames_since(borrowed: Borrowed) -> dict[bytes, bytes]:
    """Return the files renamed between the commit and the checked-out commit, as {old path: new path}."""
    if borrowed.head is None:
        return {}
    check_count(borrowed.place, borrowed.head, borrowed.bounds, borrowed.environ)
    compare = ["diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status", borrowed.commit, borrowed.head]
    output = _git(["-C", str(borrowed.place), *compare], borrowed.environ, MAX_RENAME_BYTES).split(b"\0")
    return dict(zip(output[1::3], output[2::3], strict=False))


def merge_bases(borrowed: Borrowed) -> list[str]:
    """Return the best common ancestors of the commit and the checked-out commit. Raises UsageError if there is none."""
    if borrowed.head is None:
        raise UsageError("nothing is checked out")
    command = ["-C", str(borrowed.place), "merge-base", "--all", borrowed.commit, borrowed.head]
    return _git(command, borrowed.environ).decode().split()


def commit_of(borrowed: Borrowed, revision: str) -> str | None:
    """Return the commit of a revision of the repository of the working tree; None if there is none."""
    return _commit(["-C", str(borrowed.top), "rev-parse"], revision, borrowed.environ)


def has_ancestors(borrowed: Borrowed, commit: str, ancestors: Collection[str]) -> bool:
    """Return whether all of these commits are ancestors of a commit. Raises UsageError if one is missing."""
    independent = ["-C", str(borrowed.place), "merge-base", "--independent", commit, *ancestors]
    return _git(independent, borrowed.environ).decode().split() == [commit]


class Change(NamedTuple):
    """The mode that an entry had and has, such as b"100644", SYMBOLIC_LINK or SUBMODULE, and the names of its objects.

    The mode b"000000" is no entry.
    """

    before: bytes
    after: bytes
    old: bytes
    new: bytes

    @property
    def redirects(self) -> bool:
        """Whether there is or was a symbolic link, or a submodule has taken a place."""
        return SYMBOLIC_LINK in self[:2] or (self.after == SUBMODULE != self.before)

    @property
    def was_file(self) -> bool:
        return self.before.startswith(REGULAR_FILE)

    @property
    def is_file(self) -> bool:
        return self.after.startswith(REGULAR_FILE)


def changes_since(borrowed: Borrowed, commit: str) -> dict[bytes, Change]:
    """Return the entries that differ between a commit and the checked-out commit, by path from the top."""
    if borrowed.head is None:
        return {}
    check_count(borrowed.place, commit, borrowed.bounds, borrowed.environ)
    check_count(borrowed.place, borrowed.head, borrowed.bounds, borrowed.environ)
    compare = ["diff-tree", "-r", "-z", "--no-renames", "--raw", commit, borrowed.head]
    fields = _git(["-C", str(borrowed.place), *compare], borrowed.environ, MAX_RENAME_BYTES).split(b"\0")
    # Each entry is b":100644 120000 HASH HASH LETTER", and its path.
    changes = (Change(*field.removeprefix(b":").split()[:4]) for field in fields[:-1:2])
    return dict(zip(fields[1::2], changes, strict=False))


def contents(borrowed: Borrowed, names: Collection[bytes], max_bytes: int) -> dict[bytes, bytes]:
    """Return the contents of blobs by name; the smallest up to `max_bytes` in sum, without those that are missing."""
    sized = [line.split() for line in _cat(borrowed, names, "--batch-check", MAX_RENAME_BYTES).splitlines()]
    sizes = sorted((int(fields[2]), fields[0]) for fields in sized if fields[1] == b"blob")
    totals = accumulate(size for size, _ in sizes)
    few = [one for one, total in zip(sizes, totals, strict=True) if total <= max_bytes]
    output = _cat(borrowed, [name for _, name in few], "--batch", max_bytes + MAX_RENAME_BYTES)
    result, at = dict[bytes, bytes](), 0
    # Each blob is b"NAME blob SIZE", a newline, its content and a newline.
    for size, name in few:
        start = output.index(b"\n", at) + 1
        at = start + size + 1
        result[name] = output[start : start + size]
    return result


def _cat(borrowed: Borrowed, names: Collection[bytes], form: str, max_output: int) -> bytes:
    with TemporaryFile() as listed:
        listed.writelines(name + b"\n" for name in names)
        listed.seek(0)
        command = ["-C", str(borrowed.place), "cat-file", form]
        return run(command, borrowed.environ, seconds=FETCH_SECONDS, max_output=max_output, stdin=listed)


def file_at(borrowed: Borrowed, commit: str, path: bytes) -> bytes | None:
    """Return the content of a file of a commit, by its path from the top; None if it is no regular file there."""
    entry = _git(
        ["-C", str(borrowed.place), "ls-tree", "-z", "--full-tree", commit, "--", os.fsdecode(path)], borrowed.environ
    )
    if not entry.startswith(REGULAR_FILE):
        return None
    blob = entry.partition(b"\t")[0].split()[-1].decode()
    return _git(["-C", str(borrowed.place), "cat-file", "blob", blob], borrowed.environ)


def _network_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[name] for name in PASSED_VARIABLES if name in environ} | _settings()


def _admitted(url: str, credentials: GitCredentials, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command that gets the credentials for an address."""
    return _network_environment(environ) | _settings(credentials.config(url)) | credentials.variables()


def _branch(into: Path) -> str | None:
    """Return the branch in FETCH_HEAD, whose only line is COMMIT, TAB, TAB and "branch 'NAME' of URL" for a branch."""
    match = FETCHED_BRANCH.match((into / ".git" / "FETCH_HEAD").read_text("utf-8", "replace"))
    return match[1] if match else None


def _top(place: Path, inside: Sequence[str], environ: Mapping[str, str]) -> Path:
    try:
        return _path(_git([*inside, "--show-toplevel"], environ))
    except UsageError as problem:
        if "not a git repository" not in str(problem):
            raise
        raise UsageError(f"{plain(str(place))} is not in a git repository") from problem


def _commit(inside: Sequence[str], revision: str, environ: Mapping[str, str]) -> str | None:
    try:
        return _git([*inside, "--verify", "--quiet", f"{revision}^{{commit}}"], environ).decode().strip()
    except UsageError:
        return None


def _path(field: bytes) -> Path:
    return Path(os.fsdecode(field.removesuffix(b"\n")))


def _quoted(path: bytes) -> bytes:
    """Quote a path for git's alternates file if it contains a newline or starts like a comment."""
    if b"\n" not in path and not path.startswith((b"#", b'"')):
        return path
    return b'"%b"' % path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")


def _settings(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return git's configuration as environment variables."""
    config = CONFIG | dict(more or {})
    variables = {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_CONFIG_COUNT": str(len(config))}
    for number, (name, value) in enumerate(config.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def _git(arguments: Sequence[str], environ: Mapping[str, str], max_output: int = MAX_ANSWER_BYTES) -> bytes:
    return run(arguments, environ, seconds=FETCH_SECONDS, max_output=max_output)
