"""Decisions of a person on settings files that start programs, send code, results or keys to servers, or tell models
whom to trust: the current directory may be a clone of someone else's.

As with direnv, a decision holds for one path with one content. It is stored in the data directory of the user, never in
one that the file itself sets. A file of root is trusted by other users: an administrator has put it there.
"""

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from jarvis_workers.errors import SettingsError
from jarvis_workers.paths import plain
from jarvis_workers.private_files import make_private_directory, read_private, touch_private
from jarvis_workers.settings.schema import default_data_dir

# The settings that run code outside the sandbox, or choose the command that judges a change.
PROGRAMS = ("agent.after_tool_call_cb_dirs", "mcp", "central_repo", "central_tools", "code.gate")
# The setting that names a file whose text a model believes.
NOTES = "sec.notes"
# The settings that name the variable or file of a key, and the server that gets it.
MODELS, SEARCH_URL, SEARCH_KEY = "models", "search.url", "search.key_env"
KEYS = (MODELS, SEARCH_URL, SEARCH_KEY)
# The settings that name servers which get code and results, and give jobs and results back, or files with results.
DATA_DIRECTORY = "data_dir"
SERVER_ADDRESSES = ("store_url", "broker_url", "blobs_url", "notify.webhook_url")
ADDRESSES = (DATA_DIRECTORY, *SERVER_ADDRESSES)
# Servers on this machine. All that libraries read differently from this pattern needs trust, such as several hosts, a
# host or a service file among the parameters, chained file systems, and marks that end the host for some.
LOCAL_SERVER = re.compile(
    r"(?:postgresql(?:\+\w+)?|rediss?|https?)://(?:[^\s@/?#;,\\]*@)?(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?"
    r"(?:/[^\s@?#;:,\\]*)?(?:\?(?!.*(?:host|service))[\w=&.-]*)?"
)
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# Providers with accounts: what is sent to them does not reach the author of a file.
PROVIDERS = frozenset(
    {"api.openai.com", "api.anthropic.com", "api.deepseek.com", "dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"}
    | {"open.bigmodel.cn", "api.z.ai", "api.moonshot.cn", "api.moonshot.ai"}
)
DATA_DIR = "JARVIS_DATA_DIR"
FOLDER = "trusted"
REMEDY = "read the file, then: jarvis config trust"
TRUSTED, REFUSED = b"trusted\n", b"refused\n"


def is_trusted(file: Path, environ: Mapping[str, str]) -> bool:
    """Return whether the settings of a file that need trust have an effect."""
    return _is_of_administrator(file) or decision(file, environ) is True


def decision(file: Path, environ: Mapping[str, str]) -> bool | None:
    """Return what a person decided on this content of the file, None if nobody was asked."""
    with suppress(OSError):
        return {TRUSTED: True, REFUSED: False}.get(read_private(_record(file, environ), len(TRUSTED)))
    return None


def decide(file: Path, environ: Mapping[str, str], *, trusted: bool) -> None:
    """Store a decision on this content of the file. Raises SettingsError if it cannot be stored."""
    try:
        record = _record(file, environ)
        make_private_directory(record.parent)
        touch_private(record)
        record.write_bytes(TRUSTED if trusted else REFUSED)
    except OSError as error:
        says = f"{plain(str(error.filename or file))}: {error.strerror}"
        raise SettingsError(f"the decision on {plain(file.name)} cannot be stored: {says}") from error


def restricted_values(values: Mapping[str, object], *, search_has_key: bool) -> Iterator[tuple[str, object]]:
    """Yield those of the settings of a file, by full name, that need trust; of `models`, only the groups that do.

    The address and the key of the search may come from different files: with `search_has_key`, some source sets a key.
    """
    yield from ((name, values[name]) for name in (*PROGRAMS, NOTES, DATA_DIRECTORY) if values.get(name))
    for name in SERVER_ADDRESSES:
        if values.get(name) and not LOCAL_SERVER.fullmatch(str(values[name])):
            yield name, values[name]
    if groups := {name: group for name, group in _groups(values.get(MODELS)).items() if sends_key(group)}:
        yield MODELS, groups
    search = values.get(SEARCH_URL)
    if search and search_has_key and not _may_have_keys(search):
        yield SEARCH_URL, search
    if values.get(SEARCH_KEY) and not (search and _may_have_keys(search)):
        yield SEARCH_KEY, values[SEARCH_KEY]


def trust_notice(file: str, names: Collection[str]) -> str:
    """Return the line for settings of a file that have no effect, since nobody has trusted it."""
    *others, last = names
    listed = f"{', '.join(others)} and {last}" if others else last
    have = "have" if others or last == MODELS else "has"
    return f"{file} of this directory is not trusted, so {listed} {have} no effect; {REMEDY}"


def sends_key(group: Mapping[str, object]) -> bool:
    """Return whether a model group sends a key that the user has, to a server that may belong to someone else."""
    return bool(group.get("api_key_env") or group.get("api_key_file")) and not _may_have_keys(group.get("base_url"))


def _groups(models: object) -> dict[str, Mapping[str, object]]:
    every = models.items() if isinstance(models, Mapping) else ()
    return {name: group for name, group in every if isinstance(group, Mapping)}


def _may_have_keys(url: object) -> bool:
    if not url:
        return True
    try:
        parts = urlsplit(str(url))
    except ValueError:
        return False
    return parts.hostname in LOOPBACK or (parts.scheme == "https" and parts.hostname in PROVIDERS)


def _record(file: Path, environ: Mapping[str, str]) -> Path:
    content = hashlib.sha256(file.read_bytes()).hexdigest()
    key = hashlib.sha256(os.fsencode(file.parent.resolve() / file.name) + b"\0" + content.encode()).hexdigest()
    # A relative directory may lie inside the clone, which could bring decisions along.
    chosen = Path(environ.get(DATA_DIR) or ".").expanduser()
    return (chosen if chosen.is_absolute() else default_data_dir()) / FOLDER / key


def _is_of_administrator(file: Path) -> bool:
    with suppress(OSError):
        return os.geteuid() != 0 and file.lstat().st_uid == file.stat().st_uid == 0
    return False
