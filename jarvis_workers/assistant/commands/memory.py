"""`jarvis memory` and `jarvis-memory-organizer`: list, organize, export, import and remove long-term memories."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.app import App
from jarvis_cli.kit.options import Group, not_one_of
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain

if TYPE_CHECKING:
    from jarvis_workers.assistant.memory.entry import MemoryEntry, MemoryType
    from jarvis_workers.settings import Settings

# The characters of a text and the number of failures that are shown.
FIRST_LINE, FAILURES_MAX = 80, 20
EXAMPLES = """
jarvis memory organize --dry-run                      show what would be merged; no model is called
jarvis memory organize --type project_long_term -g fast
jarvis memory organize --type global_long_term --min-overlap 3
"""
LIST_EXAMPLES = """
jarvis memory list --tag build
jarvis memory list --type global_long_term --json
jarvis memory list --stored -p src                    what agents saved in runs of jarvis agent -p src
"""
EXPORT_EXAMPLES = "jarvis memory export memories.json -t project_long_term -t global_long_term --tag API"
REMOVE_EXAMPLES = "jarvis memory remove 20251101_072947_388226"
IMPORT_EXAMPLES = "jarvis memory import memories.json --overwrite"

app = App(no_args_is_help=True, help="List, organize, export and import memories of agents.")

Root = Annotated[str, typer.Option("--path", "-p", metavar="PATH", help="Directory of the project.")]
Project = Annotated[
    str, typer.Option("--path", "-p", metavar="PATH", help="Directory of the project; with --stored also a URL.")
]
Stored = Annotated[
    bool, typer.Option("--stored", help="The memories of `jarvis agent`, which are in the results store.")
]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", "-t", metavar="TYPE", help="project_long_term or global_long_term; repeatable."),
]
TagsOption = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="Only memories with one of these tags; repeatable.")
]
Limit = Annotated[int, typer.Option(min=1, max=1_000_000, metavar="NUMBER", help="The newest memories to show.")]
Overlap = Annotated[int, typer.Option(min=2, max=8, metavar="NUMBER", help="Tags that merged memories have in common.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A JSON array of memories.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be merged; call no model.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID", help="Ids of memories.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace memories with the same id.")]


@app.command(name="list", examples=LIST_EXAMPLES)
def show(
    path: Project = ".",
    types: Types = None,
    tag: TagsOption = None,
    limit: Limit = 50,
    stored: Stored = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON output, with the whole texts.")] = False,
) -> int:
    """List memories, newest first."""
    from itertools import islice  # noqa: PLC0415

    from jarvis_workers.assistant.chat.memory_books import open_book  # noqa: PLC0415
    from jarvis_workers.assistant.memory.entry import with_any_tag  # noqa: PLC0415

    with open_book(_settings(), path, stored=stored, tell=_warn) as book:
        entries = list(islice(with_any_tag(book.read(_levels(types)), tag or ()), limit))
    if as_json:
        documents = [entry.model_dump(mode="json", exclude_none=True) for entry in entries]
        typer.echo(json.dumps(documents, indent=2))
    else:
        for entry in entries:
            typer.echo(_line(entry))
    return exits.DONE


@app.command(uses="conversations", examples=EXAMPLES)
def organize(
    path: Root = ".",
    types: Types = None,
    min_overlap: Overlap = 2,
    group: Group = None,
    dry_run: DryRun = False,
) -> int:
    """Let a model merge memories whose tags overlap. Exit 3: some could not be merged, and stay as they were."""
    from jarvis_workers.assistant.chat.asking import open_model  # noqa: PLC0415  (slow to import)
    from jarvis_workers.assistant.chat.memory_books import files_of  # noqa: PLC0415
    from jarvis_workers.assistant.chat.memory_organizer import merge_with, overlapping  # noqa: PLC0415
    from jarvis_workers.assistant.chat.memory_organizer import organize as merge_all  # noqa: PLC0415

    settings = _settings()
    book = files_of(settings, path, _warn)
    groups = list(overlapping(book, _levels(types), min_overlap))
    if dry_run:
        for one in groups:
            typer.echo(f"{one.entries[0].type}  {', '.join(map(plain, one.tags))}: would merge {', '.join(one.ids)}")
    if dry_run or not groups:
        typer.echo(f"groups with {min_overlap} tags in common: {len(groups)}; nothing was changed")
        return exits.DONE
    with open_model(settings, group) as model:
        result = merge_all(book, groups, merge_with(model))
    typer.echo(f"merged {_count(result.replaced)} into {len(result.merged)}; {model.spent}")
    _list_failures("not merged", result.failures)
    if result.not_tried:
        _warn(f"{result.not_tried} more groups were not tried")
    return exits.INCOMPLETE if result.failures else exits.DONE


@app.command(examples=EXPORT_EXAMPLES)
def export(file: File, path: Project = ".", types: Types = None, tag: TagsOption = None, stored: Stored = False) -> int:
    """Write memories to a JSON file."""
    from jarvis_workers.assistant.chat.memory_books import open_book  # noqa: PLC0415
    from jarvis_workers.assistant.chat.memory_exchange import export_memories  # noqa: PLC0415

    with open_book(_settings(), path, stored=stored, tell=_warn) as book:
        count = export_memories(book, _levels(types), tag or (), file)
    typer.echo(f"exported {_count(count)} to {plain(str(file))}")
    return exits.DONE


@app.command(name="import", examples=IMPORT_EXAMPLES)
def take_in(file: File, path: Root = ".", overwrite: Overwrite = False) -> int:
    """Add the memories of a JSON file. Exit 3: some are invalid, and were left out."""
    from jarvis_workers.assistant.chat.memory_books import files_of  # noqa: PLC0415
    from jarvis_workers.assistant.chat.memory_exchange import import_memories  # noqa: PLC0415

    result = import_memories(files_of(_settings(), path, _warn), file, overwrite=overwrite)
    remark = f"; {len(result.skipped)} were there already (--overwrite replaces them)" if result.skipped else ""
    typer.echo(f"imported {_count(result.count)}{remark}")
    _list_failures("left out", result.refusals)
    return exits.INCOMPLETE if result.refusals else exits.DONE


@app.command(examples=REMOVE_EXAMPLES)
def remove(ids: Ids, path: Project = ".", stored: Stored = False) -> int:
    """Remove memories by their ids, which list shows. Exit 3: some were not there."""
    from jarvis_workers.assistant.chat.memory_books import open_book  # noqa: PLC0415

    with open_book(_settings(), path, stored=stored, tell=_warn) as book:
        counts = {one: book.remove([one], _levels(None)) for one in ids}
    typer.echo(f"removed {_count(sum(counts.values()))}")
    missing = [one for one, count in counts.items() if not count]
    _list_failures("there is no memory with the id", missing)
    return exits.INCOMPLETE if missing else exits.DONE


def _settings() -> "Settings":
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    return load_settings(directory=Path.cwd())


def _levels(types: list[str] | None) -> "list[MemoryType]":
    """Return the levels of --type, all long-term ones by default. Raises UsageError."""
    from jarvis_workers.assistant.memory.entry import LONG_TERM  # noqa: PLC0415

    for one in types or ():
        if one not in LONG_TERM:
            raise UsageError(not_one_of("--type", one, LONG_TERM))
    return [level for level in LONG_TERM if not types or level in types]


def _line(entry: "MemoryEntry") -> str:
    text = " ".join(entry.content.split())
    first = f"{text[:FIRST_LINE]}…" if len(text) > FIRST_LINE else text
    return plain(f"{entry.id}  {entry.type}  [{', '.join(entry.tags)}]  {first}")


def _count(number: int) -> str:
    return f"{number:,} {'memory' if number == 1 else 'memories'}"


def _list_failures(what: str, lines: list[str]) -> None:
    for line in lines[:FAILURES_MAX]:
        _warn(f"{what}: {line}")
    if len(lines) > FAILURES_MAX:
        _warn(f"{what}: {len(lines) - FAILURES_MAX} more")


def _warn(says: str) -> None:
    typer.echo(f"jarvis: {plain(says)}", err=True)
