"""A user's notes on the threat model of a project, which models are told when they verify findings.

They are read when a run is submitted, from a file of the user: a scanned tree cannot bring notes of its own.
"""

from jarvis_workers.errors import SettingsError
from jarvis_workers.paths import plain, read_regular
from jarvis_workers.settings import Settings

NOTES_MAX = 4_000


def read_notes(settings: Settings) -> str:
    """Return the notes, "" for none. Raises SettingsError if the file cannot be read, or is too long."""
    file = settings.sec.notes_file
    if file is None:
        return ""
    name = f"security notes {plain(str(file))}"
    if not file.is_file():
        raise SettingsError(f"{name}: {'not a regular file' if file.exists() else 'no such file'}")
    try:
        text = read_regular(file, 4 * NOTES_MAX).decode("utf-8")
    except OSError as error:
        raise SettingsError(f"{name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{name} are not UTF-8 (byte {error.start})") from error
    if len(text) > NOTES_MAX:
        raise SettingsError(f"{name} have more than {NOTES_MAX:,} characters; state only the threat model")
    return text.strip()
