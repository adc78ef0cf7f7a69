"""The origin of each setting."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_workers.redact import redact
from jarvis_workers.settings.sources import FILES, Layer, flat, read_layers, settle, without_effect

DEFAULT = "default"


@dataclass(frozen=True)
class Origin:
    """A setting, its value without secrets, and its origin."""

    setting: str
    value: object
    source: str


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
    settings = settle(layers, directory)
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
