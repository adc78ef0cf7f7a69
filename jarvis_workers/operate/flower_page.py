"""Start the Flower dashboard, with users from a variable or a file."""

from collections.abc import Mapping
from pathlib import Path

from jarvis_workers.errors import SettingsError, UsageError
from jarvis_workers.executors.dispatch.monitor import TASKS_MAX, serve
from jarvis_workers.paths import read_regular
from jarvis_workers.runs.remote import broker_url, notifier_of
from jarvis_workers.settings import Settings

LOOPBACK = ("127.0.0.1", "::1", "localhost")
USERS = "FLOWER_BASIC_AUTH"
USERS_FILE = "FLOWER_BASIC_AUTH_FILE"
TASKS = "FLOWER_MAX_TASKS"
USERS_BYTES = 1_000_000


def serve_flower(settings: Settings, address: str, port: int, environ: Mapping[str, str]) -> None:
    """Serve Flower until interrupted.

    Raises UsageError for an address that other machines can reach if no users are set, SettingsError for a wrong
    variable.
    """
    tasks_max = flower_tasks(environ)
    users = flower_users(environ)
    if address not in LOOPBACK and not users:
        hint = f"set {USERS}=user:password, or {USERS_FILE}"
        raise UsageError(f"--address {address}: Flower would be open to everyone; {hint}")
    with notifier_of(settings):
        serve(broker_url(settings), address, port, users, tasks_max=tasks_max)


def flower_tasks(environ: Mapping[str, str]) -> int:
    """Return how many tasks Flower keeps in memory. Raises SettingsError for anything but a positive number."""
    text = environ.get(TASKS) or str(TASKS_MAX)
    if not (text.isascii() and text.isdigit() and int(text)):
        raise SettingsError(f'{TASKS}: "{text}" is not a positive number of tasks')
    return int(text)


def flower_users(environ: Mapping[str, str]) -> str | None:
    """Return user:password pairs, separated by commas, or None. Raises SettingsError for an unusable file."""
    if users := environ.get(USERS):
        return users
    file = environ.get(USERS_FILE)
    if not file:
        return None
    try:
        users = read_regular(Path(file), USERS_BYTES)[:USERS_BYTES].decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f'{USERS_FILE}: "{file}" cannot be read') from error
    if ":" not in users:
        raise SettingsError(f'{USERS_FILE}: "{file}" does not contain user:password')
    return users
