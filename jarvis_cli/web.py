"""`jarvis web`: serve the web interface, and create users and tokens for it."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.app import App
from jarvis_workers.errors import UsageError

app = App(invoke_without_command=True, help="Serve a web interface to runs, findings and triage.")

EXAMPLES = """\
\b
Examples:
  jarvis web                                       on this machine: open the printed address
  JARVIS_WEB__AUTH=basic JARVIS_WEB__USERS_FILE=users jarvis web --host 0.0.0.0
  jarvis web user ann --role editor >> users       asks for a password
  jarvis web token ci --role viewer >> tokens      prints the token to stderr
"""
USER_EXAMPLES = """
jarvis web user ann --role editor >> users
printf %s "$PASSWORD" | jarvis web user ann >> users
"""
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the user or program.")]
RoleName = Annotated[
    str, typer.Option("--role", metavar="ROLE", help="viewer reads; editor also triages and controls runs.")
]


@app.callback(invoke_without_command=True, epilog=EXAMPLES)
def web(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="PORT", help="Port; 0 for any free port.")] = 8765,
    read_only: Annotated[bool, typer.Option("--read-only", help="Read-only: reject all changes.")] = False,
    allow_remote_token: Annotated[
        bool, typer.Option("--allow-remote-token", help="Listen on non-loopback addresses with a single shared token.")
    ] = False,
) -> int:
    """Serve a web interface to runs, findings and triage until interrupted."""
    if ctx.invoked_subcommand is not None:
        return 0
    from jarvis_workers.extras import require  # noqa: PLC0415

    require("web", "jarvis web")
    from jarvis_cli.kit.program_trust import OF_WEB, approve_programs  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415
    from jarvis_workers.web.server import check_address, serve  # noqa: PLC0415

    approve_programs(names=OF_WEB)
    settings = load_settings(directory=Path.cwd())
    check_address(settings, host, insecure=allow_remote_token)
    serve(settings, host, port, read_only=read_only, tell=lambda line: typer.echo(line, err=True))
    return 0


@app.command(uses="none", examples=USER_EXAMPLES)
def user(name: Name, role: RoleName = "viewer") -> int:
    """Print a line for the users file; the password is read from the terminal or from stdin."""
    from jarvis_workers.extras import require  # noqa: PLC0415

    require("web", "jarvis web user")
    from jarvis_workers.web.access.credentials import password_line  # noqa: PLC0415

    if sys.stdin.isatty():
        password = typer.prompt("password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        password = sys.stdin.readline(1000).rstrip("\r\n")
    try:
        typer.echo(password_line(name, role, password))
    except ValueError as error:
        raise UsageError(f"jarvis web user: {error}") from error
    return 0


@app.command(uses="none", examples="jarvis web token ci --role viewer >> tokens")
def token(name: Name, role: RoleName = "viewer") -> int:
    """Print a line for the file of API tokens on stdout, and the token itself on stderr."""
    from jarvis_workers.extras import require  # noqa: PLC0415

    require("web", "jarvis web token")
    from jarvis_workers.web.access.credentials import new_token, token_line  # noqa: PLC0415

    made = new_token()
    try:
        typer.echo(token_line(name, role, made))
    except ValueError as error:
        raise UsageError(f"jarvis web token: {error}") from error
    typer.echo(made, err=True)
    return 0
