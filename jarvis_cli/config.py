"""`jarvis config`: the effective settings and their origins, and the file jarvis.yaml."""

import json
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.app import App
from jarvis_cli.kit.completion import settings
from jarvis_cli.kit.options import AsJson, TableForm, is_json
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.settings import TOML_FILE, YAML_FILE, Origin, load_settings, origins, untrusted_programs
from jarvis_workers.settings.trust import decide, decision

app = App(no_args_is_help=True, help="Show the settings, and where each comes from.")

INIT = """
jarvis config init                            asks for the model
jarvis config init --model deepseek-chat --base-url https://api.deepseek.com --key-env DEEPSEEK_API_KEY
"""
OPENAI_URL = "https://api.openai.com/v1"
TRUST = """
jarvis config trust
jarvis config trust --revoke
"""
SCHEMA = "jarvis config schema > jarvis.schema.json"
EXAMPLES = """\
\b
Precedence: a flag, a JARVIS_* variable, jarvis.yaml, [tool.jarvis] in
pyproject.toml (both in this directory), the default.

\b
Examples:
  jarvis config show
  jarvis config show scan report.min_confidence
  JARVIS_SCAN__LANGUAGES=rust jarvis config show
  jarvis config show --json | jq '.[] | select(.from != "default")'
"""

SharedNames = Annotated[
    list[str], typer.Argument(metavar="NAME...", help="Names of tools, problem types of methodologies.")
]
DryShare = Annotated[bool, typer.Option("--dry-run", help="Print what would be pushed, and push nothing.")]


@app.callback()
def config() -> None:
    """Show the settings, and where each comes from."""


@app.command(uses="none", epilog=EXAMPLES)
def show(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="SETTING", help="Settings to show, or groups such as scan.", autocompletion=settings),
    ] = None,
    as_json: AsJson = False,
    form: TableForm = None,
) -> None:
    """Show every setting, its value without secrets, and where it comes from."""
    selection = _chosen(origins(directory=Path.cwd()), names or ())
    if is_json(form, as_json):
        rows = [{"setting": origin.setting, "value": origin.value, "from": origin.source} for origin in selection]
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        typer.echo(_table(selection))


@app.command(uses="none", examples=SCHEMA)
def schema() -> None:
    """Print the JSON schema of jarvis.yaml, for editors."""
    from jarvis_workers.settings.json_schema import settings_schema  # noqa: PLC0415

    typer.echo(json.dumps(settings_schema(), indent=2, sort_keys=True))


@app.command(
    name="share-methodology", uses="agents", examples="jarvis config share-methodology 'memory leak' --dry-run"
)
def share_methodology(names: SharedNames, dry_run: DryShare = False) -> int:
    """Push methodologies to the central repository (setting central_repo)."""
    from jarvis_workers.assistant.commands.sharing import share_methodologies  # noqa: PLC0415  (only needed here)

    return share_methodologies(names, dry_run=dry_run)


@app.command(name="share-tool", uses="agents", examples="jarvis config share-tool lookup")
def share_tool(names: SharedNames, dry_run: DryShare = False) -> int:
    """Push tools of ~/.jarvis/tools to the central repository (setting central_repo)."""
    from jarvis_workers.assistant.commands.sharing import share_tools  # noqa: PLC0415  (only needed here)

    return share_tools(names, dry_run=dry_run)


@app.command(uses="none", examples=INIT)
def init(
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model, as its server names it.")] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="Address of the server.")] = None,
    key_env: Annotated[str | None, typer.Option(metavar="NAME", help="Variable that contains the API key.")] = None,
) -> None:
    """Create jarvis.yaml in this directory with a model group; an existing file is never overwritten."""
    from jarvis_workers.runs.config_files import create_file, model_settings  # noqa: PLC0415

    path = Path(YAML_FILE)
    if path.exists() or path.is_symlink():
        raise UsageError(f"{YAML_FILE} exists; change it with: jarvis config edit")
    if model is None and not sys.stdin.isatty():
        raise UsageError("not a terminal; give --model, and --base-url and --key-env where needed")
    if model is None:
        base_url = base_url or typer.prompt("Address of the server", default=OPENAI_URL)
        model = typer.prompt("Model")
        key_env = key_env or typer.prompt("Variable with the API key (empty: none)", default="", show_default=False)
    create_file(path, model_settings(model, base_url, key_env))
    load_settings(directory=Path.cwd())
    _trust_own(path)
    typer.echo(f"wrote {YAML_FILE}; check it with: jarvis doctor")
    if key_env and not os.environ.get(key_env):
        typer.echo(f"{key_env} is not set yet; export it before the first request", err=True)


