"""`jarvis c2rust check`."""

from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.options import Quiet, Where

EXAMPLES = """
jarvis c2rust check --crate-dir zlib_rs     after you edited src/inflate.rs
jarvis c2rust check -p zlib                 the crate zlib_rs beside zlib
"""

Project = Annotated[
    Path | None,
    typer.Option("--path", "-p", metavar="PATH", help="The C project; default: that of the run that wrote the crate."),
]
Crate = Annotated[
    Path | None,
    typer.Option("--crate-dir", "-o", metavar="DIR", help="The crate; default: this directory, or PATH_rs."),
]


def check(
    _: typer.Context, path: Project = None, crate_dir: Crate = None, where: Where = None, quiet: Quiet = False
) -> int:
    """Run the gates on the functions of a crate that you edited since jarvis c2rust fast wrote it.

    Each function is built, then tested alone and together with the others, as in the conversion. Exit 1: a gate rejects
    an edit; the output has the reason; 3: no test proves an edit, or something other than functions changed.
    """
    from jarvis_workers.c2rust.commands.edits import check_edited_crate  # noqa: PLC0415  (the store is slow to import)

    return check_edited_crate(path, crate_dir, where, quiet=quiet)
