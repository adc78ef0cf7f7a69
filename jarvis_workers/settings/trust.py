"""Decisions of a person on settings files that start programs, send code, results or keys to servers, read files
elsewhere, or tell models whom to trust: the current directory may be a clone of someone else's.

As with direnv, a decision holds for one path with one content. It is stored in the data directory of the user, never in
one that the file itself sets. No address is exempt, also not one of this machine, where any user and any service may
listen. A file of root is trusted by other users: an administrator has put it there.
"""

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from jarvis_workers.errors import SettingsError
from jarvis_workers.paths import plain, read_regular
from jarvis_workers.private_files import make_private_directory, read_private, touch_private
from jarvis_workers.settings.schema import default_data_dir

# The settings that run code outside the sandbox, choose the command that judges a change, or let builds read more.
PROGRAMS = ("agent.after_tool_call_cb_dirs", "mcp", "central_repo", "central_tools", "code.gate", "c2rust.tool_chains")
# The setting that names a file whose text a model believes.
NOTES = "sec.notes"
# The settings that name a server which gets prompts with code, or search terms, and the variable or file of its key.
MODELS = "models"
MODEL_SERVERS = (MODELS, "search.url", "search.key_env")
# The settings that name servers which get code and results, and give jobs and results back, or files with results.
DATA_DIRECTORY = "data_dir"
SERVER_ADDRESSES = ("store_url", "broker_url", "blobs_url", "notify.webhook_url")
ADDRESSES = (DATA_DIRECTORY, *SERVER_ADDRESSES, "notify.webhook_secret_file")
# The settings that say who may use the web interface.
WEB_ACCESS = (
    *(f"web.{name}" for name in ("auth", "users_file", "tokens_file", "hosts", "trusted_proxies")),
    *(f"web.{name}" for name in ("user_header", "groups_header", "editor_groups", "viewer_groups")),
)
RESTRICTED = (*PROGRAMS, NOTES, *ADDRESSES, *MODEL_SERVERS, *WEB_ACCESS)
# The settings that name files to read, or have arguments that do: they need trust if one is outside of the directory.
READ_PATHS = ("rules.paths", "c2rust.args", "c2rust.clang_headers", "c2rust.vendor")
# What stands before a path in an argument of a compiler, and between words; an absolute path in a word.
OPTION = re.compile(r"-(?:I|isystem|iquote|idirafter|iprefix|isysroot|include|imacros)|--\w[\w-]*=")
SEPARATOR, PARTS, ABSOLUTE = re.compile(r"[\s,]+"), re.compile(r"[/=]"), re.compile(r"^~|(?<![\w.+%-])/")
DATA_DIR = "JARVIS_DATA_DIR"
FILE_BYTES = 4_000_000
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


def restricted_values(values: Mapping[str, object], directory: Path) -> dict[str, object]:
    """Return those of the settings of a file in a directory, by full name, that need trust."""
    names = [*RESTRICTED, *(name for name in READ_PATHS if any(_lead_out(_words(values.get(name)), directory)))]
    return {name: values[name] for name in names if values.get(name)}


def _words(value: object) -> Iterator[str]:
    for one in value if isinstance(value, list | tuple) else (value,):
        if isinstance(one, str):
            yield from filter(None, (one, *SEPARATOR.split(one)))


def _lead_out(words: Iterator[str], directory: Path) -> Iterator[bool]:
    """Yield whether a word has a path that leads out of the directory, also by a link or by one to a rule file."""
    here = directory.resolve()
    for word in words:
        path = OPTION.sub("", word, count=1) if OPTION.match(word) else word
        is_path = not path.startswith("-") and "=" not in path
        yield ABSOLUTE.search(path) is not None or (not is_path and os.pardir in PARTS.split(path))
        try:
            place = here / path
            yield not all(one.resolve().is_relative_to(here) for one in (place, *place.glob("*.y*ml")))
        except (OSError, ValueError):
            yield True


def trust_notice(file: str, names: Collection[str]) -> str:
    """Return the line for settings of a file that have no effect, since nobody has trusted it."""
    *others, last = names
    listed = f"{', '.join(others)} and {last}" if others else last
    have = "have" if others or last == MODELS else "has"
    return f"{file} of this directory is not trusted, so {listed} {have} no effect; {REMEDY}"


def _record(file: Path, environ: Mapping[str, str]) -> Path:
    content = hashlib.sha256(read_regular(file, FILE_BYTES)).hexdigest()
    key = hashlib.sha256(os.fsencode(file.parent.resolve() / file.name) + b"\0" + content.encode()).hexdigest()
    # A relative directory may lie inside the clone, which could bring decisions along.
    chosen = Path(environ.get(DATA_DIR) or ".").expanduser()
    return (chosen if chosen.is_absolute() else default_data_dir()) / FOLDER / key


def _is_of_administrator(file: Path) -> bool:
    with suppress(OSError):
        return os.geteuid() != 0 and file.lstat().st_uid == file.stat().st_uid == 0
    return False
