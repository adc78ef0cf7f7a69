"""`jarvis c2rust map`: functions in C and in Rust, with the gates that they passed."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.language import LanguageCode, TextLanguage, language_of
from jarvis_cli.kit.options import AsJson, not_one_of
from jarvis_workers.c2rust.commands.files import HERE, Root, RunOption
from jarvis_workers.errors import UsageError

if TYPE_CHECKING:
    from jarvis_workers.c2rust.conversion import FunctionResult

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
        _print_json([{**function_map.function_row(one.result), "c": one.c, "rust": one.rust} for one in mapped])
        return exits.DONE
    from jarvis_workers.c2rust.commands import conversion_map_view as view  # noqa: PLC0415  (rich is slow to import)

    language = language_of(lang)
    for one in mapped:
        typer.echo(view.page(one, language))
    return exits.DONE


def _list(listed: "list[FunctionResult]", total: int, origin: str, language: LanguageCode, *, as_json: bool) -> int:
    if as_json:
        from jarvis_workers.c2rust.function_map import function_row  # noqa: PLC0415

        _print_json([function_row(one) for one in listed])
        return exits.DONE
    from jarvis_cli.kit.terminal_page import words_in  # noqa: PLC0415
    from jarvis_workers.c2rust.commands import conversion_map_view as view  # noqa: PLC0415

    say = words_in(language)
    if listed:
        typer.echo(view.table(listed, say))
    typer.echo(view.total_line(len(listed), total, origin, say), err=True)
    return exits.DONE


def _print_json(rows: list[dict[str, object]]) -> None:
    typer.echo(json.dumps(rows, indent=2))
