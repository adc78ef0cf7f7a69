"""`jarvis c2rust cc`: a compiler that records its calls or inserts slots, for builds that users run themselves."""

import os
from pathlib import Path
from typing import Annotated

import typer

# All options are those of the compiler.
PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": []}


def cc(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGUMENTS", help="Arguments of the compiler.")
    ] = None,
) -> int:
    """Run $JARVIS_C2RUST_CC and record the call in $JARVIS_C2RUST_RECORD/compile_commands.json, or add slots."""
    from jarvis_workers.builds.compiler_calls import record_and_compile  # noqa: PLC0415
    from jarvis_workers.c2rust.bench.slot_compiler import compile_with_slots  # noqa: PLC0415

    if "JARVIS_C2RUST_RECORD" in os.environ:
        return record_and_compile(arguments or [], os.environ, Path.cwd())
    return compile_with_slots(arguments or [], os.environ)
