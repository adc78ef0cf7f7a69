"""Options that several commands take, each with one name and one meaning."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated

import typer

from jarvis_cli.language import Spoken
from jarvis_workers.paths import plain

__all__ = ["Budget", "Detach", "Form", "Lang", "Output", "Quiet", "Where", "not_one_of"]

Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Where the report goes; - is stdout.")
]
Form = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FORMAT", help="json, markdown, sarif, html or junit; by default from -o's suffix."
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(metavar="AMOUNT", help="Pause the run when it has taken this much: 5usd, 200ktok or 30min."),
]
Lang = Annotated[
    Spoken | None,
    typer.Option(
        "--lang", help="The language of rules, of the report and of what the model writes; else the locale's."
    ),
]
Where = Annotated[str | None, typer.Option(metavar="PLACE", help="local or cluster.")]
Detach = Annotated[bool, typer.Option("--detach", help="Submit and return; on a cluster only.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing unless something is wrong.")]


def not_one_of(option: str, value: str, choices: Iterable[str]) -> str:
    """Say that the value of an option is none of its choices, and which may have been meant."""
    known = list(choices)
    near = get_close_matches(value.lower(), known, 1)
    meant = f' (did you mean "{near[0]}"?)' if near else ""
    return f'{option}: "{plain(value)}" is not one of {", ".join(known)}{meant}'
