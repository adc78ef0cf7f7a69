"""`jarvis c2rust symbols`, `graph` and `order`: the results of a scan, from the files in <root>/.jarvis/c2rust.

Users may have edited these files: invalid parts are reported on standard error, and the rest is used.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.completion import runs as every_run
from jarvis_cli.kit.language import LanguageCode, TextLanguage, language_of
from jarvis_cli.kit.options import AsJson, not_one_of
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.words import ENGLISH

if TYPE_CHECKING:
    from jarvis_workers.c2rust.conversion import FunctionResult
    from jarvis_workers.c2rust.queries import SymbolDetails
    from jarvis_workers.c2rust.runs.project_files import ProjectSymbols


SYMBOLS = """
jarvis c2rust symbols                             all symbols of the last scan
jarvis c2rust symbols --category type --file 'src/*'
jarvis c2rust symbols --name 'BZ2_*' --roots      only functions without callers
jarvis c2rust symbols BZ2_compressBlock           callers and callees
jarvis c2rust symbols --json | jq '.[].signature'
"""
GRAPH = """
jarvis c2rust graph > graph.dot                   the call graph in DOT
jarvis c2rust graph -o graph.html                 an interactive page
jarvis c2rust graph --run last -o graph.html      of a run: see jarvis runs list
jarvis c2rust graph --root main -o main.svg       functions that main reaches
jarvis c2rust graph --clustered -o files.dot      a box around each file
jarvis c2rust graph --subgraphs-dir subgraphs     a file for each root
"""
ORDER = """
jarvis c2rust order                               callees first
jarvis c2rust order --json | jq '.[].ids'
jarvis c2rust order --write                       recompute translation_order.jsonl
JARVIS_C2RUST_DELAY_ENTRY_SYMBOLS=start jarvis c2rust order --write
"""
CATEGORIES = ("function", "type", "global", "macro")

Root = Annotated[Path, typer.Option("--path", "-p", metavar="DIR", help="Root of the project.", show_default=False)]
RunOption = Annotated[
    str | None,
    typer.Option("--run", metavar="RUN", help='Id of the run to read instead, or "last".', autocompletion=every_run),
]
HERE = Path()


def symbols(
    symbol: Annotated[
        str | None, typer.Argument(metavar="SYMBOL", help="Symbol to show: name, qualified name or id.")
    ] = None,
    root: Root = HERE,
    run: RunOption = None,
    category: Annotated[
        str | None, typer.Option(metavar="CATEGORY", help="Only function, type, global or macro.")
    ] = None,
    name: Annotated[str, typer.Option(metavar="GLOB", help="Only symbols whose name matches GLOB.")] = "",
    file: Annotated[str, typer.Option(metavar="GLOB", help="Only symbols in files that match GLOB.")] = "",
    roots: Annotated[bool, typer.Option("--roots", help="Only functions that no other function calls.")] = False,
    as_json: AsJson = False,
) -> int:
    """List the symbols of a project, or show one with its users and the symbols that it uses."""
    if category is not None and category not in CATEGORIES:
        raise UsageError(not_one_of("--category", category, CATEGORIES))
    from jarvis_workers.c2rust.runs import symbol_views as views  # noqa: PLC0415

    project = _project(root, run)
    if symbol is not None:
        found = views.details_of(project.graph, symbol)
        _print_json([views.details_row(one, project.graph) for one in found]) if as_json else _show(found)
        return exits.DONE
    listed = views.list_symbols(project.graph, views.symbol_filter(category, name, file), roots=roots)
    if as_json:
        _print_json(views.as_rows(project.graph, listed))
        return exits.DONE
    for one in listed:
        typer.echo(plain(f"{one.id:>6}  {one.kind:<10}  {one.qualified_name:<40}  {views.place_of(one)}"))
    typer.echo(f"{len(listed):,} of {ENGLISH.count(len(project.graph.symbols), 'symbol')}", err=True)
    return exits.DONE


def graph(
    root: Root = HERE,
    run: RunOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help=".dot, .html, .png or .svg; default: DOT to stdout."),
    ] = None,
    starts: Annotated[
        list[str] | None,
        typer.Option("--root", metavar="FUNCTION", help="Only symbols reachable from this one; repeatable."),
    ] = None,
    clustered: Annotated[bool, typer.Option("--clustered", help="Draw a box around the functions of a file.")] = False,
    types: Annotated[bool, typer.Option("--types", help="Include types.")] = False,
    directory: Annotated[
        Path | None, typer.Option("--subgraphs-dir", metavar="DIR", help="Write the sub-graph of each root as DOT.")
    ] = None,
    lang: TextLanguage = None,
) -> int:
    """Write the graph of calls and address-taken functions, in full or only the part that some functions reach."""
    from jarvis_workers.c2rust.runs import graph_files  # noqa: PLC0415

    project = _project(root, run)
    selection = graph_files.GraphSelection(tuple(starts or ()), clustered, types, language_of(lang))
    if directory is not None:
        written = graph_files.write_subgraphs(project.graph, directory)
        typer.echo(f"{len(written):,} sub-graphs in {plain(str(directory))}", err=True)
    if output is not None:
        typer.echo(f"graph: {plain(str(graph_files.write_graph(project, selection, output)))}", err=True)
    if output is None and directory is None:
        for piece in graph_files.graph_text(project, selection):
            typer.echo(piece, nl=False)
    return exits.DONE


def order(
    root: Root = HERE,
    run: RunOption = None,
    write: Annotated[
        bool, typer.Option("--write", help="Recompute the order, and write translation_order.jsonl.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Print the order in which types and functions are translated: types first, callees before their callers.

    Functions that call each other in a cycle are one step. `main` and the entry points in the environment variable
    JARVIS_C2RUST_DELAY_ENTRY_SYMBOLS come last.
    """
    from jarvis_workers.c2rust.runs import symbol_views as views  # noqa: PLC0415
    from jarvis_workers.c2rust.runs.project_files import write_new_order  # noqa: PLC0415

    if write and run is not None:
        raise UsageError(
            "--write updates the files of a project, and cannot be combined with --run; see: jarvis runs export"
        )
    project = _project(root, run)
    if write:
        path = write_new_order(project, say=_say)
        typer.echo(f"order: {plain(str(path))}", err=True)
        project = _project(root, run)
    steps = list(views.steps_of(project))
    if as_json:
        _print_json([views.step_row(step) for step in steps])
        return exits.DONE
    for step in steps:
        members = ", ".join(f"{one.qualified_name} ({views.place_of(one)})" for one in step.symbols)
        typer.echo(plain(f"{step.number:>6}  {members}"))
    return exits.DONE


