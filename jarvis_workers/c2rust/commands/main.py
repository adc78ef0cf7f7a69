"""`jarvis c2rust`: read a C project, and move it to Rust.

Implementations are imported on demand: `--help` needs neither libclang nor the database libraries.
"""

import typer

from jarvis_cli.kit.app import App
from jarvis_cli.kit.option_records import taking_options
from jarvis_workers.c2rust.commands.cc import PASSED_ON, cc
from jarvis_workers.c2rust.commands.check import EXAMPLES as CHECK
from jarvis_workers.c2rust.commands.check import check
from jarvis_workers.c2rust.commands.collect import EXAMPLES as COLLECT
from jarvis_workers.c2rust.commands.collect import collect
from jarvis_workers.c2rust.commands.conversions import add_conversions
from jarvis_workers.c2rust.commands.files import EXAMPLES as MAP
from jarvis_workers.c2rust.commands.files import GRAPH, ORDER, SYMBOLS, graph, order, show_map, symbols
from jarvis_workers.c2rust.commands.optimize_options import EXAMPLES as OPTIMIZE
from jarvis_workers.c2rust.commands.optimize_options import CrateOptimization
from jarvis_workers.c2rust.commands.options import EXAMPLES as SCAN
from jarvis_workers.c2rust.commands.options import ProjectScan
from jarvis_workers.c2rust.commands.replace_options import EXAMPLES as REPLACE
from jarvis_workers.c2rust.commands.replace_options import LibraryReplace
from jarvis_workers.c2rust.commands.roadmap import EXAMPLES as ROADMAP
from jarvis_workers.c2rust.commands.roadmap import roadmap


def scan(ctx: typer.Context, options: ProjectScan) -> int:
    """Read the symbols of a C project, their call graph, and their translation order.

    The files go to .jarvis/c2rust/ in the project. Exit 3: a translation unit could not be read; the output names it.
    """
    from jarvis_workers.c2rust.commands.project_scan import scan_project  # noqa: PLC0415  (the store is slow to import)

    return scan_project(options)


def lib_replace(ctx: typer.Context, options: LibraryReplace) -> int:
    """Ask a model which functions of a scanned project Rust crates can replace, and prune what only these need.

    A function is judged with all that it uses; if it is refused, the functions that it uses are judged. main and
    functions of exported tables stay. Crates other than std must be in c2rust.allowed_crates. symbols.jsonl and
    translation_order.jsonl become the pruned ones. Exit 3: a function could not be judged; it is not replaced.
    """
    from jarvis_workers.c2rust.commands.library_replace import replace_functions  # noqa: PLC0415

    return replace_functions(options)


def optimize(ctx: typer.Context, options: CrateOptimization) -> int:
    """Improve a Rust crate without changing what it does: unsafe code, duplicates, visibility, documentation.

    Any crate is accepted; cargo vendor provides its dependencies. Its code runs in the sandbox only, over a copy; cargo
    test must pass before and after each pass. Files are written at the end, and only if none has been edited meanwhile.
    Exit 3: a file was not optimized, or --max-checks was reached.
    """
    from jarvis_workers.c2rust.commands.crate_optimization import optimize_crate  # noqa: PLC0415

    return optimize_crate(options)


app = App(no_args_is_help=True)

app.command("collect", short_help="Collect the functions that headers declare.", examples=COLLECT)(collect)
app.command("scan", uses="conversations", short_help="Read symbols, call graph and translation order.", examples=SCAN)(
    taking_options(ProjectScan, scan)
)
app.command("symbols", short_help="List symbols, or show one with its users.", examples=SYMBOLS)(symbols)
app.command("graph", short_help="Write the call graph as DOT, picture or page.", examples=GRAPH)(graph)
app.command("order", short_help="Print the translation order.", examples=ORDER)(order)
app.command(
    "lib-replace", uses="conversations", short_help="Replace functions by Rust crates, with a model.", examples=REPLACE
)(taking_options(LibraryReplace, lib_replace))
add_conversions(app)
app.command("map", short_help="Show functions in C and Rust, with their gates.", examples=MAP)(show_map)
app.command(
    "optimize", uses="conversations", short_help="Reduce unsafe code and visibility of a crate.", examples=OPTIMIZE
)(taking_options(CrateOptimization, optimize))
app.command("check", uses="conversations", short_help="Check a crate that you edited.", examples=CHECK)(check)
app.command("roadmap", short_help="Show progress in the stages from C to Rust.", examples=ROADMAP)(roadmap)
app.command("cc", uses="none", hidden=True, add_help_option=False, context_settings=PASSED_ON)(cc)
