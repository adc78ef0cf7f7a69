"""The project of a run that replaces functions: its graph, and which of its functions to judge."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from jarvis_workers.c2rust.function_uses import UseGraph, function_uses, root_functions
from jarvis_workers.c2rust.library_pruning import Verdicts, earlier_verdicts, open_functions
from jarvis_workers.c2rust.library_replacement import FunctionVerdict, LibraryPolicy
from jarvis_workers.c2rust.order import ENTRY
from jarvis_workers.c2rust.stages.link_symbols import SYMBOLS
from jarvis_workers.c2rust.stages.replace_options import ReplaceOptions
from jarvis_workers.c2rust.stages.run_values import of_run
from jarvis_workers.c2rust.symbol_reader import SymbolFile, read_symbols
from jarvis_workers.errors import UsageError
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import AGENT_QUEUE, NewJob, StageJob

STEP, VERDICT = "replace", "verdict"
LABEL_LENGTH, WEIGHT_MAX = 160, 1_000_000


@dataclass(frozen=True)
class FunctionPayload(JsonRecord):
    """The function of a job, by its id."""

    function: int


@dataclass(frozen=True)
class ReplaceableProject:
    """The symbols of a project, with the functions where its judgement begins, and the ids of entry points."""

    symbols: SymbolFile
    uses: UseGraph
    roots: tuple[int, ...]
    entries: frozenset[int]

    def to_judge(self, start: Iterable[int], verdicts: Verdicts) -> Iterator[int]:
        """Yield the functions to judge next, given the verdicts so far."""
        return open_functions(self.uses, start, verdicts, self.entries)

    def count_judged(self, verdicts: Verdicts) -> int:
        """Return the number of verdicts, without those on functions that were replaced in the input."""
        return sum(not self.symbols.graph.by_id[number].replacement for number in verdicts)

    def job(self, number: int) -> NewJob:
        """Return the job that judges a function; functions that use many others come first."""
        symbol = self.symbols.graph.by_id[number]
        return NewJob(
            STEP,
            AGENT_QUEUE,
            (symbol.qualified_name or symbol.name)[:LABEL_LENGTH],
            sha256(f"{STEP}:{number}".encode()).hexdigest(),
            payload=FunctionPayload(number).to_json(),
            weight=min(len(self.uses.reached([number])), WEIGHT_MAX),
        )


def symbols_in(options: ReplaceOptions, linked: Iterable[StageJob], blobs: Blobs) -> str:
    """Return the blob of the symbols of a run: the given one, or that of its stage that linked units."""
    found = (read_result(blobs, one.result).blobs.get(SYMBOLS) for one in linked)
    return options.symbols or next(name for name in found if name)


def project_of(options: ReplaceOptions, blobs: Blobs, symbols_name: str) -> ReplaceableProject:
    """Return the project of a run, whose symbols are in a blob. Raises UsageError for a root that does not exist."""
    symbols, uses = _read(blobs, symbols_name)
    names = {ENTRY, *options.entries}
    entries = frozenset(one.id for one in symbols.graph.symbols if one.name in names)
    roots = root_functions(symbols.graph, uses, [*options.roots, *_declared(options, symbols)])
    return ReplaceableProject(symbols, uses, tuple(roots), entries)


def _declared(options: ReplaceOptions, symbols: SymbolFile) -> list[str]:
    """Return the functions of the project that headers declare. Raises UsageError if they declare only others."""
    functions = {one.name for one in symbols.graph.symbols if one.category == "function"}
    found = [name for name in options.declared if name in functions]
    if options.declared and not found:
        raise UsageError(f"the project defines none of the {len(options.declared):,} functions that headers declare")
    return found


@of_run
def _read(blobs: Blobs, name: str) -> tuple[SymbolFile, UseGraph]:
    """Return the symbols in a blob, which the conversations of a process share."""
    symbols = read_symbols(blobs.read(name).decode().split("\n"), "symbols.jsonl")
    return symbols, function_uses(symbols.graph)


def verdicts_of(
    project: ReplaceableProject, options: ReplaceOptions, blobs: Blobs, jobs: Iterable[StageJob]
) -> dict[int, FunctionVerdict]:
    """Return the verdicts of earlier runs and of the finished jobs of this one."""
    names = (read_result(blobs, job.result).blobs.get(VERDICT) for job in jobs)
    given = map(FunctionVerdict.model_validate, options.verdicts)
    found = [*given, *(FunctionVerdict.model_validate_json(blobs.read(name)) for name in names if name)]
    return earlier_verdicts(project.symbols.graph) | {one.id: one for one in found}


def policy_of(options: ReplaceOptions) -> LibraryPolicy:
    """Return the crates that a run may use, and those that it may not."""
    return LibraryPolicy((*([options.library] if options.library else ()), *options.allowed), tuple(options.disabled))