@app.command(uses="none", examples="EDITOR=nano jarvis config edit")
def edit() -> None:
    """Open jarvis.yaml of this directory in $VISUAL or $EDITOR, and check it afterwards."""
    from jarvis_workers.toolchain.editors import editor_command, open_editor  # noqa: PLC0415

    path = Path(YAML_FILE)
    if not path.exists():
        raise UsageError(f"there is no {YAML_FILE} in this directory; create it with: jarvis config init")
    before = path.read_bytes()
    open_editor(editor_command(os.environ, path, 1))
    load_settings(directory=Path.cwd())
    if path.read_bytes() != before:
        _trust_own(path)
    typer.echo(f"{YAML_FILE} is valid")


@app.command(uses="none", examples=TRUST)
def trust(
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust the files no longer.")] = False,
) -> None:
    """Allow the settings files of this directory to start programs, use servers, and tell models whom to trust.

    It holds until they change. The programs are MCP servers, callbacks, the central repository with its tools, and the
    gate of `jarvis code`; the servers are those of models and of the search, the results store, the broker, the blob
    store and the webhook, on whatever machine they are. data_dir brings results along, c2rust.tool_chains lets builds
    read directories, rules.paths and settings of c2rust may read files elsewhere, sec.notes tells models whom to trust,
    and web.* says who may use the web interface.
    """
    from jarvis_cli.kit.program_trust import describe_programs  # noqa: PLC0415

    directory = Path.cwd()
    if revoke:
        files = [name for name in (YAML_FILE, TOML_FILE) if decision(directory / name, os.environ)]
        for name in files:
            decide(directory / name, os.environ, trusted=False)
            typer.echo(f"{name} is not trusted")
    else:
        files = list(untrusted := untrusted_programs(directory))
        for name, values in untrusted.items():
            decide(directory / name, os.environ, trusted=True)
            typer.echo("\n  ".join((f"{name} is trusted, until it changes:", *describe_programs(values))))
    if not files:
        typer.echo("nothing to change: see the column FROM of jarvis config show", err=True)


def _trust_own(path: Path) -> None:
    """Trust jarvis.yaml, which the user has just written, if it needs trust."""
    if YAML_FILE in untrusted_programs(Path.cwd()):
        decide(path.absolute(), os.environ, trusted=True)


def _chosen(origins: list[Origin], names: Sequence[str]) -> list[Origin]:
    """Return the settings with these names or in these groups; without names, return all settings."""
    for name in names:
        if not any(one.setting == name or one.setting.startswith(f"{name}.") for one in origins):
            near = get_close_matches(name, [one.setting for one in origins], 1)
            hint = f' (did you mean "{near[0]}"?)' if near else ""
            raise UsageError(f'unknown setting "{plain(name)}"{hint}; see: jarvis config show')
    return [
        one
        for one in origins
        if not names or any(one.setting == name or one.setting.startswith(f"{name}.") for name in names)
    ]


def _table(origins: list[Origin]) -> str:
    rows = [
        ("SETTING", "VALUE", "FROM"),
        *((origin.setting, _as_text(origin.value), origin.source) for origin in origins),
    ]
    widths = [min(60, max(len(row[column]) for row in rows)) for column in (0, 1)]
    return "\n".join(f"{name:<{widths[0]}}  {value:<{widths[1]}}  {source}" for name, value, source in rows)


def _as_text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, dict):
        return ",".join(f"{name}={item}" for name, item in value.items())
    if isinstance(value, float):
        return f"{value:g}"
    return (
        {None: "-", True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool | None) else str(value)
    )
