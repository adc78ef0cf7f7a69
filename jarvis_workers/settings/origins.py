"""Merge and validate the layers of settings, and record the origin of each setting."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from pydantic import ValidationError

from jarvis_workers.constraints import requirement
from jarvis_workers.errors import SettingsError
from jarvis_workers.mcp_client.config import describe_fault
from jarvis_workers.platforms.groups import describe_problem
from jarvis_workers.redact import redact
from jarvis_workers.reprs import short
from jarvis_workers.settings.schema import Settings
from jarvis_workers.settings.sources import (
    FILES,
    PREFIX,
    SECRETS,
    SERVERS,
    Layer,
    flat,
    nested,
    read_layers,
    setting_names,
    without_effect,
)
from jarvis_workers.settings.trust import MODELS

DEFAULT = "default"
TICK_SHARE = 1 / 3


@dataclass(frozen=True)
class Origin:
    """A setting, its value without secrets, and its origin."""

    setting: str
    value: object
    source: str


def load_settings(
    flags: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    directory: Path,
    file: Path | None = None,
) -> Settings:
    """Load the settings of a command that runs in `directory`; `file` takes precedence over its files.

    `flags` maps full names ("scan.languages") to values; None means that a flag was not given. Settings of files in
    `directory` that need trust have an effect only if a person has trusted the file. Raises SettingsError.
    """
    layers = read_layers(flags or {}, environ, directory, file)
    return _settle(layers, directory)


def untrusted_programs(
    directory: Path, environ: Mapping[str, str] = os.environ, *, overridden: bool = True
) -> dict[str, Mapping[str, object]]:
    """Return the settings that need trust and have no effect, by the files of a directory that set them.

    Without `overridden`, those that a stronger source sets are left out.
    """
    layers = read_layers({}, environ, directory)
    if not overridden:
        return without_effect(layers)
    return {FILES[layer.source]: layer.untrusted for layer in layers if layer.untrusted}


def origins(
    flags: Mapping[str, object] | None = None, *, environ: Mapping[str, str] = os.environ, directory: Path
) -> list[Origin]:
    """Return every setting with its origin, secrets redacted."""
    layers = read_layers(flags or {}, environ, directory)
    settings = _settle(layers, directory)
    stand_in = {
        "store_url": settings.effective_store_url,
        "blobs_url": settings.effective_blobs_url,
        "where": settings.place,
        "sec.notes": str(settings.sec.notes_file) if settings.sec.notes_file else None,
        "processes": settings.process_count,
    }
    result = []
    for name, value in flat(settings.model_dump(mode="json")):
        source = next((layer.source for layer in layers if name in layer.values), _without_effect(name, layers))
        shown = stand_in.get(name) if value is None else value
        result.append(Origin(name, _redacted(shown), source))
    return result


def _without_effect(name: str, layers: list[Layer]) -> str:
    """Return the origin of a setting that no source sets with effect."""
    source = next((layer.source for layer in layers if name in layer.untrusted), None)
    return f"{DEFAULT} ({source} is not trusted)" if source else DEFAULT


def _redacted(value: object) -> object:
    if isinstance(value, dict):
        return {name: _redacted(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_redacted(inner) for inner in value]
    return redact(value) if isinstance(value, str) else value


def _settle(layers: list[Layer], directory: Path) -> Settings:
    merged: dict[str, object] = {}
    for layer in reversed(layers):
        _check(layer)
        merged.update(layer.values)
    settings = Settings.model_validate(nested(merged))
    _check_together(settings)
    settings = settings.model_copy(update={"data_dir": (directory / settings.data_dir).absolute()})
    return settings.without_trust(without_effect(layers))


def _check_together(settings: Settings) -> None:
    """Reject invalid combinations of settings that are valid individually."""
    most = settings.lease_seconds * TICK_SHARE
    if settings.tick_seconds > most:
        raise SettingsError(
            f'"tick_seconds" is {settings.tick_seconds:g}, should be at most {most:g}, a third of "lease_seconds"'
        )
    for name in SECRETS:
        if "\0" in (attrgetter(name)(settings) or ""):
            raise SettingsError(f'"{name}" contains a NUL character')


def _check(layer: Layer) -> None:
    try:
        Settings.model_validate(nested(layer.written), strict=layer.strict)
    except ValidationError as error:
        every = error.errors(include_url=False, include_input=False)
        wrong = next((one for one in every if one["type"] == "extra_forbidden"), every[0])
        place = ".".join(map(str, wrong["loc"])) + "."
        name = next(setting for setting in setting_names() if place.startswith(f"{setting}."))
        source = layer.place_of(wrong["loc"])
        if name == SERVERS:
            raise SettingsError(f"{source}: {describe_fault(wrong['loc'], wrong)}") from error
        if name == MODELS:
            raise SettingsError(f"{source}: {describe_problem(wrong, layer.written[name])}") from error
        got = f"a {type(layer.written[name]).__name__}" if name in SECRETS else short.repr(layer.written[name])
        where = "" if layer.source.startswith(PREFIX) else f' "{name}"'
        raise SettingsError(f"{source}:{where} is {got}, {requirement(wrong)}") from error
