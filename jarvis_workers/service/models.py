"""The models configured by a user: by name, and with API keys for the processes that call them."""

import os
from collections.abc import Mapping
from typing import Any

from jarvis_workers.errors import SettingsError, UsageError
from jarvis_workers.extras import require
from jarvis_workers.platforms.groups import ModelGroup, all_groups, choose_group
from jarvis_workers.settings import Settings


def model_name(settings: Settings, name: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """Return the name of the selected model group. Raises SettingsError, and UsageError if there is none."""
    group = choose_group(settings.models, name or settings.model_group, environ)
    if group is None:
        why = "several model groups are set: choose one with -g, or model_group in jarvis.yaml"
        if not settings.models:
            why = "no model is set: run jarvis config init, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL"
        raise UsageError(why)
    require("agents", "an agent")
    return group


def models_are_set(settings: Settings, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether any model is configured."""
    return bool(all_groups(settings.models, environ))


def model_facts(settings: Settings, environ: Mapping[str, str] = os.environ) -> dict[str, dict[str, Any]]:
    """Return all groups as JSON data including API keys, which may only be written to a pipe of a child."""
    return {name: _facts(group, environ) for name, group in all_groups(settings.models, environ).items()}


def model_group(settings: Settings, name: str) -> ModelGroup:
    """Return a group with its key."""
    return ModelGroup.model_validate(model_facts(settings)[name])


def _facts(group: ModelGroup, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return a group with its API key; a missing key is reported when the model is called."""
    facts = group.model_dump(mode="json")
    try:
        key = group.key(environ)
    except SettingsError:
        return facts
    return facts | {"api_key": key or None, "api_key_env": None, "api_key_file": None}
