"""The request of a run, and the run created from it. Avoids slow imports, and needs no store."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from jarvis_workers import __version__
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import listing, shown
from jarvis_workers.pipeline.options import RunOptions
from jarvis_workers.runs.checkouts import read_checkout, read_remote, repository_prefix
from jarvis_workers.snapshots.pack import Snapshot
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.sourcelinks import fill_template
from jarvis_workers.store.values import Run

if TYPE_CHECKING:
    from jarvis_workers.models.ratelimit.budget import RunBudget
    from jarvis_workers.runs.named_runs import RunName
    from jarvis_workers.store.engine import Store
    from jarvis_workers.store.session import Session

BATCHES_PER_PROCESS = 4
SMALLEST_BATCH_BYTES = 1 << 20
NAMES_MAX = 3


@dataclass(frozen=True)
class RunInput:
    """The input of a run; a kind of run whose input is more than options has a subclass.

    `names_paths` is False if the paths of the selection are not those that a user named.
    """

    options: RunOptions
    names_paths: ClassVar[bool] = True

    @property
    def contents(self) -> Sequence[bytes]:
        """Return the contents to put into the blob store with the run."""
        return ()

    def complete(self, selection: Selection, store: "Store | None") -> RunOptions:
        """Return the options completed at submission; without a `store`, data from the store is omitted."""
        return self.options

    def insert(self, session: "Session", run_id: str) -> None:
        """Insert the rows that belong to the run, in the transaction that inserts it."""


InputT = TypeVar("InputT", bound=RunInput, covariant=True)


@dataclass(frozen=True)
class RunRequest(Generic[InputT]):
    """A run to submit. `run_id` is new; `executor` executes it; `root` is its display name if it differs from `path`.

    The `skipped_stages`, which must be optional, are left out. The `source_url` is a template of links to the source.
    The run can be found by its `labels`, and a command that is started again finds it by its `name`.
    """

    run_id: str
    kind: str
    path: Path
    selection: Selection
    executor: str
    run_input: InputT
    root: bytes | None = None
    may_be_empty: bool = False
    skipped_stages: tuple[str, ...] = ()
    budget: "RunBudget | None" = None
    source_url: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    name: "RunName | None" = None


@dataclass(frozen=True)
class FollowUpRequest:
    """A run to submit over the snapshot of an earlier one; `run_id` is new, and `executor` executes it."""

    run_id: str
    kind: str
    executor: str
    options: RunOptions
    budget: "RunBudget | None" = None


def check_snapshot(request: RunRequest[RunInput], snapshot: Snapshot) -> None:
    """Raise UsageError if there is nothing to scan."""
    if not (snapshot.files or snapshot.not_checked or request.may_be_empty or _is_all_unchanged(request, snapshot)):
        raise UsageError(_nothing(request, snapshot))


def check_path(path: Path) -> None:
    """Raise UsageError if the path does not exist."""
    if not os.path.lexists(path):
        raise UsageError(f"{shown(os.fsencode(path))}: no such file or directory")


def run_of(request: RunRequest[RunInput], snapshot: Snapshot, store: "Store | None" = None) -> Run:
    """Return the run of a request over its packed tree; small trees get smaller batches, to occupy all processes."""
    options, selection = request.run_input.complete(request.selection, store), request.selection
    share = max(SMALLEST_BATCH_BYTES, snapshot.bytes // (max(1, options.processes) * BATCHES_PER_PROCESS))
    options = replace(
        options,
        batch_bytes=min(options.batch_bytes, share),
        paths=None
        if selection.is_whole or not request.run_input.names_paths
        else [shown(path) for path in selection.paths],
        **_origin(request, snapshot),
    )
    raw = request.root or os.fsencode(request.path.absolute())
    return Run(
        id=request.run_id,
        kind=request.kind,
        root=shown(raw),
        root_raw=raw,
        snapshot_id=snapshot.id,
        executor=request.executor,
        version=__version__,
        options=options.encode(),
    )


def _origin(request: RunRequest[RunInput], snapshot: Snapshot) -> dict[str, Any]:
    """Return the path of the tree in its repository, the checkout, and the template of links to the source."""
    directory = _directory(request.path)
    prefix, checkout = shown(repository_prefix(directory)), read_checkout(directory)
    facts: dict[str, Any] = {"path_prefix": prefix}
    if checkout:
        facts["checkout"] = checkout._asdict() | {"dirty": snapshot.dirty}
    if checkout and (remote := read_remote(directory)):
        facts["repository_url"] = remote
    if request.source_url:
        root = shown(request.root or os.fsencode(request.path.absolute()))
        commit = checkout.commit if checkout else None
        if url := fill_template(request.source_url, root=root, prefix=prefix, commit=commit):
            facts["source_url"] = url
    return facts


def _directory(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _is_all_unchanged(request: RunRequest[RunInput], snapshot: Snapshot) -> bool:
    unchanged = request.selection.unchanged
    return unchanged is not None and unchanged.reason in snapshot.left_out


def _nothing(request: RunRequest[RunInput], snapshot: Snapshot) -> str:
    names = request.selection.paths if not request.selection.is_whole else (os.fsencode(request.path),)
    named = listing([shown(name) for name in names], NAMES_MAX)
    reasons = [f"{reason}: {count:,}" for reason, count in sorted(snapshot.left_out.items())]
    reasons += [f"{reason}: {shown(tree)}" for tree, reason in snapshot.excluded[:3]]
    why = "left out: " + "; ".join(reasons) if reasons else "no file has a suffix of the selected languages"
    return f"{named}: no C, C++ or Rust files to scan ({why})"
