"""The commands that convert a project: `jarvis c2rust skeleton`, `prepare`, `fast`, `transpile` and `run`.

Implementations are imported on demand: `--help` needs neither libclang nor the database libraries.
"""

import typer

from jarvis_cli.kit.app import App
from jarvis_cli.kit.option_records import taking_options
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
from jarvis_workers.c2rust.commands.run_options import EXAMPLES as RUN
from jarvis_workers.c2rust.commands.run_options import ProjectMove


def add_conversions(app: App) -> None:
    """Add the commands."""
    app.command(
        "skeleton",
        uses="conversations",
        short_help="Give functions Rust signatures that pass the tests.",
        examples=SKELETON_EXAMPLES,
    )(taking_options(SkeletonConversion, skeleton))
    app.command(
        "prepare",
        uses="conversations",
        short_help="Plan modules and signatures with a model.",
        examples=PREPARE_EXAMPLES,
    )(taking_options(PrepareConversion, prepare))
    app.command(
        "fast", uses="conversations", short_help="Convert a C library to a crate without a model.", examples=FAST
    )(taking_options(FastConversion, fast))
    app.command(
        "transpile",
        uses="conversations",
        short_help="Translate functions with a model, proven against C.",
        examples=TRANSPILE_EXAMPLES,
    )(taking_options(InterfaceConversion, transpile))
    app.command("run", uses="conversations", short_help="Do all of this in one run.", examples=RUN)(
        taking_options(ProjectMove, run)
    )


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
        from jarvis_workers.c2rust.commands.interface import write_interface  # noqa: PLC0415

        return write_interface(options, options.interface)
    from jarvis_workers.c2rust.commands.fast import convert_project  # noqa: PLC0415

    return convert_project(options)


def run(ctx: typer.Context, options: ProjectMove) -> int:
    """Move a C library to Rust in one run: replace functions by crates, plan, translate and optimize with a model.

    The stages are those of scan, lib-replace, prepare, transpile and optimize; a line per stage sums them up.
    A run that was interrupted or whose budget is used up continues when the command is repeated. Exit 3: functions
    stay in C because no test proves them, or were not judged or planned.
    """
    from jarvis_workers.c2rust.commands.move import move_project  # noqa: PLC0415

    return move_project(options)
