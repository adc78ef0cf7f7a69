"""The JSON schema of jarvis.yaml, generated from the settings: editors complete and check it."""

from typing import Any

from jarvis_workers.settings.schema import Settings


def settings_schema() -> dict[str, Any]:
    """Return the schema of the file; unknown settings are refused, as by the commands."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Settings.model_json_schema(mode="validation"),
        "title": "Settings of Jarvis Workers (jarvis.yaml)",
        "description": "Omitted settings have their defaults.",
    }
