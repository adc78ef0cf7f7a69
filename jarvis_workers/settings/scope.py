"""Which settings narrow a scan, and settings that a checkout cannot narrow beyond trusted ones.

A setting narrows a scan if it is marked so in the schema: fewer files, fewer rules, or findings that count for less.
"""

from collections.abc import Iterable, Iterator
from operator import attrgetter

from jarvis_workers.settings.field_types import Narrowing
from jarvis_workers.settings.schema import FrozenSettings, Settings

DEFAULTS = Settings()


def _marked() -> Iterator[tuple[str, Narrowing]]:
    for section, holder in Settings.model_fields.items():
        if isinstance(holder.annotation, type) and issubclass(holder.annotation, FrozenSettings):
            for name, one in holder.annotation.model_fields.items():
                yield from ((f"{section}.{name}", mark) for mark in one.metadata if isinstance(mark, Narrowing))


NARROWING = dict(_marked())


def narrowed_settings(settings: Settings, trusted: Settings = DEFAULTS) -> tuple[str, ...]:
    """Return the settings by which a scan finds less than with trusted ones, by default the defaults."""
    pairs = ((name, mark, attrgetter(name)) for name, mark in NARROWING.items())
    return tuple(name for name, mark, value in pairs if mark.narrows(value(trusted), value(settings)))


def ignored_settings(settings: Settings, unset: Settings, trusted: Settings) -> list[str]:
    """Return the settings that narrow a scan and have other values than trusted ones, which decide."""
    values = ((name, attrgetter(name)) for name in narrowed_settings(settings, unset))
    return [name for name, value in values if value(settings) != value(trusted)]


def with_values_of(trusted: Settings, settings: Settings, names: Iterable[str] = NARROWING) -> Settings:
    """Return the settings with the trusted values of these settings, by default of all that can narrow a scan."""
    sections: dict[str, dict[str, object]] = {}
    for full in names:
        section, _, name = full.partition(".")
        sections.setdefault(section, {})[name] = attrgetter(full)(trusted)
    changed = {name: getattr(settings, name).model_copy(update=values) for name, values in sections.items()}
    return settings.model_copy(update=changed)
