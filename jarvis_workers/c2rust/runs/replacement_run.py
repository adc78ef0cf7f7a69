"""Submit a run that replaces functions of a C project by libraries."""

import os
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from jarvis_workers.c2rust.function_uses import function_uses, root_functions
from jarvis_workers.c2rust.runs.conversion_request import require_model
from jarvis_workers.c2rust.runs.project_files import Words, delayed_entries, read_lines, read_project
from jarvis_workers.c2rust.runs.replacement_checkpoint import read_checkpoint
from jarvis_workers.c2rust.stages.pipelines import REPLACE
from jarvis_workers.c2rust.stages.replace_options import ReplaceOptions
from jarvis_workers.c2rust.stages.replaceable_project import policy_of
from jarvis_workers.c2rust.symbol import SymbolGraph
from jarvis_workers.c2rust.symbol_lines import symbol_lines
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import leaves_the_root, plain
from jarvis_workers.runs.budgets import budget_of
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.scan_request import request_for, with_settings
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.snapshots.selection import Selection

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings
    from jarvis_workers.store.engine import Store


@dataclass(frozen=True)
class ReplaceInput(RunInput):
    """The input of a run: its options, and the symbols."""

    options: ReplaceOptions
    symbols: bytes = b""
    names_paths: ClassVar[bool] = False

    @property
    def contents(self) -> tuple[bytes, ...]:
        """Return the symbols."""
        return (self.symbols,)

    def complete(self, selection: Selection, store: "Store | None") -> ReplaceOptions:
        """Return the options, which name the blob of the symbols already."""
        return self.options


def replace_request(
    settings: "Settings",
    source: SourceTree,
    executor: str,
    options: ReplaceOptions,
    say: Words,
    *,
    resume: bool = True,
) -> RunRequest[ReplaceInput]:
    """Return the request for a run over the files of a scanned project.

    With `resume`, the checkpoint of an earlier run is taken up. `say` is called with lines about problems in the files,
    and about the checkpoint. Raises UsageError.
    """
    project = read_project(source.path)
    for remark in project.remarks:
        say(remark)
    content = "".join(symbol_lines(project.graph)).encode()
    options = with_settings(
        settings,
        options,
        model_group=require_model(settings, options.model_group),
        agent_limits=agent_limits_of(settings),
        symbols=sha256(content).hexdigest(),
        roots=list(dict.fromkeys(options.roots)),
        allowed=list(settings.c2rust.allowed_crates),
        entries=sorted(delayed_entries()),
    )
    _check(project.graph, options)
    if resume:
        earlier = read_checkpoint(source.path, options, project.graph, say)
        options = replace(options, verdicts=[one.model_dump(mode="json") for one in earlier])
    request = request_for(settings, source, REPLACE, executor, ReplaceInput(options, content))
    selection = Selection(
        suffixes=None, exclude_dirs=frozenset(), ignore_files=(), paths=_files(project.graph, source.path)
    )
    budget = budget_of(settings, options.model_group)
    return replace(request, selection=selection, may_be_empty=True, budget=budget)


def _check(graph: SymbolGraph, options: ReplaceOptions) -> None:
    """Raise UsageError for a root that does not exist, and for an earlier replacement that is no longer allowed."""
    root_functions(graph, function_uses(graph), options.roots)
    for symbol in graph.symbols:
        if symbol.replacement and (objection := policy_of(options).objection(symbol.replacement.libraries)):
            raise UsageError(
                f"symbols.jsonl: {plain(symbol.name)} is replaced, but {objection}; scan the project again"
            )


def _files(graph: SymbolGraph, root: Path) -> tuple[bytes, ...]:
    """Return the files that define functions, as far as they exist below the root. Raises UsageError for none."""
    files = {one.extent.file for one in graph.symbols if one.category == "function"}
    found = tuple(sorted(file for file in files if not leaves_the_root(file) and (root / os.fsdecode(file)).is_file()))
    if not found:
        raise UsageError(f"no file of the functions in symbols.jsonl is in {root}; scan the project again")
    return found


def names_in(path: Path) -> list[str]:
    """Return the names in a file, one per line; lines that begin with # are comments. Raises UsageError."""
    names = [name for line in read_lines(path) if (name := line.strip()) and not name.startswith("#")]
    if not names:
        raise UsageError(f"{path} contains no names of functions")
    return names
