"""The settings of the command line, for functions that are called from Python."""

from pathlib import Path

from jarvis_workers import telemetry
from jarvis_workers.settings import Settings, load_settings
from jarvis_workers.settings.trust import trust_notice


def user_settings(**flags: object) -> Settings:
    """Return the settings of the current directory; log a warning for each file whose settings need trust."""
    settings = load_settings(flags, directory=Path.cwd())
    for file, values in settings.untrusted.items():
        telemetry.warning("settings", says=trust_notice(file, list(values)))
    return settings


def local_settings(**flags: object) -> Settings:
    """Return the settings for runs in this process."""
    return user_settings(where="local", **flags)
