"""Ask a person before a settings file of the current directory starts programs, names servers or files for code
and results, sends keys, reads files elsewhere, or tells models whom to trust.

The directory may be a clone of somebody else's repository: without an approval, these settings have no effect.
"""

import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import typer

from jarvis_cli.kit.status_output import write_line
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.redact import redact
from jarvis_workers.settings import TOML_FILE, YAML_FILE, load_settings, untrusted_programs
from jarvis_workers.settings.sources import PREFIX
from jarvis_workers.settings.trust import (
    ADDRESSES,
    DATA_DIRECTORY,
    MODEL_SERVERS,
    MODELS,
    NOTES,
    PROGRAMS,
    READ_PATHS,
    SERVER_ADDRESSES,
    WEB_ACCESS,
    decide,
    decision,
    trust_notice,
)

EVERY = (*PROGRAMS, *MODEL_SERVERS, *ADDRESSES, *READ_PATHS)
# Without these, a worker would take no jobs, or ask other models.
OF_WORKERS = (MODELS, DATA_DIRECTORY, *SERVER_ADDRESSES)
# By what a command uses, see `app`.
USED: Mapping[str, Sequence[str]] = {
    "none": (),
    "servers": (*ADDRESSES, "rules.paths"),
    "conversations": (
        *("agent.after_tool_call_cb_dirs", "central_repo", "central_tools", "c2rust.tool_chains"),
        *(NOTES, MODELS, *ADDRESSES, *READ_PATHS),
    ),
    "agents": EVERY,
}
OF_WEB = (*EVERY, NOTES, *WEB_ACCESS)
LINE_MAX = 300


def approve_programs(*, ask: bool = True, names: Sequence[str] = EVERY, required: Collection[str] = ()) -> None:
    """Ask about each settings file here that nobody has decided on; say in a line what has no effect.

    Raises UsageError with this line if a setting that is `required` has no effect, and SettingsError.
    """
    directory = Path.cwd()
    if not any(os.access(directory / name, os.F_OK) for name in (YAML_FILE, TOML_FILE)):
        return
    for name, values in untrusted_programs(directory, overridden=False).items():
        used = [setting for setting in values if setting in names]
        if used and not (ask and _is_approved(directory / name)):
            notice = trust_notice(name, used)
            if missing := [setting for setting in used if setting in required]:
                variables = " and ".join(f"{PREFIX}{setting.upper().replace('.', '__')}" for setting in missing)
                without = f"without {' and '.join(missing)}, no worker starts"
                raise UsageError(f"{notice} as the user of the worker, or set {variables}: {without}")
            write_line(notice)


def _effects(names: Collection[str]) -> str:
    """Return why settings need trust."""
    effects = (
        (PROGRAMS, "start programs"),
        (MODEL_SERVERS, "send code and keys to servers"),
        (ADDRESSES, "name servers or files for code and results"),
        (READ_PATHS, "read files elsewhere"),
        ((NOTES,), "tell models whom to trust"),
        (WEB_ACCESS, "let others in"),
    )
    return " and ".join(effect for settings, effect in effects if set(names) & set(settings))


def describe_programs(values: Mapping[str, object]) -> Iterator[str]:
    """Yield a line for each program that the settings start, file that they name, or key that they send."""
    for setting, value in values.items():
        for one in _each(setting, value):
            yield plain(redact(f"{setting}: {_shown(one)}")[:LINE_MAX])


def _is_approved(file: Path) -> bool:
    """Return whether a person trusts the file now; the answer is stored. Without a terminal nobody is asked."""
    if decision(file, os.environ) is not None or not _has_person(file.parent):
        return False
    values = untrusted_programs(file.parent)[file.name]
    typer.echo(f"{file.name} of this directory has settings which {_effects(values)}:", err=True)
    for line in describe_programs(values):
        typer.echo(f"  {line}", err=True)
    trusted = typer.confirm(f"Trust this {file.name}, until it changes?", err=True)
    decide(file, os.environ, trusted=trusted)
    return trusted


def _has_person(directory: Path) -> bool:
    is_terminal = sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty()
    return bool(is_terminal) and not load_settings(directory=directory).non_interactive


def _each(setting: str, value: object) -> Iterator[object]:
    """Yield what a setting lists: of a model group, its server and where its key comes from."""
    if setting == MODELS and isinstance(value, Mapping):
        for name, group in value.items():
            facts = group if isinstance(group, Mapping) else {}
            key = facts.get("api_key_env") or facts.get("api_key_file") or ("a key" if facts.get("api_key") else None)
            server = facts.get("base_url") or "OpenAI"
            yield f"{name}: code and {key} to {server}" if key else f"{name}: code to {server}"
    elif isinstance(value, list | tuple):
        yield from value
    else:
        yield value


def _shown(value: object) -> str:
    """Return what a setting starts: of an MCP server its command or address, without variables and headers."""
    if not isinstance(value, Mapping):
        return str(value)
    args = value.get("args") or ()
    words = [value.get("command") or value.get("base_url") or "", *(args if isinstance(args, list | tuple) else ())]
    return " ".join(map(str, words))