def _project(root: Path, run: str | None) -> "ProjectSymbols":
    project = _of_files(root) if run is None else _of_run(run)
    for warning in project.remarks:
        _say(warning)
    return project


def _of_files(root: Path) -> "ProjectSymbols":
    from jarvis_workers.c2rust.runs.project_files import read_project  # noqa: PLC0415

    return read_project(root)


def _of_run(run: str) -> "ProjectSymbols":
    from jarvis_workers.c2rust.runs.run_symbols import read_run  # noqa: PLC0415  (the store is slow to import)
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    return read_run(load_settings(directory=Path.cwd()), run)


def _say(line: str) -> None:
    typer.echo(plain(line), err=True)


def _show(found: list["SymbolDetails"]) -> None:
    from jarvis_workers.c2rust.runs.symbol_views import place_of  # noqa: PLC0415

    for details in found:
        symbol = details.symbol
        incomplete = "" if symbol.complete else ", not complete"
        _line(f"{symbol.qualified_name}  {place_of(symbol)}  ({symbol.kind}, id {symbol.id}{incomplete})")
        if symbol.signature:
            _line(f"  {symbol.signature}")
        if symbol.facts:
            _line(f"  facts: {', '.join(symbol.facts)}")
        for title, neighbours in (("used by", details.users), ("uses", details.uses)):
            if neighbours:
                _line(f"  {title}:")
            for one in neighbours:
                _line(f"    {one.kind:<8} {one.symbol.qualified_name}  {place_of(one.symbol)}")
        if details.external_calls:
            _line(f"  calls outside the project: {', '.join(details.external_calls)}")


