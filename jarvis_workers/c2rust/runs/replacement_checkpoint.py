"""The checkpoint of library replacement: the verdicts of an unfinished run, which the next command takes up.

It is used only by a command with the same symbols and options; its format is that of seed 001, "library_replacer".
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from jarvis_workers.c2rust.library_pruning import Verdicts
from jarvis_workers.c2rust.library_replacement import FunctionVerdict, LibraryPolicy
from jarvis_workers.c2rust.runs.project_files import Words, directory_of, write_file
from jarvis_workers.c2rust.stages.replace_options import ReplaceOptions
from jarvis_workers.c2rust.stages.replaceable_project import policy_of
from jarvis_workers.c2rust.symbol import SymbolGraph
from jarvis_workers.paths import plain

CHECKPOINT = "library_replacer_checkpoint.json"
CHECKPOINT_BYTES = 64_000_000


class CheckpointKey(BaseModel):
    """What a checkpoint depends on; `symbols` is the hash of the content of symbols.jsonl."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    symbols: str
    library_name: str | None
    llm_group: str | None
    candidates: tuple[str, ...]
    disabled_libraries: tuple[str, ...]
    max_funcs: int | None
    allowed_crates: tuple[str, ...]
    entries: tuple[str, ...]

    @classmethod
    def of(cls, options: ReplaceOptions, symbols: str) -> "CheckpointKey":
        """Return the key of a run."""
        return cls(
            symbols=symbols,
            library_name=options.library,
            llm_group=options.model_group,
            candidates=tuple(options.roots),
            disabled_libraries=tuple(sorted(options.disabled)),
            max_funcs=options.max_functions,
            allowed_crates=tuple(sorted(options.allowed)),
            entries=tuple(sorted(options.entries)),
        )

    def difference(self, other: "CheckpointKey") -> str:
        """Return the name of the first part that differs, or an empty string."""
        return next((name for name in CheckpointKey.model_fields if getattr(self, name) != getattr(other, name)), "")


class ReplacementCheckpoint(BaseModel):
    """The contents of the file: ids of judged functions, the verdicts that replace functions, ids of pruned ones."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: CheckpointKey
    eval_counter: int
    processed_roots: tuple[int, ...]
    selected_roots: tuple[FunctionVerdict, ...]
    pruned_dynamic: tuple[int, ...] = ()
    timestamp: str = ""

    def verdicts(self, graph: SymbolGraph, policy: LibraryPolicy) -> list[FunctionVerdict]:
        """Return the verdicts on functions of a graph; a function with crates that are not allowed has none."""
        chosen = {one.id: one for one in self.selected_roots if one.choice}
        functions = {symbol.id for symbol in graph.symbols if symbol.category == "function"}
        found = (
            chosen.get(number, FunctionVerdict(id=number, reason="judged by an earlier run"))
            for number in sorted(functions.intersection(self.processed_roots))
        )
        return [one for one in found if not (one.choice and policy.objection(one.choice.libraries))]


def read_checkpoint(root: Path, options: ReplaceOptions, graph: SymbolGraph, say: Words) -> Sequence[FunctionVerdict]:
    """Return the verdicts in the checkpoint of a project, none if it does not fit; `say` gets a line about it."""
    path = directory_of(root) / CHECKPOINT
    try:
        with path.open("rb") as file:
            checkpoint = ReplacementCheckpoint.model_validate_json(file.read(CHECKPOINT_BYTES))
    except FileNotFoundError:
        return ()
    except (OSError, ValidationError):
        say(f"{path} cannot be read: nothing is resumed")
        return ()
    if name := checkpoint.key.difference(CheckpointKey.of(options, options.symbols)):
        say(f"{path} belongs to a run with another value of {name}: nothing is resumed")
        return ()
    found = checkpoint.verdicts(graph, policy_of(options))
    say(plain(f"{path}: {len(found):,} functions are judged already; to judge them again: --no-resume"))
    return found


def write_checkpoint(
    root: Path, key: CheckpointKey, verdicts: Verdicts, pruned: Sequence[int], now: datetime, say: Words | None = None
) -> Path:
    """Write the checkpoint of an unfinished run; functions that are not checked are left out. Raises UsageError."""
    judged = [one for number, one in sorted(verdicts.items()) if one.checked]
    checkpoint = ReplacementCheckpoint(
        key=key,
        eval_counter=len(judged),
        processed_roots=tuple(one.id for one in judged),
        selected_roots=tuple(one for one in judged if one.choice),
        pruned_dynamic=tuple(pruned),
        timestamp=now.isoformat(timespec="seconds"),
    )
    return write_file(root, CHECKPOINT, [checkpoint.model_dump_json(indent=1), "\n"], say)


def remove_checkpoint(root: Path) -> None:
    """Remove the checkpoint of a project, if there is one."""
    (directory_of(root) / CHECKPOINT).unlink(missing_ok=True)
