"""Pages of commands, in the language of the user; styled and wrapped on a terminal, plain otherwise."""

import shutil
import sys
from collections.abc import Iterator
from io import StringIO

from rich.console import Console, RenderableType

from jarvis_cli.kit.colour import use_colour
from jarvis_workers.words import Words
from jarvis_workers.words import words_in as words_of_package

WIDTH_MAX = 100


def words_in(language: str) -> Words:
    """Return the translated texts of commands."""
    return words_of_package(language, "jarvis_cli")


def render(parts: Iterator[RenderableType], width_max: int = WIDTH_MAX) -> str:
    """Render to a string, so that `main`, not rich, handles a broken pipe."""
    width, colour = min(width_max, shutil.get_terminal_size().columns), use_colour(sys.stdout)
    console = Console(
        file=StringIO(),
        force_terminal=colour,
        color_system="standard" if colour else None,
        width=width,
        highlight=False,
    )
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().rstrip().split("\n"))
