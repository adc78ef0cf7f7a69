"""The JSON schema of jarvis.yaml, generated from the settings; editors use it to complete and check the file."""

from typing import Any

from jarvis_workers.settings.schema import Settings


def settings_schema() -> dict[str, Any]:
    """Return the schema of the file; it rejects unknown settings, as the commands do."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Settings.model_json_schema(mode="validation"),
        "title": "Settings of Jarvis Workers (jarvis.yaml)",
        "description": "Omitted settings have their defaults.",
    }
