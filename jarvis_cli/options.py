"""Options that several commands take, each with one name and one meaning."""

from typing import Annotated

import typer

from jarvis_cli.language import Spoken

__all__ = ["Budget", "Detach", "Form", "Lang", "Output", "Quiet", "Where"]

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
