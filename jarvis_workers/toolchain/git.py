"""Run git: fetch one revision of a repository, or read one that is here, trusting nothing that it brings.

Credentials come from the environment and go to git in its environment: never in arguments,
addresses or logs.  No hooks, no prompts, no `ext::` transports, no configuration of the host but the user's.

A repository that is here may name programs in its configuration (filters, file system monitors, transports).  So it is
asked for the names of commits alone; its objects are read through a repository of our own that borrows them.
"""

import base64
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain

FETCH_SECONDS = 1800
SHA256_DIGITS = 64
KEPT = ("PATH", "HOME", "LANG", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY")
CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.symlinks": "true",
    "protocol.allow": "never",
    "protocol.https.allow": "always",
    "protocol.ssh.allow": "always",
    "protocol.file.allow": "always",
    "transfer.fsckObjects": "true",
    "advice.detachedHead": "false",
}


def fetch(url: str, revision: str, into: Path, *, token: str | None, environ: Mapping[str, str]) -> str:
    """Check a revision out into an empty directory; return its commit. Raises UsageError with git's reason."""
    seen = {name: environ[name] for name in KEPT if name in environ} | _settings(url, token)
    _git(["init", "--quiet", str(into)], seen)
    _git(["-C", str(into), "fetch", "--quiet", "--depth", "1", "--no-tags", "--", url, revision], seen)
    _git(["-C", str(into), "checkout", "--quiet", "--detach", "FETCH_HEAD"], seen)
    return _git(["-C", str(into), "rev-parse", "HEAD"], seen).decode().strip()


class Borrowed(NamedTuple):
    """A repository of our own in `place` that has the objects of another, whose working tree is `top`.

    `commit` is what was asked for, `head` what is checked out there, if anything is.
    """

    place: Path
    top: Path
    commit: str
    head: str | None
    environ: Mapping[str, str]


def borrow(place: Path, revision: str, into: Path, environ: Mapping[str, str]) -> Borrowed:
    """Borrow the objects of the repository around `place`, for a revision of it. Raises UsageError."""
    seen = local_environment(environ)
    inside = ["-C", str(place if place.is_dir() else place.parent), "rev-parse"]
    top = _top(place, inside, seen)
    objects = _path(_git([*inside, "--path-format=absolute", "--git-path", "objects"], seen))
    commit = _commit(inside, revision, seen)
    if commit is None:
        raise UsageError(f'"{plain(revision)}" is not a revision of {plain(str(top))}; see: git log')
    form = "sha256" if len(commit) == SHA256_DIGITS else "sha1"
    _git(["init", "--quiet", f"--object-format={form}", str(into)], seen)
    alternates = into / ".git" / "objects" / "info" / "alternates"
    alternates.write_bytes(_quoted(os.fsencode(objects)) + b"\n")
    return Borrowed(into, top, commit, _commit(inside, "HEAD", seen), seen)


def local_environment(environ: Mapping[str, str], config: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment in which git reads a repository that is here: no program of its own, no network."""
    seen = {name: environ[name] for name in KEPT if name in environ} | _settings("", None, config)
    return seen | {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def check_out(borrowed: Borrowed) -> None:
    """Write the files of the commit to the place of the borrowing repository."""
    _git(["-C", str(borrowed.place), "checkout", "--quiet", "--detach", borrowed.commit], borrowed.environ)


def files_of(borrowed: Borrowed) -> dict[bytes, str]:
    """Return the hash of each file of the commit, by its path from the top."""
    listed = _git(["-C", str(borrowed.place), "ls-tree", "-r", "-z", "--full-tree", borrowed.commit], borrowed.environ)
    found = {}
    for line in listed.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        mode, _, name = facts.split(b" ")
        if mode.startswith(b"100"):
            found[path] = name.decode()
    return found


def renames_since(borrowed: Borrowed) -> dict[bytes, bytes]:
    """Return new paths by old ones, of files that were moved from the commit to what is checked out."""
    if borrowed.head is None:
        return {}
    compare = ["diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status", borrowed.commit, borrowed.head]
    said = _git(["-C", str(borrowed.place), *compare], borrowed.environ).split(b"\0")
    return dict(zip(said[1::3], said[2::3], strict=False))


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


def _path(said: bytes) -> Path:
    return Path(os.fsdecode(said.removesuffix(b"\n")))


def _quoted(path: bytes) -> bytes:
    """Write a path as git's file of alternates wants it where it holds a line end, or begins like a comment."""
    if b"\n" not in path and not path.startswith((b"#", b'"')):
        return path
    return b'"%b"' % path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")


def _settings(url: str, token: str | None, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return git's configuration as variables, with the token for this address alone."""
    config = CONFIG | dict(more or {})
    if token and url.startswith("https://"):
        host = "/".join(url.split("/", 3)[:3])
        secret = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        config[f"http.{host}/.extraHeader"] = f"Authorization: Basic {secret}"
    variables = {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_CONFIG_COUNT": str(len(config))}
    for number, (name, value) in enumerate(config.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def _git(arguments: Sequence[str], environ: Mapping[str, str]) -> bytes:
    try:
        done = subprocess.run(
            ["git", *arguments],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=FETCH_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise UsageError("git is not installed; install it, or give a directory") from error
    except subprocess.TimeoutExpired as error:
        raise UsageError(
            f"git {arguments[0]}: no end after {FETCH_SECONDS} s; clone it yourself and give the directory"
        ) from error
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").splitlines()
        said = [line for line in lines if line.startswith(("fatal:", "error:"))]
        raise UsageError(f"git: {said[0] if said else f'ended with code {done.returncode}'}")
    return done.stdout
