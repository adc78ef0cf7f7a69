"""`jarvis c2rust roadmap`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.options import AsJson
from jarvis_workers.paths import plain

EXAMPLES = """
jarvis c2rust roadmap -p zlib                   by the last runs over zlib
jarvis c2rust roadmap -p zlib --sec-before before.json --sec-after last
jarvis c2rust roadmap --json | jq '.stages[] | {title, passed}'
"""
STATES = {True: "passed", False: "not passed", None: "not measured"}
LINES = ("input", "gate", "value", "fallback")

Project = Annotated[Path, typer.Option("--path", "-p", metavar="PATH", help="Root of the C project.")]
Before = Annotated[
    str | None, typer.Option(metavar="REPORT", help="Earlier security report, a run or a file; default: the first run.")
]
After = Annotated[
    str | None,
    typer.Option(metavar="REPORT", help="Security report to compare with --sec-before; default: the last run."),
]


def roadmap(path: Project = Path(), sec_before: Before = None, sec_after: After = None, as_json: AsJson = False) -> int:
    """Print the stages from C to Rust: input, gate, fallback, and measurements of the last runs over the project.

    Thresholds of gates are settings, such as c2rust.gate_score_fall_percent.
    """
    from jarvis_workers.c2rust.runs.project_roadmap import measure_roadmap  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    stages, categories = measure_roadmap(load_settings(directory=Path.cwd()), path, sec_before, sec_after)
    if as_json:
        changes = {name: {"before": before, "after": after} for name, before, after in categories}
        document = {"stages": [stage._asdict() for stage in stages], "categories": changes}
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return exits.DONE
    for stage in stages:
        typer.echo(f"{stage.number} {stage.title}: {STATES[stage.passed]}")
        for name in LINES:
            typer.echo(plain(f"  {'fall-back' if name == 'fallback' else name}: {getattr(stage, name)}"))
    if categories:
        typer.echo("findings before and after, by category:")
        for name, before, after in categories:
            typer.echo(plain(f"  {name}: {before:,} -> {after:,}"))
    return exits.DONE