def _line(text: str) -> None:
    typer.echo(plain(text))


def _print_json(rows: list[Any]) -> None:
    typer.echo(json.dumps(rows, indent=2))


# `jarvis c2rust map`: functions in C and in Rust, with the gates that they passed.

EXAMPLES = """
jarvis c2rust map                                 all functions of the last conversion
jarvis c2rust map --state different --file 'src/*'
jarvis c2rust map inflate                         C and Rust, gates, reviews
jarvis c2rust map 'BZ2_*' --run 1f3a
jarvis c2rust map --json | jq '.[] | select(.proof == "built") | .name'
"""


def show_map(
    function: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Function to show, in C or Rust, with wildcards.")
    ] = None,
    root: Root = HERE,
    run: RunOption = None,
    state: Annotated[
        str | None, typer.Option(metavar="STATE", help="Only functions in this state, such as translated.")
    ] = None,
    name: Annotated[str, typer.Option(metavar="GLOB", help="Only functions whose C name matches GLOB.")] = "",
    file: Annotated[str, typer.Option(metavar="GLOB", help="Only functions in C files that match GLOB.")] = "",
    as_json: AsJson = False,
    lang: TextLanguage = None,
) -> int:
    """List the functions of the last conversion of a project, or show some with C, Rust, gates and reviews.

    Without a run in the results store, .jarvis/c2rust/symbol_map.jsonl and the crate beside the project are read.
    """
    from jarvis_workers.c2rust import function_map  # noqa: PLC0415
    from jarvis_workers.c2rust.runs.conversion_map import read_map  # noqa: PLC0415  (the store is slow to import)
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    if state is not None and state not in function_map.STATUSES:
        raise UsageError(not_one_of("--state", state, function_map.STATUSES))
    found = read_map(load_settings(directory=Path.cwd()), root, run)
    chosen = found.functions if function is None else function_map.named_functions(found.functions, function)
    listed = function_map.select_functions(chosen, function_map.FunctionFilter(name, file, state or ""))
    if function is None:
        return _list(listed, len(found.functions), found.origin, language_of(lang), as_json=as_json)
    mapped = found.with_texts(listed)
    if as_json:
        _map_print_json([{**function_map.function_row(one.result), "c": one.c, "rust": one.rust} for one in mapped])
        return exits.DONE
    from jarvis_workers.c2rust.commands import conversion_map_view as view  # noqa: PLC0415  (rich is slow to import)

    language = language_of(lang)
    for one in mapped:
        typer.echo(view.page(one, language))
    return exits.DONE


def _list(listed: "list[FunctionResult]", total: int, origin: str, language: LanguageCode, *, as_json: bool) -> int:
    if as_json:
        from jarvis_workers.c2rust.function_map import function_row  # noqa: PLC0415

        _map_print_json([function_row(one) for one in listed])
        return exits.DONE
    from jarvis_cli.kit.terminal_page import words_in  # noqa: PLC0415
    from jarvis_workers.c2rust.commands import conversion_map_view as view  # noqa: PLC0415

    say = words_in(language)
    if listed:
        typer.echo(view.table(listed, say))
    typer.echo(view.total_line(len(listed), total, origin, say), err=True)
    return exits.DONE


def _map_print_json(rows: list[dict[str, object]]) -> None:
    typer.echo(json.dumps(rows, indent=2))
