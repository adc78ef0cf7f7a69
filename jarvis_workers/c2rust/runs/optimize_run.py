"""Submit a run that optimizes a Rust crate: find the crate, and choose its files."""

import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, ValidationError

from jarvis_workers.builds.local_tree import METADATA
from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.c2rust.runs.project_files import directory_of
from jarvis_workers.c2rust.stages.optimize_options import OptimizeOptions, OptimizeRequest
from jarvis_workers.c2rust.stages.pipelines import OPTIMIZE
from jarvis_workers.c2rust.stages.write_optimization import MODEL
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.budgets import budget_of
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.models import model_name
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.scan_request import request_for, with_settings
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.snapshots.selection import Selection

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings
    from jarvis_workers.store.engine import Store

MANIFEST, TARGET, SUFFIX = "Cargo.toml", "target", ".rs"
PROGRESS = "optimize_progress.json"
PROGRESS_BYTES, MOST_DIRECTORIES = 16_000_000, 10_000


class OptimizedFile(BaseModel):
    """A file that was optimized: the hash of its content then, and the passes."""

    hash: str
    passes: tuple[str, ...]


class OptimizeProgress(BaseModel):
    """The content of optimize_progress.json: the paths of the optimized files, and their states."""

    processed: tuple[str, ...] = ()
    files: dict[str, OptimizedFile] = {}


@dataclass(frozen=True)
class OptimizeInput(RunInput):
    """The input of a run: its options, and the archive of the crate."""

    options: OptimizeOptions
    archive: bytes = b""
    names_paths: ClassVar[bool] = False

    @property
    def contents(self) -> tuple[bytes, ...]:
        """Return the archive."""
        return (self.archive,)

    def complete(self, selection: Selection, store: "Store | None") -> OptimizeOptions:
        """Return the options with the name of the blob."""
        return replace(self.options, archive=sha256(self.archive).hexdigest())


def find_rust_crate(given: Path | None, here: Path) -> Path:
    """Return the directory of the crate to optimize.

    It is the given one, else `here`, `<here>_rs` beside it, or the first directory below with a manifest.  Raises
    UsageError if there is none.
    """
    here = here.resolve()
    if given is not None:
        if not (given / MANIFEST).is_file():
            raise UsageError(f"{given}: not a Rust crate: it has no {MANIFEST}")
        return given.resolve()
    for place in (here, here.with_name(f"{here.name}_rs"), *_below(here)):
        if (place / MANIFEST).is_file():
            return place
    raise UsageError(f"no {MANIFEST} in {here}, {here}_rs or below; name the crate with --crate-dir")


def _below(root: Path) -> Iterator[Path]:
    for count, (directory, names, _) in enumerate(os.walk(root)):
        if count > MOST_DIRECTORIES:
            return
        names[:] = sorted(name for name in names if name != TARGET and not name.startswith("."))
        yield Path(directory)


def rust_files(root: Path) -> list[str]:
    """Return the Rust files of a crate, relative to it; other crates below it are left out."""
    found = list[str]()
    for directory, names, files in os.walk(root):
        place = Path(directory)
        names[:] = sorted(
            name
            for name in names
            if not name.startswith(".")
            and not (place == root and name == TARGET)
            and not (place / name / MANIFEST).is_file()
        )
        paths = (place / name for name in files if name.endswith(SUFFIX))
        found += (path.relative_to(root).as_posix() for path in paths if not path.is_symlink() and path.is_file())
    return sorted(found)


def chosen_files(root: Path, request: OptimizeRequest, say: Callable[[str], None]) -> list[str]:
    """Return the files that a command changes: with `resume`, those that are not optimized yet.

    Says if the progress of earlier commands cannot be read.
    """
    files = [file for file in rust_files(root) if _is_chosen(file, request)]
    if request.resume:
        passes = {*request.options.passes, *((MODEL,) if request.options.model_group else ())}
        files = list(_unprocessed(root, files, passes, say))
    return files[: request.max_files]


def _is_chosen(file: str, request: OptimizeRequest) -> bool:
    is_included = not request.include or _matches(file, request.include)
    return is_included and not _matches(file, request.exclude)


def _matches(file: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(file, pattern) or file.startswith(f"{pattern.rstrip('/')}/") for pattern in patterns)


def _unprocessed(
    root: Path, files: Sequence[str], passes: Collection[str], say: Callable[[str], None]
) -> Iterator[str]:
    earlier = read_progress(root, say).files
    for file in files:
        one = earlier.get(file)
        if one is None or not set(passes) <= set(one.passes) or one.hash != _hash(root / file):
            yield file


def _hash(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error


def read_progress(root: Path, say: Callable[[str], None] = lambda _: None) -> OptimizeProgress:
    """Return the progress of earlier commands; none if there is no file, or, which is said, if it cannot be read."""
    path = directory_of(root) / PROGRESS
    try:
        content = path.read_bytes() if path.stat().st_size <= PROGRESS_BYTES else b""
        return OptimizeProgress.model_validate(json.loads(content))
    except FileNotFoundError:
        return OptimizeProgress()
    except (OSError, ValueError, ValidationError):
        say(f"{path}: cannot be read as the progress of this version, and is not used")
        return OptimizeProgress()


def optimize_request(
    settings: "Settings", source: SourceTree, executor: str, options: OptimizeOptions, files: Sequence[str]
) -> RunRequest[OptimizeInput]:
    """Return the request for a run that optimizes some files of a crate. Raises UsageError."""
    group = options.model_group
    options = with_settings(
        settings,
        options,
        files=list(files),
        model_group=model_name(settings, group) if group else None,
        agent_limits=agent_limits_of(settings),
    )
    archive = pack_project(source.path, settings.c2rust.build_disk_mb, METADATA | {TARGET})
    request = request_for(settings, source, OPTIMIZE, executor, OptimizeInput(options, archive))
    paths = tuple(map(os.fsencode, files))
    selection = Selection(suffixes=None, exclude_dirs=frozenset(), ignore_files=(), paths=paths)
    budget = budget_of(settings, options.model_group) if group else None
    return replace(request, selection=selection, may_be_empty=True, budget=budget)
