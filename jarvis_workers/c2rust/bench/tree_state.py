"""The tree of a project on a bench: its state after its build is restored before each test.

No test sees the effects of another.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.sandbox.confine import WORK
from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.limits import BenchLimits, CommandOutcome, Tier
from jarvis_workers.sandbox.sandbox import open_sandbox

MOST_CHANGES = 200
ARCHIVE, TAIL = "archive", 300
LIMIT = "stopped at its limit"
# Without the owner: in a user namespace of a container it may not be mapped.
COPY = "cp -dR --preserve=mode,timestamps,links --reflink=auto"
COPY_ALL = f"chmod -R u+rwX project; rm -rf project && {COPY} pristine project"
# Arguments: how many paths to remove, those paths, and the paths to copy.
REMOVE_THEN_COPY = f"""n=$1; shift
while [ $n -gt 0 ]; do rm -rf "project/$1" || exit; shift; n=$((n - 1)); done
cd pristine || exit
[ $# = 0 ] || {COPY} --parents -t ../project -- "$@"
"""


class EntryState(NamedTuple):
    """The attributes that change with the content of a file (times in nanoseconds); for a directory, only the mode."""

    mode: int
    size: int = 0
    modified: int = 0
    changed: int = 0


TreeState = Mapping[str, EntryState]


def read_tree(root: Path) -> TreeState:
    """Return the state of all entries below a directory; a directory that cannot be read counts as empty."""
    return {} if root.is_symlink() else dict(_entries(str(root)))


def restore_script(before: TreeState, now: TreeState) -> tuple[str, list[str]] | None:
    """Return a shell script and its arguments that restore a tree, or None if it is unchanged.

    The script runs in the parent directory of the tree `project` and its copy `pristine`.
    """
    gone = [name for name in now if before.get(name) != now[name]]
    back = [name for name in before if before[name] != now.get(name)]
    if not gone and not back:
        return None
    if len(gone) + len(back) > MOST_CHANGES or any(stat.S_ISDIR(before[name].mode) for name in back):
        return COPY_ALL, []
    return REMOVE_THEN_COPY, [str(len(gone)), *gone, *back]


def _entries(root: str) -> Iterator[tuple[str, EntryState]]:
    unread = [""]
    while unread:
        below = unread.pop()
        try:
            found = list(os.scandir(f"{root}/{below}"))
        except OSError:
            continue
        for entry in found:
            name, facts = f"{below}{entry.name}", entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(facts.st_mode):
                unread.append(f"{name}/")
                yield name, EntryState(facts.st_mode)
            else:
                yield name, EntryState(facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


def unpack_project(place: Path, archive: bytes, starter: Starter, limits: BenchLimits, tier: Tier | None) -> str:
    """Unpack an archive as the directory `project` of a bench; return why it failed, or ""."""
    source = place / ARCHIVE
    source.mkdir(mode=0o700)
    (source / "project.tar.gz").write_bytes(archive)
    with open_sandbox(source, tier=tier, starter=starter, workspace=place) as box:
        script = 'cd "$1" && mkdir project target && tar -xzf "$2" -C project --no-same-owner'
        words = ["sh", "-c", script, "sh", f"{place}/{WORK}", f"{source}/project.tar.gz"]
        outcome = box.run(words, limits=limits.of(limits.build_seconds))
    shutil.rmtree(source)
    failure = failure_of(outcome)
    return failure and f"{failure} {outcome.stderr[-TAIL:]!r}"


def failure_of(outcome: CommandOutcome) -> str:
    """Return how a command failed, or ""."""
    if outcome.reason:
        return f"{LIMIT} of {outcome.reason}"
    if outcome.signal is not None:
        return f"killed by signal {outcome.signal}"
    return f"exit code {outcome.code}" if outcome.code else ""
