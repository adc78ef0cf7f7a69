"""`jarvis c2rust`: read a C project, and move it to Rust.

Implementations are imported on demand: `--help` needs neither libclang nor the database libraries.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import typer

from jarvis_cli.kit.app import App
from jarvis_cli.kit.option_records import taking_options
from jarvis_cli.kit.progress import describe, rate_of
from jarvis_cli.kit.project_run import RunCommand, execute_run, project_settings
from jarvis_cli.kit.run_outcome import counted
from jarvis_cli.kit.status_output import Display
from jarvis_workers.c2rust.commands.cc import PASSED_ON, cc
from jarvis_workers.c2rust.commands.check import EXAMPLES as CHECK
from jarvis_workers.c2rust.commands.check import check
from jarvis_workers.c2rust.commands.collect import EXAMPLES as COLLECT
from jarvis_workers.c2rust.commands.collect import collect
from jarvis_workers.c2rust.commands.fast import convert_project
from jarvis_workers.c2rust.commands.fast_options import EXAMPLES as FAST
from jarvis_workers.c2rust.commands.fast_options import (
    PREPARE_EXAMPLES,
    SKELETON_EXAMPLES,
    TRANSPILE_EXAMPLES,
    FastConversion,
    InterfaceConversion,
    PrepareConversion,
    SkeletonConversion,
)
from jarvis_workers.c2rust.commands.files import EXAMPLES as MAP
from jarvis_workers.c2rust.commands.files import GRAPH, ORDER, SYMBOLS, graph, order, show_map, symbols
from jarvis_workers.c2rust.commands.interface_output import deliver_interface
from jarvis_workers.c2rust.commands.optimize_options import EXAMPLES as OPTIMIZE
from jarvis_workers.c2rust.commands.optimize_options import CrateOptimization
from jarvis_workers.c2rust.commands.options import EXAMPLES as SCAN
from jarvis_workers.c2rust.commands.options import ProjectScan
from jarvis_workers.c2rust.commands.replace_options import EXAMPLES as REPLACE
from jarvis_workers.c2rust.commands.replace_options import LibraryReplace
from jarvis_workers.c2rust.commands.roadmap import EXAMPLES as ROADMAP
from jarvis_workers.c2rust.commands.roadmap import roadmap
from jarvis_workers.c2rust.commands.run_options import EXAMPLES as RUN
from jarvis_workers.c2rust.commands.run_options import ProjectMove
from jarvis_workers.c2rust.runs.collect import collect_names, compile_options, write_names
from jarvis_workers.c2rust.runs.crate_directory import check_target
from jarvis_workers.c2rust.runs.fast_run import (
    IMPROVING,
    OPTIMIZING,
    REPLACING,
    ConversionRequest,
    require_model,
    require_tools,
    unfinished_run,
)
from jarvis_workers.c2rust.runs.interface_run import InterfaceInput, crate_digest, interface_request, read_interface
from jarvis_workers.c2rust.runs.replacement_results import ReplacementResult
from jarvis_workers.c2rust.runs.scan_results import words_of_run
from jarvis_workers.c2rust.stages.options import ParseOptions, TranslateOptions
from jarvis_workers.c2rust.stages.pipelines import INTERFACE
from jarvis_workers.errors import UsageError
from jarvis_workers.option import listed, options_in
from jarvis_workers.paths import plain
from jarvis_workers.runs.labels import parse_labels
from jarvis_workers.runs.named_runs import name_over_source
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.runs import stages_of
from jarvis_workers.runs.sources import SourceTree, is_address
from jarvis_workers.settings import Settings, load_settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

# Execute `jarvis c2rust run`.

ROOTS_NEEDED = (
    "choose what to move: --files with the headers of the library, --root-list-syms with names of functions,"
    " or --no-replace to move all functions without libraries"
)


def move_project(options: ProjectMove) -> int:
    """Move a project to Rust in one run, and write its crate and files; return the exit code."""
    if options.files and options.root_list_syms:
        raise UsageError("--files and --root-list-syms exclude each other")
    if not (options.files or options.root_list_syms) and options.replace:
        raise UsageError(ROOTS_NEEDED)
    optimization = IMPROVING if not options.improve else ()
    declared = _declared(options) if options.files else ()
    request = ConversionRequest(
        options=replace(options.options, roots=listed(options.root_list_syms), declared=list(declared)),
        skipped_stages=(*(() if options.replace else REPLACING), *(optimization if options.optimize else OPTIMIZING)),
    )
    unfinished = partial(_unfinished, options) if options.resume and options.name is None else None
    return convert_project(options, request, unfinished, _summary)


def _declared(options: ProjectMove) -> tuple[str, ...]:
    """Return the functions that the headers declare, and write their names to a file."""
    if is_address(options.path):
        raise UsageError("--files needs a project on this machine; name the functions with --root-list-syms")
    settings = load_settings(directory=Path.cwd())
    root = Path(options.path)
    collected = collect_names(options.files or (), root, compile_options(settings), settings.c2rust.clang_headers)
    for warning in collected.warnings:
        _say(warning)
    if not options.dry_run:
        path = write_names(collected, root, options.out, _say)
        _say(f"{counted(len(collected.names), 'function')}: {path}")
    return collected.names


def _unfinished(options: ProjectMove, request: ConversionRequest, settings: Settings, store: Store) -> Run | None:
    if is_address(options.path):
        return None
    return unfinished_run(store, settings, Path(options.path), request, fetch=options.fetch_crates)


def _summary(store: Store, blobs: Blobs, run: Run) -> None:
    """Print a line per stage."""
    replaced, say = ReplacementResult(store, blobs, run), words_of_run(run)
    for stage in stages_of(store, run):
        line = f"{stage.name}: {describe(stage, rate_of(stage), say=say)}"
        if stage.name == "prune" and replaced.counts:
            line = f"{stage.name}: {replaced.counts.line(say)}"
        typer.echo(plain(line))


def _say(line: str) -> None:
    typer.echo(plain(line), err=True)


# Execute `jarvis c2rust transpile --interface`.

# Options that say how C is compiled and compared with Rust, which an interface with its own tests does not need.
OF_CONVERSIONS = (
    "compile_commands",
    "configure",
    "build",
    "tests",
    "only",
    "branch",
    "escalate",
    "sec_before",
    "fetch_crates",
)


def write_interface(conversion: InterfaceConversion, interface: Path) -> int:
    """Write the bodies of an interface, and its crate; return the exit code."""
    _check(conversion)
    options = conversion.options
    settings = project_settings(conversion.flags, detach=conversion.detach)
    require_model(settings, options.model_group)
    require_tools(settings)
    place, given = conversion.place, interface.resolve()
    if place.resolve().is_relative_to(given):
        raise UsageError(f"{place}: the directory of the interface, which is never changed; choose another with -o")
    if not conversion.detach:
        check_target(place)
    crate = read_interface(given)
    facts = {
        "kind": INTERFACE,
        "choice": ConversionRequest(options=options).identity["model"],
        "crate": crate_digest(crate),
    }

    def request(source: SourceTree, executor: str, _: Display) -> RunRequest[InterfaceInput]:
        return interface_request(settings, source, executor, crate, options)

    command = RunCommand(
        path=conversion.path,
        request=request,
        deliver=partial(_deliver, conversion, place),
        name=name_over_source(conversion.name, settings, conversion.path, ParseOptions(), **facts),
        labels=parse_labels(conversion.label or ()),
        detach=conversion.detach,
        quiet=conversion.quiet,
    )
    return execute_run(settings, command)


def _check(conversion: InterfaceConversion) -> None:
    """Raise UsageError for an option that has no effect."""
    options = options_in(TranslateOptions)
    for name in OF_CONVERSIONS:
        if getattr(conversion.options if name in options else conversion, name):
            option = options[name].title if name in options else f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} cannot be used with --interface: the tests of the crate are the suite")
    if conversion.dry_run or conversion.as_json:
        raise UsageError("--dry-run and --json cannot be used with --interface: only conversions are estimated")


def _deliver(conversion: InterfaceConversion, place: Path, stored: StoredRun, screen: Display) -> int:
    return deliver_interface(stored, place, screen, quiet=conversion.quiet)


def scan(ctx: typer.Context, options: ProjectScan) -> int:
    """Read the symbols of a C project, their call graph, and their translation order.

    The files go to .jarvis/c2rust/ in the project. Exit 3: a translation unit could not be read; the output names it.
    """
    from jarvis_workers.c2rust.commands.scan import scan_project  # noqa: PLC0415  (the store is slow to import)

    return scan_project(options)


def lib_replace(ctx: typer.Context, options: LibraryReplace) -> int:
    """Ask a model which functions of a scanned project Rust crates can replace, and prune what only these need.

    A function is judged with all that it uses; if it is refused, the functions that it uses are judged. main and
    functions of exported tables stay. Crates other than std must be in c2rust.allowed_crates. symbols.jsonl and
    translation_order.jsonl become the pruned ones. Exit 3: a function could not be judged; it is not replaced.
    """
    from jarvis_workers.c2rust.commands.replace import replace_functions  # noqa: PLC0415

    return replace_functions(options)


def skeleton(ctx: typer.Context, options: SkeletonConversion) -> int:
    """Give each function of a C library a Rust signature, with references, slices and strings instead of pointers.

    The crate has all types, and forwarders to the C originals. A signature is kept if the project's tests pass with it;
    otherwise its pointers are raw. Signatures go to .jarvis/c2rust/signatures.jsonl.
    """
    from jarvis_workers.c2rust.commands.fast import convert_project  # noqa: PLC0415

    return convert_project(options)


def prepare(ctx: typer.Context, options: PrepareConversion) -> int:
    """Plan a Rust crate with a model: its modules, and how the pointers of each function are passed.

    As with skeleton, bodies call the C originals. A planned signature is kept if the project's tests pass with it;
    otherwise the function has that of skeleton. The files go to .jarvis/c2rust/. Exit 3: an answer is missing.
    """
    from jarvis_workers.c2rust.commands.fast import convert_project  # noqa: PLC0415

    return convert_project(options)


def fast(ctx: typer.Context, options: FastConversion) -> int:
    """Convert a C library to a Rust crate without a model; functions without a proof stay in C and are listed.

    The project's own build and tests run in the sandbox. Exit 3: functions stay in C because no test proves them.
    """
    from jarvis_workers.c2rust.commands.fast import convert_project  # noqa: PLC0415

    return convert_project(options)


def transpile(ctx: typer.Context, options: InterfaceConversion) -> int:
    """Translate a C library to idiomatic Rust with a model, each function proven against its C original.

    Functions have signatures with references, slices and strings where tests pass with them. A body is accepted if the
    tests pass and no compared call differs from C; a difference goes back to the model. If no answer is accepted, the
    function is translated as by `jarvis c2rust fast`. Exit 3: functions stay in C because no test proves them.

    With --interface, a crate fixes types, signatures and tests, and the model writes the bodies that are missing; its
    tests are the suite. Exit 3: a function has no body, or a test fails.
    """
    if options.interface is not None:
        return write_interface(options, options.interface)
    from jarvis_workers.c2rust.commands.fast import convert_project  # noqa: PLC0415

    return convert_project(options)


def run(ctx: typer.Context, options: ProjectMove) -> int:
    """Move a C library to Rust in one run: replace functions by crates, plan, translate and optimize with a model.

    The stages are those of scan, lib-replace, prepare, transpile and optimize; a line per stage sums them up.
    A run that was interrupted or whose budget is used up continues when the command is repeated. Exit 3: functions
    stay in C because no test proves them, or were not judged or planned.
    """

    return move_project(options)


def optimize(ctx: typer.Context, options: CrateOptimization) -> int:
    """Improve a Rust crate without changing what it does: unsafe code, duplicates, visibility, documentation.

    Any crate is accepted; cargo vendor provides its dependencies. Its code runs in the sandbox only, over a copy; cargo
    test must pass before and after each pass. Files are written at the end, and only if none has been edited meanwhile.
    Exit 3: a file was not optimized, or --max-checks was reached.
    """
    from jarvis_workers.c2rust.commands.optimize import optimize_crate  # noqa: PLC0415

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
app.command(
    "skeleton",
    uses="conversations",
    short_help="Give functions Rust signatures that pass the tests.",
    examples=SKELETON_EXAMPLES,
)(taking_options(SkeletonConversion, skeleton))
app.command(
    "prepare", uses="conversations", short_help="Plan modules and signatures with a model.", examples=PREPARE_EXAMPLES
)(taking_options(PrepareConversion, prepare))
app.command("fast", uses="conversations", short_help="Convert a C library to a crate without a model.", examples=FAST)(
    taking_options(FastConversion, fast)
)
app.command(
    "transpile",
    uses="conversations",
    short_help="Translate functions with a model, proven against C.",
    examples=TRANSPILE_EXAMPLES,
)(taking_options(InterfaceConversion, transpile))
app.command("run", uses="conversations", short_help="Do all of this in one run.", examples=RUN)(
    taking_options(ProjectMove, run)
)
app.command("map", short_help="Show functions in C and Rust, with their gates.", examples=MAP)(show_map)
app.command(
    "optimize", uses="conversations", short_help="Reduce unsafe code and visibility of a crate.", examples=OPTIMIZE
)(taking_options(CrateOptimization, optimize))
app.command("check", uses="conversations", short_help="Check a crate that you edited.", examples=CHECK)(check)
app.command("roadmap", short_help="Show progress in the stages from C to Rust.", examples=ROADMAP)(roadmap)
app.command("cc", uses="none", hidden=True, add_help_option=False, context_settings=PASSED_ON)(cc)
