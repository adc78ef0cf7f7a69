"""Submit a run that writes the bodies of a given interface: a crate with types, signatures and tests."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.c2rust.bench.crate_archive import tar_of
from jarvis_workers.c2rust.interface_question import interface_files, interface_groups
from jarvis_workers.c2rust.runs.conversion_request import require_model
from jarvis_workers.c2rust.runs.crate_directory import MANIFEST
from jarvis_workers.c2rust.stages.interface_options import InterfaceOptions
from jarvis_workers.c2rust.stages.options import TranslateOptions
from jarvis_workers.c2rust.stages.pipelines import INTERFACE
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.budgets import budget_of
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.scan_request import options_of, request_for
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.snapshots.selection import Selection

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings
    from jarvis_workers.store.engine import Store

CARGO_FILE, MOST_FILES, MOST_BYTES = "Cargo.toml", 10_000, 64_000_000
LEFT_OUT = frozenset(("target", ".git", ".jarvis"))
C_SUFFIXES = frozenset((b".c", b".h"))


@dataclass(frozen=True)
class InterfaceInput(RunInput):
    """The input of a run: its options, and the archive of the given crate."""

    options: InterfaceOptions
    archive: bytes = b""

    @property
    def contents(self) -> tuple[bytes, ...]:
        """Return the archive."""
        return (self.archive,)

    def complete(self, selection: Selection, store: "Store | None") -> InterfaceOptions:
        """Return the options with the name of the blob."""
        return replace(self.options, crate=sha256(self.archive).hexdigest())


def interface_request(
    settings: "Settings",
    source: SourceTree,
    executor: str,
    crate: Mapping[str, bytes],
    translation: TranslateOptions,
) -> RunRequest[InterfaceInput]:
    """Return the request for a run over the C files of a project, with the model and the notes of a translation.

    Raises UsageError.
    """
    options = options_of(
        settings,
        InterfaceOptions,
        model_group=require_model(settings, translation.model_group),
        agent_limits=agent_limits_of(settings),
        max_retries=translation.max_retries,
        notes=translation.notes,
    )
    given = InterfaceInput(options, tar_of(crate))
    request = request_for(settings, source, INTERFACE, executor, given)
    selection = replace(request.selection, suffixes=C_SUFFIXES)
    return replace(request, selection=selection, may_be_empty=True, budget=budget_of(settings, options.model_group))


def read_interface(crate: Path) -> dict[str, bytes]:
    """Return the files of a given crate by name, without what builds it and version control.

    Raises UsageError if it is not a crate, if it is too large, or if all its functions have bodies.
    """
    if not (crate / CARGO_FILE).is_file():
        raise UsageError(f"--interface: {crate} is not a crate: it has no {CARGO_FILE}")
    files, size = dict[str, bytes](), 0
    try:
        for path in _files(crate):
            files[str(path.relative_to(crate))] = content = path.read_bytes()
            size += len(content)
            if size > MOST_BYTES or len(files) > MOST_FILES:
                raise UsageError(f"--interface: {crate} has more than {MOST_BYTES:,} bytes or {MOST_FILES:,} files")
    except OSError as error:
        raise UsageError(f"{plain(str(error.filename))}: cannot be read: {error.strerror}") from error
    if not interface_groups(interface_files(files)):
        raise UsageError(f"--interface: no function in {crate} has unimplemented!() or todo!() as its body")
    return files


def crate_digest(crate: Mapping[str, bytes]) -> str:
    """Return the hash that identifies the files of a crate."""
    return sha256(tar_of(crate)).hexdigest()


def _files(crate: Path) -> Iterator[Path]:
    """Yield the regular files of a crate, in order; symbolic links are left out."""
    for directory, names, files in os.walk(crate):
        names[:] = sorted(name for name in names if name not in LEFT_OUT)
        paths = (Path(directory, name) for name in sorted(files) if name != MANIFEST)
        yield from (path for path in paths if path.is_file() and not path.is_symlink())
