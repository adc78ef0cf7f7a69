"""The options of a scan from the settings. Avoids slow imports."""

from dataclasses import replace
from typing import Any, TypeVar

from jarvis_workers.runs.scan_request import with_settings
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import Settings
from jarvis_workers.settings.scope import narrowed_settings

ScanKind = TypeVar("ScanKind", bound=SecOptions)


def scan_options_of(settings: Settings, kind: type[ScanKind], **more: Any) -> ScanKind:
    """Return the options of a scan from the settings."""
    return with_scan_settings(settings, kind(), **more)


def with_scan_settings(settings: Settings, options: ScanKind, **more: Any) -> ScanKind:
    """Return the options that a user gave, completed by the settings of a scan and `more` options."""
    scan = with_settings(settings, options, **more)
    return replace(scan, altered=settings.scope.altered, narrowed=narrowed_settings(settings))
