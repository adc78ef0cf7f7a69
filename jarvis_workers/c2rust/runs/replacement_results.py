"""The results of a run that replaces functions with libraries: its report, and the files of the project."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from jarvis_workers.c2rust.library_pruning import pruned_functions
from jarvis_workers.c2rust.replacement_lines import ReplacementCounts
from jarvis_workers.c2rust.runs.project_files import (
    ORDER,
    PRUNED_SYMBOLS,
    SYMBOLS,
    directory_of,
    keep_edited,
    read_symbol_file,
    write_file,
)
from jarvis_workers.c2rust.runs.replacement_checkpoint import CheckpointKey, remove_checkpoint, write_checkpoint
from jarvis_workers.c2rust.runs.result_files import read_artifact, write_new
from jarvis_workers.c2rust.stages import prune_symbols as artifacts
from jarvis_workers.c2rust.stages.replace_options import ReplaceOptions
from jarvis_workers.c2rust.stages.replaceable_project import STEP, project_of, verdicts_of
from jarvis_workers.c2rust.symbol_lines import symbol_lines
from jarvis_workers.errors import UsageError
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.runs.run_kinds import Panel, StoredRun, text_panel
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import jobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run, StageJob

Words = Callable[[str], None]
FORMATS = ("text", "json")
# The files of a run, by the artifacts that they are written from; symbols_prune.jsonl is the older name.
FILES: Mapping[str, str] = {
    artifacts.REPLACEMENTS: artifacts.REPLACEMENTS,
    PRUNED_SYMBOLS: artifacts.PRUNED_SYMBOLS,
    "symbols_prune.jsonl": artifacts.PRUNED_SYMBOLS,
    SYMBOLS: artifacts.PRUNED_SYMBOLS,
    artifacts.PRUNED_ORDER: artifacts.PRUNED_ORDER,
    ORDER: artifacts.PRUNED_ORDER,
}


def panel(stored: StoredRun) -> Panel | None:
    """Return the text report of an ended run, for its page."""
    return text_panel("symbols", stored)


def render(stored: StoredRun, form: str) -> Iterator[str]:
    """Return the pieces of a report. Raises UsageError for a format that is not available."""
    return ReplacementResult(stored.store, stored.blobs, stored.run).render(form)


class ReplacementResult:
    """The results of a run in the store."""

    def __init__(self, store: Store, blobs: Blobs, run: Run) -> None:
        self.store, self.blobs, self.run = store, blobs, run
        self.options = ReplaceOptions.of(run)

    @cached_property
    def counts(self) -> ReplacementCounts | None:
        """The numbers of functions, or None before the symbols are pruned."""
        content = self._read(artifacts.COUNTS)
        return ReplacementCounts.model_validate_json(content) if content else None

    @cached_property
    def replacements(self) -> list[dict[str, Any]]:
        """The lines of library_replacements.jsonl."""
        return [json.loads(line) for line in (self._read(artifacts.REPLACEMENTS) or b"").decode().splitlines()]

    @cached_property
    def not_checked(self) -> list[str]:
        """The functions that were not judged, each with the reason."""
        gaps = (reason for job in self._judged for _, reason in read_result(self.blobs, job.result).not_checked)
        failed = (f"{job.label}: {job.reason}" for job in self._judged if job.state == "failed")
        return sorted((*gaps, *failed))

    @cached_property
    def _judged(self) -> list[StageJob]:
        with self.store.read() as session:
            return jobs.outcomes(session, self.run.id, STEP)

    def lines(self, most: int | None = None) -> Iterator[str]:
        """Yield the result for a terminal, with at most this many functions of each kind."""
        if self.counts:
            yield self.counts.line()
        replaced = [
            f"{one['qualified_name']} ({one['file']}:{one['start_line']}): {', '.join(one['libraries'])}"
            for one in self.replacements
        ]
        yield from _some(replaced, most)
        if self.not_checked:
            yield f"NOT CHECKED: {len(self.not_checked):,} function{'s' if len(self.not_checked) > 1 else ''}"
            yield from _some(self.not_checked, most)

    def render(self, form: str) -> Iterator[str]:
        """Yield the pieces of a report. Raises UsageError for a format that is not available."""
        if form not in FORMATS:
            raise UsageError(f'--format: "{form}" is not for library replacement; use {" or ".join(FORMATS)}')
        if form == "json":
            counts = self.counts.model_dump() if self.counts else None
            fields = {"counts": counts, "replacements": self.replacements, "not_checked": self.not_checked}
            yield json.dumps(fields, indent=2) + "\n"
        else:
            yield from (f"{line}\n" for line in self.lines())

    def export(self, directory: Path | None = None, say: Words | None = None) -> list[Path]:
        """Write the files of the run, by default to its project, with the checkpoint if it is not done.

        Returns the paths. Raises UsageError.
        """
        root = Path(os.fsdecode(self.run.root_raw))
        if directory is None and not root.is_dir():
            return []
        files = {name: content for name, one in FILES.items() if (content := self._read(one)) is not None}
        if directory:
            return [write_new(directory / name, [content.decode()]) for name, content in files.items()]
        if files and not self._is_input(root):
            keep_edited(directory_of(root), say)
        written = [write_file(root, name, [content.decode()], say) for name, content in files.items()]
        if self.run.state == "done":
            remove_checkpoint(root)
        else:
            written.append(self._write_checkpoint(root, files.get(SYMBOLS), say))
        return written

    def _is_input(self, root: Path) -> bool:
        """Return whether symbols.jsonl of the project is that of the run."""
        path = directory_of(root) / SYMBOLS
        content = "".join(symbol_lines(read_symbol_file(path, root).graph)) if path.is_file() else ""
        return sha256(content.encode()).hexdigest() == self.options.symbols

    def _write_checkpoint(self, root: Path, symbols: bytes | None, say: Words | None) -> Path:
        """Write the checkpoint for a run over the symbols that the next command reads."""
        project = project_of(self.options, self.blobs, self.options.symbols)
        verdicts = verdicts_of(project, self.options, self.blobs, self._judged)
        key = CheckpointKey.of(self.options, self.options.symbols if symbols is None else sha256(symbols).hexdigest())
        pruned = pruned_functions(project.uses, project.roots, verdicts)
        return write_checkpoint(root, key, verdicts, pruned, datetime.now(UTC), say)

    def _read(self, name: str) -> bytes | None:
        return read_artifact(self.store, self.blobs, self.run, name)


def _some(lines: Sequence[str], most: int | None) -> Iterator[str]:
    yield from (f"  {line}" for line in lines[:most])
    if most is not None and len(lines) > most:
        yield f"  and {len(lines) - most:,} more"
